import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, deferred, handler, Secret, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

describe('runs of a key (promises 1, 3)', () => {
  /** A handler whose runs end only when told. */
  function gated() {
    const seen: { name: string; generation: number | undefined; end: () => void }[] = []
    let most = 0
    let running = 0
    const reconcile = async (db: { metadata: { name: string; generation?: number } }) => {
      const gate = deferred()
      seen.push({ name: db.metadata.name, generation: db.metadata.generation, end: gate.resolve })
      most = Math.max(most, ++running)
      await gate.promise
      running--
    }
    return { seen, reconcile, most: () => most }
  }

  it('sees the newest object, once, whatever happened before the run', async () => {
    const world = new World()
    const { seen, reconcile } = gated()
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'busy', { spec: {} })
    world.api.create(Database, 'a', { spec: { size: 1 } })
    for (let i = 2; i <= 5; i++)
      world.api.edit(Database, 'a', (db) => {
        db['spec'].size = i
      })
    await settle()
    seen[0]?.end()
    await settle()
    expect(seen.map(({ name, generation }) => [name, generation])).to.deep.equal([
      ['busy', 1],
      ['a', 5],
    ])
  })

  it('never run the same key twice at once, also with spare workers', async () => {
    const world = new World()
    const { seen, reconcile, most } = gated()
    await world.start(handler({ reconcile }, { options: { concurrency: 8 } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    for (let i = 0; i < 3; i++)
      world.api.edit(Database, 'a', (db) => {
        db['spec'].i = i
      })
    await settle()
    expect(seen).to.have.length(1)
    seen[0]?.end()
    await settle()
    expect([seen.length, most()]).to.deep.equal([2, 1])
  })

  it('an event during a run means exactly one more run', async () => {
    const world = new World()
    const { seen, reconcile } = gated()
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    for (let i = 0; i < 3; i++)
      world.api.edit(Database, 'a', (db) => {
        db['spec'].i = i
      })
    seen[0]?.end()
    await settle()
    seen[1]?.end()
    await world.ms(60_000)
    expect(seen.map(({ generation }) => generation)).to.deep.equal([1, 4])
  })

  it('an event of a child during a run means exactly one more run, its own writes of it none', async () => {
    const world = new World()
    const { seen, reconcile } = gated()
    await world.start(handler({ reconcile, config: () => ({ data: {} }) }, { owns: { config: ConfigMap } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.edit(ConfigMap, 'a', (map) => {
      map.metadata.annotations = { ...map.metadata.annotations, a: '1' }
    })
    seen[0]?.end()
    await settle()
    seen[1]?.end()
    await world.ms(60_000)
    expect(seen).to.have.length(2)
  })

  it('stay within the concurrency', async () => {
    const world = new World()
    const { seen, reconcile, most } = gated()
    await world.start(handler({ reconcile }, { options: { concurrency: 3 } }))
    for (let i = 0; i < 7; i++) world.api.create(Database, `d${i}`, { spec: {} })
    await settle()
    expect(seen).to.have.length(3)
    for (let i = 0; i < 7; i++) {
      seen[i]?.end()
      await settle()
    }
    expect([seen.length, most()]).to.deep.equal([7, 3])
  })

  it('take the concurrency of the command line before that of the class', async () => {
    const world = new World()
    const { seen, reconcile } = gated()
    await world.startWith({ concurrency: { database: 2 } }, handler({ reconcile }, { options: { concurrency: 5 } }))
    for (let i = 0; i < 4; i++) world.api.create(Database, `d${i}`, { spec: {} })
    await settle()
    expect(seen).to.have.length(2)
  })

  it('are followed by another where the handler changed the spec of its own object', async () => {
    const world = new World()
    const generations: (number | undefined)[] = []
    const reconcile = async (db: { metadata: { generation?: number; name: string; namespace?: string } }, ctx: Ctx) => {
      generations.push(db.metadata.generation)
      await ctx.client.patch(Database, db.metadata, { type: 'merge', value: { spec: { defaulted: true } } })
    }
    await world.start(handler({ reconcile: reconcile as never }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(60_000)
    expect(generations).to.deep.equal([1, 2])
    expect(world.api.get(Database, 'a')?.['status'].observedGeneration).to.equal(2)
    expect(world.logged('error')).to.deep.equal([])
  })

  it('look at every object again every ten hours or so', async () => {
    const world = new World()
    let runs = 0
    await world.start(handler({ reconcile: () => void runs++ }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(9 * 3_600_000 - 1)
    expect(runs).to.equal(1)
    await world.ms(2 * 3_600_000 + 1)
    expect(runs).to.equal(2)
  })

  it('are not started by an object that `when` leaves out, but its deletion is seen', async () => {
    const world = new World()
    const calls: string[] = []
    const when = (db: object) => (db as { spec: { on: boolean } }).spec.on
    const methods = {
      reconcile: (db: { metadata: { name: string } }) => void calls.push(db.metadata.name),
      remove: () => void calls.push('remove'),
    }
    await world.start(handler(methods as never, { options: { when } }))
    world.api.create(Database, 'off', { spec: { on: false } })
    world.api.create(Database, 'on', { spec: { on: true } })
    await settle()
    world.api.edit(Database, 'on', (db) => {
      db['spec'].on = false
    })
    await settle()
    expect(calls).to.deep.equal(['on'])
    world.api.delete(Database, 'on')
    await settle()
    expect(calls).to.deep.equal(['on', 'remove'])
    expect(world.api.get(Database, 'on')).to.equal(undefined)
  })

  it('treat a `when` that throws as true, and say so', async () => {
    const world = new World()
    let runs = 0
    const when = () => {
      throw new Error('oops')
    }
    await world.start(handler({ reconcile: () => void runs++ }, { options: { when } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(runs).to.equal(1)
    expect(world.logged('error')).to.deep.equal(['`when` threw; the object is run as if it had returned true'])
  })
})

describe('an object of the same name (promise 8)', () => {
  it('is another object: the run over the old one writes nothing to it', async () => {
    const world = new World()
    const gate = deferred()
    const uids: string[] = []
    await world.start(
      handler({
        reconcile: async (db, ctx: Ctx) => {
          uids.push(db.metadata.uid)
          Object.assign(ctx.status, { seen: db.metadata.uid })
          if (uids.length === 1) await gate.promise
        },
      }),
    )
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.delete(Database, 'a')
    world.api.create(Database, 'a', { spec: {} })
    gate.resolve()
    await settle()
    const now = world.api.get(Database, 'a')
    expect(uids).to.have.length(2)
    expect(now?.['status'].seen).to.equal(now?.metadata.uid)
    expect(world.api.writes).to.deep.equal(['patch databases/a/status'])
    expect(condition(now, 'Ready')?.status).to.equal('True')
  })

  it('gets its own finalizer, never that of the run over the old one', async () => {
    const world = new World()
    const runs: string[] = []
    await world.start(handler({ reconcile: (db) => void runs.push(db.metadata.uid), remove() {} }))
    world.api.holdWatch(Database)
    const old = world.api.create(Database, 'a', { spec: {} })
    world.api.before('apply databases/a', () => {
      world.api.delete(Database, 'a')
      world.api.create(Database, 'a', { spec: {} })
    })
    world.api.releaseWatch(Database)
    await world.ms(10_000)
    const now = world.api.get(Database, 'a')
    expect(runs).to.deep.equal([now?.metadata.uid])
    expect(runs).not.to.include(old.metadata.uid)
    expect(world.logged('error')).to.deep.equal([])
  })

  it('does not inherit the back-off of the old one', async () => {
    const world = new World()
    const attempts: number[] = []
    await world.start(
      handler({
        reconcile: (_db, ctx: Ctx) => {
          attempts.push(ctx.attempt)
          throw new Error('no')
        },
      }),
    )
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(3000)
    expect(attempts).to.deep.equal([1, 2, 3, 4])
    world.api.delete(Database, 'a')
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(attempts).to.deep.equal([1, 2, 3, 4, 1])
  })
})

describe('what a watch method asks for during a run (promise 3)', () => {
  const changed = (world: World, n: string) =>
    world.api.edit(Secret, 's', (secret) => {
      secret['data'] = { n }
    })
  const watching = (reconcile: (db: Any, ctx: Ctx) => unknown) =>
    handler({ reconcile, map: () => 'shop/a' }, { watches: [{ kind: Secret, method: 'map', options: {} }] })

  it('is one more run, also where the run is a retry that succeeds', async () => {
    const world = new World()
    const gate = deferred()
    const seen: string[] = []
    let runs = 0
    const reconcile = async (_db: Any, ctx: Ctx) => {
      if (++runs === 1) throw new Error('not yet')
      seen.push(((await ctx.get(Secret, 's')) as Any)['data'].n)
      if (runs === 2) await gate.promise
    }
    await world.start(watching(reconcile))
    world.api.create(Secret, 's', { data: { n: 'old' } })
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(1_000)
    changed(world, 'new')
    await settle()
    gate.resolve()
    await settle()
    expect(seen).to.deep.equal(['old', 'new'])
  })

  it('does not cut the back-off of a run that fails', async () => {
    const world = new World()
    const gate = deferred()
    let runs = 0
    const reconcile = async () => {
      runs++
      await gate.promise
      throw new Error('no')
    }
    await world.start(watching(reconcile))
    world.api.create(Secret, 's', { data: { n: 'old' } })
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    changed(world, 'new')
    await settle()
    gate.resolve()
    await settle()
    expect(runs).to.equal(1)
  })
})
