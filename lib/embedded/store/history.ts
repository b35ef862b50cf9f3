/** The last events of one kind, in order: what watches replay, and what undoes the present for a list of the past. */
import type { ApiObject, StoreEvent } from '../types.ts'
import type { Version } from './version.ts'

/** Characters of superseded states that one kind may keep: with states of a megabyte, history is short. */
const MOST_TEXT = 32 * 1024 * 1024
/** Superseded states that stay objects, for watches that were away for a moment: so many, and not more than so much. */
const MOST_WARM = 256
const WARM_TEXT = 4 * 1024 * 1024

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
  /** How far states are text. */
  #packed = 0
  #text = 0
  /** Of a state, as text: how large those are that are not text yet is not known. */
  #typical = WARM_TEXT / 16
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
    const warm = Math.min(MOST_WARM, 1 + Math.floor(WARM_TEXT / this.#typical))
    while (this.#packed < this.#events.length - warm) this.#pack(this.#events[this.#packed++]!)
    while (this.#events.length - this.#start > this.#limit || this.#text > MOST_TEXT) this.#drop()
    if (this.#start < 1024 && this.#start < this.#limit) return
    this.#events = this.#events.slice(this.#start)
    this.#packed -= this.#start
    this.#start = 0
  }

  #pack(event: HistoryEvent): void {
    for (const version of superseded(event)) {
      const size = version.pack()
      this.#text += size
      this.#typical += (size - this.#typical) / 8
    }
  }

  #drop(): void {
    const index = this.#start++
    const event = this.#events[index]!
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
    return this.#events.slice(low)
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
