/**
 * One controller a kind: from what happens in the cache to keys in the queue, from keys to runs, and from a run's outcome to what comes next.
 */

import type { Client } from '../api/client.ts'
import { type Clock, delay, type Random } from '../api/clock.ts'
import { UnknownKindError } from '../api/discovery.ts'
import { isForbidden, StatusError } from '../api/status-error.ts'
import type { Cache, Source } from '../cache/cache.ts'
import type { Change } from '../cache/store.ts'
import type { FenceSample } from '../leadership/fence-check.ts'
import type { Leadership } from '../leadership/leadership.ts'
import { parseDuration } from '../resource/duration.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { groupOf, type KindRef, type KubeObject, keyOf, kindKey, kindName, type ObjectRef, refOf } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import type { ControllerObserver, Observer, RunEnd, Tracing } from '../resource/observer.ts'
import type { Unrest } from '../resource/unrest.ts'
import { backoff, conflictDelay, LONGEST_BACKOFF_MS } from './backoff.ts'
import type { KnownDifferences } from './children.ts'
import type { Facts } from './decide.ts'
import { messageOf, StaleError, TsopError } from './errors.ts'
import { defaultFinalizer } from './finalizer.ts'
import { KeyStates } from './key-state.ts'
import type { Outcome } from './outcome.ts'
import { Run } from './run.ts'
import { Selection } from './selection.ts'
import { StatusEchoes } from './status-echoes.ts'
import { tell } from './tell.ts'
import { primaryReason, type Reason, sameContent } from './wake.ts'
import { WatchMapper } from './watch-mapper.ts'
import { WorkQueue } from './work-queue.ts'

const DEFAULT_CONCURRENCY = 1
const DEFAULT_TIMEOUT_MS = 5 * 60_000
/** For the look at a write that got no answer. */
const LOOK_MS = 10_000
/** Every object is looked at again, changed or not, so that whatever slipped through is mended. */
const RESYNC_MS = 10 * 3_600_000
const RESYNC_JITTER = 0.1

export type RecordEvent = (regarding: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string) => void

export interface ControllerOptions {
  readonly spec: HandlerSpec
  readonly instance: object
  readonly client: Client
  readonly cache: Cache
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The operator's name; field manager of children. */
  readonly name: string
  /** Aborted when the process must not wait any longer. */
  readonly signal: AbortSignal
  readonly namespaces: readonly string[] | undefined
  readonly concurrency: number | undefined
  readonly event: RecordEvent
  /** Absent: this process always leads. */
  readonly leadership?: Leadership | undefined
  readonly observer?: Observer | undefined
  readonly tracing?: Tracing | undefined
  /** Called whenever `state`, `problem` or what is going on may have changed. */
  readonly changed: () => void
}

/** What a run needs of its controller. */
export interface ControllerScope extends Pick<ControllerOptions, 'spec' | 'instance' | 'client' | 'cache' | 'clock' | 'log' | 'event'> {
  readonly observed: ControllerObserver | undefined
  readonly tracing: Tracing | undefined
  readonly kind: KindRef
  readonly facts: Facts
  readonly fieldManager: string
  readonly timeoutMs: number
  readonly leadership: Leadership | undefined
  readonly knownDifferences: KnownDifferences
  readonly statusEchoes: StatusEchoes
  /** Whether lines of level info are written. */
  readonly logsInfo: boolean
  readonly logsDebug: boolean
  /** A warning that is worth one line in the life of the process. */
  warnOnce(message: string): void
  /** The primary object as the cache has it. */
  current(key: string): KubeObject | undefined
  /** What is watched of a kind that the class owns. */
  owned(kind: KindRef): Source | undefined
  /** What is watched of a kind, by whomever, where it holds all objects of the namespace (undefined: of all). */
  cached(kind: KindRef, namespace: string | undefined): Source | undefined
  clusterScoped(kind: KindRef): Promise<boolean>
  /** Takes what a live read has shown into the cache; `uid` is that of the object that was expected there. */
  saw(kind: KindRef, ref: ObjectRef, object: KubeObject | undefined, uid: string | undefined): void
  /** A child's name is taken; the owner wants a run when it is free. */
  blocked(kind: KindRef, childKey: string, ownerKey: string): void
}

