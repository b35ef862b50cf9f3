import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, Database, handler, Secret, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

/** What `look` sees in a run over an object `a` with these ConfigMaps as children. */
async function seen<T>(children: readonly string[], look: (ctx: Ctx, db: Any) => T | Promise<T>): Promise<T> {
  const world = new World()
  const result = Promise.withResolvers<T>()
  const db = world.api.create(Database, 'a', { spec: {} })
  const owner = { apiVersion: Database.apiVersion, kind: 'Database', name: 'a', uid: db.metadata.uid, controller: true }
  for (const name of children) world.api.create(ConfigMap, name, { metadata: { ownerReferences: [owner], labels: { name } } })
  world.api.create(ConfigMap, 'stranger', {})
  const reconcile = async (db: Any, ctx: Ctx) => {
    await Promise.resolve(look(ctx, db)).then(result.resolve, result.reject)
  }
  await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
  await settle()
  return result.promise
}

const name = (object: unknown) => (object as Any | undefined)?.metadata.name

describe('ctx.child and ctx.children', () => {
  it('give the only child, or the one named after the owner, or the one that is named', async () => {
    expect(await seen([], (ctx) => ctx.child(ConfigMap))).to.equal(undefined)
    expect(await seen(['x'], (ctx) => name(ctx.child(ConfigMap)))).to.equal('x')
    expect(await seen(['0', 'a', 'x'], (ctx) => name(ctx.child(ConfigMap)))).to.equal('a')
    expect(await seen(['a', 'x'], (ctx) => name(ctx.child(ConfigMap, 'x')))).to.equal('x')
    expect(await seen(['a'], (ctx) => name(ctx.child(ConfigMap, 'stranger')))).to.equal(undefined)
  })

  it('give all children by name, and nobody else’s', async () => {
    expect(await seen(['z', 'a', 'm'], (ctx) => ctx.children(ConfigMap).map(name))).to.deep.equal(['a', 'm', 'z'])
  })

  it('give objects that the handler may change without harm', async () => {
    const twice = await seen(['x'], (ctx) => {
      const child = ctx.child(ConfigMap) as unknown as Any
      child['data'] = { changed: 'x' }
      return (ctx.child(ConfigMap) as unknown as Any)['data']
    })
    expect(twice).to.equal(undefined)
  })
})

describe('ctx.get and ctx.list', () => {
  it('mean the namespace of the run’s object where none is named', async () => {
    expect(await seen(['x'], async (ctx) => name(await ctx.get(ConfigMap, 'x')))).to.equal('x')
    expect(await seen(['x'], async (ctx) => name(await ctx.get(ConfigMap, { name: 'x', namespace: 'other' })))).to.equal(undefined)
  })

  it('select by labels', async () => {
    const names = await seen(['x', 'y'], async (ctx) => (await ctx.list(ConfigMap, { labels: { name: 'y' } })).map(name))
    expect(names).to.deep.equal(['y'])
  })
})

describe('ctx.delete', () => {
  it('is no error for what is gone already', async () => {
    await seen([], (ctx) => ctx.delete(Secret, { name: 'x', namespace: 'shop' }))
  })

  it('never hits another object of the name where it is given the object itself', async () => {
    const error = await seen(['x'], async (ctx) => {
      const child = ctx.child(ConfigMap) as unknown as Any
      return ctx.delete(ConfigMap, { ...child, metadata: { ...child.metadata, uid: 'of-before' } }).then(
        () => undefined,
        (thrown) => thrown,
      )
    })
    expect(error).to.include({ status: 409 })
  })
})

describe('ctx.idempotencyKey', () => {
  it('is the same in every run over the object, and another for each step', async () => {
    const keys = await seen([], (ctx) => [
      ctx.idempotencyKey('a'),
      ctx.idempotencyKey('a'),
      ctx.idempotencyKey('b'),
      ctx.idempotencyKey('a', 'b'),
    ])
    expect(keys[0]).to.equal(keys[1])
    expect(new Set(keys).size).to.equal(3)
  })
})
