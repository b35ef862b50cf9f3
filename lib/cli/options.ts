/**
 * The command line of `tsop-run`. One table: the parser, `--help` and the reference (docs/reference/cli.md) are made from it.
 */

import { checkDurations, DEFAULT_DURATIONS, type LeaseDurations } from '../leadership/durations.ts'
import { type LogFormat, type LogLevel, logFormats, logLevels } from '../observe/log-levels.ts'
import { parseDuration } from '../resource/duration.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { OBSERVE_OPTIONS, type ObserveOptions, observeOptions } from './observe-options.ts'
import { type OptionRow, parseRows } from './option-rows.ts'
import { WEBHOOK_OPTIONS, type WebhookOptions, webhookOptions } from './webhook-options.ts'

export const OPTIONS = [
  {
    name: 'kubeconfig',
    value: 'FILE',
    sentence:
      'Take the cluster from this kubeconfig; otherwise $KUBECONFIG, ~/.kube/config, the service account of the pod, or, without any, an embedded API server.',
  },
  { name: 'context', value: 'NAME', sentence: 'Use this context of the kubeconfig instead of its current one.' },
  { name: 'embedded', sentence: 'Use an embedded API server, for development only, even where there is a cluster.' },
  {
    name: 'persist',
    value: 'FILE',
    sentence: 'Keep what the embedded API server stores in this file, from one start to the next.',
  },
  { name: 'namespace', short: 'n', value: 'NAME', multiple: true, sentence: 'Serve only this namespace; may be given several times.' },
  { name: 'all-namespaces', short: 'A', sentence: 'Serve all namespaces, which is the default.' },
  {
    name: 'concurrency',
    value: 'KIND=N',
    multiple: true,
    sentence: 'Work on up to N objects of a kind at once, whatever its handler says; KIND is a kind or kind.group.',
  },
  { name: 'install-crds', sentence: "Create or update the CustomResourceDefinitions of the handlers' resources before starting." },
  {
    name: 'apply',
    value: 'FILE|DIR',
    multiple: true,
    sentence: 'Apply these manifests (YAML or JSON) before starting, namespaces and definitions first.',
  },
  { name: 'once', sentence: 'Reconcile every object there is, then exit: 0 when all are done, 1 when one failed or still waits.' },
  {
    name: 'timeout',
    value: 'DURATION',
    sentence: 'With --once: how long objects that wait, for their pods say, are waited for; 1m by default, 0s is not at all.',
  },
  {
    name: 'watch',
    sentence: 'Restart when a handler file or a manifest of --apply changes; while the new code does not load, the old keeps running.',
  },
  { name: 'check', sentence: 'Load the handlers, say what is wrong with them and their definitions, and exit; no cluster is needed.' },
  {
    name: 'name',
    value: 'NAME',
    sentence: "The operator's name, which owns the fields it writes; by default the name in the package.json nearest to the handlers.",
  },
  {
    name: 'leader-elect',
    sentence: 'Let only one of several processes work at a time, chosen by a Lease; the default in a cluster, but for --once.',
  },
  { name: 'no-leader-elect', sentence: 'Work without an election, also in a cluster: there must be one process only.' },
  { name: 'lease-name', value: 'NAME', sentence: "The name of the Lease; by default the operator's name." },
  { name: 'lease-namespace', value: 'NAME', sentence: 'The namespace of the Lease; by default that of the pod, or of the context.' },
  {
    name: 'lease-duration',
    value: 'DURATION',
    sentence: 'How long others wait after the last renewal they saw before they take the Lease; 15s by default.',
  },
  {
    name: 'renew-deadline',
    value: 'DURATION',
    sentence: 'How long after it sent its last good renewal the leader still works; 10s by default.',
  },
  {
    name: 'retry-period',
    value: 'DURATION',
    sentence: 'The pause between two renewals, and between two looks at the Lease; 2s by default.',
  },
  { name: 'log-level', value: 'LEVEL', choices: logLevels, sentence: 'The least important level that is logged; info by default.' },
  {
    name: 'log-format',
    value: 'FORMAT',
    choices: logFormats,
    sentence: 'Lines for people or for machines; by default pretty on a terminal and json elsewhere.',
  },
  ...OBSERVE_OPTIONS,
  ...WEBHOOK_OPTIONS,
  {
    name: 'graceful-shutdown-timeout',
    value: 'DURATION',
    sentence: "How long runs may go on after SIGTERM; 20s by default, and to be 10 s below the pod's terminationGracePeriodSeconds.",
  },
  { name: 'debug', sentence: 'Log more (level debug) and show the stacks of errors.' },
  { name: 'version', short: 'v', sentence: 'Print the version and exit.' },
  { name: 'help', short: 'h', sentence: 'Print this help and exit.' },
] as const satisfies readonly OptionRow[]

export interface Options {
  readonly paths: readonly string[]
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly embedded: boolean
  readonly persist: string | undefined
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined
  readonly concurrency: Readonly<Record<string, number>>
  readonly installCrds: boolean
  readonly apply: readonly string[]
  readonly once: boolean
  /** Of `once`. Undefined: its default. */
  readonly timeoutMs: number | undefined
  readonly watch: boolean
  readonly check: boolean
  readonly name: string | undefined
  readonly logLevel: LogLevel | undefined
  readonly logFormat: LogFormat | undefined
  readonly observe: ObserveOptions
  readonly webhooks: WebhookOptions
  /** Undefined: the engine's. */
  readonly graceMs: number | undefined
  readonly debug: boolean
  readonly leader: LeaderOptions
  readonly version: boolean
  readonly help: boolean
}

