/**
 * The words that the parts of the embedded API server share. Nothing here runs.
 *
 * An object that comes from the store is shared and frozen by agreement: whoever wants to change one copies it first
 * (`cloneJson`). An object that goes through a strategy is a private copy.
 */
import type { FieldError } from './field-error.ts'
import type { JsonObject } from './json.ts'
import type { ApiError, Subject } from './status.ts'

export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: JsonObject
  subresource?: string
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface Metadata {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
  selfLink?: string
}

export interface ApiObject {
  apiVersion: string
  kind: string
  metadata: Metadata
  // biome-ignore lint/suspicious/noExplicitAny: an object of any kind; each reader knows what it expects
  [member: string]: any
}

/**
 * A JSON schema as OpenAPI documents and CustomResourceDefinitions have it. `$ref` is only in built-in ones; `SchemaSource`
 * follows it.
 */
export interface Schema {
  $ref?: string
  type?: string
  format?: string
  title?: string
  description?: string
  externalDocs?: { description?: string; url?: string }
  example?: unknown
  nullable?: boolean
  default?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  pattern?: string
  uniqueItems?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'granular' | 'atomic'
  'x-kubernetes-patch-strategy'?: string
  'x-kubernetes-patch-merge-key'?: string
  'x-kubernetes-validations'?: CelRule[]
  [extension: `x-${string}`]: unknown
}

export interface CelRule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: string
  fieldPath?: string
  optionalOldSelf?: boolean
}

/** The whole of an object's schema (with apiVersion, kind and metadata), for patches, apply, pruning and OpenAPI. */
export interface SchemaSource {
  readonly root: Schema
  /** The schema itself, or what its `$ref` (also alone in an `allOf`) stands for. */
  resolve(schema: Schema): Schema
}

