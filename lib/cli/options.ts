/**
 * The command line of `tsop-run`. One table: the parser, `--help` and the reference (docs/reference/cli.md) are made from it.
 */

import { type LogFormat, type LogLevel, logFormats, logLevels } from '../observe/log-levels.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { type OptionRow, parseRows } from './option-rows.ts'

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
  { name: 'watch', sentence: 'Restart when a handler file changes; while the new code does not load, the old keeps running.' },
  { name: 'check', sentence: 'Load the handlers, say what is wrong with them, and exit; no cluster is needed.' },
  {
    name: 'name',
    value: 'NAME',
    sentence: "The operator's name, which owns the fields it writes; by default the name in the package.json nearest to the handlers.",
  },
  { name: 'log-level', value: 'LEVEL', choices: logLevels, sentence: 'The least important level that is logged; info by default.' },
  {
    name: 'log-format',
    value: 'FORMAT',
    choices: logFormats,
    sentence: 'Lines for people or for machines; by default pretty on a terminal and json elsewhere.',
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
  readonly watch: boolean
  readonly check: boolean
  readonly name: string | undefined
  readonly logLevel: LogLevel | undefined
  readonly logFormat: LogFormat | undefined
  readonly debug: boolean
  readonly version: boolean
  readonly help: boolean
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
    watch: flag('watch'),
    check: flag('check'),
    name: operatorName(one('name')),
    logLevel: choice('log-level', logLevels, one('log-level')),
    logFormat: choice('log-format', logFormats, one('log-format')),
    debug: flag('debug'),
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
  if (options.once && options.watch) throw usage('--once and --watch contradict each other')
  if (options.check && options.watch) throw usage('--check and --watch contradict each other')
  return options
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