export interface LeaderOptions {
  /** Undefined: as the place suggests. */
  readonly elect: boolean | undefined
  readonly leaseName: string | undefined
  readonly leaseNamespace: string | undefined
  readonly durations: LeaseDurations
  /** Those options that say something about an election. */
  readonly given: readonly string[]
}

/** Throws a `CliError` with exit code 2 and one line that says what is wrong. */
export function parseOptions(args: readonly string[]): Options {
  const { positionals, flag, one, many } = parseRows(args, OPTIONS, 'tsop-run')
  const options: Options = {
    paths: positionals.length === 0 ? ['handlers'] : positionals,
    kubeconfig: one('kubeconfig'),
    context: one('context'),
    embedded: flag('embedded'),
    persist: one('persist'),
    namespaces: namespaces(many('namespace')),
    concurrency: concurrency(many('concurrency')),
    installCrds: flag('install-crds'),
    apply: many('apply'),
    once: flag('once'),
    timeoutMs: duration('timeout', one('timeout')),
    watch: flag('watch'),
    check: flag('check'),
    name: operatorName(one('name')),
    logLevel: choice('log-level', logLevels, one('log-level')),
    logFormat: choice('log-format', logFormats, one('log-format')),
    observe: observeOptions(flag, one),
    webhooks: webhookOptions(one),
    graceMs: duration('graceful-shutdown-timeout', one('graceful-shutdown-timeout')),
    debug: flag('debug'),
    leader: leader(flag, one),
    version: flag('version'),
    help: flag('help'),
  }
  if (options.namespaces !== undefined && flag('all-namespaces')) throw usage('--namespace and --all-namespaces contradict each other')
  for (const name of ['kubeconfig', 'context'] as const) {
    if (options[name] === undefined) continue
    for (const other of ['embedded', 'persist'] as const) {
      if (options[other] !== false && options[other] !== undefined) throw usage(`--${other} and --${name} contradict each other`)
    }
  }
  if (options.version && !options.help && positionals.length > 0)
    throw usage(`--version takes no arguments, but got ${positionals.join(' ')}`)
  if (options.once && options.watch) throw usage('--once and --watch contradict each other')
  if (options.timeoutMs !== undefined && !options.once) throw usage('--timeout is for --once')
  if (options.check && options.watch) throw usage('--check and --watch contradict each other')
  return options
}

const ELECTION_OPTIONS = ['lease-name', 'lease-namespace', 'lease-duration', 'renew-deadline', 'retry-period']

function leader(flag: (name: string) => boolean, one: (name: string) => string | undefined): LeaderOptions {
  const given = ELECTION_OPTIONS.filter((name) => one(name) !== undefined)
  if (flag('no-leader-elect')) {
    const other = flag('leader-elect') ? 'leader-elect' : given[0]
    if (other !== undefined) throw usage(`--${other} and --no-leader-elect contradict each other`)
  }
  const leaseName = one('lease-name')
  if (leaseName !== undefined && !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(leaseName))
    throw usage(`--lease-name ${leaseName}: expected lower-case letters, digits, dashes and dots`)
  const [leaseNamespace] = namespaces([one('lease-namespace')].filter((name) => name !== undefined)) ?? []
  const elect = flag('leader-elect') ? true : flag('no-leader-elect') ? false : undefined
  return { elect, leaseName, leaseNamespace, durations: durations(one), given }
}

function durations(one: (name: string) => string | undefined): LeaseDurations {
  const ms = (name: string, byDefault: number) => {
    const text = one(name)
    return text === undefined ? byDefault : parseDuration(text, `--${name}`)
  }
  try {
    const durations = {
      leaseMs: ms('lease-duration', DEFAULT_DURATIONS.leaseMs),
      renewMs: ms('renew-deadline', DEFAULT_DURATIONS.renewMs),
      retryMs: ms('retry-period', DEFAULT_DURATIONS.retryMs),
    }
    checkDurations(durations, { lease: '--lease-duration', renew: '--renew-deadline', retry: '--retry-period' })
    return durations
  } catch (error) {
    throw error instanceof TypeError ? usage(error.message) : error
  }
}

function duration(name: string, text: string | undefined): number | undefined {
  try {
    return text === undefined ? undefined : parseDuration(text, `--${name}`)
  } catch (error) {
    throw usage((error as Error).message)
  }
}

function namespaces(names: readonly string[]): readonly string[] | undefined {
  for (const name of names) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) throw usage(`"${name}" cannot be the name of a namespace`)
  }
  return names.length === 0 ? undefined : [...new Set(names)]
}

function concurrency(texts: readonly string[]): Record<string, number> {
  const limits: Record<string, number> = {}
  for (const text of texts) {
    const [, kind, number] = /^([A-Za-z][A-Za-z0-9.-]*)=(\d+)$/.exec(text) ?? []
    const limit = Number(number)
    if (kind === undefined || !Number.isSafeInteger(limit) || limit < 1) {
      throw usage(`--concurrency ${text}: expected KIND=N with a whole number from 1 on, such as Database=4`)
    }
    limits[kind] = limit
  }
  return limits
}

/** What the API server takes as a field manager. */
function operatorName(name: string | undefined): string | undefined {
  if (name !== undefined && !/^[\x21-\x7e]{1,128}$/.test(name))
    throw usage(`--name ${name}: expected 1 to 128 printable ASCII characters without spaces`)
  return name
}

function choice<T extends string>(name: string, choices: readonly T[], value: string | undefined): T | undefined {
  if (value === undefined) return undefined
  const found = choices.find((one) => one === value)
  if (found === undefined) throw usage(`--${name} ${value}: expected one of ${choices.join(', ')}`)
  return found
}

function usage(message: string): CliError {
  return new CliError(exitCodes.usage, `${message}; see tsop-run --help`)
}
