/** Fills in the defaults of a schema (`structuralschema/defaulting`), on writes and on what is read from the store. */
import { cloneJson, define, type JsonObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { nodeOf, type SchemaNode } from './node.ts'

/**
 * Works in place. A default counts where a field is missing, or null and not nullable. Those of nested fields need their
 * parent to be there, or to have a default itself.
 */
export function applyDefaults(object: unknown, schema: Schema): void {
  const node = nodeOf(schema)
  if (node.has.defaults) fill(object, node)
}

function fill(value: unknown, node: SchemaNode): void {
  if (!node.has.defaults || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) fillItems(value, node.items)
  else fillMembers(value as JsonObject, node)
}

function fillItems(list: unknown[], items: SchemaNode | undefined): void {
  if (items === undefined) return
  for (const [i, item] of list.entries()) {
    if (item === null && !items.nullable && items.default !== undefined) list[i] = cloneJson(items.default)
    fill(list[i], items)
  }
}

function fillMembers(object: JsonObject, node: SchemaNode): void {
  for (const [name, property] of node.properties) {
    if (property.default !== undefined) {
      const there = Object.hasOwn(object, name) ? object[name] : undefined
      if (there === undefined || (there === null && !property.nullable)) define(object, name, cloneJson(property.default))
    }
    if (property.has.defaults && Object.hasOwn(object, name)) fill(object[name], property)
  }
  const { additional } = node
  if (additional === undefined) return
  for (const key of Object.keys(object)) {
    if (node.properties.has(key)) continue
    if (object[key] === null && !additional.nullable && additional.default !== undefined) define(object, key, cloneJson(additional.default))
    fill(object[key], additional)
  }
}
