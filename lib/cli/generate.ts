/** `tsop generate …`: the table of generators, and what all of them have in common. */

import type { Step } from '../generate/plan.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Generator, GeneratorInput } from './generator.ts'
import { nearest } from './nearest.ts'
import { columns, type OptionRow, optionLines, type ParsedOptions, parseRows, wrap } from './option-rows.ts'
import { report } from './report.ts'

interface Entry {
  /** For `tsop generate --help` and docs/reference/tsop.md. */
  readonly summary: string
  load(): Promise<Generator>
}

/** A further generator is a line here and a file `generate-NAME.ts`. */
export const GENERATORS: Readonly<Record<string, Entry>> = {
  crds: {
    summary: "The CustomResourceDefinitions of the handlers' resources.",
    load: async () => (await import('./generate-crds.ts')).crds,
  },
  rbac: {
    summary: 'A service account, its role, and roles for the people who use the kinds.',
    load: async () => (await import('./generate-rbac.ts')).rbac,
  },
  deploy: {
    summary: 'install.yaml, kustomize base and overlays, and a Helm chart.',
    load: async () => (await import('./generate-deploy.ts')).deploy,
  },
  bundle: {
    summary: 'A bundle for the Operator Lifecycle Manager (OLM), for catalogues such as OperatorHub.',
    load: async () => (await import('./generate-bundle.ts')).bundle,
  },
  fence: {
    summary: 'A policy by which the API server refuses what a former leader writes.',
    load: async () => (await import('./generate-fence.ts')).fence,
  },
  webhooks: {
    summary: 'What lets the API server ask the operator: webhook configurations, Service and certificate.',
    load: async () => (await import('./generate-webhooks.ts')).webhooks,
  },
  types: {
    summary: 'Typed references to kinds that others define, from their CustomResourceDefinitions.',
    load: async () => (await import('./generate-types.ts')).types,
  },
}

/** What every generator takes. */
export const COMMON_OPTIONS: readonly OptionRow[] = [
  { name: 'output', short: 'o', value: 'DIR', sentence: 'Write below this directory instead of the usual one.' },
  { name: 'check', sentence: 'Write nothing; exit with 1 and show a diff where a file is not what would be made.' },
  { name: 'dry-run', sentence: 'Write nothing; show what would be written.' },
  { name: 'force', sentence: 'Overwrite files that were edited by hand, or that tsop did not make.' },
  { name: 'debug', sentence: 'Show the stacks of errors.' },
  { name: 'help', short: 'h', sentence: 'Print this help and exit.' },
]

export async function generate([name, ...args]: readonly string[]): Promise<number> {
  try {
    if (name === '--help' || name === '-h') {
      process.stdout.write(overview())
      return exitCodes.ok
    }
    if (name === undefined) {
      process.stderr.write(overview())
      return exitCodes.usage
    }
    const entry = Object.hasOwn(GENERATORS, name) ? GENERATORS[name] : undefined
    if (entry === undefined) {
      const close = nearest(name, Object.keys(GENERATORS))
      const hint = close === undefined ? '' : ` (did you mean ${close}?)`
      throw new CliError(exitCodes.usage, `generate: there is no generator ${name}${hint}; see tsop generate --help`)
    }
    return await run(name, await entry.load(), args)
  } catch (error) {
    return report(error, args.includes('--debug'), 'tsop')
  }
}

export function overview(): string {
  const rows = Object.entries(GENERATORS).map(([name, { summary }]): [string, string] => [name, summary])
  return [
    'Usage: tsop generate <what> [options] [arguments …]',
    '',
    ...columns(rows),
    '',
    ...wrap(
      'Each file says what made it. One that was edited since is left alone. With --check nothing is written: it tells whether the files are up to date.',
      100,
    ),
    '',
    'See tsop generate <what> --help.',
    '',
  ].join('\n')
}

export function generatorHelp(name: string, { takes, about, output, options }: Generator): string {
  return [
    `Usage: tsop generate ${name} [options] ${takes === 'handlers' ? '[directories or files …]' : 'FILE …'}`,
    '',
    ...wrap(about, 100),
    `It writes below ${output}.${takes === 'handlers' ? ' Without arguments it loads the directory handlers.' : ''}`,
    '',
    'Options:',
    ...optionLines([...options, ...COMMON_OPTIONS]),
    '',
    ...wrap('Exit codes: 0 done, or up to date · 1 out of date, or refused · 2 command line · 3 what it is made from', 100),
    '',
  ].join('\n')
}

