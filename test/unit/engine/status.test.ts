import { expect } from 'chai'
import { TerminalError } from '../../../lib/engine/errors.ts'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, deferred, handler, StatefulSet, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

/** One object whose first run is held at a gate, with `size` copied to the status. */
async function held() {
  const world = new World()
  const gate = deferred()
  const counted = { runs: 0 }
  const reconcile = async (db: Any, ctx: Ctx) => {
    if (++counted.runs === 1) await gate.promise
    Object.assign(ctx.status, { size: db['spec'].size })
  }
  await world.start(handler({ reconcile }))
  world.api.create(Database, 'a', { spec: { size: 1 } })
  await settle()
  const end = async () => {
    gate.resolve()
    await world.ms(1000)
  }
  return { world, api: world.api, counted, end, db: () => world.api.get(Database, 'a') }
}

describe('the status (promise 5)', () => {
  it('is one merge patch with uid and resourceVersion, of what changed', async () => {
    const { api, end, db } = await held()
    const { uid, resourceVersion } = db()?.metadata ?? {}
    await end()
    const [seen, ...more] = api.seen('patch databases/a/status')
    expect(more).to.deep.equal([])
    expect(seen?.body?.metadata).to.deep.equal({ uid, resourceVersion })
    expect(Object.keys(seen?.body?.['status'])).to.have.members(['size', 'observedGeneration', 'conditions'])
    expect(db()?.['status']).to.deep.include({ size: 1, observedGeneration: 1 })
  })

  it('loses the fields that the handler removes, and keeps those it does not name', async () => {
    const world = new World()
    await world.start(handler({ reconcile: (_db, ctx) => Object.assign(ctx.status, { old: undefined }) && undefined }))
    world.api.create(Database, 'a', { spec: {}, status: { old: 1, kept: { deep: [1] } } })
    await settle()
    expect(world.api.get(Database, 'a')?.['status']).to.deep.include({ kept: { deep: [1] } })
    expect(world.api.get(Database, 'a')?.['status']).to.not.have.property('old')
  })

  it('keeps what the handler wrote to it by the client while it also had a draft', async () => {
    const world = new World()
    const reconcile = async (db: Any, ctx: Ctx) => {
      Object.assign(ctx.status, { drafted: 1, gone: undefined })
      await ctx.client.status.patch(Database, db.metadata, { type: 'merge', value: { status: { direct: 2 } } })
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {}, status: { gone: 1, kept: 3 } })
    await settle()
    expect(world.api.get(Database, 'a')?.['status']).to.include({ drafted: 1, direct: 2, kept: 3 })
    expect(world.api.get(Database, 'a')?.['status']).to.not.have.property('gone')
  })

  it('after a conflict on metadata alone is written in place, without a silent repetition of the run', async () => {
    const { api, counted, end, db } = await held()
    api.before('patch databases/a/status', () => {
      api.edit(Database, 'a', (db) =>
        Object.assign(db.metadata, { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }] }),
      )
    })
    await end()
    const texts = api.requests.map(({ text }) => text).filter((text) => !text.startsWith('watch'))
    expect(texts).to.deep.equal(['patch databases/a/status', 'get databases/a', 'patch databases/a/status'])
    expect(db()?.['status'].size).to.equal(1)
    // The change itself wakes one run, which has nothing to write.
    expect(counted.runs).to.equal(2)
  })

  it('after a new generation is not claimed by the run over the old one: it is run again, silently', async () => {
    const { world, api, counted, end, db } = await held()
    const claimed: (number | undefined)[] = []
    api.before('patch databases/a/status', () => {
      api.edit(Database, 'a', (db) => {
        db['spec'] = { size: 2 }
      })
      claimed.push(db()?.['status']?.observedGeneration)
    })
    await end()
    expect(claimed).to.deep.equal([undefined])
    expect(api.writes).to.deep.equal(['patch databases/a/status'])
    expect(counted.runs).to.equal(2)
    expect(db()?.['status']).to.deep.include({ size: 2, observedGeneration: 2 })
    expect([...world.logged('error'), ...world.logged('warn')]).to.deep.equal([])
  })

  it('that somebody else writes to as well is written beside what is theirs, without another run', async () => {
    const { api, counted, end, db } = await held()
    api.before('patch databases/a/status', () => {
      api.edit(Database, 'a', (db) => {
        db['status'] = { theirs: 1 }
      })
    })
    await end()
    expect(counted.runs).to.equal(1)
    expect(db()?.['status']).to.deep.include({ theirs: 1, size: 1 })
  })

  it('of a kind that has none of the engine’s fields is written only as far as the handler does', async () => {
    const world = new World()
    const foreign = { readyReplicas: 1, external: { ip: '10.0.0.1' }, conditions: [{ type: 'Theirs', status: 'True' }] }
    let set = false
    const reconcile = (_set: Any, ctx: Ctx) => {
      if (set) Object.assign(ctx.status, { ours: 1 })
    }
    await world.start(handler({ reconcile }, { kind: StatefulSet }))
    world.api.create(StatefulSet, 'a', { spec: {}, status: foreign })
    await settle()
    expect(world.api.writes).to.deep.equal([])
    set = true
    world.api.edit(StatefulSet, 'a', (set) => {
      set['spec'] = { replicas: 2 }
    })
    await settle()
    expect(world.api.get(StatefulSet, 'a')?.['status']).to.deep.equal({ ...foreign, ours: 1 })
  })

  it('that is no JSON is the failure of the run', async () => {
    const world = new World()
    await world.start(handler({ reconcile: (_db, ctx) => void Object.assign(ctx.status, { n: 1n }) }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(world.logged('error').join()).to.contain('ctx.status is no JSON')
  })

  it('that cannot be written makes the run fail, and is tried again', async () => {
    const { world, api, counted, end, db } = await held()
    api.fail('patch databases/a/status', 500, 'InternalError', 2)
    await end()
    expect(counted.runs).to.equal(3)
    expect(db()?.['status'].size).to.equal(1)
    expect(world.logged('error')).to.have.length(2)
  })

  it('that the schema refuses is said in the condition, without what the handler drafted', async () => {
    const { world, api, end, db } = await held()
    api.intercept(
      (seen) => seen.body?.['status']?.size !== undefined,
      () => ({ status: 422, body: { kind: 'Status', reason: 'Invalid', message: 'status.size: Invalid value' } }),
      99,
    )
    await end()
    expect(condition(db(), 'Ready')).to.include({ status: 'False', reason: 'ReconcileFailed' })
    expect(condition(db(), 'Ready').message).to.contain('status.size: Invalid value')
    expect(world.logged('error').length).to.be.greaterThan(0)
  })

  it('that cannot be written does not hide why the run failed', async () => {
    const world = new World()
    const reconcile = () => {
      throw new Error('the real reason')
    }
    await world.start(handler({ reconcile }))
    world.api.fail('patch databases/a/status', 500, 'InternalError')
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(world.logged('error')).to.deep.equal(['the real reason'])
    expect(world.logged('warn')).to.include('the status could not be written')
  })

  it('conditions of the handler stand beside those of the engine and of others', async () => {
    const world = new World()
    const theirs = { type: 'Theirs', status: 'True', reason: 'X', message: '', lastTransitionTime: '2025-01-01T00:00:00Z' }
    const reconcile = (_db: Any, ctx: Ctx) => {
      expect(ctx.conditions.get('Theirs')).to.deep.equal(theirs)
      ctx.conditions.set({ type: 'BackupTaken', status: 'True', reason: 'Taken' })
      ctx.conditions.ready({ reason: 'Serving', message: 'three replicas' })
      expect(ctx.conditions.get('BackupTaken')).to.deep.include({ type: 'BackupTaken', status: 'True', reason: 'Taken' })
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {}, status: { conditions: [theirs] } })
    await settle()
    const db = world.api.get(Database, 'a')
    expect(db?.['status'].conditions.map(({ type }: { type: string }) => type)).to.deep.equal(['Theirs', 'BackupTaken', 'Ready'])
    expect(db?.['status'].conditions[0]).to.deep.equal(theirs)
    expect(condition(db, 'Ready')).to.include({ status: 'True', reason: 'Serving', message: 'three replicas' })
  })

  it('a condition that is the engine’s cannot be set', async () => {
    const world = new World()
    await world.start(handler({ reconcile: (_db, ctx: Ctx) => ctx.conditions.set({ type: 'Ready', status: 'True', reason: 'X' }) }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'False', reason: 'InvalidCondition' })
  })

  it('what the handler does with its object changes neither status nor cache', async () => {
    const world = new World()
    const sizes: number[] = []
    const reconcile = (db: Any) => {
      sizes.push(db['spec'].size)
      db['spec'].size = 99
      db['status'] = { hacked: true }
      db.metadata.resourceVersion = '1'
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: { size: 1 }, status: { kept: 1 } })
    await settle()
    world.api.edit(Database, 'a', (db) => {
      db.metadata.labels = { x: 'y' }
    })
    await settle()
    expect(sizes).to.deep.equal([1, 1])
    expect(world.api.get(Database, 'a')?.['status']).to.include({ kept: 1 })
    expect(world.api.get(Database, 'a')?.['status']).to.not.have.property('hacked')
  })

  it('a conflict in the handler’s own write means "run again", silently and soon', async () => {
    const world = new World()
    const attempts: number[] = []
    world.api.create(ConfigMap, 'shared', { data: { n: '0' } })
    const reconcile = async (_db: Any, ctx: Ctx) => {
      attempts.push(ctx.attempt)
      const map = (await ctx.client.get(ConfigMap, { name: 'shared', namespace: 'shop' })) as Any
      if (attempts.length === 1)
        world.api.edit(ConfigMap, 'shared', (map) => {
          map['data'].theirs = 'x'
        })
      await ctx.client.update(ConfigMap, { ...map, data: { ...map['data'], n: '1' } } as never)
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(100)
    expect(attempts).to.deep.equal([1, 2])
    expect(world.api.get(ConfigMap, 'shared')?.['data']).to.deep.equal({ n: '1', theirs: 'x' })
    expect([...world.logged('error'), ...world.logged('warn')]).to.deep.equal([])
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('True')
  })

  it('of an object in a namespace that is being deleted says so, without an error', async () => {
    const world = new World()
    await world.start(handler({ config: () => ({}) }, { owns: { config: ConfigMap } }))
    const details = { causes: [{ reason: 'NamespaceTerminating', message: 'x', field: 'metadata.namespace' }] }
    world.api.fail('apply configmaps/a', 403, 'Forbidden', 99, { details })
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.reason).to.equal('NamespaceTerminating')
    expect(world.logged('error')).to.deep.equal([])
  })
})

