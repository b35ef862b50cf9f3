import { expect } from 'chai'
import { TerminalError } from '../../../lib/engine/errors.ts'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, deferred, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

/** An operator with one object; `outcome` says how its next runs end. */
async function operator(outcome: (run: number) => unknown) {
  const world = new World()
  const at: number[] = []
  const op = handler(
    {
      reconcile: (_db) => {
        at.push(world.clock.monotonic())
        return outcome(at.length)
      },
      config: () => ({ data: {} }),
    },
    { owns: { config: ConfigMap } },
  )
  await world.start(op)
  world.api.create(Database, 'a', { spec: {} })
  await settle()
  return { world, api: world.api, at, db: () => world.api.get(Database, 'a') }
}

function fails(): never {
  throw new Error('no route to the provider')
}

describe('waiting is not an error (promise 4)', () => {
  it('runs again after the time that was asked for', async () => {
    const { world, at } = await operator((run) => (run < 3 ? requeueAfter('10s') : undefined))
    await world.ms(60_000)
    expect(at).to.deep.equal([0, 10_000, 20_000])
  })

  it('is logged as information, with reason and duration, and never as an error', async () => {
    const { world } = await operator(() => requeueAfter('1m30s', { reason: 'PodsStarting', message: '1 of 3 pods' }))
    const line = world.lines.find(({ message }) => message === '1 of 3 pods')
    expect(line?.level).to.equal('info')
    expect(line?.fields).to.include({ reason: 'PodsStarting', after: '1m30s' })
    await world.ms(180_000)
    expect(world.logged('error')).to.deep.equal([])
    expect(world.logged('info').filter((message) => message === '1 of 3 pods')).to.have.length(1)
  })

  it('shows in Ready and Reconciling', async () => {
    const { db } = await operator(() => requeueAfter('10s', { reason: 'PodsStarting', message: '1 of 3 pods' }))
    expect(condition(db(), 'Ready')).to.include({ status: 'False', reason: 'PodsStarting', message: '1 of 3 pods' })
    expect(condition(db(), 'Reconciling')).to.include({ status: 'True', reason: 'PodsStarting' })
  })

  it('survives status writes of others', async () => {
    const { world, api, at } = await operator((run) => (run === 1 ? requeueAfter('10s') : undefined))
    for (let i = 0; i < 5; i++) {
      await world.ms(1000)
      api.edit(Database, 'a', (db) => {
        db['status'].theirs = i
      })
    }
    await world.ms(60_000)
    expect(at).to.deep.equal([0, 10_000])
  })

  it('is cut short by a new generation, and does not come back afterwards', async () => {
    const { world, api, at } = await operator((run) => (run === 1 ? requeueAfter('10s') : undefined))
    await world.ms(2000)
    api.edit(Database, 'a', (db) => {
      db['spec'].size = 2
    })
    await world.ms(60_000)
    expect(at).to.deep.equal([0, 2000])
  })

  it('is cut short by deletion', async () => {
    const world = new World()
    const calls: string[] = []
    await world.start(
      handler({
        reconcile: () => requeueAfter('1h'),
        remove: () => void calls.push(`remove at ${world.clock.monotonic()}`),
      }),
    )
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(5000)
    world.api.delete(Database, 'a')
    await settle()
    expect(calls).to.deep.equal(['remove at 5000'])
  })

  it('is not lost when a child changes: the run comes earlier and may wait again', async () => {
    const { world, api, at } = await operator(() => requeueAfter('10s'))
    await world.ms(4000)
    api.edit(ConfigMap, 'a', (map) => {
      map.metadata.labels = { ...map.metadata.labels, x: 'y' }
    })
    await world.ms(10_000)
    expect(at).to.deep.equal([0, 4000, 14_000])
  })
})

