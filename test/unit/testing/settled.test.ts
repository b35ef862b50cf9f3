import { expect } from 'chai'
import fc from 'fast-check'
import { type Context, onDelete, onReconcile, requeueAfter, TerminalError, watches } from 'tsop'
import { ConfigMap, Deployment, Namespace, Secret } from 'tsop/kinds'
import { condition, type EmbeddedOptions, embedded, ready, type TestCluster } from 'tsop/testing'
import { at, Database, DatabaseHandler, database, Task, task } from './fixtures.ts'

const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

describe('settled()', () => {
  let cluster: TestCluster
  afterEach(() => cluster.close())

  const start = async (options: EmbeddedOptions) => {
    cluster = await embedded(options)
  }
  const sizeOf = async (name: string) => (await cluster.client.get(Database, at(name))).status?.size
  const resize = (name: string, size: number) => cluster.client.patch(Database, at(name), { type: 'merge', value: { spec: { size } } })

  it('is over at once where nothing happens', async () => {
    await start({})
    await cluster.settled()
    await start({ handlers: [DatabaseHandler] })
    await cluster.settled()
  })

  it('waits for runs, however they wait', async () => {
    class Slow {
      @onReconcile(Task)
      async reconcile(_: Task, ctx: Context<Task>) {
        await later(5)
        await new Promise<void>((resolve) => setImmediate(resolve))
        await ctx.get(ConfigMap, 'nothing')
        await later(1)
        ctx.status.done = 1
      }
    }
    await start({ handlers: [Slow] })
    await cluster.apply(task('a'), task('b'))
    await cluster.settled()
    expect((await cluster.client.get(Task, at('b'))).status?.done).to.equal(1)
  })

  it('waits for the requests of the test that nobody has awaited', async () => {
    await start({ handlers: [DatabaseHandler] })
    void cluster.apply(database('a', { size: 2 }))
    await cluster.settled()
    expect(await sizeOf('a')).to.equal(2)
  })

  it('waits for all that a chain of handlers does', async () => {
    class Copies {
      @onReconcile(ConfigMap, { when: ({ metadata }) => metadata.name.length < 12 })
      async reconcile(map: ConfigMap, ctx: Context<ConfigMap>) {
        await ctx.client.apply(ConfigMap, { metadata: { ...at(`${map.metadata.name}-x`) }, data: map.data ?? {} }, { force: true })
      }
    }
    await start({ handlers: [Copies] })
    await cluster.client.create(ConfigMap, { metadata: at('a'), data: { b: 'c' } })
    await cluster.settled()
    expect((await cluster.client.get(ConfigMap, at('a-x-x-x-x-x-x'))).data).to.deep.equal({ b: 'c' })
  })

  it('waits for what follows a deletion: handlers, finalizers, garbage, namespaces', async () => {
    const removed: string[] = []
    class Removes extends DatabaseHandler {
      @onDelete(Database)
      async remove({ metadata }: Database) {
        await later(2)
        removed.push(metadata.name)
      }
    }
    await start({ handlers: [Removes] })
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    await cluster.apply(database('a'), { ...database('b'), metadata: { name: 'b', namespace: 'shop' } })
    await cluster.settled()
    await cluster.client.delete(Database, at('a'))
    await cluster.client.delete(Namespace, { name: 'shop' })
    await cluster.settled()
    expect(removed).to.have.members(['a', 'b'])
    expect(await cluster.client.find(ConfigMap, at('a'))).to.equal(undefined)
    expect(await cluster.client.find(Namespace, { name: 'shop' })).to.equal(undefined)
  })

  it('waits for simulated workloads', async () => {
    await start({ simulate: true })
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
    await cluster.client.create(Deployment, { metadata: at('web'), spec: { replicas: 2, selector: { matchLabels: labels }, template } })
    await cluster.settled()
    expect((await cluster.client.get(Deployment, at('web'))).status?.readyReplicas).to.equal(2)
  })

  it('waits for Events', async () => {
    class Fails {
      @onReconcile(Task)
      reconcile() {
        throw new TerminalError('TooBig', 'too big')
      }
    }
    await start({ handlers: [Fails] })
    cluster.faults.fail(503, { verb: 'create', times: 2 })
    await cluster.apply(task('a'))
    await cluster.settled()
    const events = cluster.requests().filter(({ kind, verb, status }) => kind === 'Event' && verb === 'create' && status === 201)
    expect(events.map(({ body }) => (body as { reason: string }).reason)).to.deep.equal(['TooBig'])
    expect(cluster.writes().map(String)).to.deep.equal(['patch Task default/a/status'])
  })

  it('waits for the methods of watches', async () => {
    class Watches {
      @onReconcile(Task)
      reconcile(_: Task, ctx: Context<Task>) {
        ctx.status.done = 2
      }

      @watches(ConfigMap)
      async users() {
        await later(10)
        return at('late')
      }
    }
    await start({ handlers: [Watches] })
    await cluster.apply(task('late'))
    await cluster.settled()
    const seen = cluster.logs().length
    await cluster.client.create(ConfigMap, { metadata: at('a') })
    await cluster.settled()
    expect(
      cluster
        .logs()
        .slice(seen)
        .map(({ message }) => message),
    ).to.deep.equal(['reconciled'])
  })

  it('does not wait for a requeueAfter, nor for a retry after an error', async () => {
    let runs = 0
    class Waits {
      @onReconcile(Task)
      reconcile({ spec }: Task) {
        runs++
        if (spec.steps === 1) throw new Error('not now')
        return requeueAfter('1s')
      }
    }
    await start({ handlers: [Waits] })
    const before = cluster.clock.now()
    await cluster.apply(task('waits'), task('fails', { steps: 1 }))
    await cluster.settled()
    expect(runs).to.equal(2)
    expect(cluster.clock.now()).to.equal(before)
    await cluster.clock.advance('250ms')
    expect(runs).to.equal(3)
    await cluster.clock.advance('750ms')
    expect(runs).to.equal(5)
  })

  describe('with trouble', () => {
    it('waits until a broken watch is open again, and lets the time for it pass', async () => {
      await start({ handlers: [DatabaseHandler] })
      await cluster.apply(database('a'))
      await cluster.settled()
      for (const [size, how] of [
        [2, 'break'],
        [3, 'end'],
        [4, 'expire'],
      ] as const) {
        expect(cluster.faults.dropWatches({ kind: Database, how })).to.equal(1)
        await resize('a', size)
        await cluster.settled()
        expect(await sizeOf('a'), how).to.equal(size)
      }
    })

    it('waits for watches that are refused for a while', async () => {
      await start({ handlers: [DatabaseHandler] })
      await cluster.apply(database('a'))
      await cluster.settled()
      cluster.faults.fail(500, { verb: 'watch', times: 4 })
      cluster.faults.fail(429, { verb: 'watch', times: 4 })
      cluster.faults.dropWatches()
      await resize('a', 2)
      await cluster.settled()
      expect(await sizeOf('a')).to.equal(2)
    })

    it('does not wait for a right that is missing', async () => {
      await start({ handlers: [DatabaseHandler] })
      const fault = cluster.faults.fail(403, { verb: 'watch', kind: Database })
      cluster.faults.dropWatches({ kind: Database })
      await cluster.apply(database('a'))
      await cluster.settled()
      expect(await sizeOf('a')).to.equal(undefined)
      fault.remove()
      await cluster.clock.advance('15s')
      expect(await sizeOf('a')).to.equal(1)
    })

    it('does not wait for what a held watch keeps back', async () => {
      await start({ handlers: [DatabaseHandler] })
      const held = cluster.faults.holdWatches({ kind: Database })
      await cluster.apply(database('a'))
      await cluster.settled()
      expect(await sizeOf('a')).to.equal(undefined)
      held.remove()
      await cluster.settled()
      expect(await sizeOf('a')).to.equal(1)
    })

    it('waits for the repetition after a conflict', async () => {
      await start({ handlers: [DatabaseHandler] })
      cluster.faults.fail(409, { verb: 'patch', kind: ConfigMap, times: 3 })
      await cluster.apply(database('a'))
      await cluster.settled()
      expect(ready(await cluster.client.get(Database, at('a')))).to.equal(true)
      expect(cluster.writes().map(String)).to.deep.equal([
        ...Array(3).fill('apply ConfigMap default/a 409'),
        'apply ConfigMap default/a',
        'patch Database default/a/status',
      ])
    })

    it('waits for requests that are late or sent again, without taking that time', async () => {
      await start({ handlers: [DatabaseHandler] })
      cluster.faults.delay('20s', { kind: ConfigMap })
      cluster.faults.fail(429, { kind: Database, verb: 'patch', times: 2, retryAfterSeconds: 7 })
      const before = cluster.clock.now()
      await cluster.apply(database('a'))
      await cluster.settled()
      expect(ready(await cluster.client.get(Database, at('a')))).to.equal(true)
      expect(cluster.clock.now() - before).to.be.within(34_000, 36_000)
    })

    it('lets time pass for what only time ends', async () => {
      await start({ handlers: [DatabaseHandler], objects: [database('a')] })
      await cluster.settled()
      // A child of an object that is gone is collected, and made again by an operator that does not know.
      cluster.faults.delay('1s', { verb: 'watch', kind: Database })
      cluster.faults.dropWatches({ kind: Database })
      await cluster.client.delete(Database, at('a'))
      await cluster.settled()
      expect(await cluster.client.find(ConfigMap, at('a'))).to.equal(undefined)
    })

    it('comes about whatever breaks', async function () {
      this.timeout(60_000)
      await start({})
      const name = fc.constantFrom('a', 'b', 'c')
      const step = fc.oneof(
        fc.record({ type: fc.constant('apply' as const), name, size: fc.integer({ min: 1, max: 9 }) }),
        fc.record({ type: fc.constant('delete' as const), name }),
        fc.record({ type: fc.constant('stray' as const), name }),
        fc.record({ type: fc.constant('secret' as const), name }),
        fc.record({ type: fc.constant('drop' as const), how: fc.constantFrom('break' as const, 'end' as const, 'expire' as const) }),
        fc.record({ type: fc.constant('fail' as const), status: fc.constantFrom(409 as const, 429 as const), after: fc.nat({ max: 3 }) }),
        fc.record({ type: fc.constant('restart' as const) }),
        fc.record({ type: fc.constant('late' as const), ms: fc.integer({ min: 1, max: 3000 }) }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
          await using world = await embedded({ handlers: [DatabaseHandler] })
          const wanted = new Map<string, number>()
          for (const each of steps) {
            switch (each.type) {
              case 'apply':
                wanted.set(each.name, each.size)
                await world.apply(database(each.name, { size: each.size, secretName: each.name }))
                break
              case 'delete':
                wanted.delete(each.name)
                await world.client.delete(Database, at(each.name)).catch(() => {})
                break
              case 'stray':
                await world.client.patch(ConfigMap, at(each.name), { type: 'merge', value: { data: { size: 'no' } } }).catch(() => {})
                break
              case 'secret':
                await world.client.create(Secret, { metadata: at(each.name) }).catch(() => {})
                break
              case 'drop':
                world.faults.dropWatches({ how: each.how })
                break
              case 'fail':
                world.faults.fail(each.status, { verb: ['patch', 'create', 'delete'], times: 1, after: each.after })
                break
              case 'late':
                world.faults.delay(each.ms, { times: 2 })
                break
              case 'restart':
                await world.restart()
            }
          }
          await world.settled()
          const { items } = await world.client.list(Database)
          expect(new Map(items.map(({ metadata, spec }) => [metadata.name, spec.size]))).to.deep.equal(wanted)
          const maps = (await world.client.list(ConfigMap, { namespace: 'default' })).items.filter(
            ({ metadata }) => metadata.name.length === 1,
          )
          expect(new Map(maps.map(({ metadata, data }) => [metadata.name, Number(data?.['size'])]))).to.deep.equal(wanted)
          for (const item of items) {
            const secret = await world.client.find(Secret, at(item.metadata.name))
            expect(ready(item), `${item.metadata.name} with${secret ? '' : 'out'} secret`).to.equal(secret !== undefined)
          }
        }),
        { numRuns: 40 },
      )
    })
  })

  describe('where nothing settles', () => {
    const failure = async () => {
      try {
        await cluster.settled()
      } catch (error) {
        return (error as Error).message
      }
      throw new Error('it settled')
    }

    it('names the run that hangs, with what was logged', async () => {
      class Hangs {
        @onReconcile(Task)
        async reconcile(_: Task, ctx: Context<Task>) {
          ctx.log.info('here I am')
          await new Promise(() => {})
        }
      }
      await start({ handlers: [Hangs], patience: '60ms' })
      await cluster.apply(task('a'))
      expect(await failure()).to.match(
        /^the cluster does not settle: nothing has happened for 60ms, and yet there is a run over Task\.db\.example\.com default\/a\n/,
      )
      expect(await failure()).to.include('info  Task.db.example.com default/a: here I am')
      expect(await failure()).to.include('\n  not ready:\n    Task default/a: has no condition yet\n')
    })

    it('says so of an operator that keeps itself busy', async () => {
      class Restless {
        @onReconcile(Task)
        async reconcile(task: Task, ctx: Context<Task>) {
          await ctx.client.patch(Task, task.metadata, { type: 'merge', value: { spec: { steps: task.spec.steps + 1 } } })
        }
      }
      await start({ handlers: [Restless], patience: '30ms' })
      await cluster.apply(task('a'))
      expect(await failure()).to.match(/^the cluster does not settle: .*Task\.db\.example\.com/)
    })

    it('gives up on a conflict that is never over', async () => {
      await start({ handlers: [DatabaseHandler] })
      cluster.faults.fail(409, { verb: 'patch', kind: ConfigMap })
      await cluster.apply(database('a'))
      expect(await failure()).to.match(
        /after 10m of the cluster's time there is still another run over Database\.db\.example\.com default\/a/,
      )
    })
  })

  it('names in a failure what is not ready, and why, and not what is', async () => {
    class Some {
      @onReconcile(Task, { concurrency: 10 })
      async reconcile({ metadata }: Task) {
        if (metadata.name === 'a') return
        if (metadata.name === 'z') await new Promise(() => {})
        return requeueAfter('1h', { reason: 'StepsLeft', message: '2 of 3' })
      }
    }
    await start({ handlers: [Some], patience: '60ms' })
    await cluster.apply(...['a', 'b', 'c', 'd', 'e', 'f', 'z'].map((name) => task(name)))
    const error = await cluster.settled().then(
      () => undefined,
      (error: Error) => error,
    )
    const lines = ['b', 'c', 'd', 'e', 'f'].map((name) => `    Task default/${name}: StepsLeft: 2 of 3`)
    expect(error?.message).to.include(['', '  not ready:', ...lines, '    and 1 more', ''].join('\n'))
  })

  it('takes real time where the clock is the real one', async () => {
    await start({ handlers: [DatabaseHandler], clock: 'real' })
    cluster.faults.delay('20ms', { kind: ConfigMap })
    cluster.faults.fail(409, { kind: ConfigMap, verb: 'patch', times: 2 })
    await cluster.apply(database('a'))
    await cluster.settled()
    expect(condition(await cluster.client.get(Database, at('a')), 'Ready')?.status).to.equal('True')
    const error = await cluster.clock.advance('1s').catch((error: Error) => error)
    expect(String(error)).to.equal("TypeError: the clock of this cluster is the real one, which nobody moves: make it with clock: 'manual'")
  })
})
