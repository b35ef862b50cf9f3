/**
 * When nothing happens any more, and how time passes: the part of the kit that tests rely on not to sleep.
 *
 * There are three ways to be busy. Work in this process ends by itself, within turns of the event loop. Work that waits for the cluster's
 * clock (a request that is sent again, a broken watch, a pod that starts) ends when that clock moves. And a handler may wait for something
 * outside, which takes real time, or for ever: that is what patience is for.
 */
import type { Clock } from '../api/clock.ts'
import { formatDuration } from '../resource/duration.ts'
import type { Unrest } from '../resource/unrest.ts'
import type { ManualClock } from './manual-clock.ts'
import { pause, realNow, turn } from './real-time.ts'

export interface Busy {
  readonly unrest: readonly Unrest[]
  /** Something is worked on within this process, and ends by itself. */
  readonly working: boolean
  /** What the operator waits for waits for the cluster's clock itself. */
  readonly clockBound: boolean
}

export interface RestOptions {
  readonly clock: Clock
  /** The same, where it is moved by hand. */
  readonly manual: ManualClock | undefined
  readonly busy: () => Busy
  /** Grows with everything that happens. */
  readonly activity: () => number
  /** Real milliseconds in which nothing happens. */
  readonly patienceMs: number
}

/** A world that takes longer than this, by its own clock, is not coming to rest. */
const LONGEST_MS = 10 * 60_000
/** Nor is one in which something happens for so many times the patience. */
const LONGEST_PATIENCES = 30
/** A turn that takes longer was one of hard work, in this process or, on a busy machine, in another. */
const LONG_TURN_MS = 20
/** Longer than the time that a real operator has for its end. */
const LONGEST_DRIVE_MS = 45_000
/**
 * Work takes time. So many turns of it without rest are taken for a circle that only time ends: an operator with a stale view makes a child of an
 * object that is gone, and the garbage collector takes it away, until the watch is open again.
 */
const RESTLESS_TURNS = 500
const TURNS = 200
const POLL_MS = 2

/** @internal */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError'
}

export class Rest {
  readonly #o: RestOptions

  constructor(options: RestOptions) {
    this.#o = options
  }

  /** Resolves when nothing is going on and nothing is about to. @throws NotSettledError */
  async settled(): Promise<void> {
    const { clock, manual } = this.#o
    const wait = this.#wait()
    const begin = clock.monotonic()
    let restless = 0
    for (;;) {
      await wait.turn()
      if (this.#fireDue() && !wait.isOver) continue
      const { unrest, working, clockBound } = this.#o.busy()
      if (unrest.length === 0) return
      const timed = unrest.filter(({ at }) => at !== undefined).length
      const isStill = !working && (clockBound || timed === unrest.length)
      const waitsForClock = timed > 0 && (isStill || ++restless > RESTLESS_TURNS)
      if (waitsForClock) restless = 0
      if (clock.monotonic() - begin > LONGEST_MS)
        throw notSettled(`after ${formatDuration(LONGEST_MS)} of the cluster's time there is still`, unrest)
      if (waitsForClock && manual?.nextDue !== undefined) manual.fireNext()
      else if (waitsForClock && manual === undefined) wait.again()
      if (wait.isOver) throw notSettled(wait.why, unrest)
    }
  }

  /** Moves the clock by `ms`. Whatever comes due on the way has its consequences before the next thing does. */
  async advance(ms: number): Promise<void> {
    const clock = this.#o.manual
    if (clock === undefined) {
      throw new TypeError("the clock of this cluster is the real one, which nobody moves: make it with clock: 'manual'")
    }
    const end = clock.monotonic() + ms
    const hanging = new Set<string>()
    await this.quiet(this.#o.patienceMs, hanging)
    for (let due = clock.nextDue; due !== undefined && due <= end; due = clock.nextDue) {
      clock.fireNext()
      await this.quiet(this.#o.patienceMs, hanging)
    }
    clock.moveTo(end)
  }

  /**
   * Waits until only the clock can bring anything about, or until `isOver`. For what is outside it waits no longer than the real
   * `patienceMs`, and not at all for what is in `hanging`.
   *
   * @returns false where its patience came to an end; `hanging` then holds what it was for
   */
  async quiet(patienceMs: number, hanging: Set<string>, isOver = () => false): Promise<boolean> {
    const wait = this.#wait(patienceMs)
    for (let restless = 0; restless < RESTLESS_TURNS; ) {
      await wait.turn()
      if (isOver()) return true
      if (this.#fireDue() && !wait.isOver) continue
      const { unrest, working, clockBound } = this.#o.busy()
      const outside = unrest.filter(({ at }) => at === undefined)
      if (outside.length < unrest.length) restless++
      if (!working && (clockBound || outside.every(({ what }) => hanging.has(what)))) return true
      if (!wait.isOver) continue
      for (const { what } of outside) hanging.add(what)
      return false
    }
    return true
  }

  /** Lets the world go on, time included, until `promise` is settled. What is outside gets the real `patienceMs` before time goes on without it. */
  async drive<T>(promise: Promise<T>, patienceMs = this.#o.patienceMs): Promise<T> {
    let over = false
    const end = () => {
      over = true
    }
    promise.then(end, end)
    const hanging = new Set<string>()
    const begin = realNow()
    for (;;) {
      await this.quiet(patienceMs, hanging, () => over)
      if (over) return promise
      if (realNow() - begin > LONGEST_DRIVE_MS) throw notSettled('it takes too long:', this.#o.busy().unrest)
      if (this.#o.manual === undefined) await pause(POLL_MS)
      else this.#o.manual.fireNext()
    }
  }

  /** A timer whose time has come is no waiting. Several may have the same time. */
  #fireDue(): boolean {
    const { manual } = this.#o
    const due = manual?.nextDue
    if (manual === undefined || due === undefined || due > manual.monotonic()) return false
    manual.fireNext()
    return true
  }

  #wait(patienceMs = this.#o.patienceMs): Wait {
    return new Wait(this.#o.activity, patienceMs)
  }
}

/** Turns of the event loop while something happens; then, while only the outside can go on, pauses. */
class Wait {
  readonly #activity: () => number
  readonly #patienceMs: number
  readonly #begin = realNow()
  #seen: number
  #since = realNow()
  #turns = 0

  constructor(activity: () => number, patienceMs: number) {
    this.#activity = activity
    this.#patienceMs = patienceMs
    this.#seen = activity()
  }

  async turn(): Promise<void> {
    const begin = realNow()
    await (this.#turns++ < TURNS ? turn() : pause(POLL_MS))
    const now = this.#activity()
    if (now === this.#seen && realNow() - begin < LONG_TURN_MS) return
    this.#seen = now
    this.again()
  }

  /** Something has happened, or is known to be about to. */
  again(): void {
    this.#since = realNow()
    this.#turns = 0
  }

  get isOver(): boolean {
    return realNow() - this.#since > this.#patienceMs || realNow() - this.#begin > LONGEST_PATIENCES * this.#patienceMs
  }

  get why(): string {
    const quiet = realNow() - this.#since > this.#patienceMs
    return quiet ? `nothing has happened for ${formatDuration(this.#patienceMs)}, and yet there is` : 'it goes on and on; there is'
  }
}

function notSettled(why: string, unrest: readonly Unrest[]): NotSettledError {
  const all = unrest.map(({ what }) => what)
  const more = all.length > 5 ? ` and ${all.length - 5} more` : ''
  return new NotSettledError(`the cluster does not settle: ${why} ${all.slice(0, 5).join(', ')}${more}`)
}
