/**
 * How long to wait before a failed key is tried again: 250 ms, doubled with each failure in a row, up to 5 minutes, and
 * moved by up to a fifth either way so that keys which failed together do not come back together. It never gives up.
 */
import type { Random } from '../api/clock.ts'

const BASE_MS = 250
/** The longest back-off. */
export const LONGEST_BACKOFF_MS = 5 * 60_000
const JITTER = 0.2

/** Milliseconds before the next try after `failures` (1 or more) in a row; at most 5 minutes. */
export function backoff(failures: number, random: Random): number {
  const exponential = Math.min(LONGEST_BACKOFF_MS, BASE_MS * 2 ** Math.min(failures - 1, 30))
  return Math.min(LONGEST_BACKOFF_MS, exponential * (1 - JITTER + 2 * JITTER * random()))
}

/** After a conflict the world only has to be read anew: soon, but growing, so that two writers do not chase each other. */
export function conflictDelay(conflicts: number, random: Random): number {
  return Math.min(5_000, 20 * 2 ** Math.min(conflicts - 1, 20)) * (0.5 + random())
}
