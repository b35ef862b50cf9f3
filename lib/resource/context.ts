/**
 * What a handler method gets as its second argument. Types only: the engine implements them. Everything here belongs
 * to one run and closes with it; a call after the run has ended throws.
 */

import type { ContextClient } from './context-client.ts'
import type { Duration } from './handler-spec.ts'
import type { Condition, Desired, KindRef, KubeObject, ObjectRef, StatusOf } from './kind.ts'
import type { Log } from './log.ts'
import type { RequeueAfter } from './outcome.ts'
import type { FieldSelector, Selector } from './selector.ts'

/** The context of one run over an object of type `O`. */
export interface Context<O = KubeObject> {
  /** Adds controller, namespace, name, uid and reconcileID to every line. */
  readonly log: Log

  /** Aborted when the run is cut (timeout), the lease is lost, or the process has to end. Hand it to whatever waits. */
  readonly signal: AbortSignal

  /** The API, live: all verbs, dry run, subresources. Reads through `get` and `list` below are usually enough. */
  readonly client: ContextClient

  /** 1 for the first try; counts up while a run of this object fails or conflicts, and starts anew after one that did not. */
  readonly attempt: number

  /**
   * The status as it should be: a draft that begins as what is there. Assign to it; `undefined` removes a field. It is written
   * once, after the run, also where that failed, and only if something changed. Conditions are set through `conditions`.
   */
  readonly status: StatusDraft<O>

  /** Conditions of the object. `Ready`, `Reconciling` and `Stalled` are the engine's. */
  readonly conditions: Conditions

  /**
   * Reads one object: from the cache where the kind is declared (`@onReconcile`, `@owns`, `@watches`) and its selection covers
   * the object, live otherwise. A name alone means the namespace of the run's object. The result is yours to change.
   * @returns `undefined` where it is not there
   * @throws StatusError where a live read is refused
   */
  get<C>(kind: KindRef<C>, ref: ObjectRef | string): Promise<C | undefined>

  /**
   * Reads many, from the cache or live by the same rule as `get`. `namespace` absent: the namespace of the run's object,
   * or all where the object is cluster-scoped; `'*'`: all. `fields` are always answered by the API server.
   */
  list<C>(kind: KindRef<C>, options?: ReadOptions): Promise<C[]>

  /** The child of an owned kind by its name; without one, the only child of that kind, the one named after the owner, or else the first by name. */
  child<C>(kind: KindRef<C>, name?: string): C | undefined

  /** All objects of an owned kind whose controller is the run's object, by name. */
  children<C>(kind: KindRef<C>): C[]

  /**
   * Applies a child by server-side apply, as the engine does with what an `@owns` method returns: name, namespace and
   * controller reference come by themselves, and nothing is sent where nothing differs.
   * @throws StatusError; an error where the object belongs to another controller or cannot be owned by this one
   */
  apply<C>(kind: KindRef<C>, desired: Desired<C>): Promise<C>

  /** Deletes an object; one that is gone is no error. The object itself, instead of its name, never hits another of that name. */
  delete(kind: KindRef, target: ObjectRef | KubeObject): Promise<void>

  /** A Kubernetes Event on the run's object. Never waits and never fails; repeated ones are counted instead of sent. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): void

  /**
   * Tells leaders apart: a service that remembers the highest one it has seen, and refuses what comes with a lower one, cannot be reached by a
   * former leader any more. With leader election, the version of the Lease that made this process the leader; without, that of the object, which
   * grows with each write. A decimal number that may be too big for a JavaScript number: compare by length, then as text.
   */
  readonly fencingToken: string

  /**
   * A text that is the same for every run over this very object (its uid), step and parts, and differs for any other: for
   * services that take an idempotency key.
   */
  idempotencyKey(step: string, ...parts: string[]): string

  /**
   * Makes something happen outside the cluster once.
   *
   * Flow: the intent is recorded on the object, then `run` starts the job, then its result is recorded. While the job goes on the
   * answer is `{done: false}`: return its `requeue`, and `lookup` is asked after `poll`.
   *
   * Guarantees: `run` is called only where no earlier call may have had its effect, or where `lookup` said that the service does
   * not know the key. A result that is recorded is returned without asking again.
   *
   * Assumptions: the service keeps the key, or can be searched by it.
   *
   * Caveats: between a lost response and the next `lookup` the service must already know the key; a service that shows a new job
   * only later needs to refuse the second one by the same key.
   *
   * Errors: what `lookup` and `run` throw fails the run and is tried again with back-off; `{failed}` throws a `TerminalError`.
   */
  external<T>(step: string, job: ExternalJob<T>): Promise<External<T>>

