import { expect } from 'chai'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import type { TransportResponse } from '../../../lib/api/transport.ts'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { patience, reachCluster } from '../../../lib/cli/reach-cluster.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'

type Answer = number | Error | { status: number; headers: Record<string, string> }

function world(answers: (tries: number) => Answer, patienceMs?: number, source: 'kubeconfig' | 'in-cluster' = 'kubeconfig') {
  const clock = new ManualClock()
  const warnings: string[] = []
  const warn = (_fields: object | string, message = '') => void warnings.push(message)
  const log: Log = { trace() {}, debug() {}, info() {}, warn, error() {}, child: () => log }
  const stop = new AbortController()
  let tries = 0
  const request = async (): Promise<TransportResponse> => {
    const answer = answers(++tries)
    if (answer instanceof Error) throw answer
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer
    return { status, headers, body: Buffer.from('{}') }
  }
  const outcome = { done: false, error: undefined as unknown }
  const cluster = { server: 'https://cluster:6443', context: 'work', source, files: ['/config'] }
  void reachCluster({ cluster, transport: { request }, clock, random: () => 0.5, log, signal: stop.signal, patienceMs }).then(
    () => {
      outcome.done = true
    },
    (error) => {
      outcome.error = error
    },
  )
  return { clock, warnings, stop, outcome, tries: () => tries }
}

function broken(code: string): Error {
  return new ConnectionError(`cannot connect: ${code}`, { cause: Object.assign(new Error(code), { code }) })
}

function expectExit4(error: unknown): string {
  expect(error).to.be.instanceOf(CliError).with.property('exitCode', 4)
  expect((error as Error).message).to.not.contain('\n')
  return (error as Error).message
}

describe('the first request', () => {
  for (const status of [200, 403, 404]) {
    it(`takes ${status} for an API server that is there`, async () => {
      const { outcome, tries, warnings } = world(() => status)
      await settle()
      expect(outcome.done).to.equal(true)
      expect([tries(), warnings.length]).to.deep.equal([1, 0])
    })
  }

  for (const [what, answer] of [
    ['throttles', 429],
    ['is not ready', 503],
    ['refuses connections', broken('ECONNREFUSED')],
    ['has no name yet', broken('ENOTFOUND')],
    ['does not answer', new TimeoutError('no answer')],
  ] as [string, Answer][]) {
    it(`waits for a server that ${what}, with a warning for each try, for as long as it takes`, async () => {
      const { outcome, clock, warnings, tries } = world((n) => (n < 60 ? answer : 200))
      await clock.advance(9 * 60_000)
      expect(outcome).to.deep.equal({ done: false, error: undefined })
      await clock.advance(2 * 60_000)
      expect(outcome.done).to.equal(true)
      expect(tries()).to.equal(60)
      expect(warnings).to.have.lengthOf(59)
      expect(clock.pending).to.equal(0)
    })
  }

  it('waits no shorter than Retry-After says', async () => {
    const { clock, tries } = world((n) => (n === 1 ? { status: 429, headers: { 'retry-after': '7' } } : 200))
    await clock.advance(6999)
    expect(tries()).to.equal(1)
    await clock.advance(1)
    expect(tries()).to.equal(2)
  })

  it('is patient only where nobody waits for the answer', () => {
    expect(patience({ terminal: false, once: false })).to.equal(undefined)
    expect(patience({ terminal: true, once: false })).to.equal(10_000)
    expect(patience({ terminal: false, once: true })).to.equal(10_000)
  })

  it('gives up before ten seconds where a person waits, and says what to do', async () => {
    const { outcome, clock } = world(() => broken('ECONNREFUSED'), 10_000)
    await clock.advance(10_000)
    expect(expectExit4(outcome.error)).to.match(/cannot reach https:\/\/cluster:6443: .*ECONNREFUSED.*--context/)
    expect(clock.pending).to.equal(0)
  })

  for (const code of [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'EPROTO',
  ]) {
    it(`gives up at once on ${code}`, async () => {
      const { outcome, tries } = world(() => broken(code))
      await settle()
      expect(expectExit4(outcome.error)).to.match(/certificate|TLS/)
      expect(tries()).to.equal(1)
    })
  }

  it('gives up on credentials that are refused three times, and on none that are replaced meanwhile', async () => {
    const refused = world(() => 401)
    await refused.clock.advance(60_000)
    expect(expectExit4(refused.outcome.error)).to.equal(
      'https://cluster:6443 does not accept the credentials of context "work" in /config (401 Unauthorized): they have expired, or are those of another cluster; log in again, or choose others with --context or --kubeconfig',
    )
    expect(refused.tries()).to.equal(3)
    const rotated = world((n) => (n < 3 ? 401 : 200))
    await rotated.clock.advance(60_000)
    expect(rotated.outcome.done).to.equal(true)
    expect(rotated.warnings[0]).to.match(/^the API server does not accept the credentials yet: /)
  })

  it('speaks of the service account in a pod', async () => {
    const { outcome, clock } = world(() => 401, undefined, 'in-cluster')
    await clock.advance(60_000)
    expect(expectExit4(outcome.error)).to.match(/service account token in \/config .*check the service account$/)
  })

  it('ends with the signal, without a timer left', async () => {
    const { outcome, clock, stop } = world(() => 503)
    await settle()
    const reason = new Error('stopped')
    stop.abort(reason)
    await settle()
    expect(outcome.error).to.equal(reason)
    expect(clock.pending).to.equal(0)
  })

  it('takes a bug for what it is', async () => {
    const { outcome } = world(() => new TypeError('x is not a function'))
    await settle()
    expectExit4(outcome.error)
  })
})