export interface User {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** What a strategy may know of the request that writes. */
export interface WriteContext {
  readonly type: ResourceType
  readonly operation: 'create' | 'update'
  /** `''` for the object itself. */
  readonly subresource: string
  readonly namespace: string
  readonly user: User
  readonly dryRun: boolean
  /** Of the server's clock. */
  now(): number
  /** What is stored of other types, for rules that look around (a namespace, an address in use). */
  readonly lookup: Lookup
}

export interface Lookup {
  get(group: string, resource: string, namespace: string, name: string): ApiObject | undefined
  list(group: string, resource: string, namespace?: string): readonly ApiObject[]
}

/**
 * What is special about a kind. Every member is optional: without it the general rules hold. Called in this order: `defaults`,
 * then `prepareForCreate` or `prepareForUpdate`, then admission, then `validate…`, then `warnings`.
 */
export interface Strategy {
  /** Fills in what the client left out. */
  defaults?(object: ApiObject, context: WriteContext): void
  prepareForCreate?(object: ApiObject, context: WriteContext): void
  /** `object` is the new state; restores what this request may not change (status, or all but status). */
  prepareForUpdate?(object: ApiObject, old: ApiObject, context: WriteContext): void
  /** Before the first deletion marks a private copy: it may add finalizers and tell in its status. `now`: RFC 3339. */
  prepareForDelete?(object: ApiObject, now: string): void
  validate?(object: ApiObject, context: WriteContext): FieldError[]
  validateUpdate?(object: ApiObject, old: ApiObject, context: WriteContext): FieldError[]
  /** Text of `Warning` headers. */
  warnings?(object: ApiObject, old: ApiObject | undefined, context: WriteContext): string[]
  /** After a write is stored: what must happen with it (never on a dry run). */
  stored?(object: ApiObject, old: ApiObject | undefined, context: WriteContext): void
  /** A PUT of a missing object creates it. */
  readonly allowCreateOnUpdate?: boolean
  /** False: a PUT must carry a resourceVersion. Default: true for built-in kinds, false for custom ones. */
  readonly allowUnconditionalUpdate?: boolean
  /** True: the generation counts changes outside metadata and status; a function: and those for which it says so. */
  readonly generation?: boolean | ((object: ApiObject, old: ApiObject) => boolean)
  /** A DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean
  /** Seconds an object may take to end where the request does not say; 0 or absent: gone at once. */
  gracePeriodSeconds?(object: ApiObject): number
  /** The policy where neither the request nor a finalizer says; default `Background`. */
  readonly defaultPropagation?: 'Background' | 'Orphan'
  /** Text of the `Warning` of a DELETE that names no propagation policy. */
  readonly deletionWarning?: string
  /** Errors of `metadata.name`; default a DNS-1123 subdomain. `prefix`: it is a generateName. */
  validateName?(name: string, prefix: boolean): string[]
  /** Field selectors besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: ApiObject) => string>>
  /** The error of a field selector that is not known; the text differs from kind to kind. */
  unknownFieldSelector?(field: string): ApiError
  /** Field paths (`['status']`, `['spec']`) that a write through this subresource does not own, by subresource. */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

export interface TableColumns {
  readonly columns: readonly TableColumn[]
  /** One cell a column. `now` in milliseconds, for ages. */
  cells(object: ApiObject, now: number): unknown[]
  /** What marks a row (`metav1.TableRowCondition`): that a pod has ended. */
  readonly conditions?: ((object: ApiObject) => object[] | undefined) | undefined
}

/** A kind as it is served in one version: all that the general machinery needs to know of it. */
export interface ResourceType extends Subject {
  readonly group: string
  readonly version: string
  /** Plural: the name in paths. */
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** True: from a CustomResourceDefinition. */
  readonly custom: boolean
  readonly verbs: readonly string[]
  /** `status`, `scale`, and those only some kinds have (`token`, `eviction`, `finalize`, `approval`, …). */
  readonly subresources: readonly string[]
  /** Objects of all versions of a kind, and of both groups of Event, live in one bucket: `group/resource`. */
  readonly bucket: string
  /** The apiVersion in which objects are stored. */
  readonly storageVersion: string
  /** Text of the Warning that every request of a deprecated version gets. */
  readonly deprecation?: string
  /** Being deleted: creates are refused. */
  readonly terminating?: boolean
  /** Status subresource of a custom kind, paths of the scale subresource. */
  readonly scale?: { readonly spec: string; readonly status: string; readonly selector?: string }
  readonly schema: SchemaSource
  readonly strategy: Strategy
  /** Absent: Name and Age. */
  readonly columns?: TableColumns
  /**
   * Removes what the schema does not have, on a private copy, and gives the paths of what it removed
   * (`spec.bogus`, `spec.list[0].x`), for Warnings and strict field validation. Of built-in kinds it also decodes: a null is
   * dropped, times and quantities become canonical. @throws ApiError 400 where a value is of a wrong type
   */
  prune?(object: ApiObject): string[]
  /**
   * Built-in kinds: puts a private copy in the form that a typed server answers (members in the order of their Go struct, no
   * empty ones where `omitempty` says so, `status: {}` where it does not). Called after admission, before validation.
   */
  normalize?(object: ApiObject): void
  /** Fills in defaults of the schema; also of objects read from the store. */
  applySchemaDefaults?(object: ApiObject): void
  /** Schema and CEL validation. `old` of an update, for ratcheting and transition rules. */
  validateSchema?(object: ApiObject, old: ApiObject | undefined, context: WriteContext): { errors: FieldError[]; warnings: string[] }
  /** Between versions of one kind; a copy. Default: only apiVersion (and kind) change. Both ways. */
  convert?(object: ApiObject, toApiVersion: string): ApiObject | Promise<ApiObject>
  /** `convert` asks a webhook: its answer is always a Promise. */
  readonly convertsByWebhook?: boolean
  /** Custom kinds: a stored object in this version, pruned and defaulted as the schema is now; shared. Default: `convert`. */
  fromStorage?(stored: ApiObject): ApiObject | Promise<ApiObject>
}

/** What is stored, at one revision. */
export interface Stored {
  readonly object: ApiObject
  readonly revision: number
  readonly namespace: string
  readonly name: string
}

/** `{ADDED,MODIFIED,DELETED}` in the order of revisions. `object` of DELETED is the last state with the deletion's revision. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly object: ApiObject
  readonly old: ApiObject | undefined
  readonly namespace: string
  readonly name: string
}

/** All objects of one kind. Everything is synchronous: a check and the write after it cannot be torn apart. */
export interface Bucket {
  readonly key: string
  readonly size: number
  get(namespace: string, name: string): Stored | undefined
  /**
   * In the order of keys (`namespace/name` or `name`, bytewise, as etcd has it); at a past revision where `at` is given; those
   * whose key is not before `from`, where that is given. The array is the caller's. @throws ApiError 410
   */
  list(options?: { namespace?: string; at?: number; from?: string }): readonly Stored[]
  /**
   * Stores `object` under the next revision and sets `metadata.resourceVersion`. `expected`: the revision that must be stored
   * now (0: nothing); otherwise `undefined` comes back and nothing happened. Equal to what is stored, but for
   * `managedFields` times: nothing happens, and what is stored comes back.
   */
  put(namespace: string, name: string, object: ApiObject, expected: number): Stored | undefined
  /** `last`: the state that DELETED shows, where it differs from what is stored. */
  delete(namespace: string, name: string, expected: number, last?: ApiObject): StoreEvent | undefined
  /** Synchronously called for each event after `revision` in order: history first, then as they happen. @throws ApiError 410 */
  watch(revision: number, listener: (event: StoreEvent) => void): () => void
}

/**
 * One request, below HTTP: the socket listener and the in-process transport make it, and get an answer.
 */
export interface ApiRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer | string | undefined
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Whole, or a stream: called once with where to write; it returns what stops it. */
  readonly body: string | Buffer | ResponseStream
}

export interface ResponseStream {
  /**
   * Starts writing. `sink.write` gives false when the client is slow; a stream that has more than it may hold for a slow
   * client ends it with `sink.destroy`.
   */
  start(sink: StreamSink): { stop(): void }
}

export interface StreamSink {
  /** False: the client does not keep up. */
  write(chunk: string): boolean
  /** Bytes accepted and not yet taken by the client. */
  readonly pending: number
  /** Calls back once, when a client that did not keep up has taken what was written. */
  drained(f: () => void): void
  /** The regular end. */
  end(): void
  /** Breaks the connection. */
  destroy(): void
}
