/**
 * What a handler class asks for, as plain data. The decorators write it, the engine runs it; they meet only here, so
 * that neither imports the other.
 */

import type { KindRef, KubeObject } from './kind.ts'
import type { FieldSelector, Selector } from './selector.ts'

/** `'30s'`, `'1m30s'`, `'250ms'`, `'10h'`, or a number of milliseconds. */
export type Duration = string | number

/** Options of `@onReconcile`. */
export interface ReconcileOptions<O = KubeObject> {
  /** How many objects of the kind are worked on at once. A whole number from 1 on. Default 1. */
  readonly concurrency?: number
  /** How long a run may take before it is cut off and counted as failed. Default `'5m'`. Holds for `@onDelete` too. */
  readonly timeout?: Duration
  /** Only objects with these labels, selected by the API server; in a class with `@onDelete` by tsop itself. */
  readonly labels?: Selector
  /** Only objects with these fields, selected by the API server; in a class with `@onDelete` by tsop itself. */
  readonly fields?: FieldSelector
  /** Only objects in these namespaces: one watch each. */
  readonly namespaces?: readonly string[]
  /** Only these objects are run. Asked before each run: keep it pure and cheap. Deletion always wakes. */
  readonly when?: (object: O) => boolean
  /** What the class asks of the API server beyond its decorators. For `tsop generate rbac`; nothing is checked when it runs. */
  readonly uses?: readonly Use[]
}

/** Verbs on a kind that no decorator implies: what `ctx.client`, `ctx.get`, `ctx.list`, `ctx.delete` and `ctx.external` do with it. */
export interface Use {
  readonly kind: KindRef<unknown>
  /** As roles name them: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, `bind`, … */
  readonly verbs: readonly string[]
  /** Such as `'status'`, `'scale'`, `'eviction'`. Default: the object itself. */
  readonly subresource?: string
  /** Only objects of these names. The API server takes names into account neither for `create` nor for lists of several. */
  readonly names?: readonly string[]
  /** Only objects in these namespaces. Default: in those that the class serves. */
  readonly namespaces?: readonly string[]
}

/** Options of `@watches`. */
export interface WatchOptions<O = KubeObject> {
  /** Only objects with these labels, selected by the API server. */
  readonly labels?: Selector
  /** Only objects with these fields, selected by the API server. */
  readonly fields?: FieldSelector
  /** Only objects in these namespaces: one watch each. */
  readonly namespaces?: readonly string[]
  /** Only changes of these objects are mapped. Called for every change: keep it pure and cheap. */
  readonly when?: (object: O) => boolean
}

/** What `@validates` and `@defaults` have in common. */
export interface AdmissionOptions {
  /**
   * What happens to a request when the operator does not answer. `'Fail'` (default): it is refused. `'Ignore'`: it passes unseen, so that nothing
   * may rely on the method.
   */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** How long the API server waits: whole seconds, from 1 to 30. Default `'10s'`. The method is cut after nine tenths of it. */
  readonly timeout?: Duration
}

/** Options of `@validates`. */
export interface ValidatesOptions extends AdmissionOptions {
  /** What is asked about. Default `['create', 'update']`. `'status'`: writes to the status alone. */
  readonly on?: readonly ('create' | 'update' | 'delete' | 'status')[]
}

/** Options of `@defaults`. */
export interface DefaultsOptions extends AdmissionOptions {
  /** What is asked about. Default `['create', 'update']`. */
  readonly on?: readonly ('create' | 'update')[]
}

export interface AdmissionMethod<Options extends AdmissionOptions = AdmissionOptions> {
  readonly method: string
  readonly options: Options
}

export interface OwnedKind {
  readonly kind: KindRef
  /** The builder, or the reconcile method where `builder` is false. */
  readonly method: string
  /** False: `@owns` is stacked on the reconcile method, which makes that child itself. */
  readonly builder: boolean
  /** The child is named `<owner>-<suffix>`; without one, `<owner>`. */
  readonly suffix?: string
}

export interface WatchedKind {
  readonly kind: KindRef
  readonly method: string
  readonly options: WatchOptions
}

/** One handler class. Method names are looked up on the instance at each call. */
export interface HandlerSpec {
  readonly className: string
  readonly file?: string
  /** The primary kind. */
  readonly kind: KindRef
  readonly reconcile: { readonly method: string; readonly options: ReconcileOptions }
  /** `finalizer` undefined: the engine's own name for it, `<group>/<plural>`. */
  readonly onDelete?: { readonly method: string; readonly finalizer: string | undefined }
  readonly owns: readonly OwnedKind[]
  readonly watches: readonly WatchedKind[]
  /** Absent: none. */
  readonly validates?: readonly AdmissionMethod<ValidatesOptions>[]
  readonly defaults?: AdmissionMethod<DefaultsOptions>
}