  /**
   * Tries `f` again within this run, with growing pauses, until it succeeds, the retries are used up or the signal aborts. For
   * short hiccups; longer waits belong to `requeueAfter`.
   * @throws what the last try threw, or the signal's reason
   */
  retry<T>(f: (attempt: number) => Promise<T> | T, options?: RetryOptions): Promise<T>

  /** Carries the type only, so that the context of another kind is refused; never set. */
  readonly _object?: O
}

/** The part of the status that is the handler's to write. */
export type StatusDraft<O> = { -readonly [K in keyof StatusOf<O>]?: StatusOf<O>[K] | undefined }

export interface Conditions {
  get(type: string): Condition | undefined

  /**
   * Sets a condition of your own. `lastTransitionTime` moves only when the status flips; `observedGeneration` is this run's.
   * @throws TsopError `TSOP_STATUS_INVALID` for `Ready`, `Reconciling` and `Stalled`, which are the engine's, for what `metav1.Condition`
   * refuses, and where the status of the kind has no conditions
   */
  set(condition: { type: string; status: 'True' | 'False' | 'Unknown'; reason: string; message?: string }): void

  /** Removes a condition of your own; one that is not there is no error. */
  remove(type: string): void

  /** What `Ready` says once this run has succeeded. */
  ready(text: { reason?: string; message?: string }): void
}

export interface ReadOptions {
  readonly namespace?: string
  readonly labels?: Selector
  readonly fields?: FieldSelector
}

/** Options of `ctx.retry`, as in p-retry. */
export interface RetryOptions {
  /** How many times after the first. Default 3. */
  readonly retries?: number
  /** How much longer each pause is than the one before. Default 2. */
  readonly factor?: number
  /** Milliseconds before the first retry. Default 250. */
  readonly minTimeout?: number
  /** Milliseconds a pause may last at most. Default 10,000. */
  readonly maxTimeout?: number
  /** Whether this error is worth another try. Default: every error but `TerminalError`. */
  readonly shouldRetry?: (error: Error) => boolean | Promise<boolean>
}

export interface ExternalJob<T> {
  /** Asks the service what it knows under the key. `undefined`: it does not know it. */
  lookup(call: ExternalCall): Promise<ExternalState<T> | undefined>
  /** Starts the job. Called again only after `lookup` has said that the service does not know the key. */
  run(call: ExternalCall): Promise<ExternalState<T>>
  /** Pause between two looks at a job that goes on. Default `'10s'`. */
  readonly poll?: Duration
  /** The reason in `Reconciling` while the job goes on. Default `'WaitingFor' + step`. */
  readonly reason?: string
}

export interface ExternalCall {
  /** The same for every call of this step for this object. */
  readonly idempotencyKey: string
  /** As `ctx.fencingToken`: a service that remembers the highest one can refuse a leader that lost its lease. */
  readonly fencingToken: string
  readonly signal: AbortSignal
  /** 1 for the first job of this step; one more after each that the service reported as failed. */
  readonly attempt: number
}

/** What the service says of the job. `value` must be JSON; nulls in it are dropped. */
export type ExternalState<T> =
  | { readonly done: true; readonly value: T }
  | { readonly done: false; readonly message?: string }
  | { readonly failed: string }

/** Where the step stands: its result, or what to return while the job goes on. */
export type External<T> =
  | { readonly done: true; readonly value: T }
  | { readonly done: false; readonly requeue: RequeueAfter; readonly message: string }

/** What a `@watches` method gets as its second argument; `O` is the primary kind of its class. */
export interface WatchContext<O = KubeObject> {
  readonly log: Log
  readonly signal: AbortSignal
  readonly client: ContextClient
  /** The cached objects of the primary kind, to find those that a change concerns. */
  primaries(options?: { readonly namespace?: string; readonly labels?: Selector }): O[]
}

/**
 * What a `@watches` method returns: the objects to run, as `{name, namespace}` or `'namespace/name'`. A name alone is in the namespace of
 * the object that changed.
 */
export type WatchKeys = ObjectRef | string | readonly (ObjectRef | string)[] | undefined
