/** Time that stands still until it is moved. */
import type { Clock, Timer } from '../api/clock.ts'

interface Entry {
  readonly due: number
  readonly f: () => void
}

export class ManualClock implements Clock {
  readonly #start: number
  readonly #timers = new Set<Entry>()
  #elapsed = 0

  /** `start`: what `now()` says at first, in milliseconds since 1970. */
  constructor(start: number) {
    this.#start = start
  }

  now(): number {
    return this.#start + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  after(ms: number, f: () => void): Timer {
    const timer = { due: this.#elapsed + Math.max(0, ms), f }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** When the next timer fires, by the monotonic clock; undefined where none waits. */
  get nextDue(): number | undefined {
    return this.#next()?.due
  }

  /** Moves on to the next timer and fires it. Those of the same time fire in the order in which they were set, each by a call of its own. */
  fireNext(): void {
    const timer = this.#next()
    if (timer === undefined) return
    this.#elapsed = timer.due
    this.#timers.delete(timer)
    timer.f()
  }

  /** Moves on to a time at which nothing is due that has not been fired. */
  moveTo(monotonic: number): void {
    this.#elapsed = Math.max(this.#elapsed, monotonic)
  }

  #next(): Entry | undefined {
    let first: Entry | undefined
    for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer
    return first
  }
}
