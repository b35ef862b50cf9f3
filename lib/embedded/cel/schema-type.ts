/**
 * A structural schema as a type of the language, with the limits that costs are estimated by.
 */
import type { Schema } from '../types.ts'
import { escapeName } from './escape.ts'
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, listOf, mapOf, STRING, struct, TIMESTAMP } from './types.ts'

const MAX_REQUEST = 3 * 1024 * 1024

export interface SchemaType {
  readonly kind: 'simple' | 'list' | 'map' | 'object'
  /** Of simple types only; the others are named where they are used. */
  readonly type?: CelType
  readonly fields?: ReadonlyMap<string, SchemaType>
  readonly key?: SchemaType
  readonly element?: SchemaType
  /** Most elements, code points or bytes that a value can have. */
  readonly maxElements: number
  /** Fewest bytes of a value in JSON. */
  readonly minSize: number
}

/** `root`: of a resource, which always has apiVersion, kind and metadata. Undefined: expressions cannot see such values. */
export function schemaType(schema: Schema, root: boolean): SchemaType | undefined {
  if (schema['x-kubernetes-int-or-string']) {
    return simple(DYN, schema.maxLength === undefined ? MAX_REQUEST - 2 : Math.max(0, schema.maxLength) * 4, 1)
  }
  const known = root ? withResourceFields(schema) : schema
  switch (known.type) {
    case 'array':
      return arrayType(known)
    case 'object':
      return objectType(known)
    case 'string':
      return stringType(known)
    case 'boolean':
      return simple(BOOL, 0, 4)
    case 'number':
      return simple(DOUBLE, 0, 1)
    case 'integer':
      return simple(INT, 0, 1)
    default:
      return undefined
  }
}

const simple = (type: CelType, maxElements: number, minSize: number): SchemaType => ({ kind: 'simple', type, maxElements, minSize })

const isEmbedded = (schema: Schema) => schema['x-kubernetes-embedded-resource'] === true

/** `additionalProperties` where they have a schema. */
export function valueSchema(schema: Schema): Schema | undefined {
  const values = schema.additionalProperties
  return typeof values === 'object' ? values : undefined
}

function arrayType(schema: Schema): SchemaType | undefined {
  const element = schema.items && schemaType(schema.items, isEmbedded(schema.items))
  if (element === undefined) return undefined
  const maxElements = schema.maxItems === undefined ? Math.floor((MAX_REQUEST - 2) / (element.minSize + 1)) : Math.max(0, schema.maxItems)
  return { kind: 'list', element, maxElements, minSize: 2 }
}

function objectType(schema: Schema): SchemaType | undefined {
  const values = valueSchema(schema)
  if (values === undefined) return fieldsType(schema)
  const element = schemaType(values, isEmbedded(values))
  if (element === undefined) return undefined
  const maxElements =
    schema.maxProperties === undefined ? Math.floor((MAX_REQUEST - 2) / (element.minSize + 6)) : Math.max(0, schema.maxProperties)
  // Keys have no known limit.
  return { kind: 'map', key: simple(STRING, 0, 2), element, maxElements, minSize: 2 }
}

function fieldsType(schema: Schema): SchemaType {
  const fields = new Map<string, SchemaType>()
  const required = new Set(schema.required)
  let minSize = 2
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = schemaType(property, isEmbedded(property))
    if (type === undefined) continue
    const escaped = escapeName(name)
    if (escaped !== undefined) fields.set(escaped, type)
    if (required.has(name) && (property.default === undefined || property.default === null)) {
      minSize += Buffer.byteLength(name) + type.minSize + 4
    }
  }
  return { kind: 'object', fields, maxElements: 0, minSize }
}

function stringType(schema: Schema): SchemaType {
  switch (schema.format) {
    case 'byte':
      return simple(BYTES, schema.maxLength === undefined ? MAX_REQUEST - 2 : Math.max(0, schema.maxLength), 2)
    case 'duration':
      return simple(DURATION, 32, 3)
    case 'date':
      return simple(TIMESTAMP, 12, 12)
    case 'date-time':
      return simple(TIMESTAMP, 32, 21)
    default:
      return simple(STRING, textLimit(schema), 2)
  }
}

function textLimit(schema: Schema): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4
  const values = schema.enum ?? []
  if (values.length === 0) return MAX_REQUEST - 2
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)))
}

const TEXT: Schema = { type: 'string' }
const METADATA: Schema = { type: 'object', properties: { name: TEXT, generateName: TEXT } }

/** Every resource has these, and rules see no more of its metadata. */
export function withResourceFields(schema: Schema): Schema {
  const { kind, apiVersion, metadata } = schema.properties ?? {}
  const named = metadata?.type === 'object' && metadata.properties?.name?.type === 'string'
  if (kind?.type === 'string' && apiVersion?.type === 'string' && named && metadata.properties?.generateName?.type === 'string') {
    return schema
  }
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: METADATA } }
}

/** The static type; objects are named by where they are (`name.spec.@idx`). */
export function celType(type: SchemaType, name: string): CelType {
  switch (type.kind) {
    case 'simple':
      return type.type as CelType
    case 'list':
      return listOf(celType(type.element as SchemaType, `${name}.@idx`))
    case 'map':
      return mapOf(STRING, celType(type.element as SchemaType, `${name}.@elem`))
    case 'object':
      return struct(name, new Map([...(type.fields ?? [])].map(([field, each]) => [field, celType(each, `${name}.${field}`)])))
  }
}
