import { expect } from 'chai'
import { APPLIED_ANNOTATION, BUILDER_LABEL, Children } from '../../../lib/engine/children.ts'
import { Primary } from '../../../lib/engine/primary.ts'
import type { KindRef } from '../../../lib/resource/kind.ts'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, handler, Secret, Site, StatefulSet, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

const UID = { controller: true, blockOwnerDeletion: true }

function ownerOf(db: { metadata: { name: string; uid: string } }, more: object = {}) {
  return { apiVersion: Database.apiVersion, kind: 'Database', name: db.metadata.name, uid: db.metadata.uid, ...UID, ...more }
}

function names(owner: string, built: unknown, kind: Pick<KindRef, 'kind'> = ConfigMap, suffix?: string): string[] {
  const metadata = { name: owner, namespace: 'shop', uid: 'u', resourceVersion: '1' }
  const children = new Children({ primary: new Primary(Database, `shop/${owner}`, { metadata }) } as never)
  return children.named(kind as KindRef, built, { method: 'build', suffix }).map((child) => child.metadata?.name as string)
}

describe('the names of children', () => {
  it('are those of the owner, with the suffix and the place in a list', () => {
    expect(names('db', {})).to.deep.equal(['db'])
    expect(names('db', {}, ConfigMap, 'init')).to.deep.equal(['db-init'])
    expect(names('db', [{}, {}])).to.deep.equal(['db-0', 'db-1'])
    expect(names('db', [{}], ConfigMap, 'init')).to.deep.equal(['db-init-0'])
  })

  it('are the builder’s where it gives some', () => {
    expect(names('db', [{ metadata: { name: 'x' } }, {}])).to.deep.equal(['x', 'db-1'])
  })

  it('of nothing are none', () => {
    for (const nothing of [undefined, null, [], [undefined, null]]) expect(names('db', nothing)).to.deep.equal([])
  })

  for (const [kind, limit] of [
    ['Service', 63],
    ['Job', 63],
    ['StatefulSet', 52],
    ['CronJob', 52],
    ['ConfigMap', 253],
  ] as const) {
    it(`fit into the ${limit} characters of a ${kind}`, () => {
      const [fits] = names('x'.repeat(limit), {}, { kind })
      expect(fits).to.equal('x'.repeat(limit))
      const [cut = ''] = names('x'.repeat(limit + 1), {}, { kind })
      expect(cut).to.match(/^x+-[0-9a-f]{8}$/)
      expect(cut).to.have.length(limit)
    })
  }

  it('stay different when they are cut, stay the same from run to run, and never end in a dash', () => {
    const long = `${'x'.repeat(42)}-${'y'.repeat(40)}`
    const [a, b] = [names(`${long}a`, {}, StatefulSet), names(`${long}b`, {}, StatefulSet)]
    expect(a).not.to.deep.equal(b)
    expect(names(`${long}a`, {}, StatefulSet)).to.deep.equal(a)
    expect(a[0]).to.match(/^x{42}-[0-9a-f]{8}$/)
  })

  it('must not be given twice', () => {
    expect(() => names('db', [{ metadata: { name: 'x' } }, { metadata: { name: 'x' } }])).to.throw('two ConfigMap objects named x')
  })

  for (const wrong of ['text', 5, true, [[{}]]]) {
    it(`are not those of ${JSON.stringify(wrong)}`, () => expect(() => names('db', wrong)).to.throw(/^build\(\) returned /))
  }
})

