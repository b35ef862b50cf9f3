import { expect } from 'chai'
import fc from 'fast-check'
import { isTerminalError, messageOf, TerminalError } from '../../../lib/engine/errors.ts'
import { requeueAfter } from '../../../lib/engine/outcome.ts'
import { formatDuration, parseDuration } from '../../../lib/resource/duration.ts'
import { isRequeueAfter } from '../../../lib/resource/outcome.ts'

const DAY = 86_400_000

describe('a duration', () => {
  const table: [text: string | number, ms: number][] = [
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['250ms', 250],
    ['10h', 36_000_000],
    ['1.5s', 1500],
    ['2d', 2 * DAY],
    [' 5s ', 5000],
    [0, 0],
    [1500, 1500],
  ]
  for (const [text, ms] of table) it(`${JSON.stringify(text)} is ${ms} ms`, () => expect(parseDuration(text, 'x')).to.equal(ms))

  for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY, '', '5', '-5s', '5 s', 'soon', '5s later', '1e3s', null, undefined, {}]) {
    it(`${JSON.stringify(wrong)} (${String(wrong)}) is refused, with the name of what it was for`, () => {
      expect(() => parseDuration(wrong as string, 'timeout')).to.throw(TypeError, /^timeout: expected/)
    })
  }

  it('is read back from how it is written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 * DAY }), (ms) => {
        const back = parseDuration(formatDuration(ms), 'x')
        expect(Math.abs(back - ms)).to.be.at.most(ms < 1000 ? 0 : 500)
      }),
    )
  })
})

describe('requeueAfter (promise 4)', () => {
  it('carries how long, why, and a sentence', () => {
    const wait = requeueAfter('10s', { reason: 'PodsStarting', message: '1 of 3' })
    expect(wait).to.include({ afterMs: 10_000, reason: 'PodsStarting', message: '1 of 3', ready: false })
    expect(isRequeueAfter(wait)).to.equal(true)
    expect(requeueAfter(1000)).to.include({ reason: 'Waiting', message: '', ready: false })
  })

  it('makes 60 days 30, and 0 ms 10', () => {
    expect(requeueAfter(60 * DAY).afterMs).to.equal(30 * DAY)
    expect(requeueAfter('60d').afterMs).to.equal(30 * DAY)
    expect(requeueAfter(0).afterMs).to.equal(10)
  })

  for (const wrong of [Number.NaN, -1, '-1s', 'soon', Number.POSITIVE_INFINITY]) {
    it(`refuses ${String(wrong)}`, () => expect(() => requeueAfter(wrong)).to.throw(TypeError, 'requeueAfter: expected'))
  }

  for (const reason of ['', 'two words', '1st', 'ends-', 'ümlaut', 'x'.repeat(1025)]) {
    it(`refuses the reason ${JSON.stringify(reason.slice(0, 20))}`, () => {
      expect(() => requeueAfter('1s', { reason })).to.throw(TypeError, 'reason must be a CamelCase word')
    })
  }
})

describe('TerminalError', () => {
  it('is known by its mark, also that of another copy of the package', () => {
    expect(isTerminalError(new TerminalError('Bad', 'x'))).to.equal(true)
    expect(isTerminalError(Object.assign(new Error('x'), { [Symbol.for('tsop.TerminalError')]: true }))).to.equal(true)
    for (const other of [new Error('x'), undefined, null, 'x', {}]) expect(isTerminalError(other)).to.equal(false)
  })

  it('refuses a reason that no condition may have', () => {
    expect(() => new TerminalError('no word', 'x')).to.throw(TypeError, 'CamelCase')
  })
})

describe('the text of what was thrown', () => {
  for (const [thrown, text] of [
    [new Error('a'), 'a'],
    [new RangeError(), 'RangeError'],
    ['plain', 'plain'],
    [undefined, 'a value that is no Error was thrown: undefined'],
    [Object.create(null), 'a value that is no Error was thrown: an object'],
    [Symbol('s'), 'a value that is no Error was thrown: Symbol(s)'],
  ] as const) {
    it(`is ${JSON.stringify(text)}`, () => expect(messageOf(thrown)).to.equal(text))
  }
})
