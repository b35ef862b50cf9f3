import { expect } from 'chai'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, deferred, FINALIZER, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

async function withOne(methods: Parameters<typeof handler>[0], rest: object = { spec: {} }, options: Parameters<typeof handler>[1] = {}) {
  const world = new World()
  const op = handler(methods, options)
  await world.start(op)
  world.api.create(Database, 'a', rest)
  await settle()
  return { world, api: world.api, db: () => world.api.get(Database, 'a') }
}

describe('the finalizer (promise 6)', () => {
  it('is there before the first run', async () => {
    let seen: string[] | undefined
    const reconcile = (db: Any) => {
      seen = db.metadata.finalizers
    }
    await withOne({ reconcile, remove() {} })
    expect(seen).to.deep.equal([FINALIZER])
  })

  it('is not added where the class has no @onDelete', async () => {
    const { db } = await withOne({})
    expect(db()?.metadata.finalizers).to.equal(undefined)
  })

  it('bears the name that the class gives', async () => {
    const { db } = await withOne({ remove() {} }, { spec: {} }, { finalizer: 'example.com/mine' })
    expect(db()?.metadata.finalizers).to.deep.equal(['example.com/mine'])
  })

  it('leaves those of others in place when it comes and when it goes', async () => {
    const { api, db } = await withOne({ remove() {} }, { spec: {}, metadata: { finalizers: ['example.com/theirs'] } })
    expect(db()?.metadata.finalizers).to.have.members(['example.com/theirs', FINALIZER])
    api.delete(Database, 'a')
    await settle()
    expect(db()?.metadata.finalizers).to.deep.equal(['example.com/theirs'])
    api.edit(Database, 'a', (db) => {
      db.metadata.finalizers = []
    })
    await settle()
    expect(db()).to.equal(undefined)
  })

  it('goes also where somebody else had set the same entry', async () => {
    let removed = 0
    const { api, db } = await withOne({ remove: () => void removed++ }, { spec: {}, metadata: { finalizers: [FINALIZER] } })
    expect(api.seen('apply databases/a')).to.deep.equal([])
    api.delete(Database, 'a')
    await settle()
    expect([db(), removed]).to.deep.equal([undefined, 1])
  })

  it('stays until onDelete has returned', async () => {
    const gate = deferred()
    const { api, db } = await withOne({ remove: () => gate.promise })
    api.delete(Database, 'a')
    await settle()
    expect(db()?.metadata.finalizers).to.deep.equal([FINALIZER])
    gate.resolve()
    await settle()
    expect(db()).to.equal(undefined)
  })

  it('stays while onDelete fails, and the condition says why', async () => {
    let runs = 0
    const remove = () => {
      if (++runs <= 2) throw new Error('the provider is down')
    }
    const { world, api, db } = await withOne({ remove })
    api.delete(Database, 'a')
    await settle()
    expect(db()?.metadata.finalizers).to.deep.equal([FINALIZER])
    expect(condition(db(), 'Ready')).to.include({ status: 'False', reason: 'DeleteFailed', message: 'the provider is down' })
    await world.ms(750)
    expect([runs, db()]).to.deep.equal([3, undefined])
  })

  it('stays while onDelete waits', async () => {
    let runs = 0
    const remove = () => (++runs <= 2 ? requeueAfter('10s', { reason: 'BackupRunning' }) : undefined)
    const { world, api, db } = await withOne({ remove })
    api.delete(Database, 'a')
    await world.ms(10_000)
    expect(condition(db(), 'Reconciling')?.reason).to.equal('BackupRunning')
    await world.ms(10_000)
    expect([runs, db()]).to.deep.equal([3, undefined])
    expect(world.logged('error')).to.deep.equal([])
  })

  it('is never added to an object that is being deleted, and its deletion in between is no error', async () => {
    const world = new World()
    let runs = 0
    await world.start(handler({ reconcile: () => void runs++, remove() {} }))
    world.api.holdWatch(Database)
    world.api.create(Database, 'a', { spec: {}, metadata: { finalizers: ['example.com/theirs'] } })
    world.api.before('apply databases/a', () => world.api.delete(Database, 'a'))
    world.api.releaseWatch(Database)
    await world.ms(10_000)
    expect(world.api.get(Database, 'a')?.metadata.finalizers).to.deep.equal(['example.com/theirs'])
    expect(runs).to.equal(0)
    expect(world.logged('error')).to.deep.equal([])
  })

  it('is not added to an object that is gone, nor is one made', async () => {
    const world = new World()
    await world.start(handler({ remove() {} }))
    world.api.before('apply databases/a', () => world.api.delete(Database, 'a'))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(10_000)
    expect(world.api.get(Database, 'a')).to.equal(undefined)
    expect(world.logged('error')).to.deep.equal([])
  })

  it('that an earlier version of the class left is taken off when the object is deleted', async () => {
    const { api, db } = await withOne({}, { spec: {}, metadata: { finalizers: [FINALIZER] } })
    api.delete(Database, 'a')
    await settle()
    expect(db()).to.equal(undefined)
  })

  it('goes although the object changes in the very moment', async () => {
    const { api, db } = await withOne({ remove() {} })
    api.before('apply databases/a', () => {
      api.edit(Database, 'a', (db) => {
        db.metadata.labels = { x: 'y' }
      })
    })
    api.delete(Database, 'a')
    await settle()
    expect(db()).to.equal(undefined)
  })

  it('whose removal got no answer is not removed twice, nor is onDelete called twice', async () => {
    let runs = 0
    const { world, api, db } = await withOne({ remove: () => void runs++ })
    api.holdWatch(Database)
    api.loseAnswer('apply databases/a')
    api.delete(Database, 'a')
    api.releaseWatch(Database)
    await world.ms(10_000)
    expect([db(), runs]).to.deep.equal([undefined, 1])
  })

  it('that cannot be removed is said in the condition, and tried again', async () => {
    const { world, api, db } = await withOne({ remove() {} })
    api.fail('apply databases/a', 500, 'InternalError', 2)
    api.delete(Database, 'a')
    await settle()
    expect(condition(db(), 'Ready')?.reason).to.equal('DeleteFailed')
    await world.ms(1000)
    expect(db()).to.equal(undefined)
  })

  it('that cannot be added is said in the condition', async () => {
    const world = new World()
    await world.start(handler({ remove() {} }))
    world.api.fail('apply databases/a', 403, 'Forbidden', 99)
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('False')
  })
})

