/**
 * Kubernetes Events, as `kubectl describe` shows them. Recording is a note to self: it never waits, never fails and never
 * fills memory, because a run must not depend on it. The same observation within ten minutes is one Event whose series counts.
 */

import type { Client } from '../api/client.ts'
import { type Clock, delay, microTimestamp, type Timer } from '../api/clock.ts'
import { isAlreadyExists, isForbidden, isNamespaceTerminating, isNotFound, isTransient } from '../api/status-error.ts'
import type { Log } from '../resource/log.ts'
import type { Unrest } from '../resource/unrest.ts'
import { Event, eventObject, identity, type NewEvent, type Observation } from './event-object.ts'

export interface EventRecorderOptions {
  readonly client: Pick<Client, 'create' | 'patch'>
  readonly clock: Clock
  readonly log: Log
  /** The operator's name. */
  readonly component: string
  /** This process, such as the pod's name. */
  readonly instance: string
}

/** Observations that wait to be sent. The oldest are dropped beyond that. */
const LONGEST_QUEUE = 256
/** Series that are remembered. */
const MOST_SERIES = 1024
/** The same observation later than this after its last one is a new Event. */
const SERIES_MS = 10 * 60_000
/** A series is written no more often than this. */
const SERIES_WRITE_MS = 30_000
/** Without permission: silence, then another try. */
const FORBIDDEN_MS = 10 * 60_000
const CALL_MS = 10_000
const RETRY_MS = 5_000
const MOST_TRIES = 3
const FLUSH_MS = 2_000

/** One Event in the making. */
interface Series {
  readonly id: string
  readonly event: NewEvent
  count: number
  lastAt: number
  /** What the server knows: 0 before the Event is created. */
  sentCount: number
  sentAt: number
  queued: boolean
  tries: number
}

