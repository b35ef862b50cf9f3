import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { Database, FINALIZER, handler, Site, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

const nothing = { reconcile() {} }

describe('an operator that is started (promise 2)', () => {
  it('goes first to what was deleted, created or changed while no operator was there', async () => {
    const world = new World()
    const ready = (observedGeneration: number) => ({ status: { observedGeneration } })
    world.api.create(Database, 'as-it-was', { spec: {}, ...ready(1) })
    world.api.create(Database, 'also-as-it-was', { spec: {}, ...ready(1) })
    world.api.create(Database, 'changed', { spec: {}, ...ready(1) })
    world.api.edit(Database, 'changed', (db) => {
      db.spec.size = 2
    })
    world.api.create(Database, 'created', { spec: {} })
    world.api.create(Database, 'odd', { spec: {}, status: { observedGeneration: '1' } })
    world.api.create(Database, 'deleted', { metadata: { finalizers: [FINALIZER] }, spec: {}, ...ready(1) })
    world.api.delete(Database, 'deleted')
    const runs: string[] = []
    const run = (db: Any) => void runs.push(db.metadata.name)
    await world.start(handler({ reconcile: run, remove: run }))
    await settle()
    expect(runs[0]).to.equal('deleted')
    expect(runs.slice(1, 4)).to.have.members(['changed', 'created', 'odd'])
    expect(runs.slice(4)).to.have.members(['as-it-was', 'also-as-it-was'])
  })

  it('refuses two handlers of one kind', async () => {
    const world = new World()
    const error = await world.start(handler(nothing), handler(nothing)).catch((error: Error) => error)
    expect(error).to.be.instanceOf(TypeError)
    expect((error as Error).message).to.equal(
      'DatabaseHandler and DatabaseHandler both reconcile Database.db.example.com; a kind has one handler',
    )
  })

  it('refuses a handler whose namespaces are none of those it serves', async () => {
    const world = new World()
    const own = handler(nothing, { options: { namespaces: ['team-b'] } })
    const error = await world.startWith({ namespaces: ['default', 'shop'] }, own).catch((error: Error) => error)
    expect((error as Error).message).to.equal(
      'DatabaseHandler: its namespaces (team-b) and those the operator serves (default, shop) have none in common',
    )
  })

  it('serves the namespaces that both name', async () => {
    const world = new World()
    const runs: string[] = []
    const reconcile = (db: { metadata: { namespace?: string } }) => void runs.push(db.metadata.namespace as string)
    await world.startWith({ namespaces: ['shop'] }, handler({ reconcile }, { options: { namespaces: ['shop', 'bank'] } }))
    for (const namespace of ['shop', 'bank']) world.api.create(handler(nothing).spec.kind, 'a', { metadata: { namespace }, spec: {} })
    await settle()
    expect(runs).to.deep.equal(['shop'])
  })

  it('asks nothing of namespaces for a cluster-scoped kind', async () => {
    const world = new World()
    const runs: string[] = []
    await world.startWith({ namespaces: ['shop'] }, handler({ reconcile: (site) => void runs.push(site.metadata.name) }, { kind: Site }))
    world.api.create(Site, 'a', { spec: {} })
    await settle()
    expect(runs).to.deep.equal(['a'])
  })

  it('is not called failing for a server that is busy for a moment', async () => {
    const world = new World()
    world.api.fail('watch databases', 429, 'TooManyRequests', 1)
    const starting = world.start(handler(nothing))
    await starting
    expect(world.started).to.equal(false)
    await world.ms(2_000)
    expect(world.started).to.equal(true)
    expect(world.manager?.controllers[0]?.state).to.equal('running')
  })
})
