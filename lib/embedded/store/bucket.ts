/** All objects of one kind: the newest states in order, their history, and who listens. */
import { ApiError } from '../status.ts'
import type { ApiObject, Bucket, Stored, StoreEvent } from '../types.ts'
import { History, HistoryEvent } from './history.ts'
import { Ordered, sortKeyOf } from './ordered.ts'
import { sameObject } from './same-object.ts'
import { Version } from './version.ts'

/** What the buckets of a store have in common. */
export interface Revisions {
  current: number
  readonly next: () => number
  /** Gets what a listener threw: the write has happened, whatever they think of it. */
  readonly report: (error: unknown) => void
  /** Of all buckets: told of each event as it happens. */
  readonly observers: Set<(event: StoreEvent, bucket: string) => void>
}

interface Watcher {
  /** The revision of the last event it was told, or of where it began: nothing up to it is told (again). */
  told: number
  readonly listener: (event: StoreEvent) => void
  ended: boolean
}

export class MemoryBucket implements Bucket {
  readonly key: string
  readonly #revisions: Revisions
  readonly #history: History
  readonly #byKey = new Map<string, Version>()
  readonly #ordered = new Ordered<Version>()
  /** Replaced, never changed: it may be walked while somebody comes or goes. */
  #watchers: readonly Watcher[] = []
  /** While events are told: those that happen meanwhile, because a listener writes. All hear them in order, afterwards. */
  #untold: HistoryEvent[] | undefined

  constructor(key: string, revisions: Revisions, historySize: number, floor: number) {
    this.key = key
    this.#revisions = revisions
    this.#history = new History(historySize, floor)
  }

  get size(): number {
    return this.#byKey.size
  }

  get(namespace: string, name: string): Stored | undefined {
    return this.#byKey.get(keyOf(namespace, name))
  }

  list(options: { namespace?: string; at?: number; from?: string } = {}): readonly Stored[] {
    const { namespace, at, from } = options
    // `0` is the character after `/`: the range has all keys that begin with the namespace and a slash.
    const first = namespace === undefined ? '' : sortKeyOf(`${namespace}/`)
    const end = namespace === undefined ? undefined : sortKeyOf(`${namespace}0`)
    const start = from === undefined || sortKeyOf(from) < first ? first : sortKeyOf(from)
    if (at !== undefined && at < this.#history.floor) throw expired('The resourceVersion for the provided list is too old.')
    const now = this.#ordered.range(start, end)
    return at === undefined || at >= this.#revisions.current ? now : this.#undo(now, at, start, end)
  }

  put(namespace: string, name: string, object: ApiObject, expected: number): Stored | undefined {
    const key = keyOf(namespace, name)
    const before = this.#byKey.get(key)
    if ((before?.revision ?? 0) !== expected) return undefined
    if (before !== undefined && sameObject(before.object, object)) return before
    const revision = this.#revisions.next()
    object.metadata.resourceVersion = String(revision)
    const after = new Version(namespace, name, before?.sortKey ?? sortKeyOf(key), revision, object)
    this.#byKey.set(key, after)
    this.#ordered.set(after)
    this.#happened(new HistoryEvent(before === undefined ? 'ADDED' : 'MODIFIED', after, before))
    return after
  }

  delete(namespace: string, name: string, expected: number, last?: ApiObject): StoreEvent | undefined {
    const key = keyOf(namespace, name)
    const before = this.#byKey.get(key)
    if (before === undefined || before.revision !== expected) return undefined
    const revision = this.#revisions.next()
    const object = withResourceVersion(last ?? before.object, revision)
    this.#byKey.delete(key)
    this.#ordered.delete(before.sortKey)
    const event = new HistoryEvent('DELETED', new Version(namespace, name, before.sortKey, revision, object), before)
    this.#happened(event)
    return event
  }

  watch(revision: number, listener: (event: StoreEvent) => void): () => void {
    const { floor } = this.#history
    if (revision < floor) throw expired(`too old resource version: ${revision} (${floor})`)
    const watcher: Watcher = { told: revision, listener, ended: false }
    this.#watchers = [...this.#watchers, watcher]
    this.#inOrder(() => {
      for (const event of this.#history.after(revision)) this.#tell(watcher, event)
    })
    return () => {
      if (watcher.ended) return
      watcher.ended = true
      this.#watchers = this.#watchers.filter((each) => each !== watcher)
    }
  }

  compact(): void {
    this.#history.forget(this.#revisions.current)
  }

  /** Puts back what was saved, as it was: no event, no new revision. */
  restore(namespace: string, name: string, object: ApiObject): void {
    const key = keyOf(namespace, name)
    const version = new Version(namespace, name, sortKeyOf(key), Number(object.metadata.resourceVersion), object)
    this.#byKey.set(key, version)
    this.#ordered.set(version)
  }

  #happened(event: HistoryEvent): void {
    this.#history.push(event)
    for (const observe of this.#revisions.observers) observe(event, this.key)
    if (this.#watchers.length === 0) return
    if (this.#untold !== undefined) this.#untold.push(event)
    else this.#inOrder(() => this.#tellAll(event))
  }

  /** Runs `f`, which tells events, and then tells those that happened while it ran. */
  #inOrder(f: () => void): void {
    if (this.#untold !== undefined) {
      f()
      return
    }
    const untold: HistoryEvent[] = []
    this.#untold = untold
    try {
      f()
      for (const event of untold) this.#tellAll(event)
    } finally {
      this.#untold = undefined
    }
  }

  #tellAll(event: HistoryEvent): void {
    for (const watcher of this.#watchers) this.#tell(watcher, event)
  }

  #tell(watcher: Watcher, event: HistoryEvent): void {
    if (watcher.ended || event.revision <= watcher.told) return
    watcher.told = event.revision
    try {
      watcher.listener(event)
    } catch (error) {
      this.#revisions.report(error)
    }
  }

  /** What was between two keys at a past revision: the present, with all that happened since undone. */
  #undo(now: readonly Version[], at: number, start: string, end: string | undefined): readonly Version[] {
    const then = new Map<string, Version | undefined>()
    for (const event of this.#history.after(at)) {
      const { sortKey } = event.after
      if (sortKey < start || (end !== undefined && sortKey >= end) || then.has(sortKey)) continue
      then.set(sortKey, event.before)
    }
    if (then.size === 0) return now
    const past = now.filter((version) => !then.has(version.sortKey))
    for (const version of then.values()) if (version !== undefined) past.push(version)
    return past.sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1))
  }
}

function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

function withResourceVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}

function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message)
}
