/**
 * Watches: the current state or the history first, then events as they happen, bookmarks, selectors, the end.
 *
 * Events are written in a turn of their own after the write that made them, so that a burst of writes is one chunk, and so that
 * one encoding serves all watchers that want it. `settled()` waits for that turn.
 */
import type { Core } from './core.ts'
import { type ListOptions, parseListOptions, parseResourceVersion, tooLarge } from './list-options.ts'
import { apiVersionOf, fromStorage } from './operations/context.ts'
import { ApiError, plainError } from './status.ts'
import type { ServerTimer } from './tasks.ts'
import type { ApiObject, Bucket, Metadata, ResourceType, ResponseStream, Stored, StoreEvent, StreamSink } from './types.ts'
import { type Lines, shareLines } from './watch-turn.ts'

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: ApiObject
}

export interface WatchEncoder {
  /** One line, with its line feed. */
  (event: WatchEvent): string
  /** Names an encoding that depends on nothing but the event: all watches of one version that have it get the same lines. */
  readonly shared?: string
}

/** Events that wait for a reader who does not keep up; one more, and it is cut off. They are shared, not copies. */
const MAX_WAITING = 10_000
/** Characters that are written at once. */
const CHUNK = 64 * 1024
const BOOKMARK_MS = 60_000
/** So long before its end a watch gets a last bookmark. */
const LAST_BOOKMARK_MS = 2_000
const DEFAULT_TIMEOUT_MS = 30 * 60_000

/**
 * `namespace`: undefined for all, or for a kind that has none. What is wrong with the revision is told inside the stream.
 * @throws ApiError 400, 422 or 500 for options that make no sense
 */
export function watch(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  query: URLSearchParams,
  encode: WatchEncoder,
): ResponseStream {
  const options = parseListOptions(query, type, true)
  const revision = requestedRevision(options)
  return {
    start(sink) {
      const stream = new WatchStream(core, type, namespace, options, encode, sink)
      stream.start(revision)
      return { stop: () => stream.stop() }
    },
  }
}

function requestedRevision({ resourceVersion }: ListOptions): number {
  try {
    return parseResourceVersion(resourceVersion)
  } catch (error) {
    throw plainError((error as Error).message)
  }
}

/** What is still to be written: a state that was there, an event, or a bookmark. */
type Item = Stored | StoreEvent | Bookmark

interface Bookmark {
  readonly bookmark: number
  readonly initial: boolean
}

class WatchStream {
  readonly #core: Core
  #type: ResourceType
  readonly #namespace: string | undefined
  readonly #options: ListOptions
  readonly #encode: WatchEncoder
  readonly #sink: StreamSink
  /** In the order they are to be written; those before `#next` are written. */
  #items: Item[] = []
  #next = 0
  /** Events among the items: only they are limited, the state at the beginning may be large. */
  #waiting = 0
  #limit = Number.POSITIVE_INFINITY
  /** The reader is slow, or a conversion takes its time: whoever holds it up calls `#write` again. */
  #held = false
  #holders = 0
  #scheduled = false
  #over = false
  #timers = new Set<ServerTimer>()
  #undo: (() => void)[] = []

  constructor(core: Core, type: ResourceType, namespace: string | undefined, options: ListOptions, encode: WatchEncoder, sink: StreamSink) {
    this.#core = core
    this.#type = type
    this.#namespace = namespace
    this.#options = options
    this.#encode = encode
    this.#sink = sink
  }

