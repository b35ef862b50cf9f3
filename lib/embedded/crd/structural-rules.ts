/**
 * What makes a schema structural: a type everywhere, and compositions that only add rules to fields which the schema itself
 * has (`structuralschema.ValidateStructural`).
 */
import { type FieldError, forbidden, invalid, required } from '../field-error.ts'
import { compilePattern } from '../schema/pattern.ts'
import type { Schema } from '../types.ts'

/** `field`: the path of `schema`. Sorted by their texts, as the server does. */
export function structuralErrors(schema: Schema, field: string): FieldError[] {
  const errors = [...invariants(schema, 'root', field), ...completeness(schema, schema, field, field, true)]
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1))
}

const text = ({ field, message }: FieldError) => `${field}: ${message}`

type Level = 'root' | 'item' | 'field'
type RawSchema = Schema & Readonly<Record<string, unknown>>

const UNSUPPORTED: readonly [member: string, name: string][] = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
]

/** Why no structural schema can be made of it at all; other rules mostly have a better word for the same. */
export function unsupportedPart(schema: Schema): string | undefined {
  const raw = schema as RawSchema
  for (const [member, name] of UNSUPPORTED) if (isSet(raw[member])) return `OpenAPIV3Schema '${name}' is not supported`
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  for (const child of childrenOf(schema)) {
    const found = unsupportedPart(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** All schemas directly in it. */
export function childrenOf(schema: Schema): Schema[] {
  const { items, not, additionalProperties, allOf = [], anyOf = [], oneOf = [], properties = {} } = schema
  return [
    ...(items === undefined ? [] : Array.isArray(items) ? items : [items]),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...(not === undefined ? [] : [not]),
    ...Object.values(properties),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ]
}

/** Not the zero value of its Go type. */
export function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  if (Array.isArray(value)) return value.length > 0
  return true
}

function invariants(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { type = '', items, properties = {}, additionalProperties: additional } = schema
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const preserve = schema['x-kubernetes-preserve-unknown-fields'] === true
  const intOrString = schema['x-kubernetes-int-or-string'] === true

  if (type === 'array' && items === undefined) errors.push(required(`${path}.items`, 'must be specified'))
  if (items !== undefined) errors.push(...invariants(items, 'item', `${path}.items`))
  for (const [name, property] of Object.entries(properties)) errors.push(...invariants(property, 'field', `${path}.properties[${name}]`))
  if (additional !== undefined) {
    if (level === 'root') errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'))
    if (typeof additional === 'object') errors.push(...invariants(additional, 'field', `${path}.additionalProperties`))
  }
  for (const name of ['preserve-unknown-fields', 'embedded-resource'] as const) {
    const extension = `x-kubernetes-${name}` as const
    if (intOrString && schema[extension] === true) {
      errors.push(invalid(`${path}.${extension}`, true, 'must be false if x-kubernetes-int-or-string is true'))
    }
  }
  errors.push(...valueRules(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), path))
  errors.push(...typeErrors(schema, level, path))
  if (embedded && additional !== undefined) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'))
  }
  errors.push(...metaErrors(properties, level, embedded, path))
  if (embedded && !preserve && Object.keys(properties).length === 0) {
    errors.push(
      required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    )
  }
  return errors
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function typeErrors(schema: Schema, level: Level, path: string): FieldError[] {
  const { type = '' } = schema
  const at = `${path}.type`
  const errors: FieldError[] = []
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(at, detail) : invalid(at, type, detail))
  } else if (type === '' && schema['x-kubernetes-int-or-string'] !== true && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    errors.push(required(at, EMPTY_TYPE[level]))
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(at, type, 'must be object at the root'))
  return errors
}

/** apiVersion, kind and metadata, of the root and of embedded resources. */
function metaErrors(properties: Readonly<Record<string, Schema>>, level: Level, embedded: boolean, path: string): FieldError[] {
  const errors: FieldError[] = []
  const checked = level === 'root' || embedded
  const at = (name: string) => `${path}.properties[${name}]`
  const own = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined)
  for (const name of ['kind', 'apiVersion']) {
    const property = own(name)
    if (checked && property !== undefined && property.type !== 'string') {
      errors.push(invalid(`${at(name)}.type`, property.type ?? '', 'must be string'))
    }
  }
  const metadata = own('metadata')
  if (metadata === undefined) return errors
  if (checked && metadata.type !== 'object') errors.push(invalid(`${at('metadata')}.type`, metadata.type ?? '', 'must be object'))
  if (level === 'root' && !isPlainMetadata(metadata)) {
    errors.push(
      forbidden(at('metadata'), 'must not specify anything other than name and generateName, but metadata is implicitly specified'),
    )
  }
  return errors
}

