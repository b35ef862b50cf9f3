/** Random pauses of whoever leads, at random moments: nothing of a former leader is done beside the next one. `npm run test:pauses` makes fifty. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { AuditedPlane } from './fixtures/audited-plane.ts'
import { LEASE_SECONDS, Replicas } from './fixtures/replicas.ts'
import { until } from './until.ts'

const PAUSES = Number(process.env['TSOP_PAUSES'] ?? 4)

describe('random pauses', function () {
  this.timeout(60_000 + PAUSES * 40_000)
  let plane: AuditedPlane

  before(async function () {
    if (process.env['TSOP_TEST_SERVER'] === 'embedded') this.skip()
    plane = await AuditedPlane.start()
  })
  after(() => plane?.stop())

  it(`${PAUSES} of the leader at random moments leak nothing`, async () => {
    const r = await Replicas.create(plane, 8)
    let handovers = 0
    try {
      await r.start('a')
      await r.start('b')
      for (let i = 0; i < PAUSES; i++) {
        // Also one that lost its lease by itself, on a busy machine, is started anew.
        for (const pod of ['a', 'b']) if (!r.operator(pod).running) await r.start(pod)
        const before = r.calls.length
        const leads = await until(() => r.calls.slice(before).at(-1)?.pod, 'somebody to work')
        const other = leads === 'a' ? 'b' : 'a'
        await until(() => new RegExp(`standing by: ${leads} leads`).test(r.operator(other).log), `${other} to stand by`)
        await pause(Math.random() * 1_200)
        const old = r.operator(leads)
        old.signal('SIGSTOP')
        // From shorter than the renew deadline to longer than the lease.
        await pause(1_500 + Math.random() * (LEASE_SECONDS + 2) * 1_000)
        // Whoever waits for the next one to work catches it with its hands full.
        const mark = Date.now()
        if (Math.random() < 0.5) await until(() => r.calls.some(({ pod, at }) => pod === other && at > mark), `${other} to work`)
        old.signal('SIGCONT')
        const isOver = () => !old.running
        const took = async () => (await r.holder) === other
        if (!(await took())) await pause(3_000)
        if (await took()) {
          await until(isOver, `${leads} to end`)
          expect(await old.exited, 'exit code').to.not.equal(0)
          handovers++
        }
      }
      await pause(2_000)
      const strays = r.strays()
      const writes = r.writes.filter(({ resource }) => resource !== 'leases').length
      console.log(`      ${PAUSES} pauses, ${handovers} handovers, ${writes} writes, ${r.calls.length} calls, ${strays.length} strays`)
      expect(strays).to.deep.equal([])
      expect(handovers).to.be.at.least(Math.floor(PAUSES / 4))
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
