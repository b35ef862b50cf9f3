import { expect } from 'chai'
import { type Context, onDelete, onReconcile, TerminalError } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
import { condition, type EmbeddedOptions, embedded, ready, type TestCluster } from 'tsop/testing'
import { at, Database, DatabaseHandler, database, Task, task } from './fixtures.ts'

describe('the operator of a test', () => {
  let cluster: TestCluster
  afterEach(() => cluster.close())

  const start = async (options: EmbeddedOptions) => {
    cluster = await embedded(options)
  }

  /** Stands still in the middle of each run, until it is let on. */
  class Gated {
    static lives = 0
    static readonly gates: { readonly life: number; open(): void; readonly aborted: Promise<void> }[] = []
    static ends: string[] = []
    readonly #life = ++Gated.lives

    static reset() {
      Gated.lives = 0
      Gated.gates.length = 0
      Gated.ends = []
    }

    @onReconcile(Task)
    async reconcile(_: Task, ctx: Context<Task>) {
      const life = this.#life
      const { promise, resolve } = Promise.withResolvers<void>()
      const aborted = new Promise<void>((done) => ctx.signal.addEventListener('abort', () => done()))
      Gated.gates.push({ life, open: resolve, aborted })
      await promise
      Gated.ends.push(`${life} goes on`)
      try {
        await ctx.client.create(ConfigMap, { metadata: at(`of-${life}`) })
        Gated.ends.push(`${life} has written`)
      } catch (error) {
        Gated.ends.push(`${life}: ${(error as Error).message}`)
      }
    }
  }
  beforeEach(() => Gated.reset())

  it('is killed in the middle of a run: the old one does nothing any more, the new one does it anew', async () => {
    await start({ handlers: [Gated] })
    await cluster.apply(task('a'))
    await cluster.until(() => Gated.gates.length === 1)
    await cluster.restart()
    await cluster.until(() => Gated.gates.length === 2)
    Gated.gates[0]?.open()
    Gated.gates[1]?.open()
    await cluster.settled()
    expect(Gated.ends).to.deep.equal(['1 goes on', '2 goes on', '2 has written'])
    expect(Gated.gates.map(({ life }) => life)).to.deep.equal([1, 2])
    expect(cluster.writes().map(String)).to.deep.equal(['create ConfigMap default/of-2', 'patch Task default/a/status'])
  })

  it('knows nothing of its former life but what is in the cluster', async () => {
    const heard: string[] = []
    class Forgetful {
      #runs = 0
      @onReconcile(Database)
      reconcile({ metadata }: Database) {
        heard.push(`${metadata.name} ${++this.#runs}`)
      }
    }
    await start({ handlers: [Forgetful] })
    await cluster.apply(database('a'))
    await cluster.settled()
    await cluster.restart()
    await cluster.settled()
    expect(heard).to.deep.equal(['a 1', 'a 1'])
    expect(cluster.writes().map(String)).to.deep.equal(['patch Database default/a/status'])
  })

  it('does not hear of what it has sent before it was killed, which happens nevertheless', async () => {
    let runs = 0
    class Writes {
      @onReconcile(Task)
      async reconcile(_: Task, ctx: Context<Task>) {
        runs++
        await ctx.client.apply(ConfigMap, { metadata: at('made'), data: { by: 'it' } })
        ctx.status.done = runs
      }
    }
    await start({ handlers: [Writes] })
    cluster.faults.delay('1s', { kind: ConfigMap, times: 1 })
    await cluster.apply(task('a'))
    await cluster.until(() => cluster.writes().length === 1, Boolean, { within: '0s' })
    await cluster.restart()
    await cluster.settled()
    expect(runs).to.equal(2)
    expect(cluster.writes().map(String)).to.deep.equal([
      'apply ConfigMap default/made',
      'apply ConfigMap default/made',
      'patch Task default/a/status',
    ])
  })

  it('does not do again what it had done but not heard of', async () => {
    await start({ handlers: [DatabaseHandler] })
    const lost = cluster.faults.loseResponses({ kind: ConfigMap, times: 1 })
    await cluster.apply(database('a'))
    await cluster.until(() => cluster.client.find(Database, at('a')), ready)
    expect(lost.hits).to.equal(1)
    expect((await cluster.client.get(ConfigMap, at('a'))).metadata.resourceVersion).to.be.a('string')
    expect(cluster.requests().filter(({ kind, verb }) => kind === 'ConfigMap' && verb === 'apply').length).to.be.within(1, 2)
  })

  it('stops as on SIGTERM: what runs is finished', async () => {
    await start({ handlers: [Gated] })
    await cluster.apply(task('a'))
    await cluster.until(() => Gated.gates.length === 1)
    const stopped = cluster.stopOperator()
    Gated.gates[0]?.open()
    await stopped
    expect(Gated.ends).to.deep.equal(['1 goes on', '1 has written'])
    await cluster.apply(task('b'))
    await cluster.clock.advance('1h')
    expect(Gated.gates).to.have.length(1)
    await cluster.startOperator()
    await cluster.until(() => Gated.gates.length >= 2)
    for (const gate of Gated.gates) gate.open()
  })

  it('cuts off what does not end in time', async () => {
    await start({ handlers: [Gated], patience: '50ms' })
    await cluster.apply(task('a'))
    await cluster.until(() => Gated.gates.length === 1)
    const before = cluster.clock.now()
    await cluster.stopOperator()
    await Gated.gates[0]?.aborted
    expect(cluster.clock.now() - before).to.equal(20_000)
    Gated.gates[0]?.open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(Gated.ends.at(-1)).to.match(/^1: /)
    expect(cluster.writes()).to.deep.equal([])
  })

  it('starts on what is there already', async () => {
    await start({ handlers: [DatabaseHandler], objects: [database('a'), database('b')], start: false })
    await cluster.settled()
    expect(cluster.requests()).to.deep.equal([])
    await cluster.startOperator()
    await cluster.settled()
    expect((await cluster.client.list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name)).to.include.members([
      'a',
      'b',
    ])
    const error = await cluster.startOperator().catch((error: Error) => error.message)
    expect(error).to.equal('the operator runs already')
  })

  it('takes instances, and functions that make them for each start', async () => {
    const made: number[] = []
    class Plain {
      readonly number: number
      constructor(number: number) {
        this.number = number
      }
      @onReconcile(Task)
      reconcile(_: Task, ctx: Context<Task>) {
        ctx.status.done = this.number
      }
    }
    const doneOf = async () => (await cluster.client.get(Task, at('a'))).status?.done
    await start({ handlers: [new Plain(7)], objects: [task('a')] })
    await cluster.restart()
    await cluster.settled()
    expect(await doneOf()).to.equal(7)
    await cluster.close()

    const handlers = async () => [new Plain(made.push(0))]
    await start({ handlers, objects: [task('a')] })
    await cluster.settled()
    const first = await doneOf()
    await cluster.restart()
    await cluster.settled()
    expect(await doneOf()).to.equal((first ?? 0) + 1)
  })

  it('has its runs cut off when the clock says so', async () => {
    class Hangs {
      @onReconcile(Task, { timeout: '5m' })
      reconcile() {
        return new Promise<void>(() => {})
      }
    }
    await start({ handlers: [Hangs], objects: [task('a')], patience: '50ms' })
    await cluster.clock.advance('5m')
    const shown = condition(await cluster.client.get(Task, at('a')), 'Ready')
    expect(shown).to.include({ status: 'False', reason: 'Timeout' })
  })

  it('serves the namespaces, and so many objects at once, as it is told', async () => {
    let most = 0
    let running = 0
    class Counts {
      @onReconcile(Task)
      async reconcile() {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 2))
        running--
      }
    }
    await start({ handlers: [Counts], namespaces: ['default'], concurrency: { Task: 3 }, name: 'shop' })
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    await cluster.apply(...['a', 'b', 'c', 'd'].map((name) => task(name)), { ...task('e'), metadata: { name: 'e', namespace: 'other' } })
    await cluster.settled()
    expect(most).to.equal(3)
    expect(cluster.writes().map(({ namespace }) => namespace)).to.deep.equal(Array(4).fill('default'))
  })

  it('leaves errors that nobody catches to the test runner', async () => {
    const before = process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException')
    await start({ handlers: [DatabaseHandler] })
    expect(process.listenerCount('unhandledRejection') + process.listenerCount('uncaughtException')).to.equal(before)
  })

  it('tells what it logs', async () => {
    const lines: string[] = []
    class Fails {
      @onReconcile(Task)
      reconcile(_: Task, ctx: Context<Task>) {
        ctx.log.info({ step: 1 }, 'trying')
        throw new TerminalError('TooBig', 'too big')
      }
    }
    await start({ handlers: [Fails], objects: [task('a')], onLog: ({ level, message }) => lines.push(`${level} ${message}`) })
    await cluster.settled()
    const line = cluster.logs().find(({ message }) => message === 'trying')
    expect(line?.fields).to.include({ controller: 'Task.db.example.com', namespace: 'default', name: 'a', step: 1 })
    expect(lines).to.include('info trying')
    expect(lines.some((text) => text.startsWith('error too big'))).to.equal(true)
  })

  it('is alone in its cluster: another test has another one', async () => {
    await start({ handlers: [DatabaseHandler] })
    await using other = await embedded({ handlers: [DatabaseHandler] })
    await cluster.apply(database('a'))
    await cluster.settled()
    await other.settled()
    expect(await other.client.find(Database, at('a'))).to.equal(undefined)
    expect(other.writes()).to.deep.equal([])
    await other.apply(database('b'))
    await other.settled()
    expect(ready(await other.client.get(Database, at('b')))).to.equal(true)
    expect(await cluster.client.find(Database, at('b'))).to.equal(undefined)
  })
})

