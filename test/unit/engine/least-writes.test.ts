import { expect } from 'chai'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, FINALIZER, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

function operator() {
  let runs = 0
  const made = handler(
    {
      config: (db) => ({ data: { size: String(db['spec'].size) } }),
      reconcile: (_db, ctx: Ctx) => {
        runs++
        expect(ctx.child(ConfigMap)).not.to.equal(undefined)
      },
      remove: (_db, ctx: Ctx) => ctx.delete(ConfigMap, ctx.child(ConfigMap) as Any),
    },
    { owns: { config: ConfigMap } },
  )
  return Object.assign(made, { runs: () => runs })
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
})
