/**
 * One run over one object: finalizer → children → handler → status, and how it ended. Everything that belongs to the run ends with it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { hash, randomUUID } from 'node:crypto'
import { isStillThere } from '../api/client.ts'
import { timestamp } from '../api/clock.ts'
import { mergePatch } from '../api/patch.ts'
import {
  isAlreadyExists,
  isConflict,
  isFieldManagerConflict,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isObjectMissing,
  StatusError,
} from '../api/status-error.ts'
import type { Source } from '../cache/cache.ts'
import { LeaseLostError } from '../leadership/lease-lost-error.ts'
import type { ContextClient } from '../resource/context-client.ts'
import { formatDuration } from '../resource/duration.ts'
import { type KindRef, type KubeObject, kindKey, kindName, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { isRequeueAfter } from '../resource/outcome.ts'
import { Children } from './children.ts'
import { type ConditionDraft, cut, nextStatus, type Status } from './conditions.ts'
import { handlerFields, RunContext } from './context.ts'
import type { ControllerScope } from './controller.ts'
import { decide } from './decide.ts'
import { canonicalJson } from './diff.ts'
import { isTerminalError, messageOf, StaleError, TsopError } from './errors.ts'
import { addFinalizer, removeFinalizer } from './finalizer.ts'
import { type Outcome, REASON, requeueAfter } from './outcome.ts'
import { EXTERNAL_ANNOTATION, Primary } from './primary.ts'
import { type Journal, RunClient } from './run-client.ts'
import type { Reason } from './wake.ts'

/** Which run the code that is being executed belongs to, also across callbacks and promises. */
export const currentRun = new AsyncLocalStorage<Run>()

