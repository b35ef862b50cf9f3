import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { external, idempotencyKey } from '../../../lib/engine/external.ts'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import { Primary } from '../../../lib/engine/primary.ts'
import { RunClient } from '../../../lib/engine/run-client.ts'
import type { ExternalCall, ExternalJob, ExternalState } from '../../../lib/resource/context.ts'
import type { KindRef } from '../../../lib/resource/kind.ts'
import type { Any } from './fake-api.ts'
import { ConfigMap, type Ctx, condition, Database, handler, settle, stopAll, World } from './world.ts'

afterEach(stopAll)

class Crash extends Error {}

/** A provider that starts jobs and knows them by their key; `polls` looks later a job is done. */
class Provider implements ExternalJob<string> {
  readonly calls: string[] = []
  readonly jobs = new Map<string, number>()
  readonly #polls: number
  answer: ((call: ExternalCall) => ExternalState<string> | undefined) | undefined

  constructor(polls = 1) {
    this.#polls = polls
  }

  async lookup(call: ExternalCall): Promise<ExternalState<string> | undefined> {
    this.calls.push('lookup')
    if (this.answer) return this.answer(call)
    const looks = this.jobs.get(call.idempotencyKey)
    if (looks === undefined) return undefined
    this.jobs.set(call.idempotencyKey, looks + 1)
    return looks >= this.#polls ? { done: true, value: 'backup-1' } : { done: false, message: 'under way' }
  }

  async run(call: ExternalCall): Promise<ExternalState<string>> {
    this.calls.push('run')
    expect(this.jobs.has(call.idempotencyKey), 'run() of a job that was started').to.equal(false)
    this.jobs.set(call.idempotencyKey, 0)
    return this.#polls === 0 ? { done: true, value: 'backup-1' } : { done: false }
  }
}

/** What a run does with a step: reads the object anew, as a process does that knows nothing but the server. */
async function step(
  world: World,
  job: ExternalJob<unknown>,
  options: { kind?: KindRef; mayRetryFailed?: boolean; point?: () => void } = {},
) {
  const { kind = Database, mayRetryFailed = false, point = () => {} } = options
  const object = world.api.get(kind, 'a')
  if (object === undefined) throw new Error('the object is gone')
  const primary = new Primary(kind, 'shop/a', object)
  const controller = new AbortController()
  const client = new RunClient({
    client: new Client({ transport: world.api, clock: world.clock }),
    signal: controller.signal,
    fieldManager: 'tsop',
    check() {},
    journal: {
      wrote: (_kind, object) => {
        point()
        primary.renew(object)
      },
      deleted() {},
      uidOf: () => undefined,
      sent: () => () => {},
    },
  })
  const around = (name: 'lookup' | 'run') => async (call: ExternalCall) => {
    point()
    const answer = await job[name](call)
    point()
    return answer as ExternalState<unknown>
  }
  const watched = { ...job, lookup: around('lookup'), run: around('run') }
  const now = () => '2026-01-01T00:00:00Z'
  point()
  return external('backup', watched, {
    primary,
    client,
    signal: controller.signal,
    now,
    log: world.log,
    fencingToken: () => primary.resourceVersion,
    check: () => {},
    mayRetryFailed,
    touch: () => 'as it was',
    rebase: async () => false,
  })
}

function worldWith(kind: KindRef, rest: object = { spec: {} }) {
  const world = new World()
  world.api.create(kind, 'a', rest)
  return world
}

function recordOf(world: World) {
  return world.api.get(Database, 'a')?.['status']?.external?.backup
}

async function thrown(work: Promise<unknown>): Promise<{ code?: string; reason?: string; message: string }> {
  return work.then(
    () => expect.fail('nothing was thrown'),
    (error) => error,
  )
}