export class Controller implements ControllerScope {
  readonly spec: HandlerSpec
  readonly instance: object
  readonly client: Client
  readonly cache: Cache
  readonly clock: Clock
  readonly log: Log
  readonly fieldManager: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly event: RecordEvent
  readonly leadership: Leadership | undefined
  readonly concurrency: number
  readonly knownDifferences: KnownDifferences = new Map()
  readonly statusEchoes = new StatusEchoes()
  readonly logsInfo: boolean
  readonly logsDebug: boolean
  readonly observed: ControllerObserver | undefined
  readonly tracing: Tracing | undefined
  readonly #warned = new Set<string>()
  readonly #o: ControllerOptions
  readonly #selection: Selection
  readonly #queue: WorkQueue
  readonly #states = new KeyStates()
  readonly #runs = new Map<string, Run>()
  readonly #sources = new Set<Source>()
  readonly #owned = new Map<string, Source>()
  /** Child → the owners that wait for its name. */
  readonly #blocked = new Map<string, Set<string>>()
  readonly #unsubscribe: (() => void)[] = []
  readonly #mappers: WatchMapper[] = []
  #kind: KindRef
  #facts: Facts
  #primaries: Source | undefined
  #phase: 'waiting' | 'running' | 'stopped' = 'waiting'
  #problem: string | undefined

