/** The commands of `tsop`: the dispatcher, `tsop help` and docs/reference/tsop.md are made from this table. */

import { exitCodes } from './exit-codes.ts'
import { columns } from './option-rows.ts'

export interface Command {
  /** What stands behind the name. */
  readonly usage: string
  /** For the help and the reference. */
  readonly sentence: string
  /** Resolves with the exit code. What it needs is loaded when it is asked for. */
  run(args: readonly string[]): Promise<number>
}

/** A further command is a row here and a file of its name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  init: {
    usage: '[options] NAME',
    sentence: 'Make a new project: an operator that runs, with its tests.',
    run: async (args) => (await import('./init.ts')).init(args),
  },
  add: {
    usage: '[options] kind NAME',
    sentence: 'Add a kind to the project: a handler, a sample and tests.',
    run: async (args) => (await import('./init.ts')).add(args),
  },
  run: {
    usage: '[options] [directories or files …]',
    sentence: 'Run the handlers; the same as tsop-run.',
    run: async (args) => (await import('./command.ts')).tsopRun(args),
  },
  generate: {
    usage: 'WHAT [options] [arguments …]',
    sentence: 'Make manifests from the handler classes, or types from manifests.',
    run: async (args) => (await import('./generate.ts')).generate(args),
  },
  build: {
    usage: '[options] [directories or files …]',
    sentence: 'Bundle an operator for a container.',
    run: async (args) => (await import('./build.ts')).build(args),
  },
  uninstall: {
    usage: '[options] [directories or files …]',
    sentence: 'Take an operator and its custom resources away, in the right order.',
    run: async (args) => (await import('./uninstall.ts')).uninstall(args),
  },
  apiserver: {
    usage: '[options]',
    sentence: 'Run an API server for development.',
    run: async (args) => (await import('./apiserver.ts')).apiserver(args),
  },
  version: {
    usage: '',
    sentence: 'Print the version.',
    run: (args) => withoutArguments('version', args, async () => `${(await import('./version.ts')).version()}\n`),
  },
  help: {
    usage: '',
    sentence: 'Print this help.',
    run: (args) => withoutArguments('help', args, commandsHelp),
  },
}

/** A command that prints a text, and takes nothing. */
async function withoutArguments(name: string, args: readonly string[], text: () => string | Promise<string>): Promise<number> {
  const [first, second] = args
  if (first === undefined || (isHelp(first) && second === undefined)) {
    process.stdout.write(first === undefined || name === 'help' ? await text() : `Usage: tsop ${name}\n\n${COMMANDS[name]?.sentence}\n`)
    return exitCodes.ok
  }
  const about = name === 'help' && Object.hasOwn(COMMANDS, first) ? first : name
  process.stderr.write(`tsop: ${name} takes no arguments, but got ${args.join(' ')}; see tsop ${about} --help\n`)
  return exitCodes.usage
}

const isHelp = (arg: string) => arg === '--help' || arg === '-h'

export function commandsHelp(width = 100): string {
  const rows = Object.entries(COMMANDS).map(([name, { usage, sentence }]): [string, string] => [`${name} ${usage}`.trim(), sentence])
  return ['Usage: tsop COMMAND', '', 'Commands:', ...columns(rows, width), '', 'See tsop COMMAND --help.', ''].join('\n')
}
