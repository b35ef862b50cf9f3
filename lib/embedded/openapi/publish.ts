/** The schema of a custom kind as OpenAPI documents show it: more than the definition says in v3, less of it in v2. */
import type { Schema } from '../types.ts'

const EMBEDDED_DESCRIPTIONS = {
  apiVersion:
    'apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
  kind: 'kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
}

/** `common`: the properties that each object has. */
export function publishV3(root: Schema, common: Readonly<Record<string, Schema>>): Schema {
  const schema = mapSchema(root, (each) => completeEmbedded(completeIntOrString(each), common))
  return { ...schema, type: 'object', properties: sortedByName({ ...schema.properties, ...common }) }
}

/**
 * What kubectl's reader of v2 copes with: no junctors, no defaults, nothing inside of what may be null or keeps unknown fields
 * (`ToStructuralOpenAPIV2` of k8s.io/apiextensions-apiserver).
 */
export function publishV2(root: Schema, common: Readonly<Record<string, Schema>>): Schema {
  const schema = mapSchema(root, lessForV2)
  if (root['x-kubernetes-preserve-unknown-fields'] === true) return { type: 'object' }
  return { ...schema, type: 'object', properties: sortedByName({ ...schema.properties, ...common }) }
}

function completeIntOrString(schema: Schema): Schema {
  if (schema['x-kubernetes-int-or-string'] !== true || schema.anyOf !== undefined) return schema
  // Also where a conjunction says it already.
  if (schema.allOf?.some(({ anyOf }) => anyOf !== undefined)) return schema
  const { type: _, ...rest } = schema
  return { ...rest, anyOf: [{ type: 'integer' }, { type: 'string' }] }
}

function completeEmbedded(schema: Schema, { metadata }: Readonly<Record<string, Schema>>): Schema {
  if (schema['x-kubernetes-embedded-resource'] !== true) return schema
  const { apiVersion, kind } = EMBEDDED_DESCRIPTIONS
  const properties: Record<string, Schema> = {
    ...schema.properties,
    apiVersion: { description: apiVersion, type: 'string' },
    kind: { description: kind, type: 'string' },
    ...(metadata === undefined ? {} : { metadata }),
  }
  const required = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])]
  return { ...schema, properties: sortedByName(properties), required }
}

function lessForV2(schema: Schema, original: Schema): Schema {
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, default: _default, nullable, ...rest } = schema
  const keepsUnknown = rest['x-kubernetes-preserve-unknown-fields'] === true
  if (nullable === true || keepsUnknown) {
    delete rest.items
    delete rest.properties
  }
  if (nullable === true || (keepsUnknown && rest.type === 'object') || (rest.type === 'array' && rest.items === undefined)) delete rest.type
  if (rest['x-kubernetes-int-or-string'] === true) delete rest.type
  const optional = Object.entries(original.properties ?? {}).flatMap(([name, each]) => (each.nullable === true ? [name] : []))
  const required = rest.required?.filter((name) => !optional.includes(name)) ?? []
  if (required.length === 0 || isNullable(original.additionalProperties)) delete rest.required
  else rest.required = required
  return rest
}

const isNullable = (schema: Schema | boolean | undefined) => typeof schema === 'object' && schema.nullable === true

/** Each schema in it (not the junctors, which only restrict) through `change`, the innermost first. */
function mapSchema(schema: Schema, change: (schema: Schema, original: Schema) => Schema): Schema {
  const { properties, items, additionalProperties, ...rest } = schema
  const mapped: Schema = { ...rest }
  if (properties !== undefined) {
    mapped.properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, mapSchema(each, change)]))
  }
  if (items !== undefined) mapped.items = mapSchema(items, change)
  if (additionalProperties !== undefined) {
    mapped.additionalProperties = typeof additionalProperties === 'object' ? mapSchema(additionalProperties, change) : additionalProperties
  }
  return change(mapped, schema)
}

function sortedByName<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
