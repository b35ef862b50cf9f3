import { expect } from 'chai'
import { ConnectionError, StatusError, TimeoutError } from '../../../lib/api/status-error.ts'
import { SilenceError } from '../../../lib/cache/watch-connection.ts'
import { WatchProtocolError } from '../../../lib/cache/watch-event.ts'
import { type Attempt, type History, NO_HISTORY, pauseMs, verdictOf } from '../../../lib/cache/watch-verdict.ts'

const status = (code: number, reason = '', retryAfterMs?: number) =>
  new StatusError({ status: code, reason, message: 'no', request: 'GET /', retryAfterMs })
const reset = new ConnectionError('reset')
const silence = new SilenceError('silent')
const garbage = new WatchProtocolError('garbage')

const watch: Attempt = { livedMs: 100, verb: 'watch', complete: true, events: 0 }
const streamedList: Attempt = { ...watch, complete: false }
const list: Attempt = { livedMs: 0, verb: 'list', complete: false, events: 0 }
const minutes = 400_000

describe('verdictOf', () => {
  // what happened · what was before · where to go on · the failures to wait for (undefined: at once) · told as failing
  const table: [string, Attempt, Partial<History>, string, number | undefined, boolean][] = [
    ['the regular end', { ...watch, livedMs: minutes, events: 5 }, { failures: 3 }, 'resume', undefined, false],
    ['a connection lost after minutes', { ...watch, livedMs: minutes, error: reset }, {}, 'resume', undefined, false],
    ['silence', { ...watch, livedMs: 68_000, error: silence }, {}, 'resume', undefined, false],
    ['silence for the fifth time', { ...watch, livedMs: 68_000, error: silence }, { silent: 4 }, 'relist', undefined, false],
    ['garbage after minutes', { ...watch, livedMs: minutes, error: garbage }, {}, 'resume', undefined, false],
    ['trouble in the server after minutes', { ...watch, livedMs: minutes, error: status(500) }, { failures: 3 }, 'resume', 1, true],
    ['a young end without an event', watch, { failures: 1, barren: 1 }, 'resume', 2, true],
    ['the third of them', watch, { failures: 2, barren: 2 }, 'relist', 3, true],
    ['a young end after an event', { ...watch, events: 1 }, { failures: 2, barren: 2 }, 'resume', 2, false],
    ['a young loss after an event', { ...watch, events: 1, error: reset }, {}, 'resume', 0, false],
    ['a young loss without an event', { ...watch, error: reset }, { barren: 2 }, 'resume', 1, true],
    ['no connection', { ...watch, livedMs: 0, error: reset }, { failures: 4, barren: 2 }, 'resume', 5, true],
    ['no answer', { ...watch, livedMs: 0, error: new TimeoutError('late') }, {}, 'resume', 1, true],
    ['garbage', { ...watch, error: garbage }, {}, 'resume', 1, true],
    ['garbage from the same version again and again', { ...watch, error: garbage }, { barren: 2 }, 'relist', 1, true],
    ['trouble in the server again and again', { ...watch, error: status(500) }, { barren: 2 }, 'relist', 1, true],
    ['an expired version', { ...watch, error: status(410) }, { failures: 5 }, 'relist', undefined, false],
    ['an expired version right after another', { ...watch, error: status(410) }, { expired: true }, 'relist', 1, true],
    ['a missing kind', { ...watch, error: status(404) }, {}, 'relist', 1, true],
    ['a missing right', { ...watch, error: status(403) }, { barren: 2 }, 'resume', 1, true],
    ['too many requests', { ...watch, error: status(429) }, { barren: 2 }, 'resume', 1, true],
    ['a streamed list refused', { ...streamedList, error: status(422) }, { failures: 2 }, 'pages', undefined, false],
    ['a streamed list that fell silent', { ...streamedList, livedMs: 68_000, error: silence }, {}, 'pages', undefined, false],
    ['a streamed list broken off', { ...streamedList, livedMs: minutes }, {}, 'relist', 1, true],
    ['the second of them', { ...streamedList, livedMs: minutes }, { failures: 1, brokenLists: 1 }, 'pages', 2, true],
    ['a streamed list without a connection', { ...streamedList, error: reset }, { brokenLists: 1 }, 'relist', 1, true],
    ['a list that failed', { ...list, error: status(500) }, { brokenLists: 1 }, 'relist', 1, true],
  ]
  for (const [what, attempt, before, next, failures, failing] of table) {
    it(`${what}: ${next} ${failures === undefined ? 'at once' : 'after a pause'}`, () => {
      const verdict = verdictOf(attempt, { ...NO_HISTORY, ...before })
      expect(verdict.next).to.equal(next)
      expect(verdict.wait === undefined ? undefined : verdict.history.failures).to.equal(failures)
      expect(verdict.failing !== undefined).to.equal(failing)
    })
  }

  it('says what is missing', () => {
    const missing = (attempt: Attempt) => verdictOf(attempt, NO_HISTORY).failing?.missing
    expect(missing({ ...watch, error: status(404) })).to.equal('kind')
    expect(missing({ ...watch, error: status(403) })).to.equal('watch')
    expect(missing({ ...list, error: status(403) })).to.equal('list')
    expect(missing({ ...watch, error: status(500) })).to.equal(undefined)
  })
})

describe('pauseMs', () => {
  const wait = { leastMs: 0, longestMs: 30_000 }

  it('doubles from 0.8 s to the longest, a quarter more or less', () => {
    const steps = (random: number) => [0, 1, 2, 3, 6, 7, 100].map((failures) => pauseMs(failures, wait, () => random))
    expect(steps(0.5)).to.deep.equal([800, 800, 1_600, 3_200, 25_600, 30_000, 30_000])
    expect(steps(0)).to.deep.equal([600, 600, 1_200, 2_400, 19_200, 22_500, 22_500])
  })

  it('is never less than the server asked for', () => {
    expect(pauseMs(1, { ...wait, leastMs: 60_000 }, () => 0)).to.equal(60_000)
  })
})
