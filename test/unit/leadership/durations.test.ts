import { expect } from 'chai'
import { checkDurations, DEFAULT_DURATIONS, marginMs, requestTimeoutMs } from '../../../lib/leadership/durations.ts'

const NAMES = { lease: 'lease', renew: 'renew', retry: 'retry' }

describe('the durations of an election', () => {
  it('are 15, 10 and 2 seconds', () => {
    expect(DEFAULT_DURATIONS).to.deep.equal({ leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 })
    checkDurations(DEFAULT_DURATIONS, NAMES)
  })

  for (const [what, [leaseMs, renewMs, retryMs], message] of [
    ['a retry that is no pause', [15_000, 10_000, 0], 'retry is 0 s: expected at least 0.1 s'],
    ['a lease of half seconds', [15_500, 10_000, 2_000], 'lease is 15.5 s: a Lease counts whole seconds'],
    ['a lease of nothing', [0, 10_000, 2_000], 'lease is 0 s'],
    ['one try only', [15_000, 3_900, 2_000], 'renew (3.9 s) must be at least twice retry (2 s)'],
    ['no time for what was sent', [10_000, 9_500, 2_000], 'lease (10 s) must be at least 1 s longer than renew (9.5 s)'],
    ['not a number', [Number.NaN, 10_000, 2_000], 'lease is NaN s'],
  ] as [string, [number, number, number], string][]) {
    it(`refuses ${what}`, () => {
      expect(() => checkDurations({ leaseMs, renewMs, retryMs }, NAMES)).to.throw(TypeError, message)
    })
  }

  it('leave time for two requests before the deadline, and for the end of a write before others lead', () => {
    for (const durations of [DEFAULT_DURATIONS, { leaseMs: 3_000, renewMs: 2_000, retryMs: 500 }]) {
      expect(2 * requestTimeoutMs(durations)).to.be.at.most(durations.renewMs)
      expect(marginMs(durations)).to.be.greaterThan(0)
      expect(durations.renewMs + marginMs(durations)).to.be.lessThan(durations.leaseMs)
    }
  })
})
