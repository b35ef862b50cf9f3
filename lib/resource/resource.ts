/** `resource()`: a kind of one's own, defined once for the types of its handlers and for the cluster. */

import type * as z from 'zod'
import { type Converted, type Convertible, conversionOf, type VersionConversion } from './conversion.ts'
import { checkNames } from './crd-names.ts'
import { crdVersion, type VersionDefinition } from './crd-version.ts'
import type { Condition, CustomResourceDefinition, CustomResourceVersion, KindRef, ObjectMeta } from './kind.ts'
import { pluralOf } from './plural.ts'
import type { Schema } from './schema.ts'

/** A kind, and the version of it that handlers see. */
export interface ResourceDefinition<S extends z.ZodObject, T extends z.ZodObject, V extends readonly z.ZodObject[] = readonly z.ZodObject[]>
  extends VersionDefinition<S, T> {
  /** A domain that you own, such as `db.example.com`. */
  readonly group: string
  /** CamelCase and singular: `Database`. */
  readonly kind: string
  /** Default: the usual plural of `kind` in lower case. */
  readonly plural?: string
  /** Default: `kind` in lower case. */
  readonly singular?: string
  /** For kubectl: `['db']`. */
  readonly shortNames?: readonly string[]
  /** For kubectl: `['all']` lists the objects in `kubectl get all`. */
  readonly categories?: readonly string[]
  /** Default `'Namespaced'`. */
  readonly scope?: 'Namespaced' | 'Cluster'
  /** Versions beside the one that handlers see, for clients that still, or already, use them. */
  readonly versions?: { readonly [I in keyof V]: OtherVersion<V[I] & z.ZodObject, S, T> }
  /** Of the CustomResourceDefinition. */
  readonly labels?: Readonly<Record<string, string>>
  /** Of the CustomResourceDefinition. */
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * A version that handlers do not see. The API server converts between it and theirs: with `to` and `from` by asking the operator; where no
 * version has them, by changing the apiVersion and leaving out what the other version does not know.
 */
export interface OtherVersion<V extends z.ZodObject = z.ZodObject, S extends z.ZodObject = z.ZodObject, T extends z.ZodObject = z.ZodObject>
  extends VersionDefinition<V, z.ZodObject> {
  /** Default true. False: kept only because objects are still stored in it. */
  readonly served?: boolean
  /** True: objects are stored in it, and not in the version that handlers see, which is the default. */
  readonly storage?: boolean
  /** Makes of an object of this version one of the handlers'. A pure function that answers at once; to refuse, it throws `Invalid`. */
  readonly to?: (object: Convertible<z.output<V>, Record<string, unknown>>) => Converted<z.output<S>, z.input<T>>
  /** The way back. What an object says must be the same after both ways: `assertRoundTrips` of tsop/testing tries it. */
  readonly from?: (object: Convertible<z.output<S>, z.input<T>>) => Converted<z.output<V>, Record<string, unknown>>
}

/** An object of a kind made by `resource()`. */
export interface CustomResource<S, T> {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec: S
  status?: Partial<T> & { conditions?: Condition[]; observedGeneration?: number; external?: Record<string, unknown> }
}

/** What `resource()` returns: the reference, with what the cluster needs to know. */
export interface ResourceKind<O> extends KindRef<O> {
  readonly plural: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly status: { readonly conditions: true; readonly observedGeneration: true; readonly external: true }
  readonly crd: CustomResourceDefinition
}

/**
 * Defines a kind by zod types: of them come the types that handlers see and the CustomResourceDefinition.
 *
 * @throws TypeError where a name is not what the API server takes, or a zod type has no form in a CRD; the message names the field
 *
 * @example
 * export const Database = resource({
 *   group: 'db.example.com', version: 'v1alpha1', kind: 'Database', shortNames: ['db'],
 *   spec: z.object({ replicas: z.int().min(1).max(7).default(1) }),
 *   status: z.object({ endpoint: z.string().optional() }),
 * })
 * export type Database = Resource<typeof Database>
 */
export function resource<
  S extends z.ZodObject,
  T extends z.ZodObject = z.ZodObject<Record<never, never>>,
  const V extends readonly z.ZodObject[] = readonly [],
>(definition: ResourceDefinition<S, T, V>): ResourceKind<CustomResource<z.output<S>, z.input<T>>> {
  const names = {
    plural: definition.plural ?? pluralOf(String(definition.kind)),
    singular: definition.singular ?? String(definition.kind).toLowerCase(),
  }
  const untyped = definition as unknown as AnyDefinition
  checkNames(untyped, names)
  const crd = crdOf(untyped, names)
  const schemas = new Map(crd.spec.versions.map(({ name, schema }) => [name, (schema?.openAPIV3Schema ?? {}) as Schema]))
  const conversion = conversionOf(untyped, untyped.versions ?? [], schemas)
  return {
    apiVersion: `${definition.group}/${definition.version}`,
    kind: definition.kind,
    plural: names.plural,
    scope: definition.scope ?? 'Namespaced',
    status: { conditions: true, observedGeneration: true, external: true },
    crd,
    ...(conversion === undefined ? {} : { conversion }),
  }
}

type AnyDefinition = Omit<ResourceDefinition<z.ZodObject, z.ZodObject>, 'versions'> & {
  readonly versions?: readonly (Omit<OtherVersion, 'to' | 'from'> & VersionConversion)[]
}

function crdOf(definition: AnyDefinition, names: Names): CustomResourceDefinition {
  const { group, kind, shortNames, categories, labels, annotations } = definition
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${group}`,
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    },
    spec: {
      group,
      scope: definition.scope ?? 'Namespaced',
      names: {
        ...names,
        kind,
        listKind: `${kind}List`,
        ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
        ...(categories === undefined ? {} : { categories: [...categories] }),
      },
      versions: versionsOf(definition),
    },
  }
}

interface Names {
  readonly plural: string
  readonly singular: string
}

function versionsOf(definition: AnyDefinition): CustomResourceVersion[] {
  const { kind, version, versions = [] } = definition
  const stored = versions.filter(({ storage }) => storage === true).map((other) => other.version)
  if (stored.length > 1)
    throw new TypeError(`resource ${kind}: versions: objects can be stored in one version only, not in ${stored.join(' and ')}`)
  const names = [version, ...versions.map((other) => other.version)]
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new TypeError(`resource ${kind}: versions: ${twice} is there twice`)
  return [
    crdVersion(kind, definition, { served: true, storage: stored.length === 0 }),
    ...versions.map((other) =>
      crdVersion(`${kind} ${other.version}`, other, { served: other.served ?? true, storage: other.storage === true }),
    ),
  ]
}
