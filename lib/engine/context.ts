/**
 * What a handler method gets as its second argument, made anew for each run and closed with it.
 */

import { applyMergePatch, mergePatch } from '../api/patch.ts'
import { copyJson } from '../cache/copy-json.ts'
import type { Conditions, Context, External, ExternalJob, ReadOptions, RetryOptions, StatusDraft } from '../resource/context.ts'
import type { ContextClient } from '../resource/context-client.ts'
import { type Desired, type KindRef, type KubeObject, keyOf, kindKey, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { deleteObject, HANDLER } from './children.ts'
import { checkCondition, checkConditionType, type Status } from './conditions.ts'
import { isTerminalError, TsopError } from './errors.ts'
import { external, idempotencyKey } from './external.ts'
import type { Run } from './run.ts'

export class RunContext implements Context<KubeObject> {
  readonly #run: Run
  #status: Record<string, unknown> | undefined
  /** The status that the draft began as. */
  #statusBegan: Status | undefined
  #conditions: Conditions | undefined

  constructor(run: Run) {
    this.#run = run
  }

  get log(): Log {
    return this.#run.log
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  get client(): ContextClient {
    return this.#run.client
  }

  get attempt(): number {
    return this.#run.attempt
  }

  get status(): StatusDraft<KubeObject> {
    if (this.#status === undefined) {
      this.#statusBegan = this.#run.primary.status
      this.#status = handlerFields(this.#statusBegan)
    }
    return this.#status as StatusDraft<KubeObject>
  }

  /** Whether the handler has looked at it. */
  get hasStatusDraft(): boolean {
    return this.#status !== undefined
  }

  /** The draft, or undefined where the handler never looked at it. What the handler wrote past it meanwhile is in it as well. */
  get statusDraft(): Record<string, unknown> | undefined {
    const { status } = this.#run.primary
    if (this.#status === undefined || this.#statusBegan === status) return this.#status
    const drafted = mergePatch(handlerFields(this.#statusBegan), this.#status) ?? {}
    return applyMergePatch(handlerFields(status), drafted) as Record<string, unknown>
  }

  get conditions(): Conditions {
    this.#conditions ??= new DraftedConditions(this.#run)
    return this.#conditions
  }

  async get<C>(kind: KindRef<C>, ref: ObjectRef | string): Promise<C | undefined> {
    const run = this.#run
    run.check()
    const where = typeof ref === 'string' ? await run.refIn(kind as KindRef, ref) : ref
    const source = run.cached(kind as KindRef, where.namespace)
    if (source) return source.store.get(keyOf(where)) as C | undefined
    return run.client.find(kind, where)
  }

  async list<C>(kind: KindRef<C>, options: ReadOptions = {}): Promise<C[]> {
    const run = this.#run
    run.check()
    const namespace = options.namespace === '*' ? undefined : (options.namespace ?? run.primary.ref.namespace)
    const within = (await run.clusterScoped(kind as KindRef)) ? undefined : namespace
    const source = options.fields === undefined ? run.cached(kind as KindRef, within) : undefined
    const { labels, fields } = options
    const selection = { ...(within === undefined ? {} : { namespace: within }), ...(labels === undefined ? {} : { labels }) }
    if (source) return source.store.list(selection) as C[]
    const { items } = await run.client.list(kind, { ...selection, ...(fields === undefined ? {} : { fields }) })
    return items
  }

  child<C>(kind: KindRef<C>, name?: string): C | undefined {
    const { primary } = this.#run
    const children = this.children(kind) as (C & KubeObject)[]
    if (name !== undefined) return children.find((child) => child.metadata.name === name)
    return children.length <= 1 ? children[0] : (children.find((child) => child.metadata.name === primary.ref.name) ?? children[0])
  }

  children<C>(kind: KindRef<C>): C[] {
    const run = this.#run
    run.check()
    const source = run.owned(kind as KindRef)
    return source.store.ownedBy(run.primary.uid).sort(byName) as C[]
  }

  async apply<C>(kind: KindRef<C>, desired: Desired<C>): Promise<C> {
    const run = this.#run
    run.check()
    run.owned(kind as KindRef)
    return (await run.children.apply(kind as KindRef, desired as Desired<KubeObject>, HANDLER)) as C
  }

  async delete(kind: KindRef, target: ObjectRef | KubeObject): Promise<void> {
    const run = this.#run
    run.check()
    const given = 'metadata' in target ? target : undefined
    const named = target as ObjectRef
    const ref = given?.metadata ?? (named.namespace === undefined ? await run.refIn(kind, named.name) : named)
    const known = given ?? (run.cached(kind, ref.namespace)?.store.get(keyOf(ref)) as KubeObject | undefined)
    const ours = known?.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === run.primary.uid) ?? false
    // Destroying what this object owns must not rest on an old view of it.
    if (ours) await run.children.checkOwner()
    await deleteObject(run.own, kind, ref, known ? { uid: known.metadata.uid } : {})
  }

  event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#run.check()
    this.#run.event(type, reason, message)
  }

  get fencingToken(): string {
    return this.#run.fencingToken
  }

  idempotencyKey(step: string, ...parts: string[]): string {
    return idempotencyKey(this.#run.primary.uid, step, parts)
  }

  async external<T>(step: string, job: ExternalJob<T>): Promise<External<T>> {
    const run = this.#run
    run.check()
    return external(step, job, {
      primary: run.primary,
      client: run.client,
      signal: run.signal,
      now: run.now,
      log: run.log,
      fencingToken: () => run.fencingToken,
      check: () => run.check(),
      mayRetryFailed: run.mayRetryFailed,
      touch: () => run.touch(),
      rebase: () => run.rebase(),
    })
  }

  async retry<T>(f: (attempt: number) => Promise<T> | T, options: RetryOptions = {}): Promise<T> {
    const run = this.#run
    run.check()
    const { default: pRetry } = await import('p-retry')
    const { shouldRetry } = options
    return pRetry(f, {
      retries: options.retries ?? 3,
      factor: options.factor ?? 2,
      minTimeout: options.minTimeout ?? 250,
      maxTimeout: options.maxTimeout ?? 10_000,
      randomize: true,
      signal: run.signal,
      shouldRetry: ({ error }) => !isTerminalError(error) && (shouldRetry?.(error) ?? true),
    })
  }
}

/** The fields of a status that are the handler's, as a copy. */
export function handlerFields(status: Status | undefined): Record<string, unknown> {
  const { conditions: _c, observedGeneration: _o, external: _e, ...fields } = status ?? {}
  return copyJson(fields)
}

class DraftedConditions implements Conditions {
  readonly #run: Run
  constructor(run: Run) {
    this.#run = run
  }

  get(type: string) {
    const existing = this.#run.primary.status?.conditions?.find((condition) => condition.type === type)
    const drafted = this.#run.conditionDraft.own
    if (!drafted.has(type)) return existing && { ...existing }
    const own = drafted.get(type)
    return own && { type, lastTransitionTime: existing?.status === own.status ? existing.lastTransitionTime : this.#run.now(), ...own }
  }

  set(condition: { type: string; status: 'True' | 'False' | 'Unknown'; reason: string; message?: string }): void {
    this.#run.check()
    checkCondition(condition)
    this.#needsConditions()
    const { type, status, reason, message = '' } = condition
    this.#run.conditionDraft.own.set(type, { status, reason, message })
  }

  remove(type: string): void {
    this.#run.check()
    checkConditionType(type)
    this.#run.conditionDraft.own.set(type, undefined)
  }

  ready(text: { reason?: string; message?: string }): void {
    this.#run.check()
    if (text.message !== undefined && typeof text.message !== 'string')
      throw new TypeError(`ctx.conditions.ready: message must be a text, not ${typeof text.message}`)
    if (text.reason !== undefined) checkCondition({ type: 'ready', status: 'True', reason: text.reason })
    this.#run.conditionDraft.ready = { ...this.#run.conditionDraft.ready, ...text }
  }

  #needsConditions(): void {
    const { kind } = this.#run.primary
    if (kind.status?.conditions) return
    throw new TsopError(
      'TSOP_STATUS_INVALID',
      'InvalidCondition',
      `the status of ${kindKey(kind)} is not this operator's, or its schema has no conditions`,
    )
  }
}

function byName(a: KubeObject, b: KubeObject): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}
