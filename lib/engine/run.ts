/**
 * One run over one object: finalizer → children → handler → status, and how it ended. Everything that belongs to the run ends with it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { hash, randomUUID } from 'node:crypto'
import { isStillThere } from '../api/client.ts'
import { timestamp } from '../api/clock.ts'
import { isInvalid, isObjectMissing } from '../api/status-error.ts'
import type { Source } from '../cache/cache.ts'
import { LeaseLostError } from '../leadership/lease-lost-error.ts'
import type { ContextClient } from '../resource/context-client.ts'
import { formatDuration } from '../resource/duration.ts'
import { type KindRef, type KubeObject, kindKey, kindName, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { isRequeueAfter } from '../resource/outcome.ts'
import { Children } from './children.ts'
import type { ConditionDraft } from './conditions.ts'
import { RunContext } from './context.ts'
import type { ControllerScope } from './controller.ts'
import { decide } from './decide.ts'
import { canonicalJson } from './diff.ts'
import { TsopError } from './errors.ts'
import { addFinalizer, removeFinalizer } from './finalizer.ts'
import type { Outcome } from './outcome.ts'
import { outcomeOf } from './outcome-of.ts'
import { EXTERNAL_ANNOTATION, Primary } from './primary.ts'
import { type Journal, RunClient } from './run-client.ts'
import { StatusWriter } from './status-writer.ts'
import type { Reason } from './wake.ts'

/** Which run the code that is being executed belongs to, also across callbacks and promises. */
export const currentRun = new AsyncLocalStorage<Run>()

/** Something that happened to the key while it was being run. */
export interface Arrival {
  readonly reason: Reason
  /** The version that came, where it may be an own write of the run. */
  readonly write: { readonly uid: string; readonly resourceVersion: string; readonly deleted: boolean } | undefined
}

type Handler = Record<string, (...args: unknown[]) => unknown>

export class Run implements Journal {
  readonly primary: Primary
  readonly attempt: number
  readonly status = new StatusWriter(this)
  readonly conditionDraft: ConditionDraft = { own: new Map(), ready: {} }
  readonly arrivals: Arrival[] = []
  /** Writes that got no answer: to be read live before the next run of this key. */
  readonly unanswered = new Set<{ kind: KindRef; ref: ObjectRef }>()
  /** Whether a failed step of `ctx.external` may be tried anew: not in a run that only repeats the failed one. */
  readonly mayRetryFailed: boolean
  readonly startedAt: number
  readonly scope: ControllerScope
  readonly #object: KubeObject
  /** Made when somebody asks for its signal: most runs end without. */
  #abort: AbortController | undefined
  readonly #ownWrites = new Set<string>()
  #client: ContextClient | undefined
  #ownClient: ContextClient | undefined
  #engineClient: ContextClient | undefined
  #children: Children | undefined
  #log: Log | undefined
  #id: string | undefined
  #context: RunContext | undefined
  #cutShort: ((outcome: Outcome) => void) | undefined
  /** Why the context is closed; undefined while it is open. */
  #closed: (() => Error) | undefined
  /** The finalizer is gone, and with it whatever the status could tell. */
  released = false
  /** The builder whose child is being applied. */
  #building: string | undefined

  constructor(scope: ControllerScope, key: string, object: KubeObject, attempt: number, mayRetryFailed: boolean) {
    this.scope = scope
    this.#object = object
    this.primary = new Primary(scope.kind, key, object)
    this.attempt = attempt
    this.mayRetryFailed = mayRetryFailed
    this.startedAt = scope.clock.monotonic()
  }

