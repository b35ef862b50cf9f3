/** `tsop uninstall`: takes an operator away in the order in which nothing is left behind. */

import { createInterface } from 'node:readline/promises'
import { Client } from '../api/client.ts'
import { systemClock, systemRandom } from '../api/clock.ts'
import { createTransport } from '../api/http-transport.ts'
import { parseDuration } from '../resource/duration.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { findCluster } from './find-cluster.ts'
import { OPERATOR_OPTIONS, operatorModel } from './operator-model.ts'
import { type OptionRow, optionLines, type ParsedOptions, parseRows, wrap } from './option-rows.ts'
import { report } from './report.ts'
import { Uninstall } from './uninstall-steps.ts'

export const UNINSTALL_OPTIONS: readonly OptionRow[] = [
  { name: 'kubeconfig', value: 'FILE', sentence: 'Take the cluster from this kubeconfig; otherwise $KUBECONFIG or ~/.kube/config.' },
  { name: 'context', value: 'NAME', sentence: 'Use this context of the kubeconfig instead of its current one.' },
  ...OPERATOR_OPTIONS.filter(({ name }) => name === 'name' || name === 'home'),
  {
    name: 'namespace',
    short: 'n',
    value: 'NAME',
    multiple: true,
    sentence: 'The operator serves only this namespace, as told to generate deploy; may be given several times.',
  },
  { name: 'keep-data', sentence: 'Keep the custom resources, what they own, and their definitions; only the operator goes.' },
  {
    name: 'only-resources',
    sentence: 'Delete the custom resources, clean-up included, and nothing else: the rest is for Helm or who else installed it.',
  },
  {
    name: 'abandon',
    sentence: 'Give up the clean-up of what is not gone in time: its finalizers are removed, and what it has outside of the cluster stays.',
  },
  { name: 'timeout', value: 'DURATION', sentence: 'How long the clean-up may take; 5m by default.' },
  { name: 'dry-run', sentence: 'Delete nothing; show what would be deleted.' },
  { name: 'yes', short: 'y', sentence: 'Do not ask.' },
  { name: 'debug', sentence: 'Show the stacks of errors.' },
  { name: 'help', short: 'h', sentence: 'Print this help and exit.' },
]

export function uninstallHelp(): string {
  return [
    'Usage: tsop uninstall [options] [directories or files …]',
    '',
    ...wrap(
      'Deletes the custom resources of the handlers while the operator can still clean up after them, and waits until they are gone; then the operator, its roles, and the definitions of its kinds. No finalizer stays that nobody serves, and no webhook that nobody answers. Without arguments it loads the directory handlers.',
      100,
    ),
    '',
    'Options:',
    ...optionLines(UNINSTALL_OPTIONS),
    '',
    ...wrap('Exit codes: 0 done · 1 not all is gone · 2 command line · 3 kubeconfig or handlers · 4 cluster', 100),
    '',
  ].join('\n')
}

export async function uninstall(args: readonly string[]): Promise<number> {
  try {
    const options = parseRows(args, UNINSTALL_OPTIONS, 'tsop uninstall')
    if (options.flag('help')) {
      process.stdout.write(uninstallHelp())
      return exitCodes.ok
    }
    if (options.flag('keep-data') && options.flag('only-resources'))
      throw new CliError(exitCodes.usage, '--keep-data and --only-resources contradict each other; see tsop uninstall --help')
    return await run(options)
  } catch (error) {
    return report(error, args.includes('--debug'), 'tsop')
  }
}

async function run(options: ParsedOptions): Promise<number> {
  const cwd = process.cwd()
  const timeoutMs = timeout(options.one('timeout') ?? '5m')
  const paths = options.positionals.length === 0 ? ['handlers'] : options.positionals
  const { loadHandlers } = await import('./load-handlers.ts')
  const { operatorName } = await import('./operator-name.ts')
  const handlers = await loadHandlers(paths, { cwd })
  const model = operatorModel({ handlers, options, name: operatorName(paths, cwd) })
  const cluster = await findCluster({ kubeconfig: options.one('kubeconfig'), context: options.one('context') })
  const transport = createTransport(cluster, { clock: systemClock, random: systemRandom })
  // Waits do not keep a process alive, nor do the idle connections of HTTP/1.1: also before there is an answer.
  const alive = setInterval(() => {}, 2 ** 30)
  try {
    const client = new Client({ transport, clock: systemClock, userAgent: 'tsop-uninstall' })
    const work = new Uninstall({
      client,
      model,
      keepData: options.flag('keep-data'),
      onlyResources: options.flag('only-resources'),
      abandon: options.flag('abandon'),
      timeoutMs,
      say: (line) => void process.stdout.write(`${line}\n`),
    })
    const plan = await work.plan()
    process.stdout.write(`On ${cluster.server}:\n${plan.map((line) => `  ${line}\n`).join('')}`)
    if (options.flag('dry-run')) return exitCodes.ok
    if (!options.flag('yes')) await confirm()
    await work.run()
    process.stdout.write('done\n')
    return exitCodes.ok
  } finally {
    clearInterval(alive)
    await transport.close()
  }
}

function timeout(text: string): number {
  try {
    return parseDuration(text, '--timeout')
  } catch (error) {
    throw new CliError(exitCodes.usage, `${(error as Error).message}; see tsop uninstall --help`, { cause: error })
  }
}

/** @throws CliError where nobody is there to say yes */
async function confirm(): Promise<void> {
  if (!process.stdin.isTTY) throw new CliError(exitCodes.usage, 'nobody is asked here: say --yes')
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    if (!/^y(es)?$/i.test((await lines.question('Go on? [y/N] ')).trim())) throw new CliError(exitCodes.failed, 'nothing is deleted')
  } finally {
    lines.close()
  }
}