function isPlainMetadata({ type: _type, default: _default, properties = {}, ...rest }: Schema): boolean {
  return Object.keys(properties).every((name) => name === 'name' || name === 'generateName') && !Object.values(rest).some(isSet)
}

/** `[{type: integer}, {type: string}]`, the one place where compositions may have types. */
function isIntOrString(anyOf: readonly Schema[] | undefined): boolean {
  const isJust = (schema: Schema | undefined, type: string) =>
    schema?.type === type && !Object.entries(schema).some(([member, value]) => member !== 'type' && isSet(value))
  return anyOf?.length === 2 && isJust(anyOf[0], 'integer') && isJust(anyOf[1], 'string')
}

function valueRules(schema: Schema, skipAnyOf: boolean, skipFirstAllOf: boolean, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema
  if (!skipAnyOf) for (const [i, each] of anyOf.entries()) errors.push(...nestedRules(each, false, `${path}.anyOf[${i}]`))
  for (const [i, each] of allOf.entries()) errors.push(...nestedRules(each, skipFirstAllOf && i === 0, `${path}.allOf[${i}]`))
  for (const [i, each] of oneOf.entries()) errors.push(...nestedRules(each, false, `${path}.oneOf[${i}]`))
  if (not !== undefined) errors.push(...nestedRules(not, false, `${path}.not`))
  if (pattern) {
    try {
      compilePattern(pattern)
    } catch (error) {
      errors.push(invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${(error as Error).message}`))
    }
  }
  return errors
}

/** What must not be in a composition, with the words for it. */
const FORBIDDEN: readonly [member: keyof Schema, detail: string][] = [
  ['type', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

function nestedRules(schema: Schema, skipAnyOf: boolean, path: string): FieldError[] {
  const errors = valueRules(schema, skipAnyOf, false, path)
  const { items, properties = {}, additionalProperties: additional } = schema
  if (items !== undefined) errors.push(...nestedRules(items, false, `${path}.items`))
  for (const [name, each] of Object.entries(properties)) errors.push(...nestedRules(each, false, `${path}.properties[${name}]`))
  if (additional !== undefined && additional !== false) {
    errors.push(forbidden(`${path}.additionalProperties`, 'must be undefined to be structural'))
  }
  for (const [member, detail] of FORBIDDEN) {
    const value = schema[member]
    if (member === 'default' ? value !== undefined && value !== null : isSet(value)) errors.push(forbidden(`${path}.${member}`, detail))
  }
  if (Object.hasOwn(properties, 'metadata')) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'))
  }
  return errors
}

/** Each field in a composition is there in the schema itself. `rules`: the composition, at `rulesPath`. */
function completeness(rules: Schema, schema: Schema | undefined, path: string, rulesPath: string, outer = false): FieldError[] {
  if (schema === undefined) return [required(path, `because it is defined in ${rulesPath}`)]
  const errors: FieldError[] = []
  const { not, allOf = [], anyOf = [], oneOf = [], items, properties = {} } = rules
  if (not !== undefined) errors.push(...completeness(not, schema, path, `${rulesPath}.not`))
  for (const [i, each] of allOf.entries()) errors.push(...completeness(each, schema, path, `${rulesPath}.allOf[${i}]`))
  for (const [i, each] of anyOf.entries()) errors.push(...completeness(each, schema, path, `${rulesPath}.anyOf[${i}]`))
  for (const [i, each] of oneOf.entries()) errors.push(...completeness(each, schema, path, `${rulesPath}.oneOf[${i}]`))
  if (outer) return errors
  if (items !== undefined) errors.push(...completeness(items, schema.items, `${path}.items`, `${rulesPath}.items`))
  for (const [name, each] of Object.entries(properties)) {
    const own = schema.properties !== undefined && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    errors.push(...completeness(each, own, `${path}.properties[${name}]`, `${rulesPath}.properties[${name}]`))
  }
  return errors
}
