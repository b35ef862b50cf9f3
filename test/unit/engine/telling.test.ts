import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

/** The lines about objects, as `level message`. */
const told = (world: World) =>
  world.lines.splice(0).flatMap(({ level, message }) => (level === 'debug' || level === 'trace' ? [] : [`${level} ${message}`]))

async function operator(reconcile: (db: Any, ctx: Ctx) => unknown, data = (_db: Any): object | undefined => ({ data: { a: '1' } })) {
  const world = new World()
  await world.start(handler({ reconcile, remove() {}, map: data }, { owns: { map: ConfigMap } }))
  world.lines.length = 0
  return world
}

describe('what a person reads in the log', () => {
  it('is each write of a child, each turn to ready, and the end', async () => {
    const world = await operator(
      () => {},
      (db) => (db['spec'].size === 0 ? undefined : { data: { size: String(db['spec'].size) } }),
    )
    world.api.create(Database, 'a', { spec: { size: 1 } })
    await settle()
    expect(told(world)).to.deep.equal(['info created ConfigMap shop/a', 'info ready'])
    for (const size of [2, 0]) {
      world.api.edit(Database, 'a', (db) => {
        db['spec'] = { size }
      })
      await settle()
    }
    expect(told(world)).to.deep.equal(['info changed ConfigMap shop/a', 'info deleted ConfigMap shop/a'])
    world.api.delete(Database, 'a')
    await settle()
    expect(told(world)).to.deep.equal(['info cleaned up: the finalizer is gone'])
  })

  it('is the line of the user’s code that threw', async () => {
    const world = await operator(() => {
      throw new Error('here')
    })
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    const line = world.lines.find(({ level }) => level === 'error')
    expect(line?.fields.at).to.match(/telling\.test\.ts:\d+:\d+$/)
  })

  it('is in the Events which process of the operator it was', async () => {
    const world = new World()
    const reconcile = () => {
      throw new Error('here')
    }
    await world.startWith({ instanceName: 'pod-1' }, handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    const [event] = world.api.all({ apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', scope: 'Namespaced' })
    expect(event).to.include({ reason: 'ReconcileFailed', reportingController: 'tsop', reportingInstance: 'pod-1' })
  })

  it('is the cause of an error, in log and condition: `fetch failed` alone says nothing', async () => {
    const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:8088')], '')
    const world = await operator(() => {
      throw new TypeError('fetch failed', { cause: refused })
    })
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready').message).to.equal('fetch failed: connect ECONNREFUSED ::1:8088')
  })

  it('is the builder whose child was refused', async () => {
    const world = await operator(() => {})
    world.api.fail('apply configmaps/a', 500, 'InternalError', 1)
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready').message).to.match(/^map\(\): /)
  })

  it('is a status field that the server dropped, once', async () => {
    const world = await operator((_db, ctx) => {
      Object.assign(ctx.status, { endpoint: 'x', size: 1 })
    })
    world.api.intercept(
      (seen) => seen.subresource === 'status',
      (seen, perform) => {
        delete seen.body?.status?.endpoint
        return perform()
      },
      Number.POSITIVE_INFINITY,
    )
    for (const name of ['a', 'b']) world.api.create(Database, name, { spec: {} })
    await settle()
    const warnings = told(world).filter((line) => line.startsWith('warn'))
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.include('status.endpoint is not kept: the definition of Database.db.example.com in the cluster does not know it')
  })
})

describe('a builder that gives another kind than it declares', () => {
  it('is told so, and nothing is made', async () => {
    const world = await operator(
      () => {},
      () => ({ kind: 'Secret', data: {} }),
    )
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({
      reason: 'InvalidChild',
      message: 'map() gave an object with kind Secret for a ConfigMap (ConfigMap)',
    })
    expect(world.api.all(ConfigMap)).to.deep.equal([])
  })
})