/** Conflicts on the status that are answered in place. */
const STATUS_TRIES = 3

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
  /** This run made `Ready` true. */
  becameReady = false
  /** The run ended for good, and its status does not say so yet. */
  unreported = false
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
      return this.#outcomeOf(error)
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
          object = await addFinalizer(this.#engine, this.primary, facts.finalizer)
        } catch (error) {
          return this.#report((await this.#isLeaving(error)) ? { type: 'conflict', error } : this.#outcomeOf(error))
        }
        this.primary.generation = object.metadata.generation
    }
    return this.#report(await this.#cut(() => this.#reconcile(object)))
  }

  /** Whether a finalizer was refused because the object's deletion had begun, which the cache does not know yet: 422. */
  async #isLeaving(error: unknown): Promise<boolean> {
    if (!isInvalid(error)) return false
    const { kind, ref, uid } = this.primary
    const live = await this.#engine.find(kind, ref)
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
      currentRun.run(this, work).then(finish, (error) => finish(this.#outcomeOf(error)))
    })
  }

  /** Ends the handler's part from outside: time limit, end of the process, a rejection that nobody awaited. */
  fail(error: Error): boolean {
    const finish = this.#cutShort
    if (finish === undefined) return false
    const outcome = this.#outcomeOf(error)
    this.#close(error)
    finish(outcome)
    return true
  }

  /** How a run ends that threw. Whatever was thrown: a handler may throw things that throw when they are looked at. */
  #outcomeOf(error: unknown): Outcome {
    try {
      return this.#weigh(error)
    } catch {
      return {
        type: 'error',
        error: new Error('something was thrown that cannot be read'),
        reason: 'ReconcileFailed',
        message: 'something was thrown that cannot be read',
      }
    }
  }

  #weigh(error: unknown): Outcome {
    // Silently: the process ends, and whoever leads does it again.
    if (error instanceof LeaseLostError) return { type: 'conflict', error }
    if (error instanceof StaleError || (isConflict(error) && !isAlreadyExists(error) && !isFieldManagerConflict(error)))
      return { type: 'conflict', error }
    if (isTerminalError(error)) return { type: 'terminal', error, reason: error.reason, message: cut(messageOf(error)) }
    if (isNamespaceTerminating(error)) {
      return { type: 'wait', wait: requeueAfter('5s', { reason: 'NamespaceTerminating', message: 'the namespace is being deleted' }) }
    }
    if (error instanceof TsopError && error.code === 'TSOP_CHILD_TERMINATING') {
      // Waiting is no failure. Its end wakes the run; the time is for an end that nobody tells.
      return { type: 'wait', wait: requeueAfter('10s', { reason: error.reason, message: error.message }) }
    }
    const own = (error as { reason?: unknown } | undefined)?.reason
    const reason =
      error instanceof TsopError && typeof own === 'string' && REASON.test(own)
        ? own
        : this.primary.deleting
          ? 'DeleteFailed'
          : 'ReconcileFailed'
    const place = this.#building === undefined || error instanceof TsopError ? '' : `${this.#building}(): `
    return { type: 'error', error, reason, message: cut(place + messageOf(error)) }
  }

  // ---- the engine's writes ----

  /** The finalizer goes; with it, mostly, the object. */
  async #release(): Promise<Outcome> {
    const { kind, ref, uid } = this.primary
    try {
      const object = await removeFinalizer(this.#engine, this.primary, this.scope.facts.finalizer)
      if (!isStillThere(object)) this.deleted(kind, ref, uid)
    } catch (error) {
      // 409: gone, or another object of this name; both are found out by looking.
      if (!isObjectMissing(error, ref.name)) return this.#outcomeOf(error)
      this.deleted(kind, ref, uid)
    }
    this.released = true
    return { type: 'done' }
  }

  /** Writes the status, once and only where something changed. */
  async #report(outcome: Outcome, withDraft = true): Promise<Outcome> {
    const { kind } = this.primary
    const isDrafted = withDraft && this.#context?.hasStatusDraft === true
    if (this.released || outcome.type === 'conflict' || (kind.status === undefined && !isDrafted)) return outcome
    try {
      await this.#writeStatus(outcome, withDraft)
      return outcome
    } catch (error) {
      if (isNotFound(error)) return this.#withoutStatus(outcome, error)
      if (outcome.type === 'error' || outcome.type === 'terminal') {
        this.log.warn({ err: error }, 'the status could not be written')
        this.unreported = outcome.type === 'terminal'
        return outcome
      }
      const failed = this.#outcomeOf(error)
      // What the handler drafted is no JSON, refused by the schema or too big: without it the conditions can say so.
      return isDrafted && isDraftsFault(error) ? this.#report(failed, false) : failed
    }
  }

  async #writeStatus(outcome: Outcome, withDraft: boolean): Promise<void> {
    const { kind, ref, uid } = this.primary
    for (let attempt = 1; ; attempt++) {
      const fields = withDraft ? this.#context?.statusDraft : undefined
      const patch = this.#statusPatch(outcome, fields)
      if (patch === undefined) return this.scope.observed?.status('saved')
      const { resourceVersion } = this.primary
      const wasReady = isReady(this.primary.status)
      try {
        const value = { metadata: { uid, resourceVersion }, status: patch }
        const answer: KubeObject & { status?: Status } = await this.#engine.status.patch(kind, ref, { type: 'merge', value })
        this.scope.observed?.status('sent')
        this.scope.statusEchoes.remember(uid, patch, resourceVersion === answer.metadata.resourceVersion)
        this.becameReady = !wasReady && isReady(answer.status)
        if (fields !== undefined) this.#missPruned(fields, answer.status)
        return
      } catch (error) {
        if (attempt >= STATUS_TRIES || !isConflict(error) || !(await this.rebase())) throw error
      }
    }
  }

  /** Says which fields of the handler's the definition in the cluster does not know: the server drops them without a word. */
  #missPruned(fields: Record<string, unknown>, kept: Status | undefined): void {
    const { kind } = this.primary
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined || value === null || kept?.[name] !== undefined) continue
      const remedy = kind.crd !== undefined && !kind.foreign ? 'run with --install-crds' : 'bring its definition up to date'
      this.scope.warnOnce(`status.${name} is not kept: the definition of ${kindName(kind)} in the cluster does not know it; ${remedy}`)
    }
  }

  /** 404 for a status: the object is gone, or the definition of its kind has no status subresource. The server says the same of both. */
  async #withoutStatus(outcome: Outcome, error: unknown): Promise<Outcome> {
    const { kind, ref, uid } = this.primary
    const live = await this.#engine.find(kind, ref)
    this.scope.saw(kind, ref, live, uid)
    if (live?.metadata.uid !== uid) return { type: 'done' }
    if (outcome.type === 'error' || outcome.type === 'terminal') return outcome
    const missing = `the definition of ${kindName(kind)} has no status subresource (subresources.status), so that the status cannot be written`
    return this.#outcomeOf(new TsopError('TSOP_STATUS_MISSING', 'StatusMissing', missing, { cause: error }))
  }

  #statusPatch(outcome: Outcome, fields: Record<string, unknown> | undefined): object | undefined {
    const { primary } = this
    const support = primary.kind.status ?? { conditions: false, observedGeneration: false, external: false }
    const current = primary.status
    let drafted: Record<string, unknown>
    try {
      // Through JSON: what cannot be written is found here, and `undefined` means gone.
      drafted = fields === undefined ? handlerFields(current) : (JSON.parse(JSON.stringify(fields)) as Record<string, unknown>)
    } catch (error) {
      throw new TsopError('TSOP_STATUS_INVALID', 'InvalidStatus', `ctx.status is no JSON: ${messageOf(error)}`)
    }
    const next = nextStatus(current, drafted, {
      outcome,
      generation: primary.generation,
      support,
      draft: this.conditionDraft,
      now: this.now,
    })
    const patch = mergePatch(current ?? {}, next) as object | undefined
    return patch === undefined || this.scope.statusEchoes.isKnown(primary.uid, patch) ? undefined : patch
  }

  /**
   * After a conflict: whether the object is still the one that the run saw, but for metadata and what others wrote to its status. Then what the
   * run came to holds, and is written on top of the newer version. A change that matters wakes a run of its own.
   */
  async rebase(): Promise<boolean> {
    const { kind, ref, uid, generation, deleting } = this.primary
    const live = await this.#engine.find(kind, ref)
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
    this.#ownClient ??= new RunClient({ client, fieldManager, journal: this, check: () => this.check() })
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
    return write !== undefined && this.#ownWrites.has(`${write.uid}/${write.deleted ? 'deleted' : write.resourceVersion}`)
  }

  /** For the writes that finish a run after its time: finalizer and status. They end with the process, not with the run. */
  get #engine(): ContextClient {
    const { client, fieldManager } = this.scope
    this.#engineClient ??= new RunClient({ client, fieldManager, journal: this })
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

function isReady(status: Status | undefined): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Whether what the handler wrote into the status is to blame: bad JSON, a broken schema, too big. */
function isDraftsFault(error: unknown): boolean {
  if (error instanceof TsopError) return error.code === 'TSOP_STATUS_INVALID'
  return error instanceof StatusError && ([400, 413, 422].includes(error.status) || /too large/i.test(error.message))
}
