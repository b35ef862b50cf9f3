import { expect } from 'chai'
import { type Context, onReconcile, requeueAfter } from 'tsop'
import { ConfigMap } from 'tsop/kinds'
import { condition, type EmbeddedOptions, embedded, ready, type TestCluster } from 'tsop/testing'
import { at, Database, DatabaseHandler, database, Task, TaskHandler, task } from './fixtures.ts'

describe('until()', () => {
  let cluster: TestCluster
  afterEach(() => cluster.close())

  const start = async (options: EmbeddedOptions) => {
    cluster = await embedded({ patience: '50ms', ...options })
  }
  const failure = async (promise: Promise<unknown>): Promise<string> => {
    try {
      await promise
    } catch (error) {
      return (error as Error).message
    }
    throw new Error('it did not fail')
  }

  it('gives what is truthy, or what holds, and takes errors for not yet', async () => {
    await start({ handlers: [DatabaseHandler] })
    void cluster.apply(database('a', { size: 4 }))
    const map: ConfigMap = await cluster.until(() => cluster.client.find(ConfigMap, at('a')))
    expect(map.data).to.deep.equal({ size: '4' })
    const a = await cluster.until(() => cluster.client.get(Database, at('a')), ready)
    expect(a.status?.size).to.equal(4)
    const size = await cluster.until(
      () => a.spec.size,
      (size) => size === 4,
    )
    expect(size).to.equal(4)
  })

  it('lets as much time pass as is needed, up to a minute, and no more', async () => {
    await start({ handlers: [TaskHandler], objects: [task('a', { steps: 3 }), task('b', { steps: 100 })] })
    const before = cluster.clock.now()
    await cluster.until(() => cluster.client.get(Task, at('a')), ready)
    expect(cluster.clock.now() - before).to.equal(20_000)
    expect(await failure(cluster.until(() => cluster.client.get(Task, at('b')), ready))).to.match(/^waited 1m of the cluster's time/)
    expect(cluster.clock.now() - before).to.be.within(70_000, 80_000)
    await cluster.until(() => cluster.client.get(Task, at('b')), ready, { within: '1h' })
    expect(cluster.clock.now() - before).to.equal(990_000)
  })

  it('says what was there in the end, and what the operator said', async () => {
    class Waits {
      @onReconcile(Task)
      reconcile(_: Task, ctx: Context<Task>) {
        ctx.log.warn('the moon is wrong')
        return requeueAfter('10m', { reason: 'Moon', message: 'not full' })
      }
    }
    await start({ handlers: [Waits], objects: [task('a')] })
    const message = await failure(cluster.until(() => cluster.client.get(Task, at('a')), ready, { what: 'a to be ready' }))
    expect(message).to.match(/^waited 1m of the cluster's time for a to be ready, in vain\n {2}it was last: \{\n/)
    expect(message).to.include('"reason": "Moon"').and.not.include('managedFields')
    expect(message).to.include('warn  Task.db.example.com default/a: the moon is wrong')
  })

  it('says what it waited for where nobody named it, and what still goes on', async () => {
    class Hangs {
      @onReconcile(Task)
      async reconcile() {
        await new Promise<void>(() => {})
      }
    }
    await start({ handlers: [Hangs], objects: [task('a')] })
    const get = () => cluster.client.get(Task, at('a'))
    const first = await failure(cluster.until(get, ready, { within: '1s' }))
    expect(first.split('\n')[0]).to.match(
      /^waited 1s of the cluster's time for ready\(\) to hold of `.*cluster\.client\.get\(Task, ?at\(["']a["']\)\)`, in vain$/,
    )
    expect(first).to.match(/\n {2}still going on: a run over Task\.db\.example\.com default\/a$/m)
    expect(
      await failure(
        cluster.until(
          () => 7,
          (n) => n === 8,
          { within: '1s' },
        ),
      ),
    ).to.match(/for `\(?n\)? ?=> ?n ?=== ?8` to hold of `\(\) ?=> ?7`, in vain\n {2}it was last: 7/)
    expect(await failure(cluster.until(() => 0))).to.match(/for something from `\(\) ?=> ?0`, in vain\n {2}it was last: 0/)
  })

  it('tells the error of a question, or of a condition, that was never good', async () => {
    await start({ handlers: [] })
    expect(await failure(cluster.until(() => cluster.client.get(ConfigMap, at('nope')), Boolean))).to.match(
      /the last answer was StatusError: .*configmaps "nope" not found/,
    )
    const strict = (n: number) => {
      expect(n).to.equal(2)
      return true
    }
    expect(await failure(cluster.until(() => 1, strict))).to.match(
      /the last answer was AssertionError: expected 1 to equal 2\n {2}it was last: 1/,
    )
    expect(await failure(cluster.until(() => undefined))).to.include('it was last: undefined')
  })

  it('waits, in real time, for what comes from outside', async () => {
    let hasCome = false
    await start({ handlers: [TaskHandler], patience: '1s' })
    setTimeout(() => {
      hasCome = true
    }, 60)
    await cluster.until(() => hasCome)
  })

  it('looks on while a run hangs, without letting time pass for what holds already', async () => {
    let entered = false
    class Hangs {
      @onReconcile(Task)
      async reconcile() {
        await new Promise((resolve) => setTimeout(resolve, 5))
        entered = true
        await new Promise<void>(() => {})
      }
    }
    await start({ handlers: [Hangs], objects: [task('a')] })
    const before = cluster.clock.now()
    await cluster.until(() => entered)
    expect(cluster.clock.now()).to.equal(before)
    const shown = await cluster.until(async () => condition(await cluster.client.get(Task, at('a')), 'Ready'), Boolean, { within: '6m' })
    expect(shown?.reason).to.equal('Timeout')
  })

  it('waits in real time where the clock is the real one', async () => {
    class Quick {
      #runs = 0
      @onReconcile(Task)
      reconcile(_: Task, ctx: Context<Task>) {
        ctx.status.done = ++this.#runs
        if (this.#runs < 2) return requeueAfter('1s')
      }
    }
    await start({ handlers: [Quick], objects: [task('a')], clock: 'real' })
    const a = await cluster.until(() => cluster.client.get(Task, at('a')), ready)
    expect(a.status?.done).to.equal(2)
    expect(await failure(cluster.until(() => false, Boolean, { within: '80ms' }))).to.match(/^waited 80ms/)
  })
})
