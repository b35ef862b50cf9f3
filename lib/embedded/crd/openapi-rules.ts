/** What a schema of a definition may say, node by node (`ValidateCustomResourceDefinitionOpenAPISchema`), but for CEL itself. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../field-error.ts'
import type { Schema } from '../types.ts'
import { isSet } from './structural-rules.ts'

type RawSchema = Schema & Readonly<Record<string, unknown>>

/** Where in the schema a node is. */
interface Place {
  /** Defaults are not allowed, for this reason. */
  readonly noDefaults?: string
  readonly inMetadata?: boolean
}

export function openapiErrors(schema: Schema, field: string): FieldError[] {
  return nodeErrors(schema, field, {}, true)
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const META = new Set(['metadata', 'kind', 'apiVersion'])

function nodeErrors(schema: Schema, path: string, place: Place, root: boolean): FieldError[] {
  const errors = standardErrors(schema, path, place)
  if (schema.uniqueItems === true) {
    errors.push(forbidden(`${path}.uniqueItems`, 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'))
  }
  const { properties = {}, additionalProperties: additional, items, not } = schema
  if (additional !== undefined) {
    if (Object.keys(properties).length > 0 && additional !== true) {
      errors.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'))
    }
    if (typeof additional === 'object') {
      const inner = place.inMetadata ? { ...place, noDefaults: 'inside additionalProperties applying to object metadata' } : place
      errors.push(...nodeErrors(additional, `${path}.additionalProperties`, inner, false))
    }
  }
  for (const [name, property] of Object.entries(properties)) {
    let inner = place
    if ((root || schema['x-kubernetes-embedded-resource'] === true) && META.has(name)) {
      inner = { ...place, inMetadata: true, ...(root ? { noDefaults: `in top-level ${name}` } : {}) }
    }
    errors.push(...nodeErrors(property, `${path}.properties[${name}]`, inner, false))
  }
  if (not !== undefined) errors.push(...nodeErrors(not, `${path}.not`, place, false))
  for (const member of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, each] of (schema[member] ?? []).entries()) errors.push(...nodeErrors(each, `${path}.${member}[${i}]`, place, false))
  }
  if (items !== undefined && !Array.isArray(items)) errors.push(...nodeErrors(items, `${path}.items`, place, false))
  errors.push(...extensionErrors(schema, path), ...mapErrors(schema, path), ...keyErrors(schema, path))
  return errors
}

function standardErrors(schema: Schema, path: string, place: Place): FieldError[] {
  const errors: FieldError[] = []
  const raw = schema as RawSchema
  const { type = '' } = schema
  if (type !== '' && !TYPES.includes(type)) errors.push(notSupported(`${path}.type`, type, TYPES))
  if (schema.default !== undefined && place.noDefaults !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${place.noDefaults}`))
  }
  for (const member of ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']) {
    if (isSet(raw[member])) errors.push(forbidden(`${path}.${member}`, `${member} is not supported`))
  }
  if (type === 'null') errors.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  if (Array.isArray(schema.items)) errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  if (place.inMetadata && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'))
  }
  return errors
}

/** `x-kubernetes-map-type`, `-list-type` and what they need of the type. */
function extensionErrors(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { type = '' } = schema
  const mapType = schema['x-kubernetes-map-type']
  const listType = schema['x-kubernetes-list-type'] as string | undefined
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  }
  const needs = (wanted: string, extension: string) => {
    const detail = `must be ${wanted} if ${extension} is specified`
    if (type !== wanted) errors.push(type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail))
  }
  if (mapType !== undefined) {
    needs('object', 'x-kubernetes-map-type')
    if (mapType !== 'atomic' && mapType !== 'granular') {
      errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
    }
  }
  if (listType === undefined) return errors
  needs('array', 'x-kubernetes-list-type')
  if (type === 'array' && listType === 'set' && schema.items !== undefined) errors.push(...atomicItemErrors(schema.items, `${path}.items`))
  if (!['atomic', 'set', 'map'].includes(listType)) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']))
  }
  return errors
}

function atomicItemErrors(items: Schema, path: string): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const listType = items['x-kubernetes-list-type']
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalid(`${path}.x-kubernetes-list-type`, listType, detail)]
  }
  // The value that is quoted is that of the list type, in the real server too.
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail)]
  }
  return []
}

function mapErrors(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  if (keys.length > 0 && listType !== 'map') {
    const at = `${path}.x-kubernetes-list-type`
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail))
  }
  if (listType !== 'map') return errors
  const { items } = schema
  if (keys.length === 0) {
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'))
  }
  if (items === undefined) return [...errors, required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map')]
  if (items.type !== 'object') {
    errors.push(invalid(`${path}.items.type`, items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map"))
    return errors
  }
  for (const [i, key] of keys.entries()) {
    const property = ownProperty(items, key)
    const at = `${path}.x-kubernetes-list-map-keys`
    if (property === undefined) errors.push(invalid(at, keys, 'entries must all be names of item properties'))
    else if (property.type === 'array' || property.type === 'object') {
      errors.push(
        invalid(
          `${path}.items.properties[${key}].type`,
          items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      )
    }
    if (keys.indexOf(key) < i) errors.push(invalid(at, keys, 'must not contain duplicate entries'))
  }
  return errors
}

/** Items and keys of sets and maps are never null, and keys never missing. */
function keyErrors(schema: Schema, path: string): FieldError[] {
  const { items } = schema
  const listType = schema['x-kubernetes-list-type']
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return []
  const errors: FieldError[] = []
  if (items.nullable === true) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  }
  if (listType !== 'map') return errors
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = ownProperty(items, key)
    if (property === undefined) continue
    const at = `${path}.items.properties[${key}]`
    if (!items.required?.includes(key) && (property.default ?? undefined) === undefined) {
      errors.push(
        required(`${at}.default`, 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'),
      )
    }
    if (property.nullable === true) {
      errors.push(forbidden(`${at}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'))
    }
  }
  return errors
}

const ownProperty = (schema: Schema, name: string): Schema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