describe('a status that the server refuses (promise 5)', () => {
  it('is told in the conditions, without what the handler drafted', async () => {
    const world = new World()
    const reconcile = (_db: Any, ctx: Ctx) => {
      Object.assign(ctx.status, { endpoint: 7 })
    }
    await world.start(handler({ reconcile }))
    world.api.intercept(
      (seen) => seen.subresource === 'status' && seen.body?.status?.endpoint !== undefined,
      () => ({
        status: 422,
        body: { kind: 'Status', status: 'Failure', reason: 'Invalid', code: 422, message: 'status.endpoint: must be string' },
      }),
      Number.POSITIVE_INFINITY,
    )
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    const db = world.api.get(Database, 'a')
    expect(condition(db, 'Ready')).to.include({ status: 'False', reason: 'ReconcileFailed' })
    expect(condition(db, 'Ready').message).to.include('status.endpoint: must be string')
    expect(db?.status.endpoint).to.equal(undefined)
  })

  it('is told likewise where it is no JSON', async () => {
    const world = new World()
    const reconcile = (_db: Any, ctx: Ctx) => {
      Object.assign(ctx.status, { size: 1n })
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'False', reason: 'InvalidStatus' })
  })
})

describe('a status that cannot be written after a terminal error (promises 4, 5)', () => {
  it('is written later, without another run', async () => {
    const world = new World()
    let runs = 0
    const reconcile = (db: Any) => {
      runs++
      if (db['spec'].bad) throw new TerminalError('NoSuchSize', 'there is no such size')
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.fail('patch databases/a/status', 500, 'InternalError', 3)
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { bad: true }
    })
    await world.ms(10_000)
    expect(runs).to.equal(2)
    expect(condition(world.api.get(Database, 'a'), 'Stalled')).to.include({ status: 'True', reason: 'NoSuchSize' })
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'False' })
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = {}
    })
    await settle()
    expect(runs).to.equal(3)
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'True' })
  })

  it('that is too big is told without what the handler drafted', async () => {
    const world = new World()
    const reconcile = (_db: Any, ctx: Ctx) => {
      Object.assign(ctx.status, { big: 'x' })
    }
    await world.start(handler({ reconcile }))
    world.api.intercept(
      (seen) => seen.subresource === 'status' && seen.body?.status?.big !== undefined,
      () => ({ status: 413, body: 'Request entity too large' }),
      Number.POSITIVE_INFINITY,
    )
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'False', reason: 'ReconcileFailed' })
  })
})