describe('children', () => {
  it('get kind, name, namespace, controller reference and builder by themselves', async () => {
    const world = new World()
    await world.start(handler({ set: () => ({ spec: { replicas: 1 } }) }, { owns: { set: StatefulSet } }))
    const db = world.api.create(Database, 'a', { spec: {} })
    await settle()
    const set = world.api.get(StatefulSet, 'a')
    expect(set).to.deep.include({ apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { replicas: 1 } })
    expect(set?.metadata.ownerReferences).to.deep.equal([ownerOf(db)])
    expect(set?.metadata.labels).to.deep.equal({ [BUILDER_LABEL]: 'set' })
    expect(world.api.seen('apply statefulsets/a')[0]?.query.get('fieldManager')).to.equal('tsop')
  })

  it('that a builder copied from a live object lose what may not be applied', async () => {
    const world = new World()
    const set = () => ({ status: { replicas: 3 }, metadata: { resourceVersion: '1', uid: 'x', creationTimestamp: 'y', managedFields: [] } })
    await world.start(handler({ set: set as never }, { owns: { set: StatefulSet } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    const { body } = world.api.seen('apply statefulsets/a')[0] ?? {}
    expect(body).to.not.have.property('status')
    expect(body?.metadata).to.not.have.any.keys('uid', 'creationTimestamp', 'managedFields')
  })

  it('deleted by others are made again', async () => {
    const world = new World()
    await world.start(handler({ config: () => ({ data: { a: '1' } }) }, { owns: { config: ConfigMap } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    const { uid } = world.api.get(ConfigMap, 'a')?.metadata ?? {}
    world.api.delete(ConfigMap, 'a')
    await settle()
    const again = world.api.get(ConfigMap, 'a')
    expect(again?.['data']).to.deep.equal({ a: '1' })
    expect(again?.metadata.uid).not.to.equal(uid)
  })

  it('lose a field that is no longer wanted, and keep those of others', async () => {
    const world = new World()
    await world.start(handler({ config: (db) => ({ data: db['spec'].data }) }, { owns: { config: ConfigMap } }))
    world.api.create(Database, 'a', { spec: { data: { a: '1', b: '2' } } })
    await settle()
    world.api.edit(ConfigMap, 'a', (map) => {
      map['data'].theirs = 'x'
    })
    await settle()
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { data: { a: '1' } }
    })
    await settle()
    expect(world.api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ a: '1', theirs: 'x' })
  })

  it('are not written for what the server adds', async () => {
    const world = new World()
    await world.start(handler({ set: () => ({ spec: { replicas: 1 } }) }, { owns: { set: StatefulSet } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.forget()
    world.api.edit(StatefulSet, 'a', (set) => Object.assign(set, { spec: { replicas: 1, added: true }, status: { readyReplicas: 1 } }))
    await settle()
    expect(world.api.writes).to.deep.equal([])
  })

  it('that the server writes in another way cost one more apply, and then none', async () => {
    const world = new World()
    const quantity = (seen: { body: { spec?: { cpu?: string } } | undefined }, perform: () => never) => {
      if (seen.body?.spec?.cpu === '1000m') seen.body.spec.cpu = '1'
      return perform()
    }
    world.api.intercept('apply statefulsets/a', quantity as never, 99)
    let runs = 0
    const methods = { set: () => ({ spec: { cpu: '1000m' } }), reconcile: () => void runs++ }
    await world.start(handler(methods, { owns: { set: StatefulSet } }))
    world.api.create(Database, 'a', { spec: {} })
    for (let i = 0; i < 5; i++) {
      await settle()
      world.api.edit(Database, 'a', (db) => {
        db.metadata.labels = { i: String(i) }
      })
    }
    await settle()
    expect(runs).to.equal(6)
    expect(world.api.seen('apply statefulsets/a').length).to.be.at.most(2)
    await world.stop()
    world.api.forget()
    const methodsAgain = { set: methods.set }
    await world.start(handler(methodsAgain, { owns: { set: StatefulSet } }))
    for (let i = 0; i < 3; i++) {
      world.api.edit(Database, 'a', (db) => {
        db.metadata.labels = { again: String(i) }
      })
      await settle()
    }
    expect(world.api.seen('apply statefulsets/a').length).to.be.at.most(1)
  })

  it('that really drift are repaired although a false difference is known', async () => {
    const world = new World()
    const quantity = (seen: { body: { spec?: { cpu?: string } } | undefined }, perform: () => never) => {
      if (seen.body?.spec?.cpu === '1000m') seen.body.spec.cpu = '1'
      return perform()
    }
    world.api.intercept('apply statefulsets/a', quantity as never, 99)
    await world.start(handler({ set: () => ({ spec: { cpu: '1000m', replicas: 1 } }) }, { owns: { set: StatefulSet } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.edit(StatefulSet, 'a', (set) => {
      set['spec'].replicas = 5
    })
    await settle()
    expect(world.api.get(StatefulSet, 'a')?.['spec']).to.deep.equal({ cpu: '1', replicas: 1 })
  })

  it('made by the handler itself are applied the same way, and never pruned', async () => {
    const world = new World()
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      await ctx.apply(ConfigMap, { data: { a: '1' } } as never)
    }
    let build = true
    const config = () => (build ? { metadata: { name: 'built' } } : undefined)
    await world.start(handler({ reconcile, config }, { owns: { config: ConfigMap }, stacked: [ConfigMap] }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(
      world.api
        .all(ConfigMap)
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).to.deep.equal(['a', 'built'])
    build = false
    world.api.forget()
    world.api.edit(Database, 'a', (db) => {
      db['spec'].x = 1
    })
    await settle()
    expect(world.api.all(ConfigMap).map(({ metadata }) => metadata.name)).to.deep.equal(['a'])
    expect(world.api.writes).to.deep.equal(['delete configmaps/built', 'patch databases/a/status'])
  })

  it('of a kind that is not declared are refused with the way out', async () => {
    const world = new World()
    await world.start(handler({ reconcile: (_db, ctx: Ctx) => void ctx.child(Secret) }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ reason: 'ChildNotDeclared' })
    expect(condition(world.api.get(Database, 'a'), 'Ready').message).to.contain('add @owns(Secret)')
  })
})

describe('children that cannot be', () => {
  async function refused(built: object, options: { kind?: KindRef; owned?: KindRef }) {
    const { kind = Database, owned = ConfigMap } = options
    const world = new World()
    await world.start(handler({ build: () => built }, { kind, owns: { build: owned } }))
    world.api.create(kind, 'a', { spec: {} })
    await settle()
    expect(world.api.writes).to.deep.equal([`patch ${kind.plural}/a/status`])
    return condition(world.api.get(kind, 'a'), 'Ready')
  }

  it('a cluster-scoped one of a namespaced owner', async () => {
    const { reason, message } = await refused({}, { owned: Site })
    expect(reason).to.equal('InvalidChild')
    expect(message).to.match(/Database is namespaced and cannot own the cluster-scoped Site a: .* remove it in @onDelete/)
  })

  it('one in another namespace', async () => {
    const { message } = await refused({ metadata: { namespace: 'other' } }, {})
    expect(message).to.contain('ConfigMap other/a is in another namespace than its owner shop/a')
  })

  it('one of a cluster-scoped owner without a namespace', async () => {
    const { message } = await refused({}, { kind: Site })
    expect(message).to.contain('Site is cluster-scoped, so its child needs a metadata.namespace')
  })

  it('but a cluster-scoped owner may have one where it says', async () => {
    const world = new World()
    await world.start(handler({ build: () => ({ metadata: { namespace: 'other' } }) }, { kind: Site, owns: { build: ConfigMap } }))
    world.api.create(Site, 'a', { spec: {} })
    await settle()
    expect(world.api.get(ConfigMap, 'a', 'other')).not.to.equal(undefined)
    world.api.forget()
    world.api.delete(Site, 'a')
    await settle()
    expect(world.api.writes).to.deep.equal([])
  })
})

describe('what is not ours (promise 8)', () => {
  const op = () => handler({ config: () => ({ data: { a: '1' } }) }, { owns: { config: ConfigMap } })

  it('a child of another controller is left alone, said in the condition, and made once its name is free', async () => {
    const world = new World()
    const theirs = { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'o', ...UID }
    world.api.create(ConfigMap, 'a', { data: { theirs: 'x' }, metadata: { ownerReferences: [theirs] } })
    await world.start(op())
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(3000)
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({
      reason: 'ChildNotOwned',
      message: 'ConfigMap shop/a belongs to Other o; it is left alone',
    })
    expect(world.api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ theirs: 'x' })
    world.api.delete(ConfigMap, 'a')
    await settle()
    expect(world.api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ a: '1' })
  })

  it('a child of another controller that the cache does not know yet is left alone as well', async () => {
    const world = new World()
    await world.start(op())
    world.api.holdWatch(ConfigMap)
    const theirs = { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'o', ...UID }
    world.api.create(ConfigMap, 'a', { data: { theirs: 'x' }, metadata: { ownerReferences: [theirs] } })
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.reason).to.equal('ChildNotOwned')
    expect(world.api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ theirs: 'x' })
  })

  it('an owner of the same kind and name in another group is no former owner', async () => {
    const world = new World()
    const theirs = { apiVersion: 'other.example.com/v1', kind: 'Database', name: 'a', uid: 'o', ...UID }
    world.api.create(ConfigMap, 'a', { metadata: { ownerReferences: [theirs] } })
    await world.start(op())
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.reason).to.equal('ChildNotOwned')
  })

  it('a left-over child of a former owner of the name is waited for, then made anew', async () => {
    const world = new World()
    await world.start(op())
    const old = world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.delete(Database, 'a')
    const now = world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(world.api.get(ConfigMap, 'a')?.metadata.ownerReferences?.[0]?.uid).to.equal(old.metadata.uid)
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.reason).to.equal('WaitingForChild')
    world.api.delete(ConfigMap, 'a') // as the garbage collector does
    await settle()
    expect(world.api.get(ConfigMap, 'a')?.metadata.ownerReferences?.[0]?.uid).to.equal(now.metadata.uid)
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('True')
    expect(world.logged('error'), 'waiting is not an error').to.deep.equal([])
  })

  it('a child that is being deleted is waited for', async () => {
    const world = new World()
    await world.start(op())
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.edit(ConfigMap, 'a', (map) => {
      map.metadata.finalizers = ['example.com/slow']
    })
    world.api.delete(ConfigMap, 'a')
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.reason).to.equal('WaitingForChild')
    world.api.edit(ConfigMap, 'a', (map) => {
      map.metadata.finalizers = []
    })
    await settle()
    expect(world.api.get(ConfigMap, 'a')?.metadata.deletionTimestamp).to.equal(undefined)
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('True')
  })

  it('an object without a controller is adopted, after a live look at the owner', async () => {
    const world = new World()
    world.api.create(ConfigMap, 'a', { data: { theirs: 'x' } })
    await world.start(op())
    const db = world.api.create(Database, 'a', { spec: {} })
    await settle()
    const texts = world.api.requests.map(({ text }) => text).filter((text) => !text.startsWith('watch'))
    expect(texts).to.deep.equal(['get databases/a', 'apply configmaps/a', 'patch databases/a/status'])
    const map = world.api.get(ConfigMap, 'a')
    expect(map?.['data']).to.deep.equal({ theirs: 'x', a: '1' })
    expect(map?.metadata.ownerReferences).to.deep.equal([ownerOf(db)])
  })

  it('an object without a controller is not adopted by an owner that is gone', async () => {
    const world = new World()
    world.api.create(Database, 'a', { spec: {} })
    world.api.create(ConfigMap, 'a', { data: {} })
    world.api.holdWatch(Database)
    world.api.delete(Database, 'a')
    await world.start(op())
    await world.ms(10_000)
    expect(world.api.seen(/^apply/)).to.deep.equal([])
    expect(world.logged('error')).to.deep.equal([])
  })

  it('an object without a controller that the cache does not know yet is not adopted without that look', async () => {
    const world = new World()
    await world.start(op())
    world.api.holdWatch(ConfigMap)
    world.api.create(ConfigMap, 'a', { data: { theirs: 'x' } })
    world.api.before('apply configmaps/a', () => world.api.delete(Database, 'a'))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(10_000)
    expect(world.api.get(ConfigMap, 'a')?.metadata.ownerReferences).to.equal(undefined)
  })
})

describe('pruning (promise 8)', () => {
  const op = () =>
    handler({ configs: (db) => db['spec'].parts.map((name: string) => ({ metadata: { name } })) }, { owns: { configs: ConfigMap } })
  const parts = (world: World) =>
    world.api
      .all(ConfigMap)
      .map(({ metadata }) => metadata.name)
      .sort()

  it('deletes the children that the builder no longer returns, after a live look at the owner, by uid', async () => {
    const world = new World()
    await world.start(op())
    world.api.create(Database, 'a', { spec: { parts: ['x', 'y'] } })
    await settle()
    const { uid, resourceVersion } = world.api.get(ConfigMap, 'y')?.metadata ?? {}
    world.api.forget()
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { parts: ['x'] }
    })
    await settle()
    expect(parts(world)).to.deep.equal(['x'])
    expect(world.api.requests.map(({ text }) => text)).to.deep.equal(['get databases/a', 'delete configmaps/y', 'patch databases/a/status'])
    const { body } = world.api.seen('delete configmaps/y')[0] ?? {}
    expect(body?.['preconditions']).to.deep.equal({ uid, resourceVersion })
    expect(body?.['propagationPolicy']).to.equal('Background')
  })

  it('deletes nothing on the word of a list that is old after a restart', async () => {
    const world = new World()
    world.api.create(Database, 'a', { spec: { parts: ['x'] } })
    world.api.holdWatch(Database)
    // What the world is now: x and y. What the list still says: x alone.
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { parts: ['x', 'y'] }
    })
    const owner = ownerOf(world.api.get(Database, 'a') as never)
    for (const name of ['x', 'y']) {
      world.api.create(ConfigMap, name, { metadata: { labels: { [BUILDER_LABEL]: 'configs' }, ownerReferences: [owner] } })
    }
    await world.start(op())
    await world.ms(1000)
    expect(world.api.seen(/^delete/)).to.deep.equal([])
    expect(parts(world)).to.deep.equal(['x', 'y'])
    // The look has shown the newer owner: the run after it works on that.
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'True', observedGeneration: 2 })
  })

  it('nor does the handler itself delete a child on the word of such a list', async () => {
    const world = new World()
    world.api.create(Database, 'a', { spec: { keep: false } })
    world.api.holdWatch(Database)
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { keep: true }
    })
    const owner = ownerOf(world.api.get(Database, 'a') as never)
    world.api.create(ConfigMap, 'x', { metadata: { ownerReferences: [owner] } })
    const reconcile = async (db: { spec: { keep: boolean } }, ctx: Ctx) => {
      if (!db.spec.keep) await ctx.delete(ConfigMap, { name: 'x', namespace: 'shop' })
    }
    await world.start(handler({ reconcile: reconcile as never }, { stacked: [ConfigMap] }))
    await world.ms(1000)
    expect(parts(world)).to.deep.equal(['x'])
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'True', observedGeneration: 2 })
  })

  it('leaves children alone that no builder made, and those of others', async () => {
    const world = new World()
    await world.start(op())
    const db = world.api.create(Database, 'a', { spec: { parts: ['x'] } })
    await settle()
    world.api.create(ConfigMap, 'manual', { metadata: { ownerReferences: [ownerOf(db)] } })
    world.api.create(ConfigMap, 'other', { metadata: { labels: { [BUILDER_LABEL]: 'configs' } } })
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { parts: [] }
    })
    await settle()
    expect(parts(world)).to.deep.equal(['manual', 'other'])
  })

  it('deletes nothing where a builder throws', async () => {
    const world = new World()
    const configs = (db: { spec: { parts: string[] } }) => {
      if (db.spec.parts.length === 0) throw new Error('cannot tell')
      return db.spec.parts.map((name) => ({ metadata: { name } }))
    }
    await world.start(handler({ configs: configs as never }, { owns: { configs: ConfigMap } }))
    world.api.create(Database, 'a', { spec: { parts: ['x'] } })
    await settle()
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { parts: [] }
    })
    await settle()
    expect(parts(world)).to.deep.equal(['x'])
  })

  it('does not hit a child that was made anew under the name', async () => {
    const world = new World()
    await world.start(op())
    world.api.create(Database, 'a', { spec: { parts: ['x', 'y'] } })
    await settle()
    world.api.before('delete configmaps/y', () => {
      world.api.delete(ConfigMap, 'y')
      world.api.create(ConfigMap, 'y', { data: { theirs: 'x' } })
    })
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { parts: ['x'] }
    })
    await world.ms(10_000)
    expect(world.api.get(ConfigMap, 'y')?.['data']).to.deep.equal({ theirs: 'x' })
    expect(world.logged('error')).to.deep.equal([])
  })

  it('takes the children of a builder that was renamed over instead of deleting them', async () => {
    const world = new World()
    await world.start(op())
    world.api.create(Database, 'a', { spec: { parts: ['x'] } })
    await settle()
    const { uid } = world.api.get(ConfigMap, 'x')?.metadata ?? {}
    await world.stop()
    await world.start(handler({ renamed: () => [{ metadata: { name: 'x' } }] }, { owns: { renamed: ConfigMap } }))
    const now = world.api.get(ConfigMap, 'x')
    expect(now?.metadata.uid).to.equal(uid)
    expect(now?.metadata.labels).to.deep.equal({ [BUILDER_LABEL]: 'renamed' })
  })
})

