import { expect } from 'chai'
import { CliError } from '../../../lib/cli/exit-codes.ts'
import { addresses } from '../../../lib/cli/observability.ts'
import { parseOptions } from '../../../lib/cli/options.ts'

describe('where an operator is looked at', () => {
  const of = (...args: string[]) => parseOptions(args).observe

  it('depends on where it runs, unless it is said', () => {
    expect(of()).to.deep.equal({ metrics: 'default', secure: false, certificates: undefined, probes: 'default' })
    expect(of('--metrics-bind-address', '0', '--health-probe-bind-address=0')).to.deep.include({ metrics: 'off', probes: 'off' })
    expect(of('--metrics-bind-address', '127.0.0.1:9090', '--health-probe-bind-address', ':9091')).to.deep.include({
      metrics: { host: '127.0.0.1', port: 9090 },
      probes: { host: undefined, port: 9091 },
    })
    expect(of('--metrics-secure', '--metrics-cert-path', '/certs')).to.deep.include({ secure: true, certificates: '/certs' })
  })

  const wrong: [string[], RegExp][] = [
    [
      ['--metrics-bind-address', '8080'],
      /^--metrics-bind-address 8080: expected host:port, such as :8080 or 127.0.0.1:8080, or 0 for none; see/,
    ],
    [['--health-probe-bind-address', ':x'], /expected host:port/],
    [['--metrics-cert-path', '/x'], /is for --metrics-secure/],
    [['--metrics-secure', '--metrics-bind-address', '0'], /contradict/],
    [['--metrics-bind-address', ':1', '--health-probe-bind-address', 'localhost:1'], /need a port each/],
    [['--graceful-shutdown-timeout', 'soon'], /--graceful-shutdown-timeout/],
  ]
  for (const [args, message] of wrong)
    it(`is not at ${args.join(' ')}`, () => {
      expect(() => parseOptions(args))
        .to.throw(CliError, message)
        .with.property('exitCode', 2)
    })

  it('is at the usual ports in a cluster, and nowhere else but where it is asked for', () => {
    const all = (port: number) => ({ host: undefined, port })
    expect(addresses(of(), true)).to.deep.equal({ metrics: all(8080), probes: all(8081) })
    expect(addresses(of(), false)).to.deep.equal({ metrics: undefined, probes: undefined })
    expect(addresses(of('--metrics-secure'), true).metrics).to.deep.equal(all(8443))
    expect(addresses(of('--metrics-secure'), false)).to.deep.equal({ metrics: all(8443), probes: undefined })
    expect(addresses(of('--metrics-bind-address', '0', '--health-probe-bind-address', '0'), true)).to.deep.equal({
      metrics: undefined,
      probes: undefined,
    })
    expect(addresses(of('--metrics-bind-address', ':1'), false).metrics).to.deep.equal(all(1))
  })

  it('leaves the time of a drain to the engine, unless it is said', () => {
    expect(parseOptions([]).graceMs).to.equal(undefined)
    expect(parseOptions(['--graceful-shutdown-timeout', '1m30s']).graceMs).to.equal(90_000)
  })
})
