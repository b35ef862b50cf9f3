/** Notices that the event loop stood still: that a timer came much too late. */

import type { Clock, Timer } from '../api/clock.ts'

const EVERY_MS = 250
/** Shorter ones happen to everybody now and then. */
const BLOCKED_MS = 1_000

/** Calls `blocked` after each standstill of more than a second, with how long it was. @returns a function that ends it */
export function watchLoop(clock: Clock, blocked: (ms: number) => void): () => void {
  let timer: Timer
  const arm = () => {
    const due = clock.monotonic() + EVERY_MS
    timer = clock.after(EVERY_MS, () => {
      const late = clock.monotonic() - due
      if (late > BLOCKED_MS) blocked(Math.round(late))
      arm()
    })
  }
  arm()
  return () => timer.cancel()
}
