/**
 * Random pauses of whoever leads, at random moments: nothing of a former leader is done beside the next one. `npm run test:pauses` makes fifty.
 * `TSOP_SEED` makes the same ones again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { AuditedPlane } from './fixtures/audited-plane.ts'
import { LEASE_SECONDS, RENEW_SECONDS, Replicas } from './fixtures/replicas.ts'
import { until } from './until.ts'

const PAUSES = Number(process.env['TSOP_PAUSES'] ?? 10)
const SEED = Number(process.env['TSOP_SEED'] ?? Math.floor(Math.random() * 2 ** 32))

describe('random pauses', function () {
  this.timeout(60_000 + PAUSES * 40_000)
  let plane: AuditedPlane

  before(async function () {
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    plane = await AuditedPlane.start()
  })
  after(() => plane?.stop())

  it(`${PAUSES} of the leader at random moments leak nothing (seed ${SEED})`, async () => {
    const r = await Replicas.create(plane, 8)
    const random = randomFrom(SEED)
    let handovers = 0
    let others = 0
    const paused = new Set<string>()
    try {
      await r.start('a')
      await r.start('b')
      for (let i = 0; i < PAUSES; i++) {
        // Also one that lost its lease by itself, on a busy machine, is started anew.
        for (const pod of ['a', 'b'].filter((each) => !r.operator(each).running)) {
          if (!paused.delete(pod)) others++
          await r.start(pod)
        }
        const before = r.calls.length
        const leads = await until(() => r.calls.slice(before).at(-1)?.pod, 'somebody to work')
        const other = leads === 'a' ? 'b' : 'a'
        await until(() => new RegExp(`standing by: ${leads} leads`).test(r.operator(other).log), `${other} to stand by`)
        await pause(random() * 1_200)
        // From shorter than the renew deadline to longer than the lease.
        const ms = 1_500 + (i === 0 ? 1 : random()) * (LEASE_SECONDS + 1) * 1_000
        const waits = random() < 0.5
        const old = r.operator(leads)
        old.signal('SIGSTOP')
        await pause(ms)
        // Whoever waits for the next one to work catches it with its hands full. Where its turn does not come, it is as well without.
        const mark = Date.now()
        const works = () => r.calls.some(({ pod, at }) => pod === other && at > mark)
        if (waits && ms > LEASE_SECONDS * 1_000) await until(works, `${other} to work`)
        old.signal('SIGCONT')
        const late = ms > RENEW_SECONDS * 1_000
        if (!late && (await r.holder) !== other) continue
        await until(() => !old.running, `${leads} to end`)
        expect(await old.exited, 'exit code').to.not.equal(0)
        // However late the other one is on this machine: it has to take over before it may be paused in its turn.
        await until(async () => (await r.holder) === other, `${other} to take the lease`)
        handovers++
        paused.add(leads)
      }
      await pause(2_000)
      const strays = r.strays()
      const writes = r.writes.filter(({ resource }) => resource !== 'leases').length
      const counts = `${PAUSES} pauses, ${handovers} handovers, ${others} other ends, ${writes} writes, ${r.calls.length} calls`
      console.log(`      ${counts}, ${strays.length} strays`)
      expect(strays).to.deep.equal([])
      expect(handovers).to.be.greaterThan(0)
    } catch (error) {
      if (error instanceof Error)
        for (const pod of ['a', 'b'])
          error.message += `\n--- ${pod} (${r.operator(pod).running ? 'running' : 'ended'}):\n${r.operator(pod).log.slice(-3000)}`
      throw error
    } finally {
      await r.end()
    }
  })
})

/** Mulberry32: the same numbers in [0, 1) from the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
