/** Whether an object has other types than its schema says, or lacks what is required: then the API server refuses it, in its own words. */

import type { Schema } from './schema.ts'

export function breaksSchema(value: unknown, schema: Schema): boolean {
  if (value === null) return schema.nullable !== true
  if (schema['x-kubernetes-int-or-string'] === true) return typeof value !== 'string' && !Number.isInteger(value)
  const { type } = schema
  if (type !== undefined && !TYPES[type]?.(value)) return true
  if (schema.enum !== undefined && typeof value !== 'object' && !schema.enum.includes(value)) return true
  if (Array.isArray(value)) return schema.items !== undefined && value.some((item) => breaksSchema(item, schema.items as Schema))
  if (typeof value !== 'object') return false
  const { properties = {}, required = [], additionalProperties } = schema
  if (required.some((name) => !Object.hasOwn(value, name))) return true
  return Object.entries(value).some(([name, member]) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    return typeof inner === 'object' && breaksSchema(member, inner)
  })
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: (value) => typeof value === 'object' && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
}
