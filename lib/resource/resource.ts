/** `resource()`: a kind of one's own, defined once for the types of its handlers and for the cluster. */

import type * as z from 'zod'
import { type CrdNames, checkNames } from './crd-names.ts'
import type { Condition, CustomResourceDefinition, KindRef, ObjectMeta } from './kind.ts'
import { pluralOf } from './plural.ts'
import { type Schema, SchemaError } from './schema.ts'
import { CONDITIONS, EXTERNAL, OBSERVED_GENERATION } from './status-schema.ts'
import { schemaOf } from './zod-schema.ts'

export interface ResourceDefinition<S extends z.ZodObject, T extends z.ZodObject> {
  /** A domain that you own, such as `db.example.com`. */
  readonly group: string
  /** `v1`, `v1beta2`, `v1alpha1`, … */
  readonly version: string
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
  /** What `kubectl explain` says of the kind. */
  readonly description?: string
  /** The desired state. Defaults are filled in by the API server, so handlers see them. */
  readonly spec: S
  /** What handlers report. `conditions` and `observedGeneration` come by themselves. All fields may be absent. */
  readonly status?: T
  /** Rules across fields; `self` is the object. */
  readonly validations?: readonly Validation[]
  /** Columns of `kubectl get`, before Ready, Reason (with `-o wide`) and Age, which come by themselves. */
  readonly printerColumns?: readonly PrinterColumn[]
  /** Paths that field selectors may use, such as `.spec.engine`. */
  readonly selectableFields?: readonly string[]
  /** Of the CustomResourceDefinition. */
  readonly labels?: Readonly<Record<string, string>>
  /** Of the CustomResourceDefinition. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** A rule in CEL (https://kubernetes.io/docs/reference/using-api/cel/). One that names `oldSelf` is asked on updates only. */
export interface Validation {
  readonly rule: string
  readonly message?: string
  /** A message that CEL puts together. */
  readonly messageExpression?: string
  /** Default `FieldValueInvalid`. */
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  /** The field that the error names, such as `.spec.engine`. */
  readonly fieldPath?: string
  /** True: also asked when the object is made; `oldSelf` is then optional. */
  readonly optionalOldSelf?: boolean
}

export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** Such as `.spec.replicas`. */
  readonly jsonPath: string
  readonly description?: string
  /** 0 (default): always. Greater: with `-o wide` only. */
  readonly priority?: number
  readonly format?: string
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
export function resource<S extends z.ZodObject, T extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  definition: ResourceDefinition<S, T>,
): ResourceKind<CustomResource<z.output<S>, z.input<T>>> {
  const names = {
    plural: definition.plural ?? pluralOf(String(definition.kind)),
    singular: definition.singular ?? String(definition.kind).toLowerCase(),
  }
  checkNames(definition, names)
  return {
    apiVersion: `${definition.group}/${definition.version}`,
    kind: definition.kind,
    plural: names.plural,
    scope: definition.scope ?? 'Namespaced',
    status: { conditions: true, observedGeneration: true, external: true },
    crd: crdOf(definition, names),
  }
}

function crdOf(definition: ResourceDefinition<z.ZodObject, z.ZodObject>, { plural, singular }: CrdNames): CustomResourceDefinition {
  const { group, version, kind, shortNames, categories, labels, annotations, selectableFields } = definition
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    },
    spec: {
      group,
      scope: definition.scope ?? 'Namespaced',
      names: {
        plural,
        singular,
        kind,
        listKind: `${kind}List`,
        ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
        ...(categories === undefined ? {} : { categories: [...categories] }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: openApiSchema(definition) },
          subresources: { status: {} },
          additionalPrinterColumns: printerColumns(definition.printerColumns ?? []),
          ...(selectableFields === undefined ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
        },
      ],
    },
  }
}

function openApiSchema({ kind, description, spec, status, validations }: ResourceDefinition<z.ZodObject, z.ZodObject>): Schema {
  const specSchema = objectSchema(kind, 'spec', spec)
  const mayBeLeftOut = specSchema.required === undefined
  // Defaults inside of `spec` are only filled in where there is a `spec`.
  if (mayBeLeftOut) specSchema.default = specSchema.default ?? {}
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: {
      apiVersion: { type: 'string', description: 'The group and version of the kind.' },
      kind: { type: 'string', description: 'The kind of the object.' },
      metadata: { type: 'object' },
      spec: specSchema,
      status: statusSchema(kind, status),
    },
    ...(mayBeLeftOut ? {} : { required: ['spec'] }),
    ...(validations === undefined || validations.length === 0
      ? {}
      : { 'x-kubernetes-validations': validations.map((rule) => ({ ...rule })) }),
  }
}

function statusSchema(kind: string, status: z.ZodObject | undefined): Schema {
  const { properties = {}, required: _required, ...rest } = status === undefined ? { type: 'object' } : objectSchema(kind, 'status', status)
  const own = { conditions: CONDITIONS, observedGeneration: OBSERVED_GENERATION, external: EXTERNAL }
  const taken = Object.keys(own).find((name) => Object.hasOwn(properties, name))
  if (taken !== undefined) throw new TypeError(`resource ${kind}: status.${taken} comes by itself; leave it out`)
  return { ...rest, properties: { ...properties, ...own } }
}

function objectSchema(kind: string, path: string, type: z.ZodObject): Schema {
  if (type?._zod?.def?.type !== 'object') throw new TypeError(`resource ${kind}: ${path}: expected z.object({ … })`)
  try {
    return schemaOf(type, path)
  } catch (error) {
    if (error instanceof SchemaError) throw new TypeError(`resource ${kind}: ${error.message}`, { cause: error })
    throw error
  }
}

function printerColumns(own: readonly PrinterColumn[]): Record<string, unknown>[] {
  const ready = {
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether it is as its spec asks.',
  }
  const reason = { type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 }
  const rest = [
    { name: 'Ready', ...ready },
    { name: 'Reason', ...reason },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ]
  const taken = new Set(own.map((column) => column.name.toLowerCase()))
  return [...own.map((column) => ({ ...column })), ...rest.filter((column) => !taken.has(column.name.toLowerCase()))]
}
