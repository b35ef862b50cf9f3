import type { Client } from '../api/client.ts'
import { type Clock, delay, type Random, type Timer } from '../api/clock.ts'
import { toFieldSelector, toLabelSelector } from '../api/selectors.ts'
import { type KindRef, kindName } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import type { Observer } from '../resource/observer.ts'
import type { FieldSelector, Selector } from '../resource/selector.ts'
import type { Draft, Store } from './store.ts'
import { watchOnce } from './watch-connection.ts'
import { EndlessListError, endsInitialEvents, type ObjectEvent } from './watch-event.ts'
import type { WatchState } from './watch-state.ts'
import { restartReason } from './watch-trouble.ts'
import { type Attempt, LIVED_MS, NO_HISTORY, pauseMs, type Verdict, verdictOf } from './watch-verdict.ts'

export type { WatchState }

/**
 * A connection that carries nothing for longer is dead, whatever TCP says. Bookmarks come every 60 s; the API server looks once in 1 to 1.25 s
 * whose turn it is, and both sides may be busy. A false alarm costs one more request: the watch goes on where it was.
 */
const SILENCE_MS = 68_000
/** The server ends a watch after 5 to 10 minutes, so that connections spread over its replicas again. */
const WATCH_SECONDS = 300
/** Trouble that lasts is told again after so long. */
const REMIND_MS = 5 * 60_000
/** For so long lists that are older than what is known are refused. */
const BEHIND_MS = 60_000

export interface ReflectorOptions {
  readonly client: Client
  readonly kind: KindRef<unknown>
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined
  readonly labels?: Selector | undefined
  readonly fields?: FieldSelector | undefined
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer?: Pick<Observer, 'watchRestarted'> | undefined
  readonly onState?: (state: WatchState) => void
}

/**
 * Keeps a store equal to what the API server has of one kind: lists it, then watches it, for ever.
 *
 * Guarantees: it never gives up and never spins. A lost, silent or expired watch is replaced (`verdictOf` says how each end is
 * answered); meanwhile the store keeps its content, and a new list corrects it in one go.
 */
export class Reflector {
  readonly #options: ReflectorOptions
  readonly #log: Log
  readonly #stop = new AbortController()
  #started = false
  #state: WatchState = { phase: 'starting' }
  #synced = false
  /** The watch under way has been accepted. */
  #isOpen = false
  /** Until when the next try waits. */
  #pausedUntil: number | undefined
  #lastEventAt: number | undefined
  /** Up to here the store knows everything; undefined: it has to be listed. */
  #version: string | undefined
  /** The server does not stream lists. */
  #pages = false
  #history = NO_HISTORY
  #warnedAt = Number.NEGATIVE_INFINITY
  /** Since when every list was older than what is known, by the monotonic clock. */
  #behindSince: number | undefined

  constructor(options: ReflectorOptions) {
    const { kind, namespace, log } = options
    this.#options = options
    this.#log = log.child({ kind: kindName(kind), ...(namespace === undefined ? {} : { namespace }) })
  }

  get state(): WatchState {
    return this.#state
  }

  /** Whether the store was complete once. It stays true while a watch fails: the content may be old then. */
  get synced(): boolean {
    return this.#synced
  }

  /** Whether what happens now is told: the store is complete, and the watch open. */
  get following(): boolean {
    return this.#isOpen && this.#version !== undefined
  }

  /** When the next try begins, by the monotonic clock; undefined: one is under way. */
  get pausedUntil(): number | undefined {
    return this.#pausedUntil
  }

  /** When the last event or bookmark came, in milliseconds since 1970. */
  get lastEventAt(): number | undefined {
    return this.#lastEventAt
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    void this.#run(this.#stop.signal)
  }

