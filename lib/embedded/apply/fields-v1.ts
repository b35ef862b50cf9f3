/** Field sets as objects carry them: `metadata.managedFields[].fieldsV1`. */
import { define, isObject, type Json, type JsonObject } from '../json.ts'
import { type FieldNode, type FieldSet, type FieldSetDraft, sortedElements } from './field-set.ts'
import { parseElement } from './path-element.ts'

/** @throws Error where a step of a path is malformed */
export function parseFields(fields: JsonObject): FieldSet {
  const set: FieldSetDraft = new Map()
  for (const key of Object.keys(fields)) {
    if (key === '.') continue
    const element = parseElement(key)
    if (element !== undefined) set.set(element, parseNode(fields[key]))
  }
  return set
}

function parseNode(value: Json | undefined): FieldNode {
  if (value === null || value === undefined) return { member: true, children: undefined }
  if (!isObject(value)) throw new Error('expected an object')
  const children = parseFields(value)
  if (children.size === 0) return { member: true, children: undefined }
  return { member: Object.hasOwn(value, '.'), children }
}

/** In canonical order: `.` first, then names, keys, values, indices. */
export function writeFields(set: FieldSet): JsonObject {
  return write(set, false)
}

function write(set: FieldSet, self: boolean): JsonObject {
  const fields: JsonObject = self ? { '.': {} } : {}
  for (const element of sortedElements(set)) {
    const { member, children } = set.get(element) as FieldNode
    define(fields, element, children === undefined ? {} : write(children, member))
  }
  return fields
}
