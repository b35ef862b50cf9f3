/** Repeats what may be repeated until it works: for the writes before the start, each of which is a server-side apply. */

import { type Clock, delay } from '../api/clock.ts'
import { isTransient, StatusError } from '../api/status-error.ts'

const DELAY_MS = 500

/** Calls `f` again while it throws what `mayPass` says may pass, for at most `patienceMs`; then throws the last error. */
export async function patiently<T>(
  clock: Clock,
  signal: AbortSignal,
  patienceMs: number,
  mayPass: (error: unknown) => boolean,
  f: () => Promise<T>,
): Promise<T> {
  const end = clock.monotonic() + patienceMs
  for (;;) {
    try {
      return await f()
    } catch (error) {
      signal.throwIfAborted()
      if (!mayPass(error) || clock.monotonic() + DELAY_MS > end) throw error
    }
    await delay(clock, DELAY_MS, signal)
  }
}

/**
 * Trouble of the server, not of what was sent. 500 is none of it here: it is the answer to a server-side apply whose fields have the wrong
 * types ("failed to create typed patch object").
 */
export function isBusy(error: unknown): boolean {
  return isTransient(error) && !(error instanceof StatusError && error.status === 500)
}