  /** Ends the watch at once and for good; nothing is put into the store any more. */
  stop(): void {
    this.#stop.abort()
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const attempt = await this.#attempt(signal)
      if (signal.aborted) return
      const verdict = verdictOf(attempt, this.#history)
      this.#history = verdict.history
      if (verdict.next !== 'resume') this.#version = undefined
      if (verdict.next === 'pages') this.#pages = true
      // Its CRD may come back with another plural or scope.
      if (verdict.failing?.missing === 'kind') this.#options.client.discovery.forget(this.#options.kind)
      const pause = verdict.wait === undefined ? 0 : pauseMs(this.#history.failures, verdict.wait, this.#options.random)
      this.#report(attempt, verdict, pause)
      this.#options.observer?.watchRestarted(kindName(this.#options.kind), restartReason(attempt.error))
      if (pause > 0) {
        this.#pausedUntil = this.#options.clock.monotonic() + pause
        await delay(this.#options.clock, pause, signal).catch(() => {})
        this.#pausedUntil = undefined
      }
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    let verb: Attempt['verb'] = 'watch'
    try {
      if (this.#version === undefined && this.#pages) {
        verb = 'list'
        await this.#list(signal)
        verb = 'watch'
      }
      return await this.#watch(signal)
    } catch (error) {
      return { error: error as Error, livedMs: 0, verb, complete: this.#version !== undefined, events: 0 }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, kind, namespace, labels, fields, store } = this.#options
    const { items, resourceVersion } = await client.list(kind as KindRef, { namespace, labels, fields, signal, retries: 0 })
    if (signal.aborted) return
    this.#checkAge(resourceVersion)
    store.replace(items.map(this.#complement), resourceVersion, { namespace })
    this.#complete(resourceVersion)
  }

  async #watch(signal: AbortSignal): Promise<Attempt> {
    const { client, clock } = this.#options
    const path = `${await client.pathOf(this.#options.kind, { namespace: this.#options.namespace })}?${this.#query()}`
    const draft = this.#version === undefined ? this.#options.store.draft() : undefined
    const gather = draft && this.#gatherInto(draft)
    let events = 0
    let lived: Timer | undefined

    const end = await watchOnce({
      transport: client.transport,
      path,
      clock,
      signal,
      silenceMs: SILENCE_MS,
      onOpen: () => {
        this.#isOpen = true
        lived = clock.after(LIVED_MS, () => this.#version !== undefined && this.#wellAgain())
      },
      onEvent: (event) => {
        this.#lastEventAt = clock.now()
        if (this.#version === undefined) return gather?.(event)
        events++
        this.#take(event)
        this.#wellAgain()
      },
    })
    this.#isOpen = false
    lived?.cancel()
    if (this.#version === undefined) draft?.discard()
    return { ...end, verb: 'watch', complete: this.#version !== undefined, events }
  }

  #query(): string {
    const { labels, fields, random } = this.#options
    const seconds = WATCH_SECONDS + Math.floor(WATCH_SECONDS * random())
    const query = new URLSearchParams({ watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: `${seconds}` })
    if (this.#version !== undefined) query.set('resourceVersion', this.#version)
    else {
      // Without a resourceVersion: at least as new as the moment of asking.
      query.set('sendInitialEvents', 'true')
      query.set('resourceVersionMatch', 'NotOlderThan')
    }
    const labelSelector = labels === undefined ? '' : toLabelSelector(labels)
    const fieldSelector = fields === undefined ? '' : toFieldSelector(fields)
    if (labelSelector !== '') query.set('labelSelector', labelSelector)
    if (fieldSelector !== '') query.set('fieldSelector', fieldSelector)
    return query.toString()
  }

  /** Takes the events of a streamed list; the store sees them when all are there. */
  #gatherInto(draft: Draft): (event: ObjectEvent) => void {
    const { namespace } = this.#options
    let bookmarks = 0
    return (event) => {
      if (event.type === 'DELETED') draft.delete(event.object)
      else if (event.type !== 'BOOKMARK') draft.add(this.#complement(event.object))
      else if (endsInitialEvents(event.object.metadata)) {
        this.#checkAge(event.object.metadata.resourceVersion)
        draft.commit(event.object.metadata.resourceVersion, { namespace })
        this.#complete(event.object.metadata.resourceVersion)
      } else if (++bookmarks > 1) {
        throw new EndlessListError('the server did not end a streamed list')
      }
    }
  }

  #take(event: ObjectEvent): void {
    const { store, namespace } = this.#options
    const { resourceVersion } = event.object.metadata
    if (event.type === 'DELETED') store.removed(this.#complement(event.object))
    else if (event.type !== 'BOOKMARK') store.put(this.#complement(event.object))
    this.#version = resourceVersion
    store.reached(resourceVersion, { namespace, bookmark: event.type === 'BOOKMARK' })
  }

  /** Lists leave out apiVersion and kind of their items; some servers do in events. */
  readonly #complement = <O extends { apiVersion?: string; kind?: string }>(object: O): O => {
    object.apiVersion ??= this.#options.kind.apiVersion
    object.kind ??= this.#options.kind.kind
    return object
  }

  /**
   * A list that is older than what the watch has told is not believed: an API server behind the others, or a proxy with an old answer, would
   * take the store back in time. Only where all lists of a minute agree has the server's own history gone back (etcd restored from a backup).
   *
   * @throws StaleListError
   */
  #checkAge(resourceVersion: string): void {
    const { store, namespace, clock } = this.#options
    if (!store.isBehind(resourceVersion, { namespace })) {
      this.#behindSince = undefined
      return
    }
    this.#behindSince ??= clock.monotonic()
    if (clock.monotonic() - this.#behindSince < BEHIND_MS) {
      throw new StaleListError('the API server answered with a list that is older than what it had told before')
    }
    this.#behindSince = undefined
  }

  #complete(resourceVersion: string): void {
    this.#version = resourceVersion
    this.#synced = true
    this.#wellAgain()
  }

  #wellAgain(): void {
    if (this.#state.phase === 'synced') return
    if (this.#state.phase === 'failing') this.#log.info({ afterMs: this.#options.clock.now() - this.#state.since }, 'The watch works again')
    this.#setState({ phase: 'synced' })
  }

  #report({ error, livedMs }: Attempt, verdict: Verdict, pause: number): void {
    if (verdict.failing === undefined) {
      this.#log.debug({ err: error, livedMs, next: verdict.next, pauseMs: Math.round(pause) }, 'The watch ended')
      return
    }
    const { missing } = verdict.failing
    const cause = error ?? new Error(`the watch ended after ${Math.round(livedMs)} ms without an event`)
    const before = this.#state.phase === 'failing' ? this.#state : undefined
    const since = before?.since ?? this.#options.clock.now()
    const known = before?.missing === missing && before?.error.message === cause.message
    const now = this.#options.clock.now()
    const silent = known && now - this.#warnedAt < REMIND_MS
    if (!silent) this.#warnedAt = now
    this.#log[silent ? 'debug' : 'warn']({ err: cause, missing, pauseMs: Math.round(pause) }, text(missing, this.#options.kind))
    this.#setState({ phase: 'failing', error: cause, since, ...(missing === undefined ? {} : { missing }) })
  }

  #setState(state: WatchState): void {
    this.#state = state
    try {
      this.#options.onState?.(state)
    } catch (error) {
      this.#log.error({ err: error }, 'A listener of the watch’s state threw')
    }
  }
}

/** A list from the past. */
class StaleListError extends Error {
  override readonly name = 'StaleListError'
}

function text(missing: 'kind' | 'list' | 'watch' | undefined, kind: KindRef<unknown>): string {
  if (missing === undefined) return 'The watch failed; trying again'
  if (missing !== 'kind') return `The verb ${missing} is not allowed; trying again`
  const remedy = kind.crd !== undefined && !kind.foreign ? 'run with --install-crds' : 'install its definition'
  return `${kindName(kind)} is not there in the cluster: ${remedy}; looking again`
}
