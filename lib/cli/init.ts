/** `tsop init NAME` and `tsop add kind NAME`: new files for a project. What is there stays as it is. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileName, kindFiles, type NewKind } from '../generate/kind-files.ts'
import type { GeneratedFile } from '../generate/plan.ts'
import { projectFiles } from '../generate/project.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { writeText } from './folder.ts'
import { type OptionRow, optionLines, type ParsedOptions, parseRows, wrap } from './option-rows.ts'
import { ownSpec } from './own-spec.ts'
import { report } from './report.ts'

const SHARED: readonly OptionRow[] = [
  { name: 'dry-run', sentence: 'Write nothing; show which files would be written.' },
  { name: 'debug', sentence: 'Show the stacks of errors.' },
  { name: 'help', short: 'h', sentence: 'Print this help and exit.' },
]

const VERSION: OptionRow = { name: 'version', value: 'VERSION', sentence: 'The version of the kind; v1alpha1 by default.' }

export const INIT_OPTIONS: readonly OptionRow[] = [
  {
    name: 'kind',
    value: 'KIND',
    sentence: 'The kind that it serves, such as Shop; by default made from NAME: of shop-operator it is Shop.',
  },
  { name: 'group', value: 'GROUP', sentence: 'The API group of the kind, a domain that you own; example.com by default.' },
  VERSION,
  ...SHARED,
]

export const ADD_OPTIONS: readonly OptionRow[] = [
  { name: 'group', value: 'GROUP', sentence: "The API group of the kind; by default that of the project's other kinds." },
  VERSION,
  ...SHARED,
]

export function initHelp(): string {
  return help('tsop init [options] NAME', [
    'Makes the folder NAME with an operator that runs: a handler and a sample, tests, Dockerfile, CI workflow and README. With . as NAME it is this folder.',
    INIT_OPTIONS,
  ])
}

export function addHelp(): string {
  return help('tsop add [options] kind NAME', [
    'Adds a kind to the project in this folder: a handler, a sample and tests. NAME is CamelCase, such as WebShop.',
    ADD_OPTIONS,
  ])
}

function help(usage: string, [about, options]: readonly [string, readonly OptionRow[]]): string {
  return [
    `Usage: ${usage}`,
    '',
    ...wrap(`${about} Files that exist are never overwritten: nothing is written then.`, 100),
    '',
    'Options:',
    ...optionLines(options),
    '',
  ].join('\n')
}

export function init(args: readonly string[]): Promise<number> {
  return command('init', args, INIT_OPTIONS, initHelp, (options) => {
    const [target, ...others] = options.positionals
    if (target === undefined) throw usage('init', 'which name? tsop init my-operator')
    if (others.length > 0) throw usage('init', `one name is enough, but there is ${others.join(' ')} as well`)
    const folder = resolve(target)
    const name = projectName(target === '.' ? basename(folder) : target, target)
    const tsop = ownSpec(folder)
    const project = { ...newKind('init', options, options.one('kind') ?? kindFrom(name), 'example.com'), name, tsop: tsop.spec }
    const handler = `handlers/${fileName(project.kind)}.ts`
    const steps = [
      ...(target === '.' ? [] : [`cd ${target}`]),
      'npm install',
      `npm start      # no cluster is needed; change ${handler} while it runs`,
      'npm test',
    ]
    const notes = tsop.file === undefined ? [] : [`tsop is taken from ${tsop.file}, as it is here: see its line in package.json.`]
    return { folder, target, files: projectFiles(project), steps, notes }
  })
}

export function add(args: readonly string[]): Promise<number> {
  return command('add', args, ADD_OPTIONS, addHelp, (options) => {
    const [what, kind, ...others] = options.positionals
    if (what !== 'kind') throw usage('add', what === undefined ? 'what? tsop add kind NAME' : `cannot add a ${what}, but a kind`)
    if (kind === undefined) throw usage('add', 'which kind? tsop add kind WebShop')
    if (others.length > 0) throw usage('add', `one kind at a time, but there is ${others.join(' ')} as well`)
    if (!existsSync('package.json'))
      throw new CliError(
        exitCodes.configuration,
        'add: there is no package.json in this folder; go into the project, or make one: tsop init NAME',
      )
    const made = newKind('add', options, kind, groupOfProject() ?? 'example.com')
    const file = fileName(made.kind)
    const steps = [`npm start      # serves ${made.kind} as well; change handlers/${file}.ts while it runs`, 'npm test', 'npm run generate']
    return { folder: resolve('.'), target: '.', files: kindFiles(made), steps, notes: [] }
  })
}

interface Made {
  readonly folder: string
  /** The folder as it was typed. */
  readonly target: string
  readonly files: readonly GeneratedFile[]
  /** What to type next. */
  readonly steps: readonly string[]
  readonly notes: readonly string[]
}

