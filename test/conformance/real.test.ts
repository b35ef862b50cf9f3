/** Needs a control plane of its own: `test/control-plane/README.md`. */
import { expect } from 'chai'
import fc from 'fast-check'
import { AREAS } from './cases.ts'
import { compare, prepare, unprepare } from './random/compare.ts'
import { sequence } from './random/operations.ts'
import { type Results, runCases } from './results.ts'
import { embeddedTargets, realTarget } from './servers.ts'
import type { Target } from './target.ts'

/** The same sequences every time; TSOP_SEED and TSOP_RUNS for others, and more. */
const SEED = Number(process.env['TSOP_SEED'] ?? 20_261_130)
const RUNS = Number(process.env['TSOP_RUNS'] ?? 80)

describe('a real API server', () => {
  let real: Target
  let results: Results
  let stop = () => {}

  before(async () => {
    const started = await realTarget()
    real = started.target
    stop = started.close
    results = await runCases(real, 16)
  })

  after(async () => {
    await real?.close()
    stop()
  })

  describe('answers as it did when it was recorded', () => {
    for (const [area, cases] of AREAS) {
      for (const { id, title } of cases) {
        it(`${area}/${id}: ${title}`, () => {
          const found = results.get(id)?.join('\n') ?? 'not run'
          expect(found, found).to.equal('')
        })
      }
    }
  })

  it('answers random sequences of operations as the embedded one does', async () => {
    const { targets, close } = await embeddedTargets()
    const embedded = targets['in process']
    const group = await prepare([real, embedded])
    const property = fc.asyncProperty(sequence, async (operations) => {
      const found = await compare(real, embedded, group, operations)
      expect(found, found).to.equal(undefined)
    })
    try {
      // A failure is printed with its seed and the shortest sequence that shows it.
      await fc.assert(property, { numRuns: RUNS, seed: SEED, interruptAfterTimeLimit: 60_000 + RUNS * 1_000 })
    } finally {
      await unprepare([real], group)
      await close()
    }
  })
})
