import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { parseOptions } from '../../../lib/cli/options.ts'

const leader = (...args: string[]) => parseOptions(args).leader

describe('the options of leader election', () => {
  it('leave it to the place where nothing is said', () => {
    expect(leader()).to.deep.include({ elect: undefined, leaseName: undefined, leaseNamespace: undefined, given: [] })
    expect(leader().durations).to.deep.equal({ leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 })
  })

  it('turn it on and off', () => {
    expect(leader('--leader-elect').elect).to.equal(true)
    expect(leader('--no-leader-elect').elect).to.equal(false)
  })

  it('name the lease and its durations', () => {
    const args = ['--lease-name=op', '--lease-namespace=sys', '--lease-duration=1m', '--renew-deadline=40s', '--retry-period=500ms']
    expect(leader(...args)).to.deep.include({
      leaseName: 'op',
      leaseNamespace: 'sys',
      durations: { leaseMs: 60_000, renewMs: 40_000, retryMs: 500 },
      given: ['lease-name', 'lease-namespace', 'lease-duration', 'renew-deadline', 'retry-period'],
    })
  })

  for (const [args, message] of [
    [['--leader-elect', '--no-leader-elect'], '--leader-elect and --no-leader-elect contradict each other'],
    [['--no-leader-elect', '--lease-name=x'], '--lease-name and --no-leader-elect contradict each other'],
    [['--lease-name=Op'], '--lease-name Op: expected lower-case letters'],
    [['--lease-namespace=a.b'], '"a.b" cannot be the name of a namespace'],
    [['--lease-duration=soon'], "--lease-duration: expected a duration such as '30s'"],
    [['--lease-duration=10s'], '--lease-duration (10 s) must be at least 1 s longer than --renew-deadline (10 s)'],
    [['--retry-period=6s'], '--renew-deadline (10 s) must be at least twice --retry-period (6 s)'],
    [['--lease-duration=15500ms'], '--lease-duration is 15.5 s: a Lease counts whole seconds'],
  ] as [string[], string][]) {
    it(`refuse ${args.join(' ')}`, () => {
      let error: unknown
      try {
        parseOptions(args)
      } catch (caught) {
        error = caught
      }
      expect(error).to.be.instanceOf(CliError).with.property('exitCode', 2)
      expect((error as Error).message).to.contain(message)
    })
  }
})