  constructor(options: ControllerOptions) {
    this.#o = options
    this.spec = options.spec
    this.instance = options.instance
    this.client = options.client
    this.cache = options.cache
    this.clock = options.clock
    this.fieldManager = options.name
    this.signal = options.signal
    this.event = options.event
    this.leadership = options.leadership
    this.#kind = options.spec.kind
    this.#facts = { hasDelete: false, finalizer: '' }
    this.log = options.log.child({ controller: kindName(this.#kind) })
    this.logsInfo = options.log.isLevelEnabled?.('info') ?? true
    this.logsDebug = options.log.isLevelEnabled?.('debug') ?? true
    const { timeout, concurrency } = options.spec.reconcile.options
    this.timeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(timeout, `${options.spec.className}: timeout`)
    this.concurrency = options.concurrency ?? concurrency ?? DEFAULT_CONCURRENCY
    this.#selection = new Selection(options.spec, options.namespaces, this.log)
    this.tracing = options.tracing
    this.observed = options.observer?.controller(kindName(this.#kind), {
      concurrency: this.concurrency,
      running: () => this.running,
      degraded: () => this.state === 'failing',
      depths: () => this.#queue.depths(),
      unfinished: () => this.#states.counts(),
    })
    this.#queue = new WorkQueue(options.clock, () => this.#pump(), this.observed)
  }

  get kind(): KindRef {
    return this.#kind
  }

  get facts(): Facts {
    return this.#facts
  }

  /** `waiting` for what it needs to begin, `running`, or `failing`: running on what was known before. */
  get state(): 'waiting' | 'running' | 'failing' {
    if (this.#phase === 'running') return this.problem === undefined ? 'running' : 'failing'
    return this.problem === undefined ? 'waiting' : 'failing'
  }

  /** Whether there is nothing to wait for any more before somebody acts: it runs, or lacks a kind or a verb. */
  get settled(): boolean {
    if (this.#phase === 'running' || this.#problem !== undefined) return true
    const states = [...this.#sources].flatMap((source) => source.states)
    return states.some(({ state }) => state.phase === 'failing' && state.missing !== undefined)
  }

  /** What keeps it from working, in words that name the kind and the missing verb. */
  get problem(): string | undefined {
    if (this.#problem !== undefined) return this.#problem
    for (const source of this.#sources) {
      for (const { namespace, state } of source.states) {
        if (state.phase !== 'failing') continue
        const where = namespace === undefined ? '' : ` in namespace ${namespace}`
        const missing =
          state.missing === undefined ? '' : state.missing === 'kind' ? ' (the kind is not there)' : ` (verb ${state.missing} is missing)`
        return `${kindName(source.kind)}${where}${missing}: ${messageOf(state.error)}`
      }
    }
    return undefined
  }

  /** Opens the watches and begins to run as soon as all of them have seen the whole state once. Ends with the signal. */
  async start(): Promise<void> {
    try {
      await this.#start()
    } catch (error) {
      if (!this.signal.aborted) this.#setProblem(messageOf(error))
      throw error
    }
  }

  async #start(): Promise<void> {
    const { spec } = this
    const kinds = new Map<string, KindRef>()
    for (const kind of [spec.kind, ...spec.owns.map((o) => o.kind), ...spec.watches.map((w) => w.kind)]) kinds.set(kindKey(kind), kind)
    for (const [key, kind] of kinds) kinds.set(key, await this.#resolve(kind))
    this.#kind = kinds.get(kindKey(spec.kind)) as KindRef
    this.#facts = { hasDelete: spec.onDelete !== undefined, finalizer: spec.onDelete?.finalizer ?? defaultFinalizer(this.#kind) }

    this.#primaries = this.#open(this.#kind, this.#selection.ofPrimary(this.#kind))
    this.#subscribe(this.#primaries, (change) => this.#onPrimary(change))
    for (const { kind } of spec.owns) {
      const resolved = kinds.get(kindKey(kind)) as KindRef
      if (this.#owned.has(kindKey(kind))) continue
      const source = this.#open(resolved, { namespaces: this.#selection.namespacesOf(resolved) })
      this.#owned.set(kindKey(kind), source)
      this.#subscribe(source, (change) => this.#onOwned(change))
    }
    for (const { kind, method, options } of spec.watches) {
      const resolved = kinds.get(kindKey(kind)) as KindRef
      const source = this.#open(resolved, { ...options, namespaces: this.#selection.namespacesOf(resolved, options.namespaces) })
      const mapper = new WatchMapper({
        instance: this.instance,
        method,
        when: options.when as ((object: KubeObject) => boolean) | undefined,
        primary: this.#kind,
        primaries: this.#primaries,
        client: this.client,
        clock: this.clock,
        random: this.#o.random,
        log: this.log,
        signal: this.signal,
        fieldManager: this.fieldManager,
        wake: (key) => this.#wake(key, 'related'),
      })
      this.#subscribe(source, (change) => {
        // While another process leads, every object waits in the queue anyway.
        if (this.#phase === 'running' && this.#leads) mapper.map(change)
      })
      this.#mappers.push(mapper)
      this.#unsubscribe.push(() => mapper.stop())
    }
    await Promise.all([...this.#sources].map((source) => source.whenSynced(this.signal)))
    if (this.#phase === 'stopped') return
    for (const key of this.#primaries.store.keys()) this.#enqueueListed(key)
    this.#phase = 'running'
    this.#o.changed()
    this.#pump()
  }

  /** This process leads from now on: what has gathered in the queue is run. */
  lead(): void {
    this.#pump()
    this.#o.changed()
  }

  /** No new run begins; those that run go on. */
  drain(): void {
    this.#phase = 'stopped'
    this.#queue.close()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  /** Ends the handlers' part of what still runs. */
  abort(reason: Error): void {
    for (const run of this.#runs.values()) run.fail(reason)
  }

  /** Keys at work: their runs, and what is looked up before and after. */
  get running(): number {
    return this.#queue.running
  }

  /** Nothing runs and nothing is due. */
  get idle(): boolean {
    return this.#phase === 'running' && this.running === 0 && this.#queue.depth === 0 && this.#states.conflicting.length === 0
  }

  /** What goes on, and what is due; a key that waits, also after a failure, is at rest. */
  get unrest(): readonly Unrest[] {
    const name = kindName(this.#kind)
    const unrest: Unrest[] = [...this.#queue.runningKeys()].map((key) => ({ what: `a run over ${name} ${key}` }))
    if (this.#phase === 'stopped') return unrest
    if (this.#phase === 'waiting') {
      if (!this.settled) unrest.push({ what: `the start of ${this.spec.className}` })
      return unrest
    }
    if (this.#queue.depth > 0) unrest.push({ what: `${this.#queue.depth} of ${name} to be run` })
    for (const key of this.#states.conflicting) {
      const at = this.#queue.dueAt(key)
      if (at !== undefined) unrest.push({ what: `another run over ${name} ${key}, after a conflict`, at })
    }
    for (const mapper of this.#mappers) if (mapper.busy > 0) unrest.push({ what: `a @watches method of ${this.spec.className}` })
    return unrest
  }

  /** The status of an object of its own, or a child, if there is one by now. */
  get writable(): FenceSample | undefined {
    for (const source of [...(this.#kind.status && this.#primaries ? [this.#primaries] : []), ...this.#owned.values()]) {
      for (const key of source.store.keys()) {
        if (source === this.#primaries) return { kind: this.#kind, ref: refOf(key), subresource: 'status' }
        if (source.store.meta(key)?.controllerUid !== undefined) return { kind: source.kind as KindRef, ref: refOf(key) }
      }
    }
    return undefined
  }

  /** What is being run, for people. */
  get runNames(): readonly string[] {
    return [...this.#runs.keys()].map((key) => `${this.spec.className} over ${key}`)
  }

  /** Keys that are not done: those that wait or have failed, with the reason. */
  unfinished(): { kind: string; key: string; message: string }[] {
    return this.#states.unfinished().map(([key, message]) => ({ kind: kindName(this.#kind), key, message }))
  }

  current(key: string): KubeObject | undefined {
    return this.#primaries?.store.get(key)
  }

  warnOnce(message: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.log.warn(message)
  }

  // ---- the cache ----

  owned(kind: KindRef): Source | undefined {
    return this.#owned.get(kindKey(kind))
  }

  cached(kind: KindRef, namespace: string | undefined): Source | undefined {
    const source = this.cache.find(kind)
    return source?.synced && !source.selective && source.covers(namespace) ? source : undefined
  }

  async clusterScoped(kind: KindRef): Promise<boolean> {
    const scope = kind.scope ?? this.cache.find(kind)?.kind.scope
    return scope === undefined ? !(await this.client.discovery.resolve(kind)).namespaced : scope === 'Cluster'
  }

  saw(kind: KindRef, ref: ObjectRef, object: KubeObject | undefined, uid: string | undefined): void {
    if (object !== undefined) this.cache.wrote(kind, object)
    else if (uid !== undefined) this.cache.deletedByUs(kind, ref, uid)
  }

  blocked(kind: KindRef, childKey: string, ownerKey: string): void {
    const child = `${kindKey(kind)}/${childKey}`
    const waiting = this.#blocked.get(child)
    if (waiting) waiting.add(ownerKey)
    else this.#blocked.set(child, new Set([ownerKey]))
  }

  #open(kind: KindRef, selection: Parameters<Cache['source']>[1]): Source {
    const source = this.cache.source(kind, selection)
    this.#sources.add(source)
    this.#unsubscribe.push(source.onState(() => this.#o.changed()))
    return source
  }

  #subscribe(source: Source, listener: (change: Change) => void): void {
    this.#unsubscribe.push(source.store.subscribe(listener))
  }

  /** Fills in plural and scope. A kind that is not there yet is waited for. */
  async #resolve(kind: KindRef): Promise<KindRef> {
    if (kind.plural !== undefined && kind.scope !== undefined) return kind
    for (let failures = 1; ; failures++) {
      try {
        const { plural, namespaced } = await this.client.discovery.resolve(kind)
        this.#setProblem(undefined)
        return { ...kind, plural, scope: namespaced ? 'Namespaced' : 'Cluster' }
      } catch (error) {
        this.#setProblem(`${kindName(kind)}: ${messageOf(error)}`)
        await delay(this.clock, Math.min(10_000, 4 * backoff(failures, this.#o.random)), this.signal)
      }
    }
  }

  #setProblem(problem: string | undefined): void {
    if (this.#problem === problem) return
    this.#problem = problem
    if (problem !== undefined) this.log.warn({ problem }, 'waiting')
    this.#o.changed()
  }

  // ---- from the cache to the queue ----

  #onPrimary(change: Change): void {
    const { key, uid, resourceVersion } = change
    if (change.type === 'deleted') {
      this.#queue.forget(key)
      this.#states.forget(key)
      this.statusEchoes.forget(uid)
      return
    }
    // What the run wrote itself is nothing new to it: the comparison would be for nothing.
    if (this.#runs.get(key)?.hasWritten(uid, resourceVersion)) return
    const reason = change.old === undefined ? 'generation' : primaryReason(change.old, change.object)
    if (reason === undefined) return
    if (change.type === 'added' && change.initial) {
      if (this.#phase === 'running') this.#enqueueListed(key)
      return
    }
    this.#wake(key, reason, { uid, resourceVersion, deleted: false })
  }

  #onOwned(change: Change): void {
    const { uid, resourceVersion } = change
    if (change.type === 'deleted') {
      this.knownDifferences.delete(uid)
      const child = `${kindKey(change.object as { apiVersion: string; kind: string })}/${change.key}`
      const waiting = this.#blocked.get(child)
      this.#blocked.delete(child)
      for (const owner of waiting ?? []) this.#wake(owner, 'metadata')
    }
    if (this.#phase !== 'running') return
    const owners = new Set([this.#ownerKey(change.object), change.old && this.#ownerKey(change.old)])
    for (const key of owners) {
      if (key === undefined) continue
      // During a run it may be the run's own write, which is told by its version: the comparison would be for nothing.
      const isNoise = change.type === 'updated' && !this.#runs.has(key) && sameContent(change.old as KubeObject, change.object)
      if (!isNoise) this.#wake(key, 'related', { uid, resourceVersion, deleted: change.type === 'deleted' })
    }
  }

  /** The key of the primary object that controls this one. By name: also of a former owner whose name somebody bears now. */
  #ownerKey(object: KubeObject): string | undefined {
    const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true)
    if (owner === undefined || owner.kind !== this.#kind.kind || groupOf(owner.apiVersion) !== groupOf(this.#kind.apiVersion))
      return undefined
    return this.#kind.scope === 'Cluster' ? owner.name : keyOf({ name: owner.name, namespace: object.metadata.namespace })
  }

  /**
   * From the first list, or from one after the watch was interrupted. What is as it was left is less urgent than what just happened; what a person
   * created or changed meanwhile is not.
   */
  #enqueueListed(key: string): void {
    const meta = this.#primaries?.store.meta(key)
    const isUnseen = this.#kind.status?.observedGeneration && meta?.generation !== meta?.observedGeneration
    this.#queue.add(key, meta?.deleting ? 'deletion' : isUnseen ? 'change' : 'background')
  }

  /** `write`: the version that may turn out to be an own write of the run under way. */
  #wake(key: string, reason: Reason, write?: { uid: string; resourceVersion: string; deleted: boolean }): void {
    if (this.#phase === 'stopped') return
    const run = this.#runs.get(key)
    if (run) {
      // Weighed when the run has ended and it is known how.
      run.arrivals.push({ reason, write })
      return
    }
    const meta = this.#primaries?.store.meta(key)
    if (meta === undefined) return
    if (!this.#states.mayWake(key, reason)) return
    this.#queue.add(key, reason === 'deletion' ? 'deletion' : reason === 'resync' ? 'background' : 'change')
  }

  // ---- from the queue to the runs, and back ----

  get #leads(): boolean {
    return this.leadership?.leads ?? true
  }

  #pump(): void {
    while (this.#phase === 'running' && this.running < this.concurrency && this.#leads) {
      const key = this.#queue.take()
      if (key === undefined) return
      void this.#process(key)
    }
  }

  async #process(key: string): Promise<void> {
    const unanswered = this.#states.takeUnanswered(key)
    let run: Run | undefined
    let outcome: Outcome = { type: 'done' }
    let reported = 0
    try {
      for (const { kind, ref } of unanswered) await this.#look(kind, ref)
      const object = this.#primaries?.store.get(key)
      // One that has left the selection is not run by what was due before either.
      if (object !== undefined && !this.#selection.wants(object)) this.#states.forget(key)
      else if (object !== undefined && this.#phase === 'running' && this.#leads) {
        run = new Run(this, key, object, this.#states.attempt(key), this.#states.asked(key))
        this.#runs.set(key, run)
        const pending = this.#states.toReport(key)
        const isSame = pending !== undefined && pending.generation === run.primary.generation
        reported = isSame ? pending.tries : 0
        outcome = await this.#execute(run, isSame ? pending.outcome : undefined)
      }
    } catch (error) {
      this.#states.unanswered(key, unanswered)
      outcome = { type: 'error', error, reason: 'ReconcileFailed', message: messageOf(error) }
    }
    this.#runs.delete(key)
    if (reported === 0 && (run !== undefined || outcome.type === 'error'))
      this.observed?.ran(runEnd(outcome, run === undefined ? 0 : this.clock.monotonic() - run.startedAt))
    try {
      await this.#settle(key, run, outcome, reported)
    } catch (error) {
      // Nothing that a handler threw, or a logger, may take a key out of the queue.
      this.#queue.add(key, 'background', backoff(1, this.#o.random))
      try {
        this.log.error(`the end of a run over ${key} could not be told: ${messageOf(error)}`)
      } catch {}
    } finally {
      this.#queue.done(key)
      this.#pump()
      this.#o.changed()
    }
  }

  #execute(run: Run, repeat: Outcome | undefined): Promise<Outcome> {
    if (this.tracing === undefined) return run.execute(repeat)
    const { ref, uid, generation } = run.primary
    const attributes = {
      'k8s.namespace.name': ref.namespace,
      'tsop.object.kind': kindName(this.#kind),
      'tsop.object.name': ref.name,
      'tsop.object.uid': uid,
      'tsop.object.generation': generation,
      'tsop.attempt': run.attempt,
      'tsop.reconcile_id': run.id,
    }
    return this.tracing.run(`reconcile ${this.#kind.kind}`, attributes, async (span) => {
      const outcome = await run.execute(repeat)
      span.set({ 'tsop.outcome': outcome.type })
      if (outcome.type === 'error' || outcome.type === 'terminal') span.fail(outcome.error)
      return outcome
    })
  }

  /** A write without an answer may have happened: looks, before anything is decided on what the cache knows. */
  async #look(kind: KindRef, ref: ObjectRef): Promise<void> {
    const uid = this.cache.uidOf(kind, ref)
    try {
      this.saw(kind, ref, await this.client.find(kind, ref, { signal: this.signal, timeoutMs: LOOK_MS, retries: 0 }), uid)
    } catch (error) {
      // Nobody will ever be able to look. What depends on it carries preconditions of its own.
      if (!isForbidden(error) && !(error instanceof UnknownKindError)) throw error
      this.log.warn(
        { err: error, kind: kindName(kind), object: keyOf(ref) },
        'a write got no answer, and whether it was done cannot be read',
      )
    }
  }

  /** What comes next for the key. */
  async #settle(key: string, run: Run | undefined, ended: Outcome, reported: number): Promise<void> {
    const { random } = this.#o
    const meta = this.#primaries?.store.meta(key)
    // A handler that changed its own object's spec has not seen the generation this made.
    const outdated = run !== undefined && meta?.uid === run.primary.uid && !meta.deleting && meta.generation !== run.primary.generation
    const outcome: Outcome =
      outdated && (ended.type === 'done' || ended.type === 'wait')
        ? { type: 'conflict', error: new StaleError('a new generation came') }
        : ended
    const before = this.#states.summary(key)
    const isCurrent = run === undefined || meta?.uid === run.primary.uid
    if (meta === undefined) this.#states.forget(key)
    else if (isCurrent) {
      const state = this.#states.settle(key, outcome)
      if (run && run.unanswered.size > 0) this.#states.unanswered(key, [...run.unanswered])
      switch (outcome.type) {
        case 'done':
          this.#queue.add(key, 'background', RESYNC_MS * (1 - RESYNC_JITTER + 2 * RESYNC_JITTER * random()))
          break
        case 'wait':
          this.#queue.add(key, 'background', outcome.wait.afterMs)
          break
        case 'error':
          this.#queue.add(key, 'background', Math.max(backoff(state.failures, random), retryAfterMs(outcome.error)))
          break
        case 'conflict':
          this.#queue.add(key, 'change', conflictDelay(state.conflicts, random))
          if (run && ended.type === 'conflict') await this.#refresh(run)
          break
        case 'terminal':
          if (run?.status.unreported) {
            const tries = this.#states.unreported(key, outcome, run.primary.generation, reported)
            this.#queue.add(key, 'background', backoff(tries, random))
          }
      }
    }
    for (const arrival of run?.arrivals ?? []) if (!run?.isOwn(arrival)) this.#wake(key, arrival.reason)
    if (reported > 0) return // told when it ended
    if (run !== undefined && ((meta !== undefined && isCurrent) || run.released))
      tell(run, outcome, before, this.clock.monotonic() - run.startedAt)
    else if (run === undefined && outcome.type === 'error')
      this.log.error({ err: outcome.error, key, reason: outcome.reason }, outcome.message)
  }

  /** After a conflict: the object as it is now, unless the cache has come further by itself. */
  async #refresh(run: Run): Promise<void> {
    const { key, kind, ref, uid, resourceVersion } = run.primary
    if (this.#primaries?.store.meta(key)?.resourceVersion !== resourceVersion) return
    try {
      this.saw(kind, ref, await this.client.find(kind, ref, { signal: this.signal }), uid)
    } catch (error) {
      run.log.debug({ err: error }, 'could not read the object after a conflict')
    }
  }

  /** An error that belongs to a run of this controller but reached nobody: while the run goes on, its failure; else that of its key. */
  unhandled(run: Run, error: Error): void {
    if (run.fail(error)) return
    const { key, uid } = run.primary
    run.log.error({ err: error }, 'a promise that nobody awaited was rejected after its run had ended')
    if (this.#runs.has(key) || this.#primaries?.store.meta(key)?.uid !== uid) return
    this.observed?.ran(runEnd({ type: 'error', error, reason: '', message: '' }, undefined))
    const late = this.#states.late(key, this.clock.monotonic())
    this.#states.settle(key, { type: 'error', error, reason: 'Unhandled', message: messageOf(error) })
    this.#queue.add(key, 'background', backoff(late, this.#o.random))
  }
}

function runEnd(outcome: Outcome, ms: number | undefined): RunEnd {
  const error = 'error' in outcome ? outcome.error : undefined
  const code = error instanceof TsopError ? error.code : undefined
  return {
    outcome: outcome.type,
    ms,
    stale: error instanceof StaleError,
    timedOut: code === 'TSOP_TIMEOUT',
    unhandled: code === 'TSOP_UNHANDLED',
  }
}

/** How long the server asked to stay away; no longer than the longest back-off, whatever it asks. */
function retryAfterMs(error: unknown): number {
  return error instanceof StatusError ? Math.min(LONGEST_BACKOFF_MS, error.retryAfterMs ?? 0) : 0
}