  start(revision: number): void {
    const { timeoutSeconds = 0 } = this.#options
    try {
      if (timeoutSeconds >= 0) this.#follow(revision)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.#fail(error)
    }
    if (timeoutSeconds < 0) this.#end()
    if (this.#over) return
    const timeout = timeoutSeconds === 0 ? DEFAULT_TIMEOUT_MS * (1 + this.#core.random()) : timeoutSeconds * 1000
    this.#after(timeout, () => this.#end())
    if (this.#options.allowWatchBookmarks) this.#bookmarkAfter(revision, this.#core.clock.monotonic() + timeout)
    this.#undo.push(this.#core.registry.onChange((group, resource) => this.#served(group, resource)))
    this.#write()
  }

  stop(): void {
    this.#over = true
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    for (const undo of this.#undo.splice(0)) undo()
    this.#items = []
  }

  /** Fills in what came before and listens to what comes. @throws ApiError 410, 504 */
  #follow(revision: number): void {
    const { store } = this.#core
    const bucket = store.bucket(this.#type.bucket)
    const { sendInitialEvents, resourceVersion, allowWatchBookmarks } = this.#options
    let from = revision
    if (sendInitialEvents === true) {
      if (revision > store.revision) throw tooLarge(resourceVersion, store.revision)
      from = store.revision
      this.#items = this.#present(bucket)
      if (allowWatchBookmarks) this.#items.push({ bookmark: from, initial: true })
    } else if (revision === 0) from = store.revision
    this.#undo.push(bucket.watch(from, (event) => this.#add(event)))
    // What is replayed is there at once, however slow the reader; the limit is for what comes on top of it.
    this.#limit = this.#waiting + MAX_WAITING
  }

  #present(bucket: Bucket): Item[] {
    const { name } = this.#options
    const namespace = this.#namespace
    if (name === undefined || (namespace === undefined && this.#type.namespaced)) {
      return [...bucket.list(namespace === undefined ? {} : { namespace })]
    }
    const one = bucket.get(namespace ?? '', name)
    return one === undefined ? [] : [one]
  }

  #add(event: StoreEvent): void {
    const { name } = this.#options
    if (this.#over || (this.#namespace !== undefined && event.namespace !== this.#namespace)) return
    if (name !== undefined && event.name !== name) return
    this.#items.push(event)
    if (++this.#waiting > this.#limit && this.#held) this.#cut()
    else this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#held || this.#over) return
    this.#scheduled = true
    shareLines(this.#core, (lines) => {
      this.#scheduled = false
      this.#write(lines)
    })
  }

  /** Writes what waits, until there is nothing more or somebody holds it up. */
  #write(lines?: Lines): void {
    try {
      this.#writeWaiting(lines)
    } catch (error) {
      // A fault of this server: better no answer than one with a gap.
      this.#cut()
      throw error
    }
    if (this.#next < this.#items.length && this.#next < 1024) return
    this.#items = this.#items.slice(this.#next)
    this.#next = 0
  }

  #writeWaiting(lines: Lines | undefined): void {
    let chunk = ''
    while (!this.#over && !this.#held && this.#next < this.#items.length) {
      const item = this.#items[this.#next++]!
      if ('type' in item) this.#waiting--
      const line = this.#line(item, lines)
      if (line instanceof Promise) this.#waitFor(line)
      else if (line !== undefined) chunk += line
      if (chunk.length < CHUNK && (chunk === '' || !this.#held)) continue
      this.#put(chunk)
      chunk = ''
    }
    if (chunk !== '' && !this.#over) this.#put(chunk)
  }

  #put(chunk: string): void {
    if (this.#sink.write(chunk) || this.#over) return
    this.#hold((resume) => this.#sink.drained(resume))
  }

  #waitFor(line: Promise<string | undefined>): void {
    this.#hold((resume) => {
      line.then(
        (text) => {
          if (text !== undefined && !this.#over) this.#put(text)
          resume()
        },
        () => this.#cut(),
      )
    })
  }

  #hold(until: (resume: () => void) => void): void {
    this.#held = true
    this.#holders++
    until(() => {
      this.#held = --this.#holders > 0
      if (!this.#held && !this.#over) this.#write()
    })
  }

  #line(item: Item, lines: Lines | undefined): string | undefined | Promise<string | undefined> {
    if ('bookmark' in item) return this.#encode({ type: 'BOOKMARK', object: this.#bookmark(item) })
    const event = 'type' in item ? item : undefined
    const seen = this.#seen(event ?? { type: 'ADDED', revision: item.revision, object: item.object, old: undefined })
    if (seen instanceof Promise) return seen.then((found) => found && this.#encode(found))
    if (seen === undefined) return undefined
    const { shared } = this.#encode
    if (shared === undefined || event === undefined || lines === undefined) return this.#encode(seen)
    return lines.of(event, `${shared} ${apiVersionOf(this.#type)} ${seen.type}`, () => this.#encode(seen))
  }

  /** The event as this watch sees it: an object that comes to match is added, one that ceases to is deleted. */
  #seen(event: SeenEvent): WatchEvent | undefined | Promise<WatchEvent | undefined> {
    const { labels, fields } = this.#options
    if (labels === undefined && fields === undefined) return this.#converted(event.type, event.object)
    const before = event.old === undefined ? false : this.#matches(event.old)
    const after = event.type !== 'DELETED' && this.#matches(event.object)
    if (before instanceof Promise || after instanceof Promise) {
      return Promise.all([before, after]).then(([was, is]) => this.#transition(event, was, is))
    }
    return this.#transition(event, before, after)
  }

  #transition(event: SeenEvent, before: boolean, after: boolean): WatchEvent | undefined | Promise<WatchEvent> {
    if (!before && !after) return undefined
    if (after) return this.#converted(before ? 'MODIFIED' : 'ADDED', event.object)
    return this.#converted('DELETED', event.type === 'DELETED' ? event.object : withRevision(event.old!, event.revision))
  }

  #matches(object: ApiObject): boolean | Promise<boolean> {
    const { labels, fields } = this.#options
    if (labels !== undefined && !labels(object.metadata.labels)) return false
    if (fields === undefined) return true
    const converted = fromStorage(this.#type, object)
    return converted instanceof Promise ? converted.then(fields) : fields(converted)
  }

  #converted(type: WatchEvent['type'], stored: ApiObject): WatchEvent | Promise<WatchEvent> {
    const object = fromStorage(this.#type, stored)
    return object instanceof Promise ? object.then((converted) => ({ type, object: converted })) : { type, object }
  }

  #bookmark({ bookmark, initial }: Bookmark): ApiObject {
    const metadata: Metadata = { resourceVersion: String(bookmark) }
    if (initial) metadata.annotations = { 'k8s.io/initial-events-end': 'true' }
    return { kind: this.#type.kind, apiVersion: apiVersionOf(this.#type), metadata }
  }

  /** Every minute, and once more shortly before the end. */
  #bookmarkAfter(revision: number, deadline: number): void {
    const untilLast = deadline - LAST_BOOKMARK_MS - this.#core.clock.monotonic()
    if (untilLast < 0) return
    this.#after(Math.min(BOOKMARK_MS, untilLast), () => {
      // Never back: a watch may be from a revision that is still to come.
      if (this.#core.store.revision >= revision) {
        this.#items.push({ bookmark: this.#core.store.revision, initial: false })
        if (!this.#held) this.#write()
      }
      if (untilLast > BOOKMARK_MS) this.#bookmarkAfter(revision, deadline)
    })
  }

  #served(group: string, resource: string): void {
    if (group !== this.#type.group || resource !== this.#type.resource) return
    const now = this.#core.registry.find(group, this.#type.version, resource)
    if (now !== undefined) this.#type = now
    // After what was deleted with the definition has been told.
    else this.#core.tasks.soon(() => this.#end())
  }

  /** `too old resource version` and the like: the answer has begun, so the error is an event. */
  #fail(error: ApiError): void {
    this.#sink.write(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`)
    this.#end()
  }

  #end(): void {
    if (this.#over) return
    if (!this.#held) this.#write()
    if (this.#over) return
    this.stop()
    this.#sink.end()
  }

  #cut(): void {
    if (this.#over) return
    this.stop()
    this.#sink.destroy()
  }

  #after(ms: number, f: () => void): void {
    const timer = this.#core.tasks.after(ms, () => {
      this.#timers.delete(timer)
      f()
    })
    this.#timers.add(timer)
  }
}

type SeenEvent = Pick<StoreEvent, 'type' | 'revision' | 'object' | 'old'>

function withRevision(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}
