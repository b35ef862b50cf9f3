/** The last events of one kind, in order: what watches replay, and what undoes the present for a list of the past. */
import type { ApiObject, StoreEvent } from '../types.ts'
import type { Version } from './version.ts'

/** Characters of superseded states that one kind may keep: with states of a megabyte, history is short. */
const MOST_TEXT = 32 * 1024 * 1024
/** Events whose superseded states stay objects: for watches that were away for a moment. */
const WARM = 32

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
  /** Undefined: forgotten. */
  #events: (HistoryEvent | undefined)[] = []
  /** Where the first one that still counts is: the array is cut only now and then. */
  #start = 0
  /** How far states are text. */
  #packed = 0
  #text = 0
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
    while (this.#packed < this.#events.length - WARM) this.#pack(this.#events[this.#packed++]!)
    while (this.#events.length - this.#start > this.#limit || this.#text > MOST_TEXT) this.#drop()
    if (this.#start < 1024 && this.#start < this.#limit) return
    this.#events = this.#events.slice(this.#start)
    this.#packed -= this.#start
    this.#start = 0
  }

  #pack(event: HistoryEvent): void {
    for (const version of superseded(event)) this.#text += version.pack()
  }

  #drop(): void {
    const index = this.#start++
    const event = this.#events[index]!
    // At once: one may hold megabytes.
    this.#events[index] = undefined
    this.#floor = event.revision
    if (index >= this.#packed) this.#packed = this.#start
    else for (const version of superseded(event)) this.#text -= version.textSize
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
    return this.#events.slice(low) as HistoryEvent[]
  }

  forget(revision: number): void {
    this.#events = []
    this.#start = 0
    this.#packed = 0
    this.#text = 0
    this.#floor = Math.max(this.#floor, revision)
  }
}

/** States that only history has: the last of a deleted object has two, which differ in their revision. */
function superseded({ type, before, after }: HistoryEvent): Version[] {
  if (before === undefined) return []
  return type === 'DELETED' ? [before, after] : [before]
}
