import type { Clock, Timer } from '../../lib/api/clock.ts'

/**
 * Time that moves only when a test says so.
 *
 * `advance(ms)` fires the timers that come due in the order of their times, and lets promises settle before, between and
 * after them, so that a timer set by a continuation of an earlier one fires in the same `advance` where it is due.
 *
 * @example
 * const clock = new ManualClock()
 * const waited = delay(clock, 1000)
 * await clock.advance(1000)
 * await waited
 */
export class ManualClock implements Clock {
  readonly #start: number
  #elapsed = 0
  #order = 0
  readonly #timers = new Set<{ readonly due: number; readonly order: number; readonly f: () => void }>()

  /** `start`: what `now()` says at first, in milliseconds since 1970. */
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = start
  }

  now(): number {
    return this.#start + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, f: () => void): Timer {
    const timer = { due: this.#elapsed + Math.max(0, ms), order: this.#order++, f }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** How many timers wait: a test of a clean stop expects 0. */
  get pending(): number {
    return this.#timers.size
  }

  /** Milliseconds until the next timer fires; undefined where none waits. */
  get next(): number | undefined {
    const timer = this.#earliest(Number.POSITIVE_INFINITY)
    return timer === undefined ? undefined : timer.due - this.#elapsed
  }

  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    await settle()
    for (let timer = this.#earliest(end); timer !== undefined; timer = this.#earliest(end)) {
      this.#elapsed = timer.due
      this.#timers.delete(timer)
      timer.f()
      await settle()
    }
    this.#elapsed = end
  }

  #earliest(end: number) {
    let first: { readonly due: number; readonly order: number; readonly f: () => void } | undefined
    for (const timer of this.#timers) {
      if (timer.due > end) continue
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) first = timer
    }
    return first
  }
}

/** Lets every promise that can settle do so: `setImmediate` comes after all microtasks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