describe('an external effect happens once (promise 14)', () => {
  for (const polls of [0, 1, 3]) {
    for (const [where, kind] of [
      ['in the status', Database],
      ['in an annotation', ConfigMap],
    ] as const) {
      it(`with the process dying between any two steps of a job that takes ${polls} looks, recorded ${where}`, async () => {
        let points = 0
        for (let crashAt = 0; crashAt <= points; crashAt++) {
          const world = worldWith(kind)
          const provider = new Provider(polls)
          let n = 0
          const point = () => {
            points = Math.max(points, n)
            if (n++ === crashAt) throw new Crash()
          }
          let result: unknown
          for (let tries = 0; result === undefined && tries < 20; tries++) {
            const answer = await step(world, provider, { kind, point }).catch((error) => {
              if (!(error instanceof Crash)) throw error
            })
            if (answer?.done) result = answer.value
          }
          expect(result, `crash at ${crashAt}`).to.equal('backup-1')
          expect(provider.jobs.size, `crash at ${crashAt}`).to.equal(1)
        }
        expect(points).to.be.greaterThan(5)
      })
    }
  }

  it('records the intent before the call, and the result after it', async () => {
    const world = worldWith(Database)
    const states: string[] = []
    const provider = new Provider(1)
    const look =
      <A>(f: (call: ExternalCall) => A) =>
      (call: ExternalCall) => {
        states.push(recordOf(world).state)
        return f.call(provider, call)
      }
    const job = { lookup: look(provider.lookup), run: look(provider.run) } as ExternalJob<string>
    await step(world, job)
    states.push(recordOf(world).state)
    await step(world, job)
    await step(world, job)
    states.push(recordOf(world).state)
    expect(states).to.deep.equal(['intended', 'running', 'running', 'running', 'done'])
    expect(recordOf(world)).to.include({ attempt: 1, value: 'backup-1' })
    expect(recordOf(world)).to.not.have.property('message')
  })

  it('does not ask again for a result that is recorded', async () => {
    const world = worldWith(Database)
    const provider = new Provider(0)
    await step(world, provider)
    world.api.forget()
    expect(await step(world, provider)).to.deep.equal({ done: true, value: 'backup-1' })
    expect([provider.calls, world.api.writes]).to.deep.equal([['run'], []])
  })

  it('after a lost response asks before it calls again, with the same key', async () => {
    const world = worldWith(Database)
    const provider = new Provider(1)
    const keys = new Set<string>()
    const job: ExternalJob<string> = {
      lookup: (call) => {
        keys.add(call.idempotencyKey)
        return provider.lookup(call)
      },
      run: async (call) => {
        keys.add(call.idempotencyKey)
        await provider.run(call)
        throw new Error('socket hang up')
      },
    }
    expect((await thrown(step(world, job))).message).to.equal('socket hang up')
    await step(world, job)
    expect(provider.calls).to.deep.equal(['run', 'lookup'])
    expect(keys.size).to.equal(1)
  })

  it('calls again with the same key where the provider does not know it', async () => {
    const world = worldWith(Database)
    const provider = new Provider(1)
    const failing: ExternalJob<string> = { lookup: (call) => provider.lookup(call), run: () => Promise.reject(new Error('refused')) }
    await thrown(step(world, failing))
    const { key } = recordOf(world)
    await step(world, provider)
    expect(provider.calls).to.deep.equal(['lookup', 'run'])
    expect([...provider.jobs.keys()]).to.deep.equal([key])
  })

  it('does not start a second job for one that the provider has lost', async () => {
    const world = worldWith(Database)
    const provider = new Provider(3)
    await step(world, provider)
    provider.jobs.clear()
    expect(await thrown(step(world, provider))).to.include({ code: 'TSOP_EXTERNAL_LOST' })
    expect(provider.calls).to.deep.equal(['run', 'lookup'])
  })

  it('of two processes lets only one believe that it was first', async () => {
    const world = worldWith(Database)
    const [one, two] = [new Provider(), new Provider()]
    const results = await Promise.allSettled([step(world, one), step(world, two)])
    expect(results.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected'])
    expect(one.calls.length + two.calls.length).to.equal(1)
  })

  it('does not touch an object that was made anew under the same name', async () => {
    const world = worldWith(Database)
    const provider = new Provider()
    world.api.before('patch databases/a/status', () => {
      world.api.delete(Database, 'a')
      world.api.create(Database, 'a', { spec: {} })
    })
    expect(await thrown(step(world, provider))).to.include({ status: 409 })
    expect(provider.calls).to.deep.equal([])
  })

  it('gives each object, step and attempt a key of its own, always the same one', () => {
    const keys = [
      idempotencyKey('u1', 'a', []),
      idempotencyKey('u2', 'a', []),
      idempotencyKey('u1', 'b', []),
      idempotencyKey('u1', 'a', ['1']),
      idempotencyKey('u1', 'a', ['1', '2']),
      idempotencyKey('u1', 'a', ['12']),
    ]
    expect(new Set(keys).size).to.equal(keys.length)
    expect(idempotencyKey('u1', 'a', ['1'])).to.equal(keys[3])
  })
})

describe('a job that goes on', () => {
  it('answers with the wait to return, and shows what the provider says', async () => {
    const world = worldWith(Database)
    const job = {
      lookup: async () => ({ done: false as const, message: '40 %' }),
      run: async () => ({ done: false as const }),
      poll: '30s',
    }
    const first = await step(world, job)
    expect(first).to.deep.include({ done: false, message: 'backup is under way' })
    const second = await step(world, job)
    expect(second).to.deep.equal({
      done: false,
      message: '40 %',
      requeue: requeueAfter('30s', { reason: 'WaitingForBackup', message: '40 %' }),
    })
  })

  it('is recorded again only when its message changes', async () => {
    const world = worldWith(Database)
    const says = ['1', '1', undefined, undefined, '2']
    const job = {
      lookup: async () => ({ done: false as const, message: says.shift() }) as ExternalState<string>,
      run: async () => ({ done: false as const }),
    }
    await step(world, job)
    const writes: number[] = []
    while (says.length > 0) {
      world.api.forget()
      await step(world, job)
      writes.push(world.api.writes.length)
    }
    expect(writes).to.deep.equal([1, 0, 1, 0, 1])
    expect(recordOf(world).message).to.equal('2')
  })

  it('polls by requeueAfter and shows in Reconciling, until its result is there', async () => {
    const world = new World()
    const provider = new Provider(3)
    const reconcile = async (_db: unknown, ctx: Ctx) => {
      const backup = await ctx.external('backup', {
        lookup: (call) => provider.lookup(call),
        run: (call) => provider.run(call),
        poll: '20s',
      })
      if (!backup.done) return backup.requeue
      Object.assign(ctx.status, { backup: backup.value })
    }
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(20_000)
    const db = () => world.api.get(Database, 'a')
    expect(condition(db(), 'Reconciling')).to.include({ reason: 'WaitingForBackup', message: 'under way' })
    await world.ms(60_000)
    expect(provider.calls).to.deep.equal(['run', 'lookup', 'lookup', 'lookup', 'lookup'])
    expect(db()?.['status'].backup).to.equal('backup-1')
    expect(condition(db(), 'Reconciling')).to.equal(undefined)
    expect(world.logged('error')).to.deep.equal([])
  })
})

describe('a job that failed', () => {
  const failing = { lookup: async () => ({ failed: 'disk full' }), run: async () => ({ failed: 'disk full' }) }

  it('is a terminal error, also for the runs after', async () => {
    const world = worldWith(Database)
    for (let i = 0; i < 2; i++) {
      const error = await thrown(step(world, failing))
      expect(error).to.include({ code: 'TSOP_TERMINAL', reason: 'ExternalFailed', message: 'backup: disk full' })
    }
    expect(recordOf(world)).to.include({ state: 'failed', message: 'disk full', attempt: 1 })
  })

  it('is tried anew with a new key once somebody has asked', async () => {
    const world = worldWith(Database)
    await thrown(step(world, failing))
    const { key } = recordOf(world)
    const provider = new Provider(1)
    await step(world, provider, { mayRetryFailed: true })
    expect(provider.calls).to.deep.equal(['run'])
    expect(recordOf(world)).to.include({ state: 'running', attempt: 2 })
    expect(recordOf(world)).to.not.have.property('message')
    expect(recordOf(world).key).not.to.equal(key)
  })

  it('asks the provider again only after an annotation, a label or the spec has changed', async () => {
    const world = new World()
    let runs = 0
    const run = async (): Promise<ExternalState<string>> => (++runs === 1 ? { failed: 'disk full' } : { done: true, value: 'x' })
    const reconcile = async (_db: unknown, ctx: Ctx) => void (await ctx.external('backup', { lookup: async () => undefined, run }))
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await world.ms(12 * 3_600_000)
    expect(runs).to.equal(1)
    expect(condition(world.api.get(Database, 'a'), 'Stalled')).to.include({ reason: 'ExternalFailed', message: 'backup: disk full' })
    world.api.edit(Database, 'a', (db) => {
      db.metadata.annotations = { retry: 'please' }
    })
    await settle()
    expect(runs).to.equal(2)
    expect(condition(world.api.get(Database, 'a'), 'Ready')?.status).to.equal('True')
  })

  it('is tried anew as asked, also where the first run after that could not write', async () => {
    const world = new World()
    let runs = 0
    const run = async (): Promise<ExternalState<string>> => (++runs === 1 ? { failed: 'disk full' } : { done: true, value: 'x' })
    const reconcile = async (_db: unknown, ctx: Ctx) => void (await ctx.external('backup', { lookup: async () => undefined, run }))
    await world.start(handler({ reconcile }))
    world.api.create(Database, 'a', { spec: {} })
    await settle()
    world.api.fail('patch databases/a/status', 500, 'InternalError', 2)
    world.api.edit(Database, 'a', (db) => {
      db.metadata.annotations = { retry: 'please' }
    })
    await world.ms(1000)
    expect(runs).to.equal(2)
  })
})

describe('what cannot be recorded is refused', () => {
  for (const [what, answer] of [
    ['a text', 'done'],
    ['an object without a state', {}],
    ['failed without a text', { failed: true }],
    ['a value that is no JSON', { done: true, value: 1n }],
    ['a value that is too big', { done: true, value: 'x'.repeat(17_000) }],
  ] as const) {
    it(`${what}, from run() and from lookup()`, async () => {
      const world = worldWith(Database)
      const job = { lookup: async () => answer as never, run: async () => answer as never }
      for (const from of ['run', 'lookup']) {
        const error = await thrown(step(world, job))
        expect(error).to.include({ code: 'TSOP_EXTERNAL_INVALID' })
        expect(error.message).to.contain(`${from}() answered`)
        expect(recordOf(world).state).to.equal('intended')
      }
    })
  }

  it('run() that answers nothing', async () => {
    const world = worldWith(Database)
    const error = await thrown(step(world, { lookup: async () => undefined, run: async () => undefined as never }))
    expect(error.message).to.contain('run() must say how the job stands')
  })

  for (const name of ['', 'with blank', '-x', 'x'.repeat(64), 'a/b']) {
    it(`the step ${JSON.stringify(name.slice(0, 10))}`, async () => {
      const world = worldWith(Database)
      await world.start(handler({ reconcile: (_db, ctx) => ctx.external(name, new Provider()) }))
      await settle()
      expect(condition(world.api.get(Database, 'a'), 'Ready')?.reason).to.equal('InvalidStep')
    })
  }

  it('but a step may bear the name of what every object inherits', async () => {
    const world = worldWith(Database)
    const provider = new Provider(0)
    await world.start(handler({ reconcile: async (_db, ctx) => void (await ctx.external('constructor', provider)) }))
    await settle()
    expect(provider.calls).to.deep.equal(['run'])
    expect(world.api.get(Database, 'a')?.['status'].external.constructor.state).to.equal('done')
  })
})

describe('a schema that is somebody else’s', () => {
  it('gets the record as an annotation, with all steps in one', async () => {
    const world = worldWith(ConfigMap, { data: {} })
    await step(world, new Provider(0), { kind: ConfigMap })
    const { annotations } = world.api.get(ConfigMap, 'a')?.metadata ?? {}
    expect(JSON.parse(annotations?.['tsop.dev/external'] ?? '').backup).to.include({ state: 'done', value: 'backup-1' })
  })

  it('starts no job where the annotation cannot be read any more', async () => {
    const world = worldWith(ConfigMap, { data: {} })
    const provider = new Provider(0)
    await step(world, provider, { kind: ConfigMap })
    world.api.edit(ConfigMap, 'a', (map) => {
      map.metadata.annotations = { 'tsop.dev/external': '{"backup":' }
    })
    expect(await thrown(step(world, provider, { kind: ConfigMap }))).to.include({ reason: 'ExternalRecordUnreadable' })
    expect(provider.calls).to.deep.equal(['run'])
  })
})

describe('a failed job, and a new generation or a touch that came while no operator ran (promise 14)', () => {
  it('is tried anew under a new key', async () => {
    const world = new World()
    const keys: string[] = []
    const op = () =>
      handler({
        reconcile: async (db: Any, ctx: Ctx) => {
          const job = await ctx.external<number>('job', {
            lookup: async () => undefined,
            run: async ({ idempotencyKey }) => {
              keys.push(idempotencyKey)
              return db['spec'].good ? { done: true, value: 1 } : { failed: 'bad spec' }
            },
          })
          return job.done ? undefined : job.requeue
        },
      })
    await world.start(op())
    world.api.create(Database, 'a', { spec: { good: false } })
    await settle()
    await world.stop()
    await world.start(op())
    expect(keys, 'a restart alone is no reason').to.have.length(1)
    await world.stop()
    world.api.edit(Database, 'a', (db) => {
      db['spec'] = { good: false, other: 1 }
    })
    await world.start(op())
    expect(keys).to.have.length(2)
    await world.stop()
    world.api.edit(Database, 'a', (db) => {
      db.metadata.annotations = { 'example.com/retry': '1' }
    })
    await world.start(op())
    expect(keys, 'a touch asks as well').to.have.length(3)
    expect(new Set(keys).size).to.equal(3)
  })
})