describe('read your writes (promise 7)', () => {
  it('a child is made once, however late its event comes', async () => {
    const world = new World()
    let seen = 0
    const methods = {
      configs: () => [{ metadata: { name: 'x' } }],
      reconcile: (_db: unknown, ctx: Ctx) => {
        seen = ctx.children(ConfigMap).length
      },
    }
    await world.start(handler(methods, { owns: { configs: ConfigMap } }))
    world.api.holdWatch(ConfigMap)
    world.api.create(Database, 'a', { spec: {} })
    for (let i = 0; i < 3; i++) {
      await settle()
      expect(seen).to.equal(1)
      world.api.edit(Database, 'a', (db) => {
        db['spec'].i = i
      })
    }
    await settle()
    expect(world.api.seen('apply configmaps/x')).to.have.length(1)
  })

  it('a generated name is made once, although nothing but the cache knows it', async () => {
    const world = new World()
    const reconcile = async (db: { metadata: { namespace: string } }, ctx: Ctx) => {
      if (ctx.children(ConfigMap).length > 0) return
      const metadata = {
        name: `made-${world.api.all(ConfigMap).length}`,
        namespace: db.metadata.namespace,
        ownerReferences: [ownerOf(db as never)],
      }
      await ctx.client.create(ConfigMap, { metadata } as never)
    }
    await world.start(handler({ reconcile: reconcile as never }, { stacked: [ConfigMap] }))
    world.api.holdWatch(ConfigMap)
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.edit(Database, 'a', (db) => {
      db['spec'].i = 1
    })
    await settle()
    expect(world.api.all(ConfigMap)).to.have.length(1)
  })

  it('a child that a run deleted is not seen by the next, also if an old event comes late', async () => {
    const world = new World()
    const seen: number[] = []
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      const children = ctx.children(ConfigMap)
      seen.push(children.length)
      for (const child of children) await ctx.delete(ConfigMap, child as never)
    }
    const db = (() => world.api.create(Database, 'a', { spec: {} }))()
    world.api.create(ConfigMap, 'x', { metadata: { ownerReferences: [ownerOf(db)] } })
    await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
    world.api.holdWatch(ConfigMap)
    world.api.edit(Database, 'a', (db) => {
      db['spec'].i = 1
    })
    await settle()
    world.api.releaseWatch(ConfigMap)
    await world.ms(1000)
    expect(seen).to.deep.equal([1, 0])
  })

  it('after a write without an answer the object is read live before the next run', async () => {
    const world = new World()
    const seen: (string | undefined)[] = []
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      seen.push(ctx.child(ConfigMap)?.metadata.name)
      await ctx.apply(ConfigMap, { data: {} } as never)
    }
    await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
    world.api.holdWatch(ConfigMap)
    world.api.loseAnswer('apply configmaps/a')
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(250)
    expect(seen).to.deep.equal([undefined, 'a'])
    expect(world.api.seen('get configmaps/a')).to.have.length(1)
    expect(world.api.seen('apply configmaps/a')).to.have.length(1)
  })

  it('a look that fails is repeated before anything is run', async () => {
    const world = new World()
    let runs = 0
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      runs++
      await ctx.apply(ConfigMap, { data: {} } as never)
    }
    await world.start(handler({ reconcile }, { stacked: [ConfigMap] }))
    world.api.holdWatch(ConfigMap)
    world.api.loseAnswer('apply configmaps/a')
    world.api.fail('get configmaps/a', 500, 'InternalError', 2)
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(500)
    expect(runs).to.equal(1)
    await world.ms(5000)
    expect(runs).to.equal(2)
    expect(world.api.seen('apply configmaps/a')).to.have.length(1)
  })

  it('a write that hangs until the run is cut is read live before the next run', async () => {
    const world = new World()
    const seen: (string | undefined)[] = []
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      seen.push(ctx.child(ConfigMap)?.metadata.name)
      await ctx.apply(ConfigMap, { data: {} } as never)
    }
    const bare = { ...Database, status: undefined } as never
    await world.start(handler({ reconcile }, { kind: bare, stacked: [ConfigMap], options: { timeout: '5s' } }))
    world.api.holdWatch(ConfigMap)
    world.api.intercept('apply configmaps/a', (_, perform) => {
      perform()
      return new Promise(() => {})
    })
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(5250)
    expect(seen).to.deep.equal([undefined, 'a'])
  })
})

