/** How a failure of the command itself is told: one line on what happened and what to do, on standard error; the stack with `--debug`. */

import { redactText } from '../observe/redact.ts'
import { CliError, exitCodes } from './exit-codes.ts'

/** Returns the exit code. */
export function report(error: unknown, debug: boolean, command = 'tsop-run'): number {
  const expected = error instanceof CliError
  const message = error instanceof Error ? error.message : String(error)
  const stack = debug && error instanceof Error ? `\n${stacks(error)}` : ''
  const hint = expected || debug ? '' : '; --debug shows more'
  process.stderr.write(`${redactText(`${command}: ${message}${hint}${stack}`)}\n`)
  return expected ? error.exitCode : exitCodes.failed
}

/** The stack of an error and those of its causes. */
function stacks(error: Error): string {
  const own = error.stack ?? String(error)
  return error.cause instanceof Error ? `${own}\nCaused by: ${stacks(error.cause)}` : own
}
