/** One version of a kind made by `resource()`: what is written down of it, and what the CustomResourceDefinition says. */

import type * as z from 'zod'
import type { CustomResourceVersion } from './kind.ts'
import { type Schema, SchemaError } from './schema.ts'
import { fieldAt } from './schema-path.ts'
import { CONDITIONS, EXTERNAL, OBSERVED_GENERATION } from './status-schema.ts'
import { schemaOf } from './zod-schema.ts'

export interface VersionDefinition<S extends z.ZodObject, T extends z.ZodObject> {
  /** `v1`, `v1beta2`, `v1alpha1`, … */
  readonly version: string
  /** What `kubectl explain` says of the kind. */
  readonly description?: string
  /** The desired state. Defaults are filled in by the API server, so handlers see them. */
  readonly spec: S
  /** What handlers report. `conditions` and `observedGeneration` come by themselves. All fields may be absent. */
  readonly status?: T
  /** Rules across fields; `self` is the object. Of one field: `.meta({ 'x-kubernetes-validations': […] })` on its type. */
  readonly validations?: readonly Validation[]
  /** Columns of `kubectl get`, before Ready, Reason (with `-o wide`) and Age, which come by themselves. */
  readonly printerColumns?: readonly PrinterColumn[]
  /** Paths that field selectors may use, such as `.spec.engine`. At most 8, of texts, whole numbers and booleans. */
  readonly selectableFields?: readonly string[]
  /** Lets `kubectl scale` and a HorizontalPodAutoscaler set the number of replicas. */
  readonly scale?: Scale
  /** Warns whoever uses this version: true in the API server's words, a text in these. */
  readonly deprecated?: boolean | string
}

/** A rule in CEL (https://kubernetes.io/docs/reference/using-api/cel/). One that names `oldSelf` is asked on updates only. */
export interface Validation {
  readonly rule: string
  readonly message?: string
  /** A message that CEL puts together. */
  readonly messageExpression?: string
  /** Default `FieldValueInvalid`. */
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  /** The field that the error names, from where the rule stands, such as `.spec.engine`. */
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

/** Where the numbers of `kubectl scale` are (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#scale-subresource). */
export interface Scale {
  /** Such as `.spec.replicas`: whole number. */
  readonly specReplicasPath: string
  /** Such as `.status.replicas`: whole number. */
  readonly statusReplicasPath: string
  /** Such as `.status.selector`: a label selector as text. An autoscaler finds the pods by it. */
  readonly labelSelectorPath?: string
}

/** `kind` is for messages. @throws TypeError that names the field */
export function crdVersion(
  kind: string,
  definition: VersionDefinition<z.ZodObject, z.ZodObject>,
  { served, storage }: { served: boolean; storage: boolean },
): CustomResourceVersion {
  const { version, deprecated, selectableFields, scale } = definition
  const schema = openApiSchema(kind, definition)
  checkPaths(kind, definition, schema)
  return {
    name: version,
    served,
    storage,
    ...(deprecated === undefined || deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: schema },
    subresources: { status: {}, ...(scale === undefined ? {} : { scale: { ...scale } }) },
    additionalPrinterColumns: printerColumns(definition.printerColumns ?? []),
    ...(selectableFields === undefined ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  }
}

type AnyVersion = VersionDefinition<z.ZodObject, z.ZodObject>

function openApiSchema(kind: string, { description, spec, status, validations }: AnyVersion): Schema {
  const specSchema = { description: 'The desired state.', ...objectSchema(kind, 'spec', spec) } as Schema
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
  return { description: 'The state that the operator found.', ...rest, properties: { ...properties, ...own } }
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

/** A path that leads nowhere would give an empty column, a selector that finds nothing, or replicas that nobody can set. */
function checkPaths(kind: string, { printerColumns: columns = [], selectableFields = [], scale }: AnyVersion, schema: Schema): void {
  const refuse = (field: string, text: string): never => {
    throw new TypeError(`resource ${kind}: ${field}: ${text}`)
  }
  for (const { name, jsonPath } of columns) {
    if (fieldAt(schema, jsonPath) === 'missing') refuse(`printerColumns ${name}`, `there is no field ${jsonPath}`)
  }
  const expectType = (field: string, path: string, below: readonly string[], types: readonly string[]) => {
    if (!below.some((part) => path.startsWith(`.${part}.`)))
      refuse(field, `expected a path such as .${below[0]}.replicas, not ${JSON.stringify(path)}`)
    const found = fieldAt(schema, path)
    if (found === 'missing') refuse(field, `there is no field ${path}`)
    if (typeof found === 'object' && !types.includes(String(found.type)))
      refuse(field, `${path} must be of type ${types.join(' or ')}, not ${found.type ?? 'anything'}`)
  }
  for (const path of selectableFields) expectType('selectableFields', path, ['spec', 'status'], ['string', 'integer', 'boolean'])
  if (scale === undefined) return
  expectType('scale.specReplicasPath', scale.specReplicasPath, ['spec'], ['integer'])
  expectType('scale.statusReplicasPath', scale.statusReplicasPath, ['status'], ['integer'])
  if (scale.labelSelectorPath !== undefined) expectType('scale.labelSelectorPath', scale.labelSelectorPath, ['status', 'spec'], ['string'])
}
