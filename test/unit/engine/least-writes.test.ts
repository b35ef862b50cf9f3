import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, FINALIZER, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

function operator() {
  const counted = { runs: 0 }
  const made = handler(
    {
      config: (db) => ({ data: { size: String(db['spec'].size) } }),
      reconcile: (_db, ctx: Ctx) => {
        counted.runs++
        expect(ctx.child(ConfigMap)).not.to.equal(undefined)
      },
      remove: (_db, ctx: Ctx) => ctx.delete(ConfigMap, ctx.child(ConfigMap) as Any),
    },
    { owns: { config: ConfigMap } },
  )
  return Object.assign(made, { counted })
}

async function withOne() {
  const world = new World()
  const op = operator()
  await world.start(op)
  world.api.create(Database, 'a', { spec: { size: 1 } })
  await settle()
  expect(op.counted.runs).to.equal(1)
  world.api.forget()
  return { world, api: world.api, op }
}

describe('the least writes (promises 1, 5, 6)', () => {
  it('makes a new object real with three writes: finalizer, child, status', async () => {
    const world = new World()
    await world.start(operator())
    world.api.create(Database, 'a', { spec: { size: 1 } })
    await settle()
    expect(world.api.writes).to.deep.equal(['apply databases/a', 'apply configmaps/a', 'patch databases/a/status'])
    expect(world.api.get(Database, 'a')?.metadata.finalizers).to.deep.equal([FINALIZER])
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'True', reason: 'Reconciled', observedGeneration: 1 })
  })

  it('has the server read each of them once, and leaves the handler its warnings', async () => {
    const world = new World()
    await world.start(
      handler(
        {
          config: () => ({ data: {} }),
          reconcile: (_db, ctx: Ctx) => void ctx.client.create(ConfigMap, { metadata: { name: 'b', namespace: 'ns' } }),
        },
        { owns: { config: ConfigMap } },
      ),
    )
    world.api.create(Database, 'a', { spec: { size: 1 } })
    await settle()
    const validations = world.api.requests
      .filter(({ verb }) => ['apply', 'patch', 'create'].includes(verb))
      .map(({ text, query }) => `${text} ${query.get('fieldValidation')}`)
    expect(validations).to.include.members(['apply configmaps/a Ignore', 'patch databases/a/status Ignore', 'create configmaps/b null'])
  })

  it('reads nothing for that but its watches', async () => {
    const world = new World()
    await world.start(operator())
    world.api.create(Database, 'a', { spec: { size: 1 } })
    await settle()
    const reads = world.api.requests.filter(({ verb }) => verb === 'get' || verb === 'list' || verb === 'discover')
    expect(reads.map(({ text }) => text)).to.deep.equal([])
  })

  it('follows a new spec with two: child, status', async () => {
    const { api } = await withOne()
    api.edit(Database, 'a', (db) => {
      db['spec'] = { size: 2 }
    })
    await settle()
    expect(api.writes).to.deep.equal(['apply configmaps/a', 'patch databases/a/status'])
    expect(api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ size: '2' })
  })

  it('repairs a drifted child with one', async () => {
    const { api } = await withOne()
    api.edit(ConfigMap, 'a', (map) => {
      map['data'] = { size: '7' }
    })
    await settle()
    expect(api.writes).to.deep.equal(['apply configmaps/a'])
    expect(api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ size: '1' })
  })

  it('deletes with two: child, finalizer', async () => {
    const { api } = await withOne()
    api.delete(Database, 'a')
    await settle()
    expect(api.writes).to.deep.equal(['delete configmaps/a', 'apply databases/a'])
    expect([api.get(Database, 'a'), api.get(ConfigMap, 'a')]).to.deep.equal([undefined, undefined])
  })

  it('writes nothing while nothing happens, and nothing at a resync', async () => {
    const { world, api, op } = await withOne()
    await world.ms(12 * 3_600_000)
    expect(api.writes).to.deep.equal([])
    expect(op.counted.runs).to.equal(2)
  })

  it('writes nothing after a restart', async () => {
    const { world, api } = await withOne()
    await world.stop()
    const again = operator()
    await world.start(again)
    expect(again.counted.runs).to.equal(1)
    expect(api.writes).to.deep.equal([])
  })

  it('is not woken by its own writes', async () => {
    const { world, op } = await withOne()
    await world.ms(60_000)
    expect(op.counted.runs).to.equal(1)
  })

  it('is not woken by its own writes, also where their events come late', async () => {
    const world = new World()
    const op = operator()
    await world.start(op)
    world.api.create(Database, 'a', { spec: { size: 1 } })
    world.api.holdWatch(Database)
    world.api.holdWatch(ConfigMap)
    await settle()
    world.api.releaseWatch(Database)
    world.api.releaseWatch(ConfigMap)
    await world.ms(60_000)
    expect(op.counted.runs).to.equal(1)
    expect(world.api.writes).to.have.length(3)
  })

  it('writes a status that the schema prunes once, not in every run', async () => {
    const world = new World()
    const op = handler({
      reconcile: (_db, ctx) => {
        ctx.status.unknown = 1
      },
    })
    await world.start(op)
    world.api.intercept(
      'patch databases/a/status',
      (seen, perform) => {
        delete seen.body?.['status'].unknown
        return perform()
      },
      99,
    )
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    for (let i = 0; i < 5; i++) {
      world.api.edit(Database, 'a', (db) => {
        db.metadata.labels = { i: String(i) }
      })
      await settle()
    }
    // Once with the conditions, once that changes nothing: then it is known.
    expect(world.api.writes).to.deep.equal(['patch databases/a/status', 'patch databases/a/status'])
  })
})
