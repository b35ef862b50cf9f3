/**
 * The API client as a handler sees it: `ctx.client`. Always live, never from a cache; every call ends with the run
 * (its signal is added) and none leaves after the run has ended or the lease is lost.
 *
 * Errors: `StatusError` where the server refused, `TimeoutError` where it did not answer, `ConnectionError` where it could
 * not be reached.
 */

import type { Desired, KindRef, KubeObject, ObjectRef } from './kind.ts'
import type { FieldSelector, Selector } from './selector.ts'

export interface ClientCallOptions {
  /** Ends the call early, besides the run's own signal. */
  readonly signal?: AbortSignal
  /** Milliseconds; default 30,000. */
  readonly timeoutMs?: number
}

export interface ClientGetOptions extends ClientCallOptions {
  /** `'status'`, `'scale'`, … */
  readonly subresource?: string
}

export interface ClientListOptions extends ClientCallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string
  readonly labels?: Selector
  readonly fields?: FieldSelector
  readonly resourceVersion?: string
  readonly limit?: number
}

export interface ClientWriteOptions extends ClientCallOptions {
  /** The server checks and answers, but keeps nothing. */
  readonly dryRun?: boolean
  /** Default: the operator's name. */
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  readonly subresource?: string
}

export interface ClientApplyOptions extends ClientWriteOptions {
  /** Takes over fields that another manager set. Default false: 409 Conflict. */
  readonly force?: boolean
}

export interface ClientDeleteOptions extends ClientWriteOptions {
  /** Only this very object: another of the same name answers 409. */
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

/** RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string }

/** `merge`: RFC 7386, any kind. `strategic`: built-in kinds only. `json`: RFC 6902. */
export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly value: object }
  | { readonly type: 'json'; readonly value: readonly JsonPatchOperation[] }

/** What `apply` takes: the name is needed, the rest is what you want to own. */
export type Applied<O> = Omit<Desired<O>, 'metadata'> & { metadata: AppliedMeta }

export interface AppliedMeta {
  name: string
  namespace?: string | undefined
  uid?: string | undefined
  resourceVersion?: string | undefined
  labels?: Record<string, string> | undefined
  annotations?: Record<string, string> | undefined
  finalizers?: string[] | undefined
}

export interface ContextClient {
  /** Throws `StatusError` 404 where it is not there. */
  get<C>(kind: KindRef<C>, ref: ObjectRef, options?: ClientGetOptions): Promise<C>
  /** `undefined` where it is not there. */
  find<C>(kind: KindRef<C>, ref: ObjectRef, options?: ClientGetOptions): Promise<C | undefined>
  /** All of them, in pages of 500. */
  list<C>(kind: KindRef<C>, options?: ClientListOptions): Promise<{ items: C[]; resourceVersion: string }>
  /** Throws `StatusError` 409 `AlreadyExists`. */
  create<C>(kind: KindRef<C>, object: Desired<C>, options?: ClientWriteOptions): Promise<C>
  /** Replaces it. With `metadata.resourceVersion` (as read) a change in between answers 409 `Conflict`. */
  update<C>(kind: KindRef<C>, object: C, options?: ClientWriteOptions): Promise<C>
  patch<C>(kind: KindRef<C>, ref: ObjectRef, patch: Patch, options?: ClientWriteOptions): Promise<C>
  /** Server-side apply. */
  apply<C>(kind: KindRef<C>, object: Applied<C>, options?: ClientApplyOptions): Promise<C>
  /** The object where it is still there (terminating), else `undefined`. Throws `StatusError` 404 where it was not there. */
  delete(kind: KindRef, ref: ObjectRef, options?: ClientDeleteOptions): Promise<KubeObject | undefined>
  /** The same writes on `/status`. */
  readonly status: {
    patch<C>(kind: KindRef<C>, ref: ObjectRef, patch: Patch, options?: ClientWriteOptions): Promise<C>
    update<C>(kind: KindRef<C>, object: C, options?: ClientWriteOptions): Promise<C>
    apply<C>(kind: KindRef<C>, object: Applied<C>, options?: ClientApplyOptions): Promise<C>
  }
}
