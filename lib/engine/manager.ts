/**
 * Starts and stops what an operator consists of, in the right order.
 */

import type { Client } from '../api/client.ts'
import { type Clock, delay, type Random, systemClock, systemRandom } from '../api/clock.ts'
import { Cache } from '../cache/cache.ts'
import type { FenceSample } from '../leadership/fence-check.ts'
import type { Leadership } from '../leadership/leadership.ts'
import { watchLoop } from '../leadership/loop-monitor.ts'
import { EventRecorder } from '../observe/events.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { kindName } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import type { Observer, Tracing, WatchLook } from '../resource/observer.ts'
import type { Unrest } from '../resource/unrest.ts'
import { Controller } from './controller.ts'
import { messageOf, StaleError, TsopError } from './errors.ts'
import { currentRun } from './run.ts'

/** With what comes after it (aborted runs, the last events, the lease) below the 30 s that a pod gets by default. */
const DEFAULT_GRACE_MS = 20_000
/** How long a start may look like trouble that passes. */
const SETTLE_MS = 5_000
/** How long a handler may take to notice that it was aborted. */
const ABORT_GRACE_MS = 2_000

export interface ManagerOptions {
  /** The operator's name: field manager of its children, reporter of its events. */
  readonly name: string
  /** What Events tell this process from others of the operator by, such as its pod. Default: the operator's name. */
  readonly instanceName?: string
  readonly client: Client
  readonly handlers: readonly { readonly spec: HandlerSpec; readonly instance: object }[]
  /** Absent: all namespaces. */
  readonly namespaces?: readonly string[] | undefined
  /** By `Kind` or `Kind.group`; goes before the handlers' own numbers. */
  readonly concurrency?: Readonly<Record<string, number>> | undefined
  readonly clock?: Clock
  readonly random?: Random
  readonly log: Log
  /** How long `stop` lets runs go on. Default 20,000 ms. */
  readonly gracePeriodMs?: number
  /**
   * Whether errors of the process that nobody catches are looked after: those of a run are its failure, others end the process. Default
   * true; false for an operator that is a guest in its process, such as in a test.
   */
  readonly ownsProcess?: boolean
  /** Absent: this process always leads. Otherwise it runs nothing before `lead` is called. */
  readonly leadership?: Leadership | undefined
  /** Where the main thread stood when it was blocked, if somebody has looked. */
  readonly blockedAt?: () => string | undefined
  /** Counts what happens. Default: nobody does. */
  readonly observer?: Observer | undefined
  /** Makes a span of each run, method and request. Default: nobody does. */
  readonly tracing?: Tracing | undefined
}

export interface ControllerStatus {
  readonly kindName: string
  readonly owns: readonly string[]
  readonly watches: readonly string[]
  readonly concurrency: number
  /** `failing`: something it watches cannot be read; it works on with what it has seen, or waits for its first sight. */
  readonly state: 'waiting' | 'running' | 'failing'
  readonly problem?: string
}

export class Manager {
  readonly #o: ManagerOptions
  readonly #clock: Clock
  readonly #cache: Cache
  readonly #events: EventRecorder
  readonly #controllers: Controller[]
  readonly #stop = new AbortController()
  readonly #listeners = new Set<() => void>()
  #stopping: Promise<void> | undefined
  #unwatchLoop: (() => void) | undefined

  /** @throws TypeError for a concurrency that is no whole number from 1 on, or names a kind that no handler has */
  constructor(options: ManagerOptions) {
    const { client, log, clock = systemClock, random = systemRandom, name } = options
    this.#o = options
    this.#clock = clock
    const { observer, tracing } = options
    this.#cache = new Cache({ client, clock, random, log, observer })
    this.#events = new EventRecorder({ client, clock, log, component: name, instance: options.instanceName ?? name })
    checkKinds(options)
    const concurrency = concurrencies(options)
    this.#controllers = options.handlers.map(
      ({ spec, instance }) =>
        new Controller({
          spec,
          instance,
          client,
          cache: this.#cache,
          clock,
          random,
          log,
          name,
          signal: this.#stop.signal,
          namespaces: options.namespaces,
          concurrency: concurrency.get(spec),
          event: (regarding, type, reason, message) => this.#events.record({ regarding, type, reason, message }),
          leadership: options.leadership,
          observer,
          tracing,
          changed: () => this.#changed(),
        }),
    )
    observer?.watches(() => this.watches)
    observer?.events(() => this.#events)
  }

