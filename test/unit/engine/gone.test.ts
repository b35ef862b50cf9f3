import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { ConfigMap, condition, Database, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

const NOT_FOUND = {
  kind: 'Status',
  status: 'Failure',
  code: 404,
  reason: 'NotFound',
  message: 'databases "a" not found',
  details: { name: 'a' },
}

describe('an object that is believed to be gone (promises 1, 8)', () => {
  it('is not that of a kind without a status subresource, for which the server answers 404 as well', async () => {
    const world = new World()
    const generations: number[] = []
    await world.start(handler({ reconcile: (db: Any) => void generations.push(db.metadata.generation as number) }))
    world.api.intercept(/status/, () => ({ status: 404, body: NOT_FOUND }), Number.POSITIVE_INFINITY)
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(world.logged('error')[0]).to.include('has no status subresource')
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { size: 2 }
    })
    await settle()
    expect(generations).to.include(2)
  })

  it('is not the one that was made anew under its name while the question was under way', async () => {
    const world = new World()
    const { api } = world
    const op = handler(
      { reconcile() {}, map: (db: Any) => (db['spec'].map ? { data: { a: '1' } } : undefined) },
      { owns: { map: ConfigMap } },
    )
    await world.start(op)
    api.create(Database, 'a', { spec: { map: true } })
    await settle()
    // The look before pruning falls into the gap between deletion and creation, and its answer comes after the events of both.
    api.intercept('get databases/a', (_seen, perform) => {
      api.delete(Database, 'a')
      const gap = perform()
      api.create(Database, 'a', { spec: { map: true } })
      return gap
    })
    api.edit(Database, 'a', (db) => {
      db['spec'] = { map: false }
    })
    await settle()
    await world.ms(60_000)
    const db = api.get(Database, 'a')
    expect(db?.status?.observedGeneration).to.equal(db?.metadata.generation)
    // Its predecessor's child has not been collected yet.
    expect(condition(db, 'Ready')).to.include({ reason: 'WaitingForChild' })
  })

  for (const [what, request, change] of [
    ['the look at the owner', 'get databases/a', { map: false }],
    ['the deletion of a child', 'delete configmaps/a', { map: false }],
    ['the status', 'patch databases/a/status', { map: true, more: 1 }],
  ] as const) {
    it(`is not one whose path was not served for a moment: ${what}`, async () => {
      const world = new World()
      const map = (db: Any) => (db['spec'].map ? { data: { a: '1' } } : undefined)
      await world.start(handler({ reconcile() {}, remove() {}, map }, { owns: { map: ConfigMap } }))
      world.api.create(Database, 'a', { spec: { map: true } })
      await settle()
      world.api.intercept(request, () => ({ status: 404, body: '404 page not found' }))
      world.api.edit(Database, 'a', (db) => {
        db['spec'] = change
      })
      await world.ms(10_000)
      const db = world.api.get(Database, 'a')
      expect(db?.status?.observedGeneration).to.equal(db?.metadata.generation)
      expect(world.api.all(ConfigMap)).to.have.length(change.map ? 1 : 0)
      world.api.delete(Database, 'a')
      await settle()
      expect(world.api.get(Database, 'a')).to.equal(undefined)
    })
  }

  it('is not one whose finalizer could not be removed for that reason', async () => {
    const world = new World()
    await world.start(handler({ reconcile() {}, remove() {} }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.intercept('apply databases/a', () => ({ status: 404, body: '404 page not found' }))
    world.api.delete(Database, 'a')
    await world.ms(10_000)
    expect(world.api.get(Database, 'a')).to.equal(undefined)
  })
})
