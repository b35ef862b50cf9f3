/**
 * Time and chance, handed in. The engine, the cache and the client never call `Date.now`, `setTimeout` or `Math.random`
 * themselves, so that they can run in simulated time; `systemClock` is what a process uses.
 */

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since 1970, for what people read. May jump. */
  now(): number
  /** Milliseconds that only go forward, for everything that is measured. */
  monotonic(): number
  /** Calls `f` once, not before `ms` milliseconds have passed. Any length; a timer does not keep the process alive. */
  after(ms: number, f: () => void): Timer
}

/** A number in [0, 1). */
export type Random = () => number

export const systemRandom: Random = Math.random

/** The longest a Node timer can be; a longer one fires at once (https://nodejs.org/api/timers.html#settimeoutcallback-delay-args). */
const LONGEST_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, f) {
    const end = performance.now() + Math.max(0, ms)
    let timer: NodeJS.Timeout
    const arm = () => {
      const left = end - performance.now()
      timer = left > LONGEST_MS ? setTimeout(arm, LONGEST_MS) : setTimeout(f, Math.max(0, left))
      timer.unref()
    }
    arm()
    return { cancel: () => clearTimeout(timer) }
  },
}

/** Waits, or rejects with the signal's reason as soon as it is aborted. */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Taken when this is loaded: a test may put fake timers in its place later. */
const { setImmediate } = globalThis

/**
 * Calls `f` in the next turn of the event loop, after what has come in meanwhile (answers, events, timers): in real time,
 * whatever a clock says.
 */
export function nextTurn(f: () => void): void {
  setImmediate(f)
}

/** RFC 3339 to the second, as `metav1.Time`. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** RFC 3339 with exactly six fractional digits, as `metav1.MicroTime`: an API server refuses any other number of them. */
export function microTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}