async function run(name: string, generator: Generator, args: readonly string[]): Promise<number> {
  const options = parseRows(args, [...generator.options, ...COMMON_OPTIONS], `tsop generate ${name}`)
  if (options.flag('help')) {
    process.stdout.write(generatorHelp(name, generator))
    return exitCodes.ok
  }
  const cwd = process.cwd()
  const paths = options.positionals.length === 0 && generator.takes === 'handlers' ? ['handlers'] : options.positionals
  if (paths.length === 0) throw new CliError(exitCodes.usage, `generate ${name}: which files? See tsop generate ${name} --help`)
  const output = options.one('output') ?? generator.output
  const files = await generator.generate(await inputOf(generator, paths, options, cwd))
  const { plan } = await import('../generate/plan.ts')
  const { folder } = await import('./folder.ts')
  const shown = (path: string) => (output === '.' ? path : `${output.replace(/\/+$/, '')}/${path}`)
  const steps = plan(files, folder(output, cwd), commandOf(name, generator, paths, options), shown)
  if (options.flag('check')) return check(steps, shown)
  if (options.flag('dry-run')) return dryRun(steps, shown)
  return await write(steps, shown, { output, cwd, force: options.flag('force') })
}

async function inputOf(generator: Generator, paths: readonly string[], options: ParsedOptions, cwd: string): Promise<GeneratorInput> {
  const { operatorName } = await import('./operator-name.ts')
  const input = { paths, options, cwd, name: operatorName(paths, cwd), handlers: [] }
  if (generator.takes !== 'handlers') return input
  const { loadHandlers } = await import('./load-handlers.ts')
  return { ...input, handlers: await loadHandlers(paths, { cwd }) }
}

/** How to make the files again: what was typed, in one spelling, without what only this run was told. */
function commandOf(name: string, { options: rows }: Generator, paths: readonly string[], options: ParsedOptions): string {
  const told = [...rows, ...COMMON_OPTIONS.filter((row) => row.name === 'output')].flatMap((row) => {
    if (row.value === undefined) return options.flag(row.name) ? [`--${row.name}`] : []
    return options.many(row.name).map((value) => `--${row.name} ${quoted(value)}`)
  })
  const shownPaths = paths.map((path) => quoted(path.replace(/^(\.\/)+(?=.)|(?<=.)\/+$/g, '')))
  return ['tsop generate', name, ...shownPaths, ...told].join(' ')
}

function quoted(text: string): string {
  return /^[\w@%+=:,./*-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

type Shown = (path: string) => string

/** The diff goes to standard output, the verdict to standard error. */
function check(steps: readonly Step[], shown: Shown): number {
  const outdated = steps.filter(({ found }) => found !== 'same')
  for (const { diff } of outdated) process.stdout.write(diff)
  for (const { path, found, text } of outdated) process.stderr.write(`${shown(path)}: ${verdict(found, text)}\n`)
  return outdated.length === 0 ? exitCodes.ok : exitCodes.failed
}

function verdict(found: Step['found'], text: string | undefined): string {
  if (found === 'nothing') return 'is missing'
  if (found === 'edited') return 'was edited by hand since it was made'
  if (found === 'foreign') return 'is in the way: tsop did not make it'
  return text === undefined ? 'is not made any more' : 'is out of date'
}

function dryRun(steps: readonly Step[], shown: Shown): number {
  for (const { path, found, text, diff } of steps) {
    process.stdout.write(`${shown(path)}: ${intention(found, text)}\n${diff}`)
  }
  return exitCodes.ok
}

function intention(found: Step['found'], text: string | undefined): string {
  if (found === 'same') return 'is up to date'
  if (found === 'nothing') return 'would be written'
  if (found === 'edited') return 'was edited by hand: would be refused without --force'
  if (found === 'foreign') return 'is not made by tsop: would be refused without --force'
  return text === undefined ? 'would be removed' : 'would be rewritten'
}

/** All or nothing: where one file is refused, none is written. */
async function write(steps: readonly Step[], shown: Shown, { output, cwd, force }: { output: string; cwd: string; force: boolean }) {
  const refused = force ? [] : steps.filter(({ found }) => found === 'edited' || found === 'foreign')
  if (refused.length > 0) {
    const lines = refused.map(({ path, found }) =>
      found === 'edited'
        ? `${shown(path)} was edited by hand: change what it is made from instead, or overwrite it with --force`
        : `${shown(path)} is in the way, and tsop did not make it: move it, or overwrite it with --force`,
    )
    throw new CliError(exitCodes.failed, `nothing is written\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }
  const { remove, writeText } = await import('./folder.ts')
  for (const { path, found, text } of steps) {
    if (text === undefined) remove(output, cwd, path)
    else if (found !== 'same') writeText(output, cwd, path, text)
    const done = text === undefined ? 'removed, it is not made any more' : found === 'same' ? 'unchanged' : 'written'
    process.stdout.write(`${shown(path)}  ${done}\n`)
  }
  return exitCodes.ok
}
