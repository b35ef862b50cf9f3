/**
 * What the parts of one server reach each other by. Each server has its own; nothing is shared between servers in a process
 * but recorded data, which never changes.
 */
import type { Requests } from './requests.ts'
import type { ServerClock, Tasks } from './tasks.ts'
import type { ApiObject, Bucket, Lookup, ResourceType, StoreEvent, User } from './types.ts'

export interface Core {
  readonly clock: ServerClock
  /** A number in [0, 1): names, uids and jitter. */
  readonly random: () => number
  readonly tasks: Tasks
  readonly store: Store
  readonly registry: Registry
  readonly lookup: Lookup
  readonly operations: Operations
  /** What was asked of the server. */
  readonly requests: Requests
  /** What runs in this process for the services that webhooks name; by `namespace/name`. */
  readonly services: Map<string, WebhookService>
  /** In the order they are asked. Built up while the server starts. */
  readonly admission: AdmissionPlugin[]
  /** Undefined: everybody is admin (plain HTTP on loopback). */
  authorizer: Authorizer | undefined
}

/** Answers an AdmissionReview or ConversionReview with the whole review that a webhook would send. `path` of the client configuration. */
export type WebhookService = (review: object, path: string) => object | Promise<object>

export interface Store {
  /** Of the last write; 1 when nothing was written yet. */
  readonly revision: number
  bucket(key: string): Bucket
  buckets(): Iterable<Bucket>
  /**
   * Calls `f` for every event of every bucket, synchronously, for controllers that look at objects of all kinds. It must not throw, nor write.
   * @returns what ends it
   */
  observe(f: (event: StoreEvent, bucket: string) => void): () => void
  /** Forgets the history up to now: older revisions answer 410. */
  compact(): void
}

export interface Registry {
  /** Where `version` is served; undefined: not here. */
  find(group: string, version: string, resource: string): ResourceType | undefined
  /** By kind, in the given or the preferred version. */
  findKind(group: string, kind: string, version?: string): ResourceType | undefined
  /** All that is served, each version by itself, in the order of discovery. */
  types(): Iterable<ResourceType>
  groups(): readonly { readonly group: string; readonly versions: readonly string[]; readonly preferred: string }[]
  /** Replaces all served versions of one `group/resource`; `[]`: no longer served. Watchers of it are ended. */
  set(group: string, resource: string, types: readonly ResourceType[]): void
  /** Counts changes: what is derived from the registry (discovery, OpenAPI) is made anew when it has moved. */
  readonly generation: number
  /** Called after each `set`. */
  onChange(f: (group: string, resource: string) => void): () => void
}

export interface RequestOptions {
  readonly user: User
  readonly dryRun?: boolean
  /** Resolved: from the query, else from the User-Agent. Default of internal calls: the user's name. */
  readonly fieldManager?: string
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  /** A `Warning` header of the answer. */
  warn?(text: string): void
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly orphanDependents?: boolean
  readonly propagationPolicy?: string
  readonly dryRun?: readonly string[]
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

/**
 * The verbs, below HTTP: what the request handler, the controllers and tests call. Objects come back in the version of
 * `type`, and are the caller's to read only. Everything they throw on purpose is an `ApiError`.
 */
export interface Operations {
  get(type: ResourceType, namespace: string, name: string): Promise<ApiObject>
  list(type: ResourceType, namespace?: string): Promise<ApiObject[]>
  create(type: ResourceType, namespace: string, object: ApiObject, options: RequestOptions): Promise<ApiObject>
  /** `created` where a PUT made it. */
  update(
    type: ResourceType,
    namespace: string,
    name: string,
    subresource: string,
    object: ApiObject,
    options: RequestOptions,
  ): Promise<{ object: ApiObject; created: boolean }>
  /** `patch`: the decoded body. */
  patch(
    type: ResourceType,
    namespace: string,
    name: string,
    subresource: string,
    patch: { readonly type: PatchType; readonly value: unknown; readonly force?: boolean },
    options: RequestOptions,
  ): Promise<{ object: ApiObject; created: boolean }>
  /** `deleted`: it is gone; else it waits for finalizers or its grace. */
  delete(
    type: ResourceType,
    namespace: string,
    name: string,
    deletion: DeleteOptions,
    options: RequestOptions,
  ): Promise<{ object: ApiObject; deleted: boolean }>
}

/** One write on its way, after decoding, defaults and preparation. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly type: ResourceType
  readonly subresource: string
  readonly namespace: string
  /** `''` where generateName is still to be used. */
  readonly name: string
  /** The new state; `undefined` for DELETE. A mutating plugin changes it in place or replaces it. */
  object: ApiObject | undefined
  readonly old: ApiObject | undefined
  readonly user: User
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: object
  warn(text: string): void
}

export interface AdmissionPlugin {
  readonly name: string
  mutate?(request: AdmissionRequest): void | Promise<void>
  /** Throws an `ApiError` to refuse. */
  validate?(request: AdmissionRequest): void | Promise<void>
}

export interface Attributes {
  readonly user: User
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** Of a request that is not for a resource; then the fields above but `user` and `verb` are `''`. */
  readonly path?: string
}

export interface Authorizer {
  authorize(attributes: Attributes): { readonly allowed: boolean; readonly reason: string }
}

/** Who the server's own controllers are. */
export const SYSTEM: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }
/** Everybody, where there is no authentication. */
export const ADMIN: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