describe('hashes', () => {
  it('say what was applied, so that an equal wish costs nothing and another one a write', async () => {
    const world = new World()
    const made = (data: object) => handler({ config: () => ({ data }) }, { owns: { config: ConfigMap } })
    world.api.create(Database, 'a', { spec: {} })
    await world.start(made({ a: '1', b: '2' }))
    const hash = () => world.api.get(ConfigMap, 'a')?.metadata.annotations?.[APPLIED_ANNOTATION]
    const first = hash()
    expect(first).to.match(/^[\w-]{22}$/)
    await world.stop()
    world.api.forget()
    await world.start(made({ b: '2', a: '1' }))
    expect([world.api.writes, hash()]).to.deep.equal([[], first])
    await world.stop()
    await world.start(made({ a: '1' }))
    expect(hash()).not.to.equal(first)
    expect(world.api.get(ConfigMap, 'a')?.['data']).to.deep.equal({ a: '1' })
  })
})

describe('children with names of their own', () => {
  const placed = (site: Any) => site['spec'].in.map((namespace: string) => ({ metadata: { name: 'x', namespace }, data: {} }))

  it('may bear one name in several namespaces, and are pruned in the one they left', async () => {
    const world = new World()
    await world.start(handler({ reconcile() {}, placed }, { kind: Site, owns: { placed: ConfigMap } }))
    world.api.create(Site, 'a', { spec: { in: ['one', 'two'] } })
    await settle()
    expect(world.api.all(ConfigMap).map(({ metadata }) => metadata.namespace)).to.have.members(['one', 'two'])
    world.api.edit(Site, 'a', (site) => {
      site['spec'] = { in: ['two', 'three'] }
    })
    await settle()
    expect(world.api.all(ConfigMap).map(({ metadata }) => metadata.namespace)).to.have.members(['two', 'three'])
  })

  it('are refused in a namespace that nobody watches', async () => {
    const world = new World()
    await world.startWith({ namespaces: ['one'] }, handler({ reconcile() {}, placed }, { kind: Site, owns: { placed: ConfigMap } }))
    world.api.create(Site, 'a', { spec: { in: ['two'] } })
    await settle()
    expect(condition(world.api.get(Site, 'a'), 'Ready').message).to.include('ConfigMap two/x is in a namespace that is not served')
    expect(world.api.all(ConfigMap)).to.deep.equal([])
  })

  it('have one maker: a second one is an error instead of a write in every run', async () => {
    const world = new World()
    const one = () => ({ metadata: { name: 'x' }, data: { a: '1' } })
    await world.start(handler({ reconcile() {}, one, two: one }, { owns: { one: ConfigMap, two: ConfigMap } }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready').message).to.include('one() and two() both make ConfigMap shop/x')
    world.api.forget()
    await world.ms(60_000)
    expect(world.api.writes).to.deep.equal([])
  })

  for (const method of ['handler', '$map', 'm'.repeat(80)]) {
    it(`are pruned whatever the builder is called: ${method.slice(0, 10)}`, async () => {
      const world = new World()
      const builder = (db: Any) => (db['spec'].map ? { data: { a: '1' } } : undefined)
      await world.start(handler({ reconcile() {}, [method]: builder }, { owns: { [method]: ConfigMap } }))
      world.api.create(Database, 'a', { spec: { map: true } })
      await settle()
      const label = world.api.get(ConfigMap, 'a')?.metadata.labels?.['tsop.dev/builder']
      expect(label).to.match(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
      world.api.edit(Database, 'a', (db) => {
        db['spec'] = { map: false }
      })
      await settle()
      expect(world.api.get(ConfigMap, 'a')).to.equal(undefined)
    })
  }
})
