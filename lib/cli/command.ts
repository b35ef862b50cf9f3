/** What the command `tsop-run` does with its arguments: options.ts says what it takes, exit-codes.ts how it ends. */

import { exitCodes } from './exit-codes.ts'
import { report } from './report.ts'

/** Runs the command line and resolves with the exit code. Everything beyond options is loaded only when it is needed. */
export async function tsopRun(args: readonly string[]): Promise<number> {
  const debug = args.includes('--debug')
  try {
    const { parseOptions } = await import('./options.ts')
    const options = parseOptions(args)
    if (options.help) {
      const { help } = await import('./help.ts')
      process.stdout.write(help())
      return exitCodes.ok
    }
    if (options.version) {
      const { version } = await import('./version.ts')
      process.stdout.write(`${version()}\n`)
      return exitCodes.ok
    }
    if (options.watch) {
      const { watch } = await import('./watch-mode.ts')
      return await watch(args, options)
    }
    const { run } = await import('./run.ts')
    return await run(options)
  } catch (error) {
    return report(error, debug)
  }
}
