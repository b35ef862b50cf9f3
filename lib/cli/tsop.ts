#!/usr/bin/env node
/** The command `tsop`: what can be done with an operator besides running it. */

import { exitCodes } from './exit-codes.ts'
import { nearest } from './nearest.ts'
import { requireNode } from './node-version.ts'

const HELP = `Usage: tsop <command>

Commands:
  run [options] [directories or files …]  The same as tsop-run; see tsop run --help.
  generate <what> [options] [arguments …]  Make manifests from the handler classes; see tsop generate --help.
  apiserver [options]                     Run an API server for development; see tsop apiserver --help.
  version                                 Print the version.
  help                                    Print this help.
`

requireNode('tsop')
process.exit(await tsop(process.argv.slice(2)))

async function tsop([command, ...rest]: readonly string[]): Promise<number> {
  switch (command) {
    case 'run': {
      const { tsopRun } = await import('./command.ts')
      return await tsopRun(rest)
    }
    case 'apiserver': {
      const { apiserver } = await import('./apiserver.ts')
      return await apiserver(rest)
    }
    case 'generate': {
      const { generate } = await import('./generate.ts')
      return await generate(rest)
    }
    case 'version':
    case '--version':
    case '-v': {
      const { version } = await import('./version.ts')
      process.stdout.write(`${version()}\n`)
      return exitCodes.ok
    }
    case 'help':
    case '--help':
    case '-h':
      process.stdout.write(HELP)
      return exitCodes.ok
    case undefined:
      process.stderr.write(HELP)
      return exitCodes.usage
    default: {
      const close = nearest(command, ['run', 'generate', 'apiserver', 'version', 'help'])
      process.stderr.write(`tsop: unknown command ${command}${close === undefined ? '' : ` (did you mean ${close}?)`}; see tsop help\n`)
      return exitCodes.usage
    }
  }
}