describe('a failure (promise 4)', () => {
  it('is tried again after 250 ms, 500 ms, … and never given up', async () => {
    const { world, at } = await operator(fails)
    await world.ms(4000)
    expect(at).to.deep.equal([0, 250, 750, 1750, 3750])
    await world.ms(3 * 3_600_000)
    expect(at.length).to.be.greaterThan(38)
    expect((at.at(-1) as number) - (at.at(-2) as number)).to.equal(300_000)
  })

  it('says why in the status, with the generation, and in the log', async () => {
    const { world, db } = await operator(fails)
    expect(condition(db(), 'Ready')).to.include({
      status: 'False',
      reason: 'ReconcileFailed',
      message: 'no route to the provider',
      observedGeneration: 1,
    })
    expect(condition(db(), 'Reconciling')?.status).to.equal('True')
    expect(world.logged('error')).to.deep.equal(['no route to the provider'])
  })

  it('writes the status once, not with every try', async () => {
    const { world, api } = await operator(fails)
    await world.ms(60_000)
    expect(api.writes).to.deep.equal(['apply configmaps/a', 'patch databases/a/status'])
  })

  it('is told as a Kubernetes Event when it begins and when its text changes, not with every try', async () => {
    const { world, api } = await operator((run) => {
      throw new Error(run < 4 ? 'no route' : 'no disk')
    })
    await world.ms(60_000)
    const events = api.seen((seen) => seen.verb === 'create' && seen.plural === 'events').map(({ body }) => body)
    expect(events.map((event) => [event?.['type'], event?.['reason'], event?.['note']])).to.deep.equal([
      ['Warning', 'ReconcileFailed', 'no route'],
      ['Warning', 'ReconcileFailed', 'no disk'],
    ])
    expect(events[0]?.['regarding']).to.include({ kind: 'Database', name: 'a', namespace: 'shop' })
    expect(api.seen(/^patch events/)).to.deep.equal([])
  })

  it('is logged with the object it is about', async () => {
    const { world, db } = await operator(fails)
    const { uid } = db()?.metadata ?? {}
    const { fields } = world.lines.find(({ level }) => level === 'error') ?? {}
    expect(fields).to.include({ controller: 'Database.db.example.com', namespace: 'shop', name: 'a', uid, attempt: 1 })
    expect(fields.reconcileID).to.match(/^[0-9a-f-]{36}$/)
  })

  it('keeps what the handler had put into the status before it failed', async () => {
    const world = new World()
    const reconcile = (_db: unknown, ctx: Ctx) => {
      Object.assign(ctx.status, { step: 'half way' })
      ctx.conditions.set({ type: 'DiskReady', status: 'True', reason: 'Formatted' })
      fails()
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    expect(world.api.get(Database, 'a')?.['status'].step).to.equal('half way')
    expect(condition(world.api.get(Database, 'a'), 'DiskReady')?.status).to.equal('True')
  })

  it('is not tried earlier because a child changes', async () => {
    const { world, api, at } = await operator(fails)
    await world.ms(4000)
    for (let i = 0; i < 3; i++) {
      await world.ms(500)
      api.edit(ConfigMap, 'a', (map) => {
        map.metadata.labels = { ...map.metadata.labels, i: String(i) }
      })
    }
    await world.ms(2249)
    expect(at).to.deep.equal([0, 250, 750, 1750, 3750])
    await world.ms(1)
    expect(at).to.have.length(6)
  })

  it('is not tried earlier because of what the failing run itself wrote', async () => {
    const world = new World()
    const at: number[] = []
    const reconcile = async (db: { metadata: { name: string; namespace: string } }, ctx: Ctx) => {
      at.push(world.clock.monotonic())
      const annotations = { tries: String(at.length) }
      await ctx.client.patch(Database, db.metadata, { type: 'merge', value: { metadata: { annotations } } })
      fails()
    }
    await world.start(handler({ reconcile: reconcile as never }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(4000)
    expect(at).to.deep.equal([0, 250, 750, 1750, 3750])
  })

  it('is tried at once for a new generation, and counts anew from there', async () => {
    const { world, api, at } = await operator(fails)
    await world.ms(5000)
    api.edit(Database, 'a', (db) => {
      db['spec'].size = 2
    })
    await world.ms(750)
    expect(at.slice(5)).to.deep.equal([5000, 5250, 5750])
  })

  it('ends with the first success', async () => {
    const { world, at, db } = await operator((run) => (run < 3 ? fails() : undefined))
    await world.ms(60_000)
    expect(at).to.deep.equal([0, 250, 750])
    expect(db()?.['status'].conditions.map(({ type, status }: { type: string; status: string }) => [type, status])).to.deep.equal([
      ['Ready', 'True'],
    ])
  })

  it('is not tried before the time that the server asked for', async () => {
    const world = new World()
    const at: number[] = []
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      at.push(world.clock.monotonic())
      await ctx.client.get(ConfigMap, { name: 'x', namespace: 'shop' })
    }
    world.api.fail('get configmaps/x', 503, 'ServiceUnavailable', 99, { details: { retryAfterSeconds: 60 } })
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(59_999)
    expect(at).to.deep.equal([0])
    await world.ms(1)
    expect(at).to.deep.equal([0, 60_000])
  })

  it('is whatever is thrown, also what is no Error', async () => {
    for (const thrown of ['plain text', undefined, null, 42, Object.create(null)]) {
      const { world, at } = await operator(() => {
        throw thrown
      })
      await world.ms(250)
      expect(at).to.deep.equal([0, 250])
      await stopAll()
    }
  })

  it('is a return value that means nothing', async () => {
    for (const returned of [true, 'later', 5, { requeue: true }, Promise.resolve({ requeueAfter: 5 })]) {
      const { db } = await operator(() => returned)
      expect(condition(db(), 'Ready')?.message).to.match(/DatabaseHandler\.reconcile\(\) returned .*; return nothing, or requeueAfter/)
      await stopAll()
    }
  })

  it('is a wait that makes no sense', async () => {
    const { db } = await operator(() => requeueAfter(Number.NaN))
    expect(condition(db(), 'Ready')?.message).to.match(/requeueAfter: expected milliseconds/)
  })
})

describe('a terminal error (promise 4)', () => {
  const terminal = () => {
    throw new TerminalError('UnknownSize', 'the provider has no size XXL')
  }

  it('is not tried again by time nor by what happens to related objects', async () => {
    const { world, api, at, db } = await operator(terminal)
    api.edit(ConfigMap, 'a', (map) => {
      map.metadata.labels = { ...map.metadata.labels, x: 'y' }
    })
    await world.ms(12 * 3_600_000)
    expect(at).to.deep.equal([0])
    expect(condition(db(), 'Stalled')).to.include({ status: 'True', reason: 'UnknownSize', message: 'the provider has no size XXL' })
    expect(condition(db(), 'Ready')?.status).to.equal('False')
    expect(condition(db(), 'Reconciling')).to.equal(undefined)
  })

  for (const [what, change] of [
    ['a new generation', (db: { spec?: object }) => Object.assign(db.spec as object, { size: 'XL' })],
    ['a label', (db: { metadata: object }) => Object.assign(db.metadata, { labels: { retry: '1' } })],
    ['an annotation', (db: { metadata: object }) => Object.assign(db.metadata, { annotations: { retry: '1' } })],
  ] as const) {
    it(`is tried again after ${what}`, async () => {
      const { world, api, at, db } = await operator((run) => (run === 1 ? terminal() : undefined))
      await world.ms(1000)
      api.edit(Database, 'a', change as never)
      await settle()
      expect(at).to.deep.equal([0, 1000])
      expect(condition(db(), 'Stalled')).to.equal(undefined)
    })
  }

  it('is tried again by a new process', async () => {
    const { world, at } = await operator(terminal)
    await world.stop()
    let runs = 0
    await world.start(handler({ reconcile: () => void runs++ }))
    expect([at.length, runs]).to.deep.equal([1, 1])
  })

  it('starts the back-off anew', async () => {
    const { world, api, at } = await operator((run) => (run === 4 ? terminal() : fails()))
    await world.ms(10_000)
    expect(at).to.deep.equal([0, 250, 750, 1750])
    api.edit(Database, 'a', (db) => {
      db.metadata.labels = { retry: '1' }
    })
    await world.ms(250)
    expect(at.slice(4)).to.deep.equal([10_000, 10_250])
  })

  it('of onDelete keeps the object until it is touched', async () => {
    const world = new World()
    let runs = 0
    const remove = () => {
      if (++runs === 1) terminal()
    }
    await world.start(handler({ remove }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.delete(Database, 'a')
    await world.ms(3_600_000)
    expect(runs).to.equal(1)
    expect(condition(world.api.get(Database, 'a'), 'Stalled')?.reason).to.equal('UnknownSize')
    world.api.edit(Database, 'a', (db) => {
      db.metadata.annotations = { retry: '1' }
    })
    await settle()
    expect(world.api.get(Database, 'a')).to.equal(undefined)
  })
})

describe('a hung run (promise 11)', () => {
  it('is cut by the timeout, counted as a failure, and tried again', async () => {
    const world = new World()
    const attempts: number[] = []
    const reconcile = (_db: unknown, ctx: Ctx) => {
      attempts.push(ctx.attempt)
      return new Promise(() => {})
    }
    await world.start(handler({ reconcile }, { options: { timeout: '30s' } }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(30_000)
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({
      reason: 'Timeout',
      message: 'the run took longer than 30s and was cut off',
    })
    await world.ms(250)
    expect(attempts).to.deep.equal([1, 2])
  })

  it('has its signal aborted, and every later call through its context throws', async () => {
    const world = new World()
    const hung = deferred()
    let late: Ctx | undefined
    const reconcile = (_db: unknown, ctx: Ctx) => {
      late ??= ctx
      return hung.promise
    }
    await world.start(handler({ reconcile }, { options: { timeout: '30s' }, stacked: [ConfigMap] }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(30_000)
    const ctx = late as Ctx
    expect(ctx.signal.aborted).to.equal(true)
    world.api.forget()
    const calls: [string, () => unknown][] = [
      ['get', () => ctx.get(ConfigMap, 'x')],
      ['list', () => ctx.list(ConfigMap)],
      ['child', () => ctx.child(ConfigMap)],
      ['children', () => ctx.children(ConfigMap)],
      ['apply', () => ctx.apply(ConfigMap, {})],
      ['delete', () => ctx.delete(ConfigMap, { name: 'x', namespace: 'shop' })],
      ['event', () => ctx.event('Normal', 'X', 'x')],
      ['external', () => ctx.external('x', { lookup: fails, run: fails })],
      ['retry', () => ctx.retry(() => 1)],
      ['conditions.set', () => ctx.conditions.set({ type: 'X', status: 'True', reason: 'X' })],
      ['conditions.remove', () => ctx.conditions.remove('X')],
      ['conditions.ready', () => ctx.conditions.ready({ reason: 'X' })],
      ['client.get', () => ctx.client.get(ConfigMap, { name: 'x', namespace: 'shop' })],
      ['client.list', () => ctx.client.list(ConfigMap)],
      ['client.create', () => ctx.client.create(ConfigMap, { metadata: { name: 'x', namespace: 'shop' } })],
      ['client.patch', () => ctx.client.patch(ConfigMap, { name: 'x', namespace: 'shop' }, { type: 'merge', value: {} })],
      ['client.delete', () => ctx.client.delete(ConfigMap, { name: 'x', namespace: 'shop' })],
      ['client.status.patch', () => ctx.client.status.patch(Database, { name: 'a', namespace: 'shop' }, { type: 'merge', value: {} })],
    ]
    for (const [name, call] of calls) {
      let error: unknown
      try {
        await call()
      } catch (thrown) {
        error = thrown
      }
      expect((error as { code?: string })?.code, name).to.equal('TSOP_TIMEOUT')
    }
    expect(world.api.requests.map(({ text }) => text)).to.deep.equal([])
  })

  it('of a run that ended well, a later call throws as well', async () => {
    const world = new World()
    let late: Ctx | undefined
    await world.start(
      handler({
        reconcile: (_db, ctx) => {
          late = ctx
        },
      }),
    )
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    let error: unknown
    await (late as Ctx).client.list(ConfigMap).catch((thrown) => {
      error = thrown
    })
    expect(error).to.include({ code: 'TSOP_CONTEXT_CLOSED', message: 'the run over Database shop/a has ended' })
  })

  it('does not start an external job after it was cut', async () => {
    const world = new World()
    const asked = deferred()
    const calls: string[] = []
    const reconcile = (_db: unknown, ctx: Ctx) =>
      ctx.external('dump', {
        lookup: async () => {
          calls.push('lookup')
          await asked.promise
          return undefined
        },
        run: async () => {
          calls.push('run')
          return { done: false }
        },
      })
    await world.start(handler({ reconcile }, { options: { timeout: '30s' } }))
    const since = '2026-01-01T00:00:00Z'
    world.api.create(Database, 'a', { spec: {}, status: { external: { dump: { state: 'intended', attempt: 1, key: 'k', since } } } })
    await world.ms(30_000)
    asked.resolve()
    await settle()
    expect(calls).to.deep.equal(['lookup'])
  })

  it('does not hold up other keys', async () => {
    const world = new World()
    const names: string[] = []
    const reconcile = (db: { metadata: { name: string } }) => {
      names.push(db.metadata.name)
      return db.metadata.name === 'hung' ? new Promise(() => {}) : undefined
    }
    await world.start(handler({ reconcile: reconcile as never }, { options: { timeout: '30s' } }))
    world.api.create(Database, 'hung', { spec: {} })
    world.api.create(Database, 'b', { spec: {} })
    await world.ms(30_000)
    expect(names).to.deep.equal(['hung', 'b'])
  })
})

describe('errors that nobody awaits (promise 11)', () => {
  /** Mocha takes every such error for one of the test. */
  const withoutMocha = async (work: () => Promise<void>) => {
    const names = ['unhandledRejection', 'uncaughtException'] as const
    const theirs = names.map((name) => [name, process.listeners(name as 'uncaughtException')] as const)
    for (const [name] of theirs) process.removeAllListeners(name)
    try {
      await work()
    } finally {
      await stopAll()
      for (const [name, listeners] of theirs) for (const listener of listeners) process.on(name as 'uncaughtException', listener)
    }
  }

  it('a rejection is the failure of the run it came from', () =>
    withoutMocha(async () => {
      const world = new World()
      const reconcile = (db: { metadata: { name: string } }) => {
        if (db.metadata.name === 'a') void Promise.reject(new Error('forgot to await'))
        return new Promise(() => {})
      }
      await world.start(handler({ reconcile: reconcile as never }, { options: { concurrency: 2 } }))
      world.api.create(Database, 'b', { spec: {} })
      world.api.create(Database, 'a', { spec: {} })
      await settle()
      await settle()
      expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({
        reason: 'Unhandled',
        message: 'a promise that nobody awaits was rejected: forgot to await',
      })
      expect(world.api.get(Database, 'b')?.['status']).to.equal(undefined)
    }))

  it('a throw in a timer’s callback is the failure of the run it came from, and the process lives on', () =>
    withoutMocha(async () => {
      const world = new World()
      const fired = deferred()
      const reconcile = () => {
        setTimeout(() => {
          setImmediate(fired.resolve)
          throw new Error('in a callback')
        }, 0)
        return new Promise(() => {})
      }
      await world.start(handler({ reconcile }))
      world.api.create(Database, 'a', { spec: {} })
      await fired.promise
      await settle()
      expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({
        reason: 'Unhandled',
        message: 'a callback threw: in a callback',
      })
    }))

  it('one that comes after the run has ended brings the key another run', () =>
    withoutMocha(async () => {
      const world = new World()
      const later = deferred()
      let runs = 0
      const reconcile = () => {
        if (++runs === 1) void later.promise.then(fails)
      }
      await world.start(handler({ reconcile }))
      world.api.create(Database, 'a', { spec: {} })
      await settle()
      later.resolve()
      await world.ms(250)
      expect(runs).to.equal(2)
      expect(world.logged('error')).to.deep.equal(['a promise that nobody awaited was rejected after its run had ended'])
    }))
})

describe('the server’s wish to be left alone', () => {
  it('is the least back-off of a run that it refused', async () => {
    const world = new World()
    const runs: number[] = []
    const reconcile = async (_db: Any, ctx: Ctx) => {
      runs.push(world.clock.monotonic())
      if (runs.length === 1) await ctx.client.get(ConfigMap, { namespace: 'shop', name: 'x' }, { timeoutMs: 60_000 })
    }
    await world.start(handler({ reconcile }))
    world.api.intercept('get configmaps/x', () => ({
      status: 503,
      body: {
        kind: 'Status',
        status: 'Failure',
        reason: 'ServiceUnavailable',
        code: 503,
        message: 'busy',
        details: { retryAfterSeconds: 40 },
      },
    }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    await world.ms(39_000)
    expect(runs).to.have.length(1)
    await world.ms(2_000)
    expect(runs).to.have.length(2)
  })

  it('does not hide a conflict of field managers, which reading anew does not end', async () => {
    const world = new World()
    let runs = 0
    const reconcile = async (_db: Any, ctx: Ctx) => {
      runs++
      await ctx.client.apply(ConfigMap, { metadata: { namespace: 'shop', name: 'x' } } as never)
    }
    await world.start(handler({ reconcile }))
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "kubectl"', field: '.data.a' }]
    world.api.intercept(
      'apply configmaps/x',
      () => ({
        status: 409,
        body: {
          kind: 'Status',
          status: 'Failure',
          reason: 'Conflict',
          code: 409,
          message: 'Apply failed with 1 conflict',
          details: { causes },
        },
      }),
      Number.POSITIVE_INFINITY,
    )
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(10_000)
    expect(condition(world.api.get(Database, 'a'), 'Ready')).to.include({ status: 'False', reason: 'ReconcileFailed' })
    expect(runs).to.be.within(4, 7)
  })
})

describe('a handler that changes its own object’s spec', () => {
  it('is run again for the generation this made, and comes to rest', async () => {
    const world = new World()
    const seen: number[] = []
    const reconcile = async (db: Any, ctx: Ctx) => {
      seen.push(db.metadata.generation as number)
      if (db['spec'].size === undefined) await ctx.client.patch(Database, db.metadata, { type: 'merge', value: { spec: { size: 1 } } })
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(60_000)
    expect(seen).to.deep.equal([1, 2])
    expect(world.api.get(Database, 'a')?.status.observedGeneration).to.equal(2)
  })

  it('does so at growing intervals where it never comes to rest', async () => {
    const world = new World()
    let runs = 0
    const reconcile = async (db: Any, ctx: Ctx) => {
      runs++
      await ctx.client.patch(Database, db.metadata, { type: 'merge', value: { spec: { count: runs } } })
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(60_000)
    expect(runs).to.be.within(8, 25)
  })
})
