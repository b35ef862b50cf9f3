import { expect } from 'chai'
import type { Any, FakeKind } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, handler, Secret, Site, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

const Queue: FakeKind = {
  apiVersion: 'mq.example.com/v1',
  kind: 'Queue',
  plural: 'queues',
  scope: 'Namespaced',
  status: { conditions: true, observedGeneration: true, external: true },
}

describe('trouble with one kind stays there (promise 10)', () => {
  /** A class of databases, and one of queues. */
  async function two(queue: object = Queue) {
    const world = new World()
    const runs: string[] = []
    const reconcile = (object: Any) => void runs.push(`${object.kind} ${object.metadata.name}`)
    const queues = handler({ reconcile }, { kind: queue as FakeKind, owns: {} })
    const manager = await world.start(handler({ reconcile }), queues)
    const states = () => manager.controllers.map(({ kindName, state }) => `${kindName}: ${state}`)
    return { world, api: world.api, runs, manager, states }
  }

  it('a missing CRD does not stop the other class, is named, and heals by itself', async () => {
    const { world, api, runs, manager, states } = await two()
    api.create(Database, 'a', { spec: {} })
    await settle()
    expect(runs).to.deep.equal(['Database a'])
    expect(states()).to.deep.equal(['Database.db.example.com: running', 'Queue.mq.example.com: failing'])
    expect(manager.controllers[1]?.problem).to.match(/^Queue\.mq\.example\.com \(the kind is not there\): /)
    api.install(Queue)
    api.create(Queue, 'q', { spec: {} })
    await world.ms(15_000)
    expect(runs).to.deep.equal(['Database a', 'Queue q'])
    expect(states()).to.deep.equal(['Database.db.example.com: running', 'Queue.mq.example.com: running'])
  })

  it('also where the kind has to be looked up first', async () => {
    const { world, api, runs, manager, states } = await two({ apiVersion: Queue.apiVersion, kind: Queue.kind })
    expect(states()[1]).to.equal('Queue.mq.example.com: failing')
    expect(manager.controllers[1]?.problem).to.contain('is its CustomResourceDefinition installed')
    api.install(Queue)
    api.create(Queue, 'q', { spec: {} })
    await world.ms(15_000)
    expect(runs).to.deep.equal(['Queue q'])
    expect(states()[1]).to.equal('Queue.mq.example.com: running')
  })

  for (const verb of ['list', 'watch']) {
    it(`a forbidden ${verb} names kind and verb, and heals by itself`, async () => {
      const world = new World()
      const details = { message: `databases is forbidden: User "x" cannot ${verb} resource "databases"` }
      world.api.fail(/^(list|watch) databases/, 403, 'Forbidden', 4, details)
      let runs = 0
      const manager = await world.start(handler({ reconcile: () => void runs++ }))
      world.api.create(Database, 'a', { spec: {} })
      await settle()
      expect(manager.controllers[0]).to.include({ state: 'failing' })
      expect(manager.controllers[0]?.problem).to.match(new RegExp(`^Database\\.db\\.example\\.com \\(verb ${verb} is missing\\): `))
      await world.ms(60_000)
      expect(manager.controllers[0]).to.include({ state: 'running' })
      expect(runs).to.equal(1)
    })
  }

  it('of an owned kind keeps the class waiting: it must not act on half of the world', async () => {
    const world = new World()
    let runs = 0
    world.api.fail('watch configmaps', 403, 'Forbidden', 3)
    world.api.create(Database, 'a', { spec: {} })
    const manager = await world.start(handler({ reconcile: () => void runs++, config: () => ({}) }, { owns: { config: ConfigMap } }))
    expect(runs).to.equal(0)
    expect(manager.controllers[0]?.problem).to.match(/^ConfigMap \(verb /)
    await world.ms(60_000)
    expect(runs).to.equal(1)
  })

  it('names each watched selection that fails, also the second of a kind', async () => {
    const world = new World()
    const watches = [
      { kind: ConfigMap, method: 'map', options: { labels: { a: '1' } } },
      { kind: ConfigMap, method: 'map', options: { labels: { b: '1' } } },
    ]
    world.api.fail((seen) => seen.text === 'watch configmaps' && seen.query.get('labelSelector') === 'b=1', 403, 'Forbidden', 99)
    const manager = await world.start(handler({ map: () => undefined }, { watches }))
    expect(manager.controllers[0]?.state).to.equal('failing')
    expect(manager.controllers[0]?.problem).to.match(/^ConfigMap /)
  })

  it('a handler whose selector cannot be read fails with the reason instead of waiting for ever', async () => {
    const world = new World()
    const watches = [{ kind: ConfigMap, method: 'map', options: { labels: 'a in (' } }]
    const manager = await world.start(handler({ map: () => undefined }, { watches }))
    expect(manager.controllers[0]?.state).to.equal('failing')
    expect(manager.controllers[0]?.problem).to.contain('a in (')
    expect(world.started).to.equal(true)
  })

  it('a watch that breaks later is replaced, and nothing is missed', async () => {
    const { world, api, runs, states } = await two(Site)
    api.create(Database, 'a', { spec: {} })
    await settle()
    api.fail('watch databases', 500, 'InternalError', 3)
    await world.ms(70_000) // silence: the connection is given up
    api.create(Database, 'b', { spec: {} })
    await world.ms(30_000)
    expect(runs).to.deep.equal(['Database a', 'Database b'])
    expect(states()[0]).to.equal('Database.db.example.com: running')
  })

  it('start() returns when every class runs or is known to fail', async () => {
    const world = new World()
    const held = world.api.hold('watch databases')
    await world.start(handler({}), handler({}, { kind: Queue }))
    expect(world.started).to.equal(false)
    held.release()
    await settle()
    expect(world.started).to.equal(true)
  })
})

describe('the start', () => {
  it('refuses a concurrency that is no whole number, or is for a kind that nobody handles', async () => {
    for (const [concurrency, message] of [
      [{ Database: 0 }, /whole number from 1 on, not 0/],
      [{ Database: 1.5 }, /whole number/],
      [{ Foo: 1 }, /no handler has this kind; there are Database\.db\.example\.com/],
    ] as const) {
      const error = await new World().startWith({ concurrency }, handler({})).then(
        () => undefined,
        (thrown) => thrown,
      )
      expect(error).to.be.instanceOf(TypeError)
      expect(error.message).to.match(message)
    }
  })

  it('runs only what lies in the namespaces of the command line', async () => {
    const world = new World()
    const runs: string[] = []
    await world.startWith({ namespaces: ['shop', 'bar'] }, handler({ reconcile: (db) => void runs.push(db.metadata.namespace as string) }))
    for (const namespace of ['shop', 'foo', 'bar']) world.api.create(Database, 'a', { spec: {}, metadata: { namespace } })
    await settle()
    expect(runs.sort()).to.deep.equal(['bar', 'shop'])
  })
})

describe('whenIdle, for --once', () => {
  it('resolves when everything that exists has run, with what is not done', async () => {
    const world = new World()
    for (const name of ['good', 'bad', 'slow']) world.api.create(Database, name, { spec: {} })
    const gates = Promise.withResolvers<void>()
    const reconcile = (db: Any) => {
      if (db.metadata.name === 'bad') throw new Error('broken')
      return db.metadata.name === 'slow' ? gates.promise : undefined
    }
    const manager = await world.start(handler({ reconcile }))
    let idle: { failed: readonly object[] } | undefined
    void manager.whenIdle().then((result) => {
      idle = result
    })
    await settle()
    expect(idle).to.equal(undefined)
    gates.resolve()
    await settle()
    expect(idle).to.deep.equal({ failed: [{ kind: 'Database.db.example.com', key: 'shop/bad', message: 'ReconcileFailed: broken' }] })
  })

  it('does not count what was deleted meanwhile', async () => {
    const world = new World()
    world.api.create(Database, 'bad', { spec: {} })
    const reconcile = () => {
      throw new Error('broken')
    }
    const manager = await world.start(handler({ reconcile }))
    world.api.delete(Database, 'bad')
    await settle()
    expect(await manager.whenIdle()).to.deep.equal({ failed: [] })
  })

  it('waits for the repetition after a conflict', async () => {
    const world = new World()
    world.api.create(Database, 'a', { spec: {} })
    world.api.fail('patch databases/a/status', 409, 'Conflict', 3)
    const manager = await world.start(handler({}))
    let idle = false
    void manager.whenIdle().then(() => {
      idle = true
    })
    await settle()
    expect(idle).to.equal(false)
    await world.ms(100)
    expect(idle).to.equal(true)
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('True')
  })

  it('does not take the look after an unanswered write for rest', async () => {
    const world = new World()
    const reconcile = async (_db: Any, ctx: Ctx) => void (await ctx.apply(ConfigMap, { data: {} } as never))
    world.api.create(Database, 'a', { spec: {} })
    world.api.loseAnswer('apply configmaps/a')
    const look = world.api.hold('get configmaps/a')
    const manager = await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
    await world.ms(250)
    let idle: { failed: readonly object[] } | undefined
    void manager.whenIdle().then((result) => {
      idle = result
    })
    await settle()
    expect([look.arrived, idle]).to.deep.equal([true, undefined])
    look.release()
    await settle()
    expect(idle).to.deep.equal({ failed: [] })
  })

  it('says which kind cannot be seen at all', async () => {
    const world = new World()
    const manager = await world.start(handler({}, { kind: Queue }))
    const { failed } = await manager.whenIdle()
    expect(failed).to.have.length(1)
    expect(failed[0]).to.include({ kind: 'Queue.mq.example.com', key: '' })
  })
})

describe('stopping (promise 13)', () => {
  async function oneRunning(options: { gracePeriodMs?: number } = {}) {
    const world = new World()
    const runs: string[] = []
    const gate = Promise.withResolvers<void>()
    let signal: AbortSignal | undefined
    const reconcile = async (db: Any, ctx: Ctx) => {
      runs.push(db.metadata.name)
      signal = ctx.signal
      await gate.promise
      Object.assign(ctx.status, { ended: true })
    }
    const manager = await world.startWith(options, handler({ reconcile }))
    for (const name of ['a', 'b']) world.api.create(Database, name, { spec: {} })
    await settle()
    let stopped = false
    const stop = () =>
      void manager.stop().then(() => {
        stopped = true
      })
    return { world, api: world.api, runs, gate, manager, stop, stopped: () => stopped, signal: () => signal as AbortSignal }
  }

  it('starts no new run, lets the running one end in peace, and writes its status', async () => {
    const { api, runs, gate, stop, stopped, signal } = await oneRunning()
    stop()
    api.edit(Database, 'a', (db) => {
      db.metadata.labels = { x: 'y' }
    })
    await settle()
    expect([stopped(), signal().aborted]).to.deep.equal([false, false])
    gate.resolve()
    await settle()
    await settle()
    expect([stopped(), runs]).to.deep.equal([true, ['a']])
    expect(api.get(Database, 'a')?.['status']).to.include({ ended: true })
    expect(api.get(Database, 'b')?.['status']).to.equal(undefined)
  })

  it('aborts what still runs after the grace period', async () => {
    const { world, stop, stopped, signal, runs } = await oneRunning({ gracePeriodMs: 5000 })
    stop()
    await world.ms(4999)
    expect(signal().aborted).to.equal(false)
    await world.ms(2001)
    expect([stopped(), signal().aborted, runs]).to.deep.equal([true, true, ['a']])
  })

  it('leaves no timer and no watch behind, and no listener on the process', async () => {
    const before = process.listenerCount('unhandledRejection')
    const { world, gate, stop, stopped } = await oneRunning()
    expect(process.listenerCount('unhandledRejection')).to.equal(before + 1)
    stop()
    gate.resolve()
    await world.ms(10_000)
    expect([stopped(), world.clock.pending]).to.deep.equal([true, 0])
    expect(process.listenerCount('unhandledRejection')).to.equal(before)
    world.api.forget()
    await world.ms(24 * 3_600_000)
    expect(world.api.requests).to.deep.equal([])
  })

  it('before anything could be seen lets start() return', async () => {
    const world = new World()
    world.api.hold('watch databases')
    const manager = await world.start(handler({}))
    await settle()
    expect(world.started).to.equal(false)
    await manager.stop()
    await settle()
    expect(world.started).to.equal(true)
  })

  it('may be asked for twice', async () => {
    const { manager, gate } = await oneRunning()
    gate.resolve()
    expect(manager.stop()).to.equal(manager.stop())
    await manager.stop()
  })

  it('begins no run after the look at an unanswered write', async () => {
    const world = new World()
    let runs = 0
    const reconcile = async (_db: Any, ctx: Ctx) => {
      runs++
      await ctx.apply(ConfigMap, { data: {} } as never)
    }
    const manager = await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
    world.api.loseAnswer('apply configmaps/a')
    const look = world.api.hold('get configmaps/a')
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(250)
    expect([runs, look.arrived]).to.deep.equal([1, true])
    const stopped = manager.stop()
    look.release()
    await world.ms(5000)
    await stopped
    expect(runs).to.equal(1)
  })

  it('before the first sight of the world begins no run, and lets start() return', async () => {
    const world = new World()
    let runs = 0
    const held = world.api.hold('watch databases')
    world.api.create(Database, 'a', { spec: {} })
    const manager = await world.start(handler({ reconcile: () => void runs++ }))
    const stopped = manager.stop()
    held.release()
    await world.ms(10_000)
    await stopped
    expect([runs, world.started]).to.deep.equal([0, true])
  })

  it('the look at an unanswered write counts as work: no more than `concurrency` at once', async () => {
    const world = new World()
    let running = 0
    let most = 0
    let first = true
    const gate = Promise.withResolvers<void>()
    const reconcile = async (db: Any, ctx: Ctx) => {
      if (db.metadata.name === 'a' && first) {
        first = false
        await ctx.apply(ConfigMap, { data: {} } as never)
      }
      most = Math.max(most, ++running)
      await gate.promise
      running--
    }
    await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
    world.api.loseAnswer('apply configmaps/a')
    const look = world.api.hold('get configmaps/a')
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(250)
    expect(look.arrived).to.equal(true)
    world.api.create(Database, 'b', { spec: {} })
    await settle()
    look.release()
    await settle()
    expect([running, most]).to.deep.equal([1, 1])
    gate.resolve()
  })
})

describe('several classes in one process', () => {
  it('share one watch of a kind', async () => {
    const world = new World()
    const owning = (kind: FakeKind) =>
      handler({ config: () => ({ metadata: { namespace: 'shop' } }) }, { kind, owns: { config: ConfigMap } })
    await world.start(owning(Database), owning(Site))
    expect(world.api.seen('watch configmaps')).to.have.length(1)
  })

  it('each run for the children of their own kind only', async () => {
    const world = new World()
    const runs: string[] = []
    const owning = (kind: FakeKind, name: string) =>
      handler(
        { config: () => ({ metadata: { name, namespace: 'shop' } }), reconcile: (object) => void runs.push(object.kind as string) },
        { kind, owns: { config: ConfigMap } },
      )
    await world.start(owning(Database, 'of-database'), owning(Site, 'of-site'))
    world.api.create(Database, 'a', { spec: {} })
    world.api.create(Site, 'a', { spec: {} })
    await settle()
    runs.length = 0
    world.api.delete(ConfigMap, 'of-site')
    await settle()
    expect(runs).to.deep.equal(['Site'])
    void Secret
  })
})

describe('a write without an answer that nobody may look at (promise 11)', () => {
  it('is told, and does not keep its object from being run', async () => {
    const world = new World()
    let runs = 0
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      runs++
      if (runs === 1) await ctx.client.create(Secret, { metadata: { name: 's', namespace: 'shop' } } as never)
    }
    await world.start(handler({ reconcile }))
    world.api.loseAnswer('create secrets/s')
    world.api.fail('get secrets/s', 403, 'Forbidden', Number.POSITIVE_INFINITY)
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(10_000)
    expect(runs).to.equal(2)
    expect(world.logged('warn').join()).to.include('whether it was done cannot be read')
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'True' })
  })

  it('is told each time where the look fails otherwise', async () => {
    const world = new World()
    const reconcile = async (_db: unknown, ctx: Ctx) =>
      void (await ctx.client.create(Secret, { metadata: { name: 's', namespace: 'shop' } } as never))
    await world.start(handler({ reconcile }))
    world.api.loseAnswer('create secrets/s')
    world.api.fail('get secrets/s', 500, 'InternalError', Number.POSITIVE_INFINITY)
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(5_000)
    expect(world.logged('error').length).to.be.greaterThan(2)
  })
})
