/** Lists of type set and map have no item twice (`structuralschema/listtype`). */
import { duplicate, type FieldError, invalid } from '../field-error.ts'
import { encodeJson, isObject, type JsonObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { sortMembers } from './go.ts'
import { nodeOf, type SchemaNode } from './node.ts'

export function validateListTypes(object: unknown, schema: Schema): FieldError[] {
  const errors: FieldError[] = []
  checkValue(object, nodeOf(schema), '', errors)
  return errors
}

function checkValue(value: unknown, node: SchemaNode, path: string, errors: FieldError[]): void {
  if (!node.has.listTypes) return
  if (Array.isArray(value)) {
    const type = node.schema['x-kubernetes-list-type']
    if (type === 'set') checkSet(value, path, errors)
    else if (type === 'map') checkMap(value, node.schema['x-kubernetes-list-map-keys'] ?? [], path, errors)
    if (node.items?.has.listTypes) for (const [i, item] of value.entries()) checkValue(item, node.items, `${path}[${i}]`, errors)
    return
  }
  if (!isObject(value)) return
  for (const [key, member] of Object.entries(value)) {
    const property = node.properties.get(key)
    if (property !== undefined) checkValue(member, property, path === '' ? key : `${path}.${key}`, errors)
    else if (node.additional !== undefined) checkValue(member, node.additional, `${path}[${key}]`, errors)
  }
}

function checkSet(items: readonly unknown[], path: string, errors: FieldError[]): void {
  for (const i of repeated(items)) errors.push(duplicate(`${path}[${i}]`, sortMembers(items[i])))
}

function checkMap(items: readonly unknown[], names: readonly string[], path: string, errors: FieldError[]): void {
  const odd = items.findIndex((item) => item !== null && !isObject(item))
  if (odd >= 0) {
    errors.push(invalid(`${path}[${odd}]`, items[odd], 'must be an object for an array of list-type map'))
    return
  }
  const keys = items.map((item) => keyOf(item as JsonObject | null, names))
  for (const i of repeated(keys)) errors.push(duplicate(`${path}[${i}]`, keys[i]))
}

/** A missing key is one like any other. */
function keyOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const key: JsonObject = Object.create(null)
  for (const name of names.toSorted()) if (item !== null && Object.hasOwn(item, name)) key[name] = item[name]
  return key
}

/** Where something is for the second time; a third is not said again. */
function repeated(items: readonly unknown[]): number[] {
  if (items.length < 2) return []
  const counts = new Map<unknown, number>()
  const found: number[] = []
  for (const [i, item] of items.entries()) {
    const id = identity(item)
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    if (count === 2) found.push(i)
  }
  return found
}

function identity(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? `{${encodeJson(sortMembers(value))}` : value
}
