/**
 * What the server does by itself, after it has answered: garbage collection, namespaces, definitions, simulated workloads. It
 * runs in its own turns, as in a cluster, and yet a test can wait until all of it is done.
 */

export interface ServerTimer {
  cancel(): void
}

/** Time, handed in; `Clock` of lib/api fits. */
export interface ServerClock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds that only go forward. */
  monotonic(): number
  after(ms: number, f: () => void): ServerTimer
  /** True: time moves only by hand, so that nobody waits for what lies ahead. */
  readonly manual?: boolean
}

/** Kept, for a test may put fake timers in the places of the real ones, in which a server must go on. */
const { setImmediate } = globalThis

/** The longest a Node timer can be; a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1

export const serverClock: ServerClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, f) {
    const timer = setTimeout(f, Math.min(Math.max(0, ms), LONGEST_MS))
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
}

export class Tasks {
  readonly #clock: ServerClock
  readonly #report: (error: unknown) => void
  readonly #timers = new Set<ServerTimer>()
  /** When those that are awaited are due, by the monotonic clock. */
  readonly #due = new Map<ServerTimer, number>()
  #open = 0
  #idle: (() => void)[] = []
  #stopped = false

  /** `report` gets what a task threw: a fault of this server, never of a client. */
  constructor(clock: ServerClock, report: (error: unknown) => void) {
    this.#clock = clock
    this.#report = report
  }

  /** Runs `f` in a later turn. `settled()` waits for it and, where it is async, for its end. */
  soon(f: () => void | Promise<void>): void {
    if (this.#stopped) return
    this.#open++
    setImmediate(() => void this.#run(f))
  }

  /**
   * Runs `f` after `ms` milliseconds of the server's clock. With `wait`, `settled()` waits for it from now on, unless time moves
   * only by hand; else only from when it is due.
   */
  after(ms: number, f: () => void | Promise<void>, wait = false): ServerTimer {
    if (this.#stopped) return { cancel: () => {} }
    const awaited = wait && this.#clock.manual !== true
    let waiting = true
    if (awaited) this.#open++
    const done = () => {
      waiting = false
      this.#timers.delete(handle)
      this.#due.delete(handle)
    }
    const timer = this.#clock.after(ms, () => {
      done()
      if (!awaited) this.#open++
      void this.#run(f)
    })
    const handle = {
      cancel: () => {
        if (!waiting) return
        done()
        timer.cancel()
        if (awaited) this.#close()
      },
    }
    this.#timers.add(handle)
    if (awaited) this.#due.set(handle, this.#clock.monotonic() + ms)
    return handle
  }

  /** Whether something is running or waiting for its turn, other than for its time. */
  get busy(): boolean {
    return this.#open > this.#due.size
  }

  /** When the next of what `settled()` waits for is due, by the monotonic clock. */
  get nextDue(): number | undefined {
    return this.#due.size === 0 ? undefined : Math.min(...this.#due.values())
  }

  /** Resolves when nothing is running or waiting for its turn. */
  settled(): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    // The server's timers do not keep the process alive; somebody who waits for them does.
    const hold = setInterval(() => {}, LONGEST_MS)
    return new Promise((resolve) =>
      this.#idle.push(() => {
        clearInterval(hold)
        resolve()
      }),
    )
  }

  stop(): void {
    this.#stopped = true
    for (const timer of [...this.#timers]) timer.cancel()
    this.#tellIdle()
  }

  async #run(f: () => void | Promise<void>): Promise<void> {
    try {
      if (!this.#stopped) await f()
    } catch (error) {
      this.#report(error)
    } finally {
      this.#close()
    }
  }

  #close(): void {
    this.#open--
    if (this.#open === 0) this.#tellIdle()
  }

  #tellIdle(): void {
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }
}
