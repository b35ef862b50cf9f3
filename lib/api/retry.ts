/** When the client repeats a call by itself, and after how long. Everything else is the caller's to decide. */

import type { Random } from './clock.ts'
import { ConnectionError, StatusError } from './status-error.ts'

const FIRST_MS = 250
const LONGEST_MS = 4000
/** A server that asks for more is to be left alone: the caller hears of it (`StatusError.retryAfterMs`) and plans for itself. */
const LONGEST_ASKED_MS = 10_000

/**
 * Milliseconds until the next try; `undefined` where there is to be none. `tries` counts those made. Doubles from 250 ms to 4 s with
 * jitter, `Retry-After` is a minimum.
 */
export function retryDelayMs(method: string, error: unknown, tries: number, random: Random): number | undefined {
  if (!mayRepeat(method, error)) return undefined
  const asked = error instanceof StatusError ? (error.retryAfterMs ?? 0) : 0
  if (asked > LONGEST_ASKED_MS) return undefined
  const backoff = Math.min(LONGEST_MS, FIRST_MS * 2 ** (tries - 1))
  return asked + backoff * (0.5 + random() / 2)
}

function mayRepeat(method: string, error: unknown): boolean {
  // 429: turned away before anything was done, whatever the method.
  if (error instanceof StatusError) return error.status === 429 || (error.status === 503 && method === 'GET')
  return error instanceof ConnectionError && method === 'GET'
}
