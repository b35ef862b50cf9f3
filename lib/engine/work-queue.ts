/**
 * The keys that are due, and those that will be. One entry a key; the earliest due time and the highest priority win.
 *
 * Among keys that are due, the one with the lowest `due + handicap` goes first. The handicap grows as the priority falls, so
 * a deletion overtakes a change, and a change the initial list and retries, but nothing waits for ever: after its
 * handicap has passed even the least urgent key goes before any newcomer.
 *
 * Runs that wait for nothing follow each other without the event loop coming to anything else: after a restart that would be one for every object.
 * So only some milliseconds of each turn of the loop are given away; what is due waits for the next, behind answers, timers and the lease.
 */
import { type Clock, nextTurn, type Timer } from '../api/clock.ts'
import type { QueueObserver } from '../resource/observer.ts'
import { Heap } from './heap.ts'

/** `background`: initial list, resync, elapsed waits and retries. */
export type Priority = 'deletion' | 'change' | 'background'

const HANDICAP_MS: Record<Priority, number> = { deletion: 0, change: 1_000, background: 5_000 }

/** No key is taken later in a turn of the event loop than this after the first. */
const TURN_MS = 10

interface Entry {
  readonly key: string
  due: number
  handicap: number
  ready: boolean
}

export class WorkQueue {
  readonly #clock: Clock
  readonly #onReady: () => void
  readonly #observer: QueueObserver | undefined
  readonly #entries = new Map<string, Entry>()
  readonly #waiting = new Heap<Entry>((a, b) => a.due - b.due)
  readonly #ready = new Heap<Entry>((a, b) => a.due + a.handicap - (b.due + b.handicap))
  /** Keys that are being run, each with what came in meanwhile. */
  readonly #running = new Map<string, { due: number; handicap: number } | undefined>()
  #timer: { timer: Timer; due: number } | undefined
  /** When the first key was taken in this turn of the event loop. */
  #turnBegan: number | undefined
  #closed = false

  /** `onReady` is called, never from within `take`, when there may be something to take. */
  constructor(clock: Clock, onReady: () => void, observer?: QueueObserver) {
    this.#clock = clock
    this.#onReady = onReady
    this.#observer = observer
  }

  /** Asks for a run of `key`, now or in `delayMs`. For a key that is being run: one more run after it. */
  add(key: string, priority: Priority, delayMs = 0): void {
    const due = this.#clock.monotonic() + delayMs
    const handicap = HANDICAP_MS[priority]
    if (this.#running.has(key)) {
      const again = this.#running.get(key)
      this.#running.set(key, again ? { due: Math.min(again.due, due), handicap: Math.min(again.handicap, handicap) } : { due, handicap })
      return
    }
    this.#insert(key, due, handicap)
  }

  /** The most urgent key that is due, from now on running; undefined where none is, or not in this turn. End it with `done`. */
  take(): string | undefined {
    const now = this.#clock.monotonic()
    if (this.#turnBegan !== undefined && now - this.#turnBegan >= TURN_MS) return undefined
    this.#promote(now)
    const entry = this.#ready.pop()
    if (entry === undefined) return undefined
    this.#entries.delete(entry.key)
    this.#running.set(entry.key, undefined)
    this.#observer?.taken(entry.key, now - entry.due)
    if (this.#turnBegan === undefined) {
      this.#turnBegan = now
      nextTurn(() => this.#endTurn())
    }
    return entry.key
  }

  /** The run of `key` has ended. What was asked for meanwhile is queued. */
  done(key: string): void {
    const again = this.#running.get(key)
    this.#running.delete(key)
    this.#observer?.done(key)
    if (again) this.#insert(key, again.due, again.handicap)
  }

  /** Drops what is queued for `key`, also what was asked for during a run of it. A run itself goes on. */
  forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry) {
      this.#entries.delete(key)
      ;(entry.ready ? this.#ready : this.#waiting).remove(entry)
    }
    if (this.#running.has(key)) this.#running.set(key, undefined)
  }

  /** Keys that are queued or running. */
  get size(): number {
    return this.#entries.size + this.#running.size
  }

  /** Keys that are due now and not yet taken. */
  get depth(): number {
    this.#promote()
    return this.#ready.size
  }

  /** The same by priority. */
  depths(): Record<Priority, number> {
    this.#promote()
    const depths: Record<Priority, number> = { deletion: 0, change: 0, background: 0 }
    for (const { ready, handicap } of this.#entries.values()) if (ready) depths[priorityOf(handicap)]++
    return depths
  }

  get running(): number {
    return this.#running.size
  }

  runningKeys(): Iterable<string> {
    return this.#running.keys()
  }

  /** When a queued key is due, by the monotonic clock. */
  dueAt(key: string): number | undefined {
    return this.#entries.get(key)?.due
  }

  isRunning(key: string): boolean {
    return this.#running.has(key)
  }

  /** `onReady` is not called any more. */
  close(): void {
    this.#closed = true
    this.#timer?.timer.cancel()
    this.#timer = undefined
  }

  #endTurn(): void {
    this.#turnBegan = undefined
    if (this.#ready.size > 0 && !this.#closed) this.#onReady()
  }

  #insert(key: string, due: number, handicap: number): void {
    const now = this.#clock.monotonic()
    const old = this.#entries.get(key)
    if (old) {
      if (old.due <= due && old.handicap <= handicap) return
      ;(old.ready ? this.#ready : this.#waiting).remove(old)
      old.due = Math.min(old.due, due)
      old.handicap = Math.min(old.handicap, handicap)
    }
    const entry = old ?? { key, due, handicap, ready: false }
    const wasReady = entry.ready
    entry.ready = entry.due <= now
    if (entry.ready && !wasReady) this.#observer?.ready()
    this.#entries.set(key, entry)
    if (entry.ready) {
      this.#ready.push(entry)
      if (!this.#closed) this.#onReady()
    } else {
      this.#waiting.push(entry)
      this.#arm()
    }
  }

  /** Moves what has become due from the waiting to the ready. */
  #promote(now = this.#clock.monotonic()): void {
    for (let entry = this.#waiting.peek(); entry !== undefined && entry.due <= now; entry = this.#waiting.peek()) {
      this.#waiting.pop()
      entry.ready = true
      this.#observer?.ready()
      this.#ready.push(entry)
    }
  }

  /** One timer, for the earliest key that is not yet due. */
  #arm(): void {
    const first = this.#waiting.peek()
    if (this.#closed || first === undefined || (this.#timer && this.#timer.due <= first.due)) return
    this.#timer?.timer.cancel()
    const due = first.due
    const timer = this.#clock.after(due - this.#clock.monotonic(), () => {
      this.#timer = undefined
      this.#promote()
      this.#arm()
      if (this.#ready.size > 0) this.#onReady()
    })
    this.#timer = { timer, due }
  }
}

function priorityOf(handicap: number): Priority {
  return handicap === HANDICAP_MS.deletion ? 'deletion' : handicap === HANDICAP_MS.change ? 'change' : 'background'
}
