/** The last events of one kind, in order: what watches replay, and what undoes the present for a list of the past. */
import type { ApiObject, StoreEvent } from '../types.ts'
import type { Version } from './version.ts'

/** Events whose superseded states stay objects: a watch that was away for a moment wants these. */
const WARM = 256

export class HistoryEvent implements StoreEvent {
  readonly type: StoreEvent['type']
  readonly revision: number
  /** Of a deletion: the last state, with the deletion's revision. */
  readonly after: Version
  readonly before: Version | undefined

  constructor(type: StoreEvent['type'], after: Version, before: Version | undefined) {
    this.type = type
    this.revision = after.revision
    this.after = after
    this.before = before
  }

  get object(): ApiObject {
    return this.after.object
  }

  get old(): ApiObject | undefined {
    return this.before?.object
  }

  get namespace(): string {
    return this.after.namespace
  }

  get name(): string {
    return this.after.name
  }
}

export class History {
  readonly #limit: number
  #events: HistoryEvent[] = []
  /** Where the first one that still counts is: the array is cut only now and then. */
  #start = 0
  /** All events after this revision are here. */
  #floor: number

  constructor(limit: number, floor: number) {
    this.#limit = limit
    this.#floor = floor
  }

  get floor(): number {
    return this.#floor
  }

  push(event: HistoryEvent): void {
    this.#events.push(event)
    const cold = this.#events.length - 1 - WARM
    if (cold >= this.#start) pack(this.#events[cold]!)
    if (this.#events.length - this.#start <= this.#limit) return
    this.#floor = this.#events[this.#start++]!.revision
    if (this.#start < 1024 && this.#start < this.#limit) return
    this.#events = this.#events.slice(this.#start)
    this.#start = 0
  }

  /** Those after `revision`, which must not be below `floor`. */
  after(revision: number): HistoryEvent[] {
    let low = this.#start
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#events[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return this.#events.slice(low)
  }

  forget(revision: number): void {
    this.#events = []
    this.#start = 0
    this.#floor = Math.max(this.#floor, revision)
  }
}

function pack(event: HistoryEvent): void {
  event.before?.pack()
  if (event.type === 'DELETED') event.after.pack()
}
