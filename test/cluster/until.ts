import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  /** Milliseconds. Default 30,000: far more than anything takes, so that a busy machine fails no test. */
  readonly withinMs?: number
  /** Asked each time in between: an error here ends the wait at once. */
  readonly check?: () => void
}

export type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

/**
 * Asks again and again until the answer is truthy, and gives that answer. What `ask` throws counts as "not yet", and is told
 * when the time is up.
 */
export async function until<T>(ask: () => T | Promise<T>, what: string | (() => string), options: UntilOptions = {}): Promise<Truthy<T>> {
  const withinMs = options.withinMs ?? 30_000
  const end = performance.now() + withinMs
  for (;;) {
    let cause: unknown
    try {
      const answer = await ask()
      if (answer) return answer as Truthy<T>
    } catch (error) {
      cause = error
    }
    options.check?.()
    if (performance.now() > end) {
      const because = cause instanceof Error ? ` (${cause.message})` : ''
      throw new Error(`waited ${withinMs / 1000} s for ${typeof what === 'function' ? what() : what}${because}`, { cause })
    }
    await pause(50)
  }
}