  /** `repeat`: an outcome of an earlier run that the status does not tell yet; only that is done. */
  async execute(repeat?: Outcome): Promise<Outcome> {
    try {
      return await (repeat === undefined ? this.#execute() : this.#report(repeat))
    } catch (error) {
      return this.outcomeOf(error)
    } finally {
      this.#close()
    }
  }

  async #execute(): Promise<Outcome> {
    const { facts } = this.scope
    let object = this.#object
    switch (decide(object, facts)) {
      case 'forget':
      case 'ignore':
        return { type: 'done' }
      case 'removeFinalizer':
        return this.#report(await this.#release())
      case 'runDelete': {
        const outcome = await this.#cut(() => this.#runDelete(object))
        return this.#report(outcome.type === 'done' ? await this.#release() : outcome)
      }
      case 'addFinalizer':
        try {
          object = await addFinalizer(this.engine, this.primary, facts.finalizer)
        } catch (error) {
          return this.#report((await this.#isLeaving(error)) ? { type: 'conflict', error } : this.outcomeOf(error))
        }
        this.primary.generation = object.metadata.generation
    }
    return this.#report(await this.#cut(() => this.#reconcile(object)))
  }

  /** Whether a finalizer was refused because the object's deletion had begun, which the cache does not know yet: 422. */
  async #isLeaving(error: unknown): Promise<boolean> {
    if (!isInvalid(error)) return false
    const { kind, ref, uid } = this.primary
    const live = await this.engine.find(kind, ref)
    this.scope.saw(kind, ref, live, uid)
    return live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined
  }

  // ---- the handler's methods ----

  async #reconcile(object: KubeObject): Promise<Outcome> {
    const { spec } = this.scope
    await this.#buildChildren(object)
    return this.#outcomeOfResult(spec.reconcile.method, await this.#call(spec.reconcile.method, object))
  }

  async #runDelete(object: KubeObject): Promise<Outcome> {
    const method = this.scope.spec.onDelete?.method as string
    return this.#outcomeOfResult(method, await this.#call(method, object))
  }

  async #buildChildren(object: KubeObject): Promise<void> {
    const kinds = new Map<string, KindRef>()
    for (const { kind, method, suffix, builder } of this.scope.spec.owns) {
      kinds.set(kindKey(kind), kind)
      if (!builder) continue
      const children = this.children.named(kind, await this.#call(method, object), { method, suffix })
      this.#building = method
      for (const child of children) await this.children.apply(kind, child, method)
      this.#building = undefined
    }
    for (const kind of kinds.values()) await this.children.prune(kind)
  }

  #call(method: string, object: KubeObject): unknown {
    this.check()
    this.#context ??= new RunContext(this)
    const { instance, tracing, spec } = this.scope
    if (tracing === undefined) return (instance as Handler)[method]?.(object, this.#context)
    return tracing.within(`${spec.className}.${method}`, { 'code.function.name': method }, async () =>
      (instance as Handler)[method]?.(object, this.#context),
    )
  }

  #outcomeOfResult(method: string, result: unknown): Outcome {
    if (result === undefined || result === null) return { type: 'done' }
    if (isRequeueAfter(result)) return { type: 'wait', wait: result }
    throw new TypeError(
      `${this.scope.spec.className}.${method}() returned ${typeof result === 'object' ? 'an object' : JSON.stringify(result)}; return nothing, or requeueAfter(…)`,
    )
  }

  /** Runs the handler's part under the time limit. A part that does not heed the signal is left behind: its context is closed. */
  #cut(work: () => Promise<Outcome>): Promise<Outcome> {
    const { clock, timeoutMs } = this.scope
    return new Promise((resolve) => {
      const finish = (outcome: Outcome) => {
        timer.cancel()
        this.#cutShort = undefined
        resolve(outcome)
      }
      const timer = clock.after(timeoutMs, () => {
        this.fail(new TsopError('TSOP_TIMEOUT', 'Timeout', `the run took longer than ${formatDuration(timeoutMs)} and was cut off`))
      })
      this.#cutShort = finish
      currentRun.run(this, work).then(finish, (error) => finish(this.outcomeOf(error)))
    })
  }

  /** Ends the handler's part from outside: time limit, end of the process, a rejection that nobody awaited. */
  fail(error: Error): boolean {
    const finish = this.#cutShort
    if (finish === undefined) return false
    const outcome = this.outcomeOf(error)
    this.#close(error)
    finish(outcome)
    return true
  }

  outcomeOf(error: unknown): Outcome {
    return outcomeOf(error, { deleting: this.primary.deleting, building: this.#building })
  }

  // ---- the engine's writes ----

  /** The finalizer goes; with it, mostly, the object. */
  async #release(): Promise<Outcome> {
    const { kind, ref, uid } = this.primary
    try {
      const object = await removeFinalizer(this.engine, this.primary, this.scope.facts.finalizer)
      if (!isStillThere(object)) this.deleted(kind, ref, uid)
    } catch (error) {
      // 409: gone, or another object of this name; both are found out by looking.
      if (!isObjectMissing(error, ref.name)) return this.outcomeOf(error)
      this.deleted(kind, ref, uid)
    }
    this.released = true
    return { type: 'done' }
  }

  async #report(outcome: Outcome): Promise<Outcome> {
    return this.released ? outcome : this.status.report(outcome)
  }

  /**
   * After a conflict: whether the object is still the one that the run saw, but for metadata and what others wrote to its status. Then what the
   * run came to holds, and is written on top of the newer version. A change that matters wakes a run of its own.
   */
  async rebase(): Promise<boolean> {
    const { kind, ref, uid, generation, deleting } = this.primary
    const live = await this.engine.find(kind, ref)
    this.scope.saw(kind, ref, live, uid)
    if (live === undefined || live.metadata.uid !== uid) return false
    // Kinds without a generation: what changed may be the content.
    if (generation === undefined || live.metadata.generation !== generation) return false
    if ((live.metadata.deletionTimestamp !== undefined) !== deleting) return false
    this.primary.renew(live)
    return true
  }

  // ---- what the context needs ----

  /** A handler may hand it to what no gate guards: it tells at once when this process must not act any more. */
  get signal(): AbortSignal {
    if (this.scope.leadership?.leads === false) this.fail(new LeaseLostError('another process leads'))
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#closed) this.#abort.abort(this.#closed())
    }
    return this.#abort.signal
  }

  get log(): Log {
    const { name, namespace } = this.primary.ref
    this.#log ??= this.scope.log.child({ namespace, name, uid: this.primary.uid, reconcileID: this.id })
    return this.#log
  }

  /** Names this run in logs and traces. */
  get id(): string {
    this.#id ??= randomUUID()
    return this.#id
  }

  /** The handler's client: ends with the run. */
  get client(): ContextClient {
    this.#client ??= new RunClient({
      client: this.scope.client,
      signal: this.signal,
      fieldManager: this.scope.fieldManager,
      journal: this,
      check: () => this.check(),
    })
    return this.#client
  }

  /**
   * For what the engine does for the handler. A call that is under way when the run is cut goes on, so that its answer gets into the cache;
   * none begins after that.
   */
  get own(): ContextClient {
    const { client, fieldManager } = this.scope
    this.#ownClient ??= new RunClient({ client, fieldManager, journal: this, check: () => this.check(), engine: true })
    return this.#ownClient
  }

  get children(): Children {
    const scope = this.scope
    this.#children ??= new Children({
      primary: this.primary,
      client: this.own,
      source: (kind) => scope.owned(kind),
      clusterScoped: (kind) => scope.clusterScoped(kind),
      known: scope.knownDifferences,
      fieldManager: scope.fieldManager,
      saw: (kind, ref, object, uid) => scope.saw(kind, ref, object, uid),
      blocked: (kind, key) => scope.blocked(kind, key, this.primary.key),
      kept: (what) => scope.observed?.child(what),
      wrote: (what, kind, key, builder) => {
        scope.observed?.child(what)
        if (scope.logsInfo) this.log.info({ builder }, `${what} ${kindName(kind)} ${key}`)
      },
    })
    return this.#children
  }

  get drafts(): RunContext | undefined {
    return this.#context
  }

  now = (): string => timestamp(this.scope.clock.now())

  /** @throws TsopError once the run is over, LeaseLostError where this process does not lead any more */
  check(): void {
    if (this.#closed) throw this.#closed()
    this.scope.leadership?.check()
  }

  /** What an outside system tells a former leader by. */
  get fencingToken(): string {
    return this.scope.leadership?.fencingToken ?? this.primary.resourceVersion
  }

  clusterScoped(kind: KindRef): Promise<boolean> {
    return this.scope.clusterScoped(kind)
  }

  /** The cache of a kind, where it is declared and covers the namespace (undefined: all of them). */
  cached(kind: KindRef, namespace: string | undefined): Source | undefined {
    return this.scope.cached(kind, namespace)
  }

  /** The cache of an owned kind. */
  owned(kind: KindRef): Source {
    const source = this.scope.owned(kind)
    if (source) return source
    throw new TsopError(
      'TSOP_NOT_DECLARED',
      'ChildNotDeclared',
      `${kindName(kind)} is not declared by ${this.scope.spec.className}; add @owns(${kind.kind}) to a builder or to the reconcile method`,
    )
  }

  async refIn(kind: KindRef, name: string): Promise<ObjectRef> {
    const { namespace } = this.primary.ref
    return namespace === undefined || (await this.clusterScoped(kind)) ? { name } : { name, namespace }
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.scope.event(this.#object, type, reason, message)
  }

  // ---- journal ----

  wrote(kind: KindRef, object: KubeObject): void {
    this.#ownWrites.add(`${object.metadata.uid}/${object.metadata.resourceVersion}`)
    if (object.metadata.uid === this.primary.uid) this.primary.renew(object)
    this.scope.cache.wrote(kind, object)
  }

  deleted(kind: KindRef, ref: ObjectRef, uid: string): void {
    this.scope.cache.deletedByUs(kind, ref, uid)
    this.#ownWrites.add(`${uid}/deleted`)
  }

  uidOf(kind: KindRef, ref: ObjectRef): string | undefined {
    return this.scope.cache.uidOf(kind, ref)
  }

  sent(kind: KindRef, ref: ObjectRef): () => void {
    const write = { kind, ref }
    this.unanswered.add(write)
    return () => void this.unanswered.delete(write)
  }

  /** Labels and annotations as they are, but for tsop's own: what a person touches to ask for another try. */
  touch(): string {
    const { labels, annotations } = this.scope.current(this.primary.key)?.metadata ?? {}
    const { [EXTERNAL_ANNOTATION]: _, ...others } = annotations ?? {}
    return hash('sha256', canonicalJson([labels ?? {}, others]), 'hex').slice(0, 16)
  }

  /** Whether what arrived during the run was its own doing. */
  isOwn({ write }: Arrival): boolean {
    return write !== undefined && this.hasWritten(write.uid, write.deleted ? 'deleted' : write.resourceVersion)
  }

  /** `version`: a resourceVersion, or `'deleted'`. */
  hasWritten(uid: string, version: string): boolean {
    return this.#ownWrites.has(`${uid}/${version}`)
  }

  /** For the writes that finish a run after its time: finalizer and status. They end with the process, not with the run. */
  get engine(): ContextClient {
    const { client, fieldManager } = this.scope
    this.#engineClient ??= new RunClient({ client, fieldManager, journal: this, engine: true })
    return this.#engineClient
  }

  /** Ends the context: with the error that cut the run, or because the run is over. */
  #close(cut?: Error): void {
    if (this.#closed) return
    this.#closed = () =>
      cut ?? new TsopError('TSOP_CONTEXT_CLOSED', 'ContextClosed', `the run over ${this.scope.kind.kind} ${this.primary.key} has ended`)
    this.#abort?.abort(this.#closed())
  }
}
