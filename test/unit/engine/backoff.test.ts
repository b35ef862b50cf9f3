import { expect } from 'chai'
import fc from 'fast-check'
import { backoff, conflictDelay } from '../../../lib/engine/backoff.ts'

const failures = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 1_000_000 }))
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const CAP = 5 * 60_000

describe('back-off of a key (promise 4)', () => {
  it('is 250 ms, twice that, and so on', () => {
    expect([1, 2, 3, 4].map((n) => backoff(n, () => 0.5))).to.deep.equal([250, 500, 1000, 2000])
  })

  it('lies within a fifth of the exponential, and never beyond 5 minutes', () => {
    fc.assert(
      fc.property(failures, chance, (n, r) => {
        const middle = Math.min(CAP, 250 * 2 ** (n - 1))
        const ms = backoff(n, () => r)
        expect(ms).to.be.within(0.8 * middle, Math.min(CAP, 1.2 * middle))
      }),
    )
  })

  it('grows with each failure until the cap is near, whatever the dice say', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 10 }), chance, chance, (n, a, b) => backoff(n + 1, () => a) > backoff(n, () => b)))
  })

  it('never gives up: after a million failures it still waits 4 to 5 minutes', () => {
    fc.assert(fc.property(chance, (r) => void expect(backoff(1_000_000, () => r)).to.be.within(0.8 * CAP, CAP)))
  })

  it('spreads keys that failed together', () => {
    expect(new Set([0, 0.25, 0.5, 0.75].map((r) => backoff(30, () => r))).size).to.be.greaterThan(2)
  })
})

describe('the pause after a conflict', () => {
  it('is short, grows, and ends at some seconds', () => {
    expect([1, 2, 3].map((n) => conflictDelay(n, () => 0.5))).to.deep.equal([20, 40, 80])
    fc.assert(fc.property(failures, chance, (n, r) => void expect(conflictDelay(n, () => r)).to.be.within(10, 7500)))
  })
})
