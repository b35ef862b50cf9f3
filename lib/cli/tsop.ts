#!/usr/bin/env node
/** The command `tsop`: what can be done with an operator besides running it. */

import { COMMANDS, commandsHelp } from './commands.ts'
import { exitCodes } from './exit-codes.ts'
import { nearest } from './nearest.ts'
import { requireNode } from './node-version.ts'
import { tellUnsettled } from './unsettled.ts'

const ALIASES: Readonly<Record<string, string>> = { '--version': 'version', '-v': 'version', '--help': 'help', '-h': 'help' }

requireNode('tsop')
tellUnsettled('tsop')
process.exit(await tsop(process.argv.slice(2)))

async function tsop([word, ...rest]: readonly string[]): Promise<number> {
  if (word === undefined) {
    process.stderr.write(commandsHelp())
    return exitCodes.usage
  }
  const name = Object.hasOwn(ALIASES, word) ? (ALIASES[word] as string) : word
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command !== undefined) return await command.run(rest)
  const close = nearest(word, Object.keys(COMMANDS))
  process.stderr.write(`tsop: unknown command ${word}${close === undefined ? '' : ` (did you mean ${close}?)`}; see tsop help\n`)
  return exitCodes.usage
}
