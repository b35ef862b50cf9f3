/** Whether pruning and defaulting would leave an object as it is: true of nearly all that are read from the store. */
import type { Schema } from '../types.ts'
import { nodeOf, type SchemaNode } from './node.ts'

/** `defaults: false`: only of pruning. The metadata of the object itself is not looked at. */
export function conforms(object: object, schema: Schema, defaults = true): boolean {
  return fits(object, nodeOf(schema), true, false, defaults)
}

const META = new Set(['apiVersion', 'kind', 'metadata'])

/** `free`: unknown fields stay, because of a list above that keeps them. */
function fits(value: unknown, node: SchemaNode | undefined, whole: boolean, free: boolean, defaults: boolean): boolean {
  if (typeof value !== 'object' || value === null) return true
  const keeps = free || node?.preserve === true
  if (node === undefined && keeps) return true
  if (Array.isArray(value)) {
    const items = node?.items
    const nullDefault = defaults && items !== undefined && !items.nullable && items.default !== undefined
    for (const item of value) if ((nullDefault && item === null) || !fits(item, items, false, keeps, defaults)) return false
    return true
  }
  const object = value as Record<string, unknown>
  if (defaults && node !== undefined && lacksDefault(object, node)) return false
  const keepsMeta = whole || node?.embedded === true
  for (const key in object) {
    const property = node?.properties.get(key) ?? node?.additional
    const member = object[key]
    if (member === null && property !== undefined && !property.nullable && (defaults || property.default === undefined)) return false
    if (keepsMeta && META.has(key)) {
      // Not pruned, but defaulted and rid of nulls as the schema says.
      if (property !== undefined && typeof member === 'object' && !fits(member, property, false, true, defaults)) return false
      continue
    }
    const known = property !== undefined || node?.hasAdditional === true
    if (!known && !keeps) return false
    if (known && typeof member === 'object' && !fits(member, property, false, false, defaults)) return false
  }
  return true
}

function lacksDefault(object: Record<string, unknown>, node: SchemaNode): boolean {
  if (!node.has.defaults) return false
  for (const [name, property] of node.properties) {
    if (property.default !== undefined && (!Object.hasOwn(object, name) || object[name] === undefined)) return true
  }
  return false
}
