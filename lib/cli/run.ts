/** `tsop-run` without `--watch`: one process, from the first signal to the last clean-up. */

import { kindName } from '../resource/kind.ts'
import { bundled } from './bundled.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type LoadedHandler, loadHandlers } from './load-handlers.ts'
import type { Options } from './options.ts'
import { report } from './report.ts'
import { Stopped, stopSignal } from './signals.ts'
import { reportUsed } from './supervisor.ts'

export async function run(options: Options): Promise<ExitCode> {
  const cwd = process.cwd()
  const load = () => loadHandlers(options.paths, { cwd, used: reportUsed })
  if (options.check) {
    const handlers = await load()
    await check(handlers)
    process.stdout.write(listed(handlers))
    return exitCodes.ok
  }
  const { signal, dispose } = stopSignal()
  const undo: (() => Promise<void>)[] = []
  // Waits of the engine do not keep a process alive, and while the server is away there is no connection that would.
  const alive = setInterval(() => {}, 2 ** 30)
  // Until the manager takes over, which knows of whose run an error is: a promise that a handler file forgot, for example.
  const fatal = (error: unknown) => process.exit(report(error, options.debug))
  process.on('uncaughtException', fatal)
  try {
    const { operate } = await import('./operate.ts')
    return await operate(options, cwd, load, signal, undo, () => process.off('uncaughtException', fatal))
  } catch (error) {
    // Stopped while it started: there was nothing to drain but what `undo` knows.
    if (error instanceof Stopped) return options.once ? exitCodes.failed : exitCodes.ok
    throw error
  } finally {
    for (const step of undo.reverse()) await step()
    clearInterval(alive)
    dispose()
  }
}

/** What an API server would refuse later. A bundle has no embedded one that could be asked. */
async function check(handlers: readonly LoadedHandler[]): Promise<void> {
  if (bundled() !== undefined) return
  const { definitionsOf } = await import('../generate/crds.ts')
  const { checkDefinitions } = await import('./check-definitions.ts')
  await checkDefinitions(definitionsOf(handlers.map(({ spec }) => spec)))
}

function listed(handlers: readonly LoadedHandler[]): string {
  return handlers.map(({ spec }) => `${kindName(spec.kind)}: ${spec.className} in ${spec.file}\n`).join('')
}
