/** Ctrl-C, SIGTERM, and the end of the terminal: the first asks to stop, the second ends the process at once. */

import { exitCodes } from './exit-codes.ts'
import { isSupervised } from './supervisor.ts'

/** The reason of the signal that `stopSignal` gives: somebody asked the process to stop. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  /** Undefined: nobody sent one, the supervisor has gone. */
  readonly by: NodeJS.Signals | undefined

  constructor(message: string, by?: NodeJS.Signals) {
    super(message)
    this.by = by
  }
}

/** Aborted at the first SIGINT, SIGTERM or SIGHUP, and when the supervisor of `--watch` is gone. `dispose` gives the signals back. */
export function stopSignal(): { signal: AbortSignal; dispose: () => void } {
  const stop = new AbortController()
  const ask = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(name === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated)
    stop.abort(new Stopped(`stopped by ${name}`, name))
  }
  const orphaned = () => stop.abort(new Stopped('the supervisor has gone'))
  process.on('SIGINT', ask)
  process.on('SIGTERM', ask)
  process.on('SIGHUP', ask)
  if (isSupervised()) process.on('disconnect', orphaned)
  return {
    signal: stop.signal,
    dispose: () => void process.off('SIGINT', ask).off('SIGTERM', ask).off('SIGHUP', ask).off('disconnect', orphaned),
  }
}

/** Resolves when `signal` is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** `promise`, or the signal's reason as an error as soon as it is aborted. */
export async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const stop = aborted(signal).then(() => signal.throwIfAborted() as never)
  return await Promise.race([promise, stop])
}