  /** Resolves when every controller runs or is known to be failing (those go on trying), or when the operator is stopped before that. */
  async start(): Promise<void> {
    if (this.#o.ownsProcess !== false) {
      process.on('unhandledRejection', this.#onUnhandled)
      process.on('uncaughtException', this.#onUncaught)
      this.#unwatchLoop = watchLoop(this.#clock, (ms) => this.#blocked(ms))
    }
    this.#cache.start()
    for (const controller of this.#controllers) {
      controller.start().catch((error) => {
        if (!this.#stop.signal.aborted) this.#o.log.error({ err: error }, 'a controller could not start')
      })
    }
    // A server that is busy for a moment (429 while the storage of a new kind starts) is not worth a failure.
    const settled = this.#until(() => this.#stopping !== undefined || this.#controllers.every((controller) => controller.settled))
    await this.#within(SETTLE_MS, settled)
    await this.#until(() => this.#stopping !== undefined || this.#controllers.every((controller) => controller.state !== 'waiting'))
  }

  /** An object that the operator may write, if there is one by now. */
  get writable(): FenceSample | undefined {
    for (const controller of this.#controllers) if (controller.writable !== undefined) return controller.writable
    return undefined
  }

  /** This process leads from now on; the caches are warm, and what has gathered in the queues is run at once. */
  lead(): void {
    for (const controller of this.#controllers) controller.lead()
  }

  /** The lease is lost: everything ends where it is, and nothing is finished. Whoever calls this ends the process. */
  abandon(error: Error): void {
    for (const controller of this.#controllers) controller.drain()
    for (const controller of this.#controllers) controller.abort(error)
    this.#stop.abort(error)
    this.#stopping ??= this.#end()
    this.#changed()
  }

  get controllers(): readonly ControllerStatus[] {
    return this.#controllers.map((controller) => {
      const { spec, concurrency, state, problem } = controller
      const status = {
        kindName: kindName(spec.kind),
        owns: [...new Set(spec.owns.map((owned) => kindName(owned.kind)))],
        watches: [...new Set(spec.watches.map((watched) => kindName(watched.kind)))],
        concurrency,
        state,
      }
      return problem === undefined ? status : { ...status, problem }
    })
  }

  /** How each watch fares. */
  get watches(): readonly WatchLook[] {
    return this.#cache.sources.map(({ kind, synced, store, lastEventAt, states }) => {
      const failing = states.flatMap(({ state }) => (state.phase === 'failing' ? [state] : []))
      const missing = failing.find((state) => state.missing !== undefined)?.missing
      return { kind: kindName(kind), synced, failing: failing.length > 0, missing, objects: store.size, lastEventAt }
    })
  }

  /** Calls `listener` when a controller's state may have changed. @returns a function that ends it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Resolves when every object that was there has been run and nothing is due now, with those that wait or have failed. */
  async whenIdle(): Promise<{ failed: readonly { kind: string; key: string; message: string }[] }> {
    await this.#until(() => this.#controllers.every((controller) => controller.idle || controller.state === 'failing'))
    const failed = this.#controllers.flatMap((controller) => controller.unfinished())
    for (const { kindName: kind, state, problem } of this.controllers)
      if (state === 'failing') failed.push({ kind, key: '', message: problem ?? 'failing' })
    return { failed }
  }

  /**
   * What goes on or is about to. Empty: nothing happens before something changes in the cluster, or before a wait, a back-off or the resync
   * of an object is over; what a run wrote has come back by the watches, if they hand over what is written as soon as it is.
   */
  get unrest(): readonly Unrest[] {
    return [...this.#controllers.flatMap((controller) => controller.unrest), ...this.#cache.unrest, ...this.#events.unrest]
  }

  /**
   * Drains: no new run begins, running ones get the grace period, then their signal is aborted. Safe to call twice; the first call's grace
   * period holds.
   */
  stop(gracePeriodMs = this.#o.gracePeriodMs ?? DEFAULT_GRACE_MS): Promise<void> {
    this.#stopping ??= this.#drain(gracePeriodMs)
    this.#changed()
    return this.#stopping
  }

  async #drain(gracePeriodMs: number): Promise<void> {
    const { log } = this.#o
    for (const controller of this.#controllers) controller.drain()
    const settled = () => this.#controllers.every((controller) => controller.running === 0)
    await this.#within(gracePeriodMs, this.#until(settled))
    if (!settled()) {
      log.warn(
        { running: this.#controllers.reduce((n, controller) => n + controller.running, 0) },
        'the grace period is over; aborting what still runs',
      )
      for (const controller of this.#controllers) controller.abort(new StaleError('the operator is stopping'))
      await this.#within(ABORT_GRACE_MS, this.#until(settled))
    }
    await this.#end()
  }

  async #end(): Promise<void> {
    this.#unwatchLoop?.()
    this.#cache.stop()
    await this.#events.stop()
    this.#stop.abort(new TsopError('TSOP_CONTEXT_CLOSED', 'Stopped', 'the operator has stopped'))
    process.off('unhandledRejection', this.#onUnhandled)
    process.off('uncaughtException', this.#onUncaught)
  }

  readonly #onUnhandled = (reason: unknown): void => {
    const error = new TsopError('TSOP_UNHANDLED', 'Unhandled', `a promise that nobody awaits was rejected: ${messageOf(reason)}`, {
      cause: reason,
    })
    if (!this.#attribute(error)) this.#o.log.error({ err: error }, 'a promise that nobody awaits was rejected, outside of any run')
  }

  /** A throw from a callback of a run is that run's failure; one from elsewhere leaves a process nobody knows the state of. */
  readonly #onUncaught = (reason: unknown): void => {
    const error = new TsopError('TSOP_UNHANDLED', 'Unhandled', `a callback threw: ${messageOf(reason)}`, { cause: reason })
    if (this.#attribute(error)) return
    this.#o.log.error({ err: error }, 'an error that nobody catches; exiting')
    process.exit(1)
  }

  /** A loop that stands still renews no lease and answers no probe. */
  #blocked(ms: number): void {
    const runs = this.#controllers.flatMap((controller) => controller.runNames)
    const at = this.#o.blockedAt?.()
    const suspects = runs.length === 0 ? 'no run was under way' : `by ${runs.length === 1 ? '' : 'one of '}${runs.slice(0, 5).join(', ')}`
    const fix =
      runs.length === 0 && at === undefined
        ? 'the process was stopped, or got no CPU'
        : 'give long computations to a worker thread, and wait with await'
    this.#o.log.warn(
      { ms, ...(at === undefined ? {} : { at }), runs: runs.slice(0, 20) },
      `the event loop stood still for ${ms} ms: ${at ?? suspects}; ${fix}`,
    )
  }

  #attribute(error: Error): boolean {
    const run = currentRun.getStore()
    if (run === undefined) return false
    // One of another manager in this process is told to that one.
    if (this.#controllers.includes(run.scope as Controller)) (run.scope as Controller).unhandled(run, error)
    return true
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      if (holds()) return resolve()
      const end = this.onChange(() => {
        if (!holds()) return
        end()
        resolve()
      })
    })
  }

  #within(ms: number, wait: Promise<void>): Promise<void> {
    const over = new AbortController()
    const limit = delay(this.#clock, ms, over.signal).catch(() => {})
    return Promise.race([wait, limit]).finally(() => over.abort())
  }
}

/** One controller a kind: two would undo each other's work. */
function checkKinds({ handlers }: ManagerOptions): void {
  const classes = new Map<string, string>()
  for (const { spec } of handlers) {
    const name = kindName(spec.kind)
    const other = classes.get(name)
    if (other !== undefined) throw new TypeError(`${other} and ${spec.className} both reconcile ${name}; a kind has one handler`)
    classes.set(name, spec.className)
  }
}

/** The numbers given from outside, by handler. */
function concurrencies({ handlers, concurrency = {} }: ManagerOptions): Map<HandlerSpec, number> {
  const result = new Map<HandlerSpec, number>()
  for (const [name, n] of Object.entries(concurrency)) {
    if (!Number.isSafeInteger(n) || n < 1) throw new TypeError(`concurrency of ${name}: expected a whole number from 1 on, not ${n}`)
    const named = handlers.filter(({ spec }) =>
      [spec.kind.kind, kindName(spec.kind)].some((known) => known.toLowerCase() === name.toLowerCase()),
    )
    if (named.length === 0)
      throw new TypeError(
        `concurrency of ${name}: no handler has this kind; there are ${handlers.map(({ spec }) => kindName(spec.kind)).join(', ')}`,
      )
    for (const { spec } of named) result.set(spec, n)
  }
  return result
}