async function command(
  name: string,
  args: readonly string[],
  rows: readonly OptionRow[],
  helpText: () => string,
  make: (options: ParsedOptions) => Made,
): Promise<number> {
  try {
    const options = parseRows(args, rows, `tsop ${name}`)
    if (options.flag('help')) {
      process.stdout.write(helpText())
      return exitCodes.ok
    }
    const { folder, target, files, steps, notes } = make(options)
    const shown = (path: string) => (target === '.' ? path : join(target, path))
    const taken = takenOf(files, folder)
    if (taken.length > 0) {
      const list = taken.map((path) => `  ${shown(path)}`).join('\n')
      throw new CliError(exitCodes.failed, `${name}: nothing is written, for these files exist:\n${list}`)
    }
    const dryRun = options.flag('dry-run')
    for (const { path, content } of files) {
      if (!dryRun) writeText(folder, folder, path, content)
      process.stdout.write(`${shown(path)}${dryRun ? '  would be written' : ''}\n`)
    }
    if (!dryRun)
      process.stdout.write(`\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}${notes.map((note) => `\n${note}\n`).join('')}`)
    return exitCodes.ok
  } catch (error) {
    return report(error, args.includes('--debug'), 'tsop')
  }
}

/** What is there already, and files where folders are to be: half a project would be written before one of them is met. */
function takenOf(files: readonly GeneratedFile[], folder: string): string[] {
  const isFile = (path: string) => statSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory() === false
  const paths = files.flatMap(({ path }) => {
    const parents = path.split('/').map((_, i, parts) => parts.slice(0, i).join('/'))
    return [...parents.filter(isFile).map((parent) => parent), ...(existsSync(join(folder, path)) ? [path] : [])]
  })
  return [...new Set(paths)]
}

function usage(name: string, message: string): CliError {
  return new CliError(exitCodes.usage, `${name}: ${message}; see tsop ${name} --help`)
}

/** A DNS label, for it names objects in the cluster as well, with room for what is put behind it. */
function projectName(name: string, target: string): string {
  if (!/^[a-z]([-a-z0-9]{0,43}[a-z0-9])?$/.test(name)) {
    const where = target === '.' ? ' (the name of this folder)' : ''
    throw usage(
      'init',
      `the name ${JSON.stringify(name)}${where}: expected at most 45 lower-case letters, digits and dashes, such as shop-operator`,
    )
  }
  return name
}

/** `shop-operator` serves `Shop`. */
function kindFrom(name: string): string {
  const words = name.replace(/-(operator|controller)$/, '').split('-')
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}

function newKind(name: string, options: ParsedOptions, kind: string, usualGroup: string): NewKind {
  const made = { kind, group: options.one('group') ?? usualGroup, version: options.one('version') ?? 'v1alpha1' }
  if (!/^[A-Z][A-Za-z0-9]{0,44}$/.test(kind)) {
    const close = kindFrom(kind.replace(/[^A-Za-z0-9]+/g, '-'))
    const hint = /^[A-Z][A-Za-z0-9]{0,44}$/.test(close) ? ` (${close}?)` : ''
    throw usage(name, `the kind ${JSON.stringify(kind)}: expected a CamelCase word such as Shop${hint}`)
  }
  if (TAKEN.has(kind)) throw usage(name, `the kind ${kind}: Kubernetes or tsop has that name already; take another, such as Web${kind}`)
  if (!/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$/.test(made.group))
    throw usage(name, `--group ${made.group}: expected a domain in lower case with at least one dot, such as shop.example.com`)
  if (/(^|\.)(k8s|kubernetes)\.io$/.test(made.group))
    throw usage(name, `--group ${made.group}: the Kubernetes project keeps that domain; take one of your own`)
  if (!/^v[0-9]+((alpha|beta)[0-9]+)?$/.test(made.version))
    throw usage(name, `--version ${made.version}: expected v1, v1beta1, v2alpha3 or the like`)
  return made
}

/** What the files of a kind import, and kinds that would be taken for Kubernetes' own. */
const TAKEN = new Set([
  ...['Context', 'Resource', 'TestCluster', 'Object', 'String', 'Promise', 'ChildProcess'],
  ...['ConfigMap', 'CronJob', 'DaemonSet', 'Deployment', 'Event', 'Ingress', 'Job', 'Lease', 'Namespace', 'Node', 'Pod', 'ReplicaSet'],
  ...['Role', 'RoleBinding', 'Secret', 'Service', 'ServiceAccount', 'StatefulSet'],
])

/** As the first handler that names one has it. */
function groupOfProject(): string | undefined {
  if (!existsSync('handlers')) return undefined
  for (const { name } of readdirSync('handlers', { withFileTypes: true })
    .filter((each) => each.isFile() && each.name.endsWith('.ts'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const [, group] = /\bgroup: ['"]([a-z0-9.-]+)['"]/.exec(readFileSync(join('handlers', name), 'utf8')) ?? []
    if (group !== undefined) return group
  }
  return undefined
}