describe('a deletion', () => {
  it('that happened while nobody ran is found after a restart', async () => {
    const calls: string[] = []
    const op = () => handler({ reconcile: () => void calls.push('reconcile'), remove: () => void calls.push('remove') })
    const world = new World()
    await world.start(op())
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    await world.stop()
    world.api.delete(Database, 'a')
    await world.start(op())
    expect(calls).to.deep.equal(['reconcile', 'remove'])
    expect(world.api.get(Database, 'a')).to.equal(undefined)
  })

  it('goes before what is queued', async () => {
    const gate = deferred()
    const calls: string[] = []
    const methods = {
      reconcile: (db: Any) => {
        calls.push(db.metadata.name)
        return db.metadata.name === 'busy' ? gate.promise : undefined
      },
      remove: (db: Any) => void calls.push(`remove ${db.metadata.name}`),
    }
    const world = new World()
    await world.start(handler(methods))
    world.api.create(Database, 'd', { spec: {} })
    await settle()
    world.api.create(Database, 'busy', { spec: {} })
    await settle()
    for (const name of ['b', 'c']) world.api.create(Database, name, { spec: {} })
    world.api.delete(Database, 'd')
    gate.resolve()
    await settle()
    expect(calls).to.deep.equal(['d', 'busy', 'remove d', 'b', 'c'])
  })

  it('is seen through for an object that has left the label selection', async () => {
    const removed: string[] = []
    const world = new World()
    const methods = { remove: (db: Any) => void removed.push(db.metadata.name) }
    await world.start(handler(methods, { options: { labels: { team: 'shop' } } }))
    world.api.create(Database, 'in', { spec: {}, metadata: { labels: { team: 'shop' } } })
    world.api.create(Database, 'out', { spec: {} })
    await settle()
    expect(world.api.get(Database, 'out')?.metadata.finalizers).to.equal(undefined)
    world.api.edit(Database, 'in', (db) => {
      db.metadata.labels = {}
    })
    await settle()
    world.api.delete(Database, 'in')
    await settle()
    expect([removed, world.api.get(Database, 'in')]).to.deep.equal([['in'], undefined])
  })

  it('lets the handler use its context, and writes a status only when it does not succeed', async () => {
    const world = new World()
    const remove = async (_db: Any, ctx: Ctx) => {
      for (const map of ctx.children(ConfigMap)) await ctx.delete(ConfigMap, map)
    }
    await world.start(handler({ remove, config: () => ({}) }, { owns: { config: ConfigMap } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.forget()
    world.api.delete(Database, 'a')
    await world.ms(1000)
    expect(world.api.writes).to.deep.equal(['delete configmaps/a', 'apply databases/a'])
    expect(world.api.all(ConfigMap)).to.deep.equal([])
  })

  it('makes no child anew', async () => {
    const world = new World()
    await world.start(handler({ remove: () => requeueAfter('1h'), config: () => ({}) }, { owns: { config: ConfigMap } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.delete(Database, 'a')
    world.api.delete(ConfigMap, 'a')
    await settle()
    expect(world.api.all(ConfigMap)).to.deep.equal([])
  })
})
