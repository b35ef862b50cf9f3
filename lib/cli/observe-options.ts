/** The options of the command line that say where an operator can be looked at. */

import { type Address, parseAddress } from '../observe/endpoint.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { OptionRow } from './option-rows.ts'

export const OBSERVE_OPTIONS = [
  {
    name: 'metrics-bind-address',
    value: 'HOST:PORT',
    sentence:
      'Serve Prometheus metrics there; 0 is nowhere. By default :8080 in a cluster (:8443 with --metrics-secure), and nowhere elsewhere.',
  },
  {
    name: 'metrics-secure',
    sentence: 'Serve metrics over TLS, and only to those whom the API server knows and lets get /metrics.',
  },
  {
    name: 'metrics-cert-path',
    value: 'DIR',
    sentence:
      'Take the certificate of the metrics from tls.crt and tls.key in this directory, also when they change; by default one is made.',
  },
  {
    name: 'health-probe-bind-address',
    value: 'HOST:PORT',
    sentence: 'Serve /healthz, /livez and /readyz there; 0 is nowhere. By default :8081 in a cluster, and nowhere elsewhere.',
  },
] as const satisfies readonly OptionRow[]

/** An address that was asked for; `default`: none was, so that it depends on where the operator runs; `off`: none is wanted. */
export type Where = Address | 'default' | 'off'

export interface ObserveOptions {
  readonly metrics: Where
  readonly secure: boolean
  readonly certificates: string | undefined
  readonly probes: Where
}

/** @throws CliError with exit code 2 */
export function observeOptions(flag: (name: string) => boolean, one: (name: string) => string | undefined): ObserveOptions {
  const options: ObserveOptions = {
    metrics: where('metrics-bind-address', one),
    secure: flag('metrics-secure'),
    certificates: one('metrics-cert-path'),
    probes: where('health-probe-bind-address', one),
  }
  if (options.certificates !== undefined && !options.secure) throw usage('--metrics-cert-path is for --metrics-secure')
  if (options.secure && options.metrics === 'off') throw usage('--metrics-secure and --metrics-bind-address 0 contradict each other')
  const { metrics, probes } = options
  if (typeof metrics === 'object' && typeof probes === 'object' && metrics.port !== 0 && metrics.port === probes.port)
    throw usage('--metrics-bind-address and --health-probe-bind-address need a port each')
  return options
}

function where(name: string, one: (name: string) => string | undefined): Where {
  const text = one(name)
  if (text === undefined) return 'default'
  try {
    return parseAddress(text) ?? 'off'
  } catch (error) {
    throw usage(`--${name} ${text}: ${(error as Error).message}`)
  }
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, `${message}; see tsop-run --help`)
}
