/**
 * What the rest of the house knows of a Kubernetes kind: where it lives in the API and what its objects look like.
 * Everything typed hangs on `KindRef<O>`; nothing here touches the network.
 */

import type { Conversion } from './conversion.ts'

/** `metadata` as the API server sends it. Timestamps are RFC 3339 strings. */
export interface ObjectMeta {
  name: string
  namespace?: string
  generateName?: string
  uid: string
  resourceVersion: string
  /** Counts changes of the desired state. Kinds without one (ConfigMap, Secret, …) leave it out. */
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** The least that every object has. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
}

/** A condition as `metav1.Condition`. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  observedGeneration?: number
  lastTransitionTime: string
}

/**
 * What the engine may write to the status of a kind. `conditions` and `observedGeneration` say which of the two its schema
 * keeps (a field the schema does not know is pruned by the API server, so that writing it would never end); `external`
 * whether the record of `ctx.external` has a place there (otherwise it lives in an annotation).
 * Kinds whose status belongs to somebody else (the built-in ones) have none of them.
 */
export interface StatusSupport {
  readonly conditions: boolean
  readonly observedGeneration: boolean
  readonly external: boolean
}

/** A reference to a kind, carrying the type of its objects. */
export interface KindRef<O = KubeObject> {
  /** `v1`, `apps/v1`, `db.example.com/v1alpha1` */
  readonly apiVersion: string
  readonly kind: string
  /** The name in the URL, such as `statefulsets`. Looked up by discovery where it is not known. */
  readonly plural?: string
  /** Looked up by discovery where it is not known. */
  readonly scope?: 'Namespaced' | 'Cluster'
  /** What the engine may write to the status. Absent: nothing. */
  readonly status?: StatusSupport
  /** The definition, where the kind was made with `resource()` or `resourceFrom()`. */
  readonly crd?: CustomResourceDefinition
  /** True: the definition belongs to somebody else, tsop does not install it. */
  readonly foreign?: boolean
  /** Between its versions, where they differ by more than their names. */
  readonly conversion?: Conversion
  /** Carries the type only; never set. */
  readonly _object?: O
}

/** A CustomResourceDefinition, as far as tsop looks into it. */
export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1'
  kind: 'CustomResourceDefinition'
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: {
    group: string
    scope: 'Namespaced' | 'Cluster'
    names: { plural: string; singular?: string; kind: string; listKind?: string; shortNames?: string[]; categories?: string[] }
    versions: CustomResourceVersion[]
    [field: string]: unknown
  }
}

export interface CustomResourceVersion {
  name: string
  served: boolean
  storage: boolean
  schema?: { openAPIV3Schema: Record<string, unknown> }
  subresources?: { status?: Record<string, never>; scale?: Record<string, unknown> }
  additionalPrinterColumns?: Record<string, unknown>[]
  [field: string]: unknown
}

/** The object type of a kind: `type Database = Resource<typeof Database>`. */
export type Resource<K> = K extends KindRef<infer O> ? O : never

/**
 * What the wire carries for a model type of `@kubernetes/client-node`, which says `Date` where JSON has strings, `any` where it
 * knows nothing, and `_from` where the field is called `from`.
 */
export type Raw<T> = unknown extends T
  ? unknown
  : T extends Date
    ? string
    : T extends (infer U)[]
      ? Raw<U>[]
      : T extends object
        ? { [K in keyof T as WireName<K>]: Raw<T[K]> }
        : T

type WireName<K> = K extends `_${infer Name}` ? Name : K

/** A built-in kind: the wire's form of a model, with the metadata that every object of the API has. */
export type BuiltIn<T> = Omit<Raw<T>, 'metadata'> & { metadata: ObjectMeta }

/** The desired state of an object: all fields optional, of `metadata` only what a user may set. */
export type Desired<O> = { [K in keyof O]?: K extends 'metadata' ? DesiredMeta | undefined : O[K] | undefined }

export type DesiredMeta = Partial<Pick<ObjectMeta, 'name' | 'namespace' | 'labels' | 'annotations'>>

export type StatusOf<O> = O extends { status?: infer T } ? Omit<NonNullable<T>, 'conditions' | 'observedGeneration' | 'external'> : never

/** Where one object is. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly name: string
  readonly namespace?: string | undefined
}

/** A reference to any kind by `apiVersion` and `kind`; plural and scope are looked up by discovery unless given. */
export function kind<O = KubeObject>(
  apiVersion: string,
  name: string,
  where: { plural?: string; scope?: 'Namespaced' | 'Cluster' } = {},
): KindRef<O> {
  return { apiVersion, kind: name, ...where }
}

/** `StatefulSet.apps`, `ConfigMap`: a kind's name as kubectl and metrics spell it. */
export function kindName(ref: { apiVersion: string; kind: string }): string {
  const group = groupOf(ref.apiVersion)
  return group === '' ? ref.kind : `${ref.kind}.${group}`
}

/** The group of an apiVersion; `''` is the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}

/** One text a kind and version, to compare by. */
export function kindKey(ref: { apiVersion: string; kind: string }): string {
  return `${ref.apiVersion}/${ref.kind}`
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of work queue and store. */
export function keyOf(ref: ObjectRef): string {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`
}

/** The reverse of `keyOf`. */
export function refOf(key: string): ObjectRef {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