export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #series = new Map<string, Series>()
  readonly #queue: Series[] = []
  readonly #forbidden = new Map<string, number>()
  readonly #stop = new AbortController()
  #stopping = false
  #dropped = 0
  #warnedAt: number | undefined
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  /** When the one that failed is tried again. */
  #retryAt: number | undefined

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(what: Observation): void {
    if (this.#stopping) return
    const { clock, component, instance, log } = this.#options
    try {
      const now = clock.monotonic()
      this.#forget(now)
      const id = identity(what)
      const known = this.#series.get(id)
      const series = known ?? begin(id, eventObject(what, clock.now(), { component, instance }))
      series.count++
      series.lastAt = now
      // The map is kept in the order of the last observation, so that the oldest are found first.
      this.#series.delete(id)
      this.#series.set(id, series)
      if (known === undefined) this.#enqueue(series)
      else this.#arm()
    } catch (error) {
      log.debug({ err: error }, 'event not recorded')
    }
  }

  /** How many were given up because too many came at once. */
  get dropped(): number {
    return this.#dropped
  }

  /** Events that are being written. Counts of a series that are written later do not count. */
  get unrest(): readonly Unrest[] {
    if (this.#sending === undefined || this.#stop.signal.aborted) return []
    return [{ what: 'Events are being written', ...(this.#retryAt === undefined ? {} : { at: this.#retryAt }) }]
  }

  /** Sends what waits, for at most two seconds. */
  async stop(): Promise<void> {
    if (this.#stopping) return
    this.#stopping = true
    this.#timer?.cancel()
    for (const series of this.#series.values()) if (series.count > series.sentCount) this.#enqueue(series)
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(FLUSH_MS, resolve)
      void (this.#sending ?? Promise.resolve()).then(() => {
        timer.cancel()
        resolve()
      })
    })
    this.#stop.abort()
    this.#series.clear()
  }

  /** What was not written, or is over: the next observation of it begins a new Event. */
  #end(series: Series): void {
    if (this.#series.get(series.id) === series) this.#series.delete(series.id)
  }

  #forget(now: number): void {
    for (const [id, series] of this.#series) {
      if (series.lastAt + SERIES_MS > now && this.#series.size < MOST_SERIES) return
      this.#series.delete(id)
    }
  }

  #enqueue(series: Series): void {
    if (series.queued) return
    series.queued = true
    this.#queue.push(series)
    if (this.#queue.length > LONGEST_QUEUE) {
      this.#dropped++
      const dropped = this.#queue.shift()
      if (dropped !== undefined) this.#end(dropped)
      this.#options.log.debug({ reason: dropped?.event.reason }, 'too many events at once: dropped the oldest')
    }
    this.#sending ??= this.#send()
  }

  /** Sees to it that counts which grew are written, in a while. */
  #arm(): void {
    this.#timer ??= this.#options.clock.after(SERIES_WRITE_MS, () => {
      this.#timer = undefined
      const now = this.#options.clock.monotonic()
      let later = false
      for (const series of this.#series.values()) {
        if (series.sentCount === 0 || series.count === series.sentCount) continue
        if (series.sentAt + SERIES_WRITE_MS <= now) this.#enqueue(series)
        else later = true
      }
      if (later) this.#arm()
    })
  }

  async #send(): Promise<void> {
    try {
      // Not in the turn of the caller: recording is no more than a push.
      await undefined
      for (let series = this.#queue.shift(); series !== undefined; series = this.#queue.shift()) await this.#sendOne(series)
    } finally {
      // In the turn in which the queue was found empty: what is recorded in the next one begins anew.
      this.#sending = undefined
    }
  }

  async #sendOne(series: Series): Promise<void> {
    series.queued = false
    if (this.#stop.signal.aborted || this.#isForbidden(series.event.metadata.namespace)) return this.#end(series)
    try {
      await this.#write(series)
      series.tries = 0
    } catch (error) {
      await this.#failed(series, error)
    }
  }

  async #write(series: Series): Promise<void> {
    const { client, clock } = this.#options
    const options = { signal: this.#stop.signal, timeoutMs: CALL_MS }
    const { count } = series
    // Queued again while it was being written.
    if (count === series.sentCount) return
    const more = {
      series: { count, lastObservedTime: microTimestamp(clock.now() - (clock.monotonic() - series.lastAt)) },
    }
    if (series.sentCount === 0) {
      // A series counts from two on (validation of the API server).
      const event = count > 1 ? { ...series.event, ...more } : series.event
      await client.create(Event, event, options).catch(ignore(isAlreadyExists))
    } else {
      const { name, namespace } = series.event.metadata
      await client.patch(Event, { name, namespace }, { type: 'merge', value: more }, options)
    }
    series.sentCount = count
    series.sentAt = clock.monotonic()
  }

  async #failed(series: Series, error: unknown): Promise<void> {
    const { clock, log } = this.#options
    const { namespace, name } = series.event.metadata
    if (isTransient(error) && ++series.tries < MOST_TRIES && !this.#stopping) {
      this.#retryAt = clock.monotonic() + RETRY_MS
      await delay(clock, RETRY_MS, this.#stop.signal).catch(() => {})
      this.#retryAt = undefined
      return this.#enqueue(series)
    }
    this.#end(series)
    // A 404 says that the namespace is gone, or that the Event has expired.
    if (this.#stop.signal.aborted || isNamespaceTerminating(error) || isNotFound(error)) return
    if (isForbidden(error)) this.#forbid(namespace, series.sentCount === 0 ? 'create' : 'patch', error)
    else log.debug({ err: error, namespace, event: name }, 'event not written')
  }

  #isForbidden(namespace: string): boolean {
    const until = this.#forbidden.get(namespace)
    if (until === undefined) return false
    if (this.#options.clock.monotonic() < until) return true
    this.#forbidden.delete(namespace)
    return false
  }

  /** Per namespace, as a Role is; but one warning for all of them. */
  #forbid(namespace: string, verb: string, error: unknown): void {
    const { clock, log } = this.#options
    const now = clock.monotonic()
    this.#forbidden.set(namespace, now + FORBIDDEN_MS)
    if (this.#warnedAt !== undefined && now < this.#warnedAt + FORBIDDEN_MS) return
    this.#warnedAt = now
    log.warn(
      { err: error, namespace, verb, resource: 'events.events.k8s.io' },
      `may not ${verb} events.events.k8s.io: Kubernetes Events are off for 10 minutes; grant the verbs create and patch`,
    )
  }
}

function begin(id: string, event: NewEvent): Series {
  return { id, event, count: 0, lastAt: 0, sentCount: 0, sentAt: 0, queued: false, tries: 0 }
}

function ignore(is: (error: unknown) => boolean): (error: unknown) => void {
  return (error) => {
    if (!is(error)) throw error
  }
}
