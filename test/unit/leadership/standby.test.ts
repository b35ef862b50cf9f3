/** What the engine does while another process leads, from when it leads itself, and when it does not any more. */
import { expect } from 'chai'
import { Client } from '../../../lib/api/client.ts'
import { LeaseLostError } from '../../../lib/leadership/lease-lost-error.ts'
import type { Methods } from '../engine/world.ts'
import { ConfigMap, type Ctx, Database, deferred, handler, StatefulSet, stopAll, World } from '../engine/world.ts'
import { settle } from '../manual-clock.ts'

afterEach(stopAll)

/** An election that is decided by the test. */
class Lead {
  leads = false
  fencingToken: string | undefined
  asked = 0

  check(): void {
    this.asked++
    if (!this.leads) throw new LeaseLostError('no longer')
  }
}

async function standby(methods: Methods, options: Parameters<typeof handler>[1] = {}) {
  const world = new World()
  const lead = new Lead()
  const client = new Client({ transport: world.api, gate: lead, clock: world.clock, random: () => 0.5 })
  for (const name of ['a', 'b', 'c']) world.api.create(Database, name, { spec: {} })
  const manager = await world.startWith({ client, leadership: lead }, handler(methods, options))
  const begin = async () => {
    lead.leads = true
    lead.fencingToken = '4711'
    manager.lead()
    await settle()
  }
  return { world, api: world.api, lead, manager, begin }
}

describe('an operator that stands by (promise 12)', () => {
  it('has seen everything, runs nothing, and runs all of it at once when it leads', async () => {
    const runs: string[] = []
    const { world, api, manager, begin } = await standby({ reconcile: (db) => void runs.push(db.metadata.name) })
    expect(world.started).to.equal(true)
    expect(manager.controllers[0]?.state).to.equal('running')
    api.create(Database, 'd', { spec: {} })
    api.edit(Database, 'a', (db) => Object.assign(db, { spec: { size: 2 } }))
    await world.ms(60_000)
    expect(runs).to.deep.equal([])
    expect(api.writes).to.deep.equal([])
    const reads = api.requests.length
    await begin()
    expect(runs.sort()).to.deep.equal(['a', 'b', 'c', 'd'])
    const lists = api.requests.slice(reads).filter(({ verb }) => verb === 'list' || verb === 'watch')
    expect(lists, 'the caches were warm').to.deep.equal([])
  })

  it('forgets what is deleted meanwhile', async () => {
    const runs: string[] = []
    const { api, begin } = await standby({ reconcile: (db) => void runs.push(db.metadata.name) })
    api.delete(Database, 'b')
    await settle()
    await begin()
    expect(runs.sort()).to.deep.equal(['a', 'c'])
  })

  it('calls no @watches method: every object is run anyway', async () => {
    const calls: string[] = []
    const watches = [{ kind: ConfigMap, method: 'map', options: {} }]
    const { api, begin } = await standby({ map: (map) => void calls.push(map.metadata.name) }, { watches })
    api.create(ConfigMap, 'x', { data: {} })
    await settle()
    expect(calls).to.deep.equal([])
    await begin()
    api.create(ConfigMap, 'y', { data: {} })
    await settle()
    expect(calls).to.deep.equal(['y'])
  })

  it('hands out the fencing token of its lease', async () => {
    const tokens: string[] = []
    const { begin } = await standby({ reconcile: (_db, ctx: Ctx) => void tokens.push(ctx.fencingToken) })
    await begin()
    expect(tokens).to.deep.equal(['4711', '4711', '4711'])
  })
})

describe('a leader whose lease is lost (promise 12)', () => {
  /** Stops each run in the middle, until `go`. */
  async function atWork(rest: (db: { metadata: { name: string } }, ctx: Ctx) => unknown, options: Parameters<typeof handler>[1] = {}) {
    const gate = deferred()
    const began: string[] = []
    const setup = await standby(
      {
        async reconcile(db, ctx: Ctx) {
          began.push(db.metadata.name)
          await gate.promise
          return rest(db, ctx)
        },
      },
      options,
    )
    await setup.begin()
    expect(began).to.deep.equal(['a'])
    return { ...setup, began, go: gate.resolve }
  }

  for (const [what, act] of [
    ['ctx.client', (ctx: Ctx) => ctx.client.create(ConfigMap, { metadata: { name: 'x', namespace: 'shop' } })],
    [
      'ctx.client.status',
      (ctx: Ctx) => ctx.client.status.patch(Database, { name: 'a', namespace: 'shop' }, { type: 'merge', value: { status: {} } }),
    ],
    ['ctx.apply', (ctx: Ctx) => ctx.apply(StatefulSet, { spec: {} } as never)],
    ['ctx.delete', (ctx: Ctx) => ctx.delete(ConfigMap, { name: 'x', namespace: 'shop' })],
    ['ctx.external', (ctx: Ctx) => ctx.external('job', { lookup: async () => undefined, run: async () => ({ done: true, value: 1 }) })],
    ['a read', (ctx: Ctx) => ctx.get(ConfigMap, 'x')],
  ] as const) {
    it(`is told so by ${what}, before anything leaves, and writes no status about it`, async () => {
      let caught: unknown
      const { api, lead, go, world } = await atWork(
        async (_db, ctx) => {
          Object.assign(ctx.status, { size: 3 })
          await Promise.resolve(act(ctx)).catch((error) => {
            caught = error
            throw error
          })
        },
        { stacked: [StatefulSet] },
      )
      const before = api.writes.length
      lead.leads = false
      go()
      await settle()
      expect(caught).to.be.instanceOf(LeaseLostError)
      expect(api.writes.slice(before)).to.deep.equal([])
      expect(world.logged('error')).to.deep.equal([])
    })
  }

  it('sees its signal aborted as soon as it looks at it, before it calls somebody that no gate guards', async () => {
    let aborted: boolean | undefined
    const { lead, go } = await atWork((_db, ctx) => {
      aborted = ctx.signal.aborted
    })
    lead.leads = false
    go()
    await settle()
    expect(aborted).to.equal(true)
  })

  it('begins no other run', async () => {
    const { lead, go, began } = await atWork(() => {})
    lead.leads = false
    go()
    await settle()
    expect(began).to.deep.equal(['a'])
  })

  it('writes no status at the end of a run that knows of nothing', async () => {
    const { api, lead, go } = await atWork((_db, ctx) => {
      Object.assign(ctx.status, { size: 3 })
    })
    const before = api.writes.length
    lead.leads = false
    go()
    await settle()
    expect(api.writes.slice(before)).to.deep.equal([])
  })

  it('is cut off where it is when it is abandoned, without a drain', async () => {
    const { api, lead, manager, world, go } = await atWork(() => {})
    const before = api.writes.length
    lead.leads = false
    const error = new LeaseLostError('gone')
    manager.abandon(error)
    await settle()
    go()
    await world.ms(60_000)
    expect(api.writes.slice(before)).to.deep.equal([])
    expect(world.logged('error')).to.deep.equal([])
    await manager.stop()
  })

  it('aborts the signal of its runs when it is abandoned', async () => {
    const signals: AbortSignal[] = []
    const { begin, manager } = await standby({
      reconcile: (_db, ctx: Ctx) => {
        signals.push(ctx.signal)
        return new Promise(() => {})
      },
    })
    await begin()
    const error = new LeaseLostError('gone')
    manager.abandon(error)
    expect(signals.map(({ aborted, reason }) => [aborted, reason])).to.deep.equal([[true, error]])
  })
})