describe('the end of a cluster', () => {
  it('leaves nothing behind, whatever was going on', async () => {
    class Hangs {
      @onReconcile(Task)
      reconcile() {
        return new Promise<void>(() => {})
      }
      @onDelete(Task)
      remove() {}
    }
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    await turn()
    // Files are read when something is loaded for the first time.
    const resources = () =>
      process
        .getActiveResourcesInfo()
        .filter((name) => name !== 'FSReqCallback' && name !== 'Immediate')
        .sort()
    const before = resources()
    for (const clock of ['manual', 'real'] as const) {
      const cluster = await embedded({ handlers: [Hangs, DatabaseHandler], objects: [task('a'), database('a')], clock })
      await cluster.listen()
      cluster.faults.delay('1h', { kind: ConfigMap })
      await cluster.apply(database('b'))
      await Promise.all([cluster.close(), cluster.close()])
    }
    await turn()
    expect(resources()).to.deep.equal(before)
  })

  it('is told to whoever uses it afterwards', async () => {
    const cluster = await embedded({ handlers: [DatabaseHandler] })
    await cluster[Symbol.asyncDispose]()
    const uses: (() => unknown)[] = [
      () => cluster.settled(),
      () => cluster.until(() => true),
      () => cluster.clock.advance('1s'),
      () => cluster.client.list(Database),
      () => cluster.client.create(Database, { metadata: at('a'), spec: { size: 1 } }),
      () => cluster.apply(database('a')),
      () => cluster.restart(),
      () => cluster.startOperator(),
      () => cluster.stopOperator(),
      () => cluster.listen(),
    ]
    for (const use of uses) {
      const error = await (async () => use())().catch((error: Error) => error.message)
      expect(error, String(use)).to.equal('this cluster is closed')
    }
    expect(cluster.requests()).to.be.an('array')
    expect(cluster.logs()).to.be.an('array')
  })
})
