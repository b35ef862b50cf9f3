import { expect } from 'chai'
import { finishOnce } from '../../../lib/cli/once.ts'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import type { Any } from '../engine/fake-api.ts'
import { type Ctx, Database, handler, type Methods, StatefulSet, stopAll, World } from '../engine/world.ts'

describe('--once', () => {
  afterEach(stopAll)

  /** Databases that wait for the size of their StatefulSet, but for `b`, which is broken, and `d`, which is ready and looks again. */
  const METHODS: Methods = {
    set: () => ({ spec: {} }),
    reconcile(db: Any, ctx: Ctx) {
      if (db.metadata.name === 'b') throw new Error('no luck')
      if (db.metadata.name === 'd') return requeueAfter('1h', { ready: true })
      if (!(ctx.child(StatefulSet) as Any)?.status?.ready) return requeueAfter('1h', { reason: 'PodsStarting', message: '0 of 1' })
    },
  }

  async function once(names: string, timeoutMs?: number) {
    const world = new World()
    for (const name of names) world.api.create(Database, name, { spec: {} })
    const manager = await world.start(handler(METHODS, { owns: { set: StatefulSet } }))
    const stop = new AbortController()
    const state: { code?: number; error?: unknown } = {}
    const options = { explain: async () => manager.controllers, signal: stop.signal, log: world.log, timeoutMs, clock: world.clock }
    void finishOnce(manager, options).then(
      (code) => Object.assign(state, { code }),
      (error) => Object.assign(state, { error }),
    )
    await world.ms(0)
    const ready = async (name: string) => {
      world.api.edit(StatefulSet, name, (set) => {
        set.status = { ready: true }
      })
      await world.ms(250)
    }
    return { world, state, stop, ready }
  }

  it('ends with 0 once the objects that wait for their children are ready', async () => {
    const { world, state, ready } = await once('acd')
    expect(state).to.deep.equal({})
    expect(world.logged('info')).to.include('waits up to 1m for Database.db.example.com shop/a, Database.db.example.com shop/c')
    await ready('a')
    await world.ms(30_000)
    expect(state).to.deep.equal({})
    await ready('c')
    expect(state).to.deep.equal({ code: 0 })
  })

  it('does not wait where nothing does, also where an object only wants to be looked at later', async () => {
    expect((await once('d')).state).to.deep.equal({ code: 0 })
    expect((await once('bd')).state).to.deep.equal({ code: 1 })
  })

  it('ends with 1 when the time is over, and says who still waits and who failed', async () => {
    const { world, state } = await once('ab', 5000)
    await world.ms(4999)
    expect(state).to.deep.equal({})
    await world.ms(1)
    expect(state).to.deep.equal({ code: 1 })
    expect(world.logged('warn')).to.include('waits: PodsStarting: 0 of 1')
    expect(world.logged('error').slice(-2)).to.deep.equal(['not done: ReconcileFailed: no luck', 'not all is done: 1 failed, 1 waits'])
  })

  it('waits for nobody with 0s', async () => {
    expect((await once('a', 0)).state).to.deep.equal({ code: 1 })
  })

  it('no longer waits for what was deleted', async () => {
    const { world, state } = await once('a')
    world.api.delete(Database, 'a')
    await world.ms(250)
    expect(state).to.deep.equal({ code: 0 })
  })

  it('stops waiting when it is asked to stop', async () => {
    const { world, state, stop } = await once('a')
    stop.abort(new Error('stopped'))
    await world.ms(0)
    expect((state.error as Error).message).to.equal('stopped')
  })
})
