import { expect } from 'chai'
import { humanDuration } from '../../../../lib/embedded/table.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

describe('an age in a table', () => {
  for (const [milliseconds, text] of [
    [-3 * SECOND, '<invalid>'],
    [-500, '0s'],
    [0, '0s'],
    [119 * SECOND, '119s'],
    [120 * SECOND, '2m'],
    [150 * SECOND, '2m30s'],
    [10 * MINUTE + 5 * SECOND, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [7 * HOUR + 12 * MINUTE, '7h12m'],
    [47 * HOUR, '47h'],
    [2 * DAY + 5 * HOUR, '2d5h'],
    [8 * DAY + 5 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [2 * YEAR + 30 * DAY, '2y30d'],
    [8 * YEAR + 30 * DAY, '8y'],
  ] as const) {
    it(`of ${milliseconds} ms is ${text}`, () => {
      expect(humanDuration(milliseconds)).to.equal(text)
    })
  }
})
