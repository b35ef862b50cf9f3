/** Objects inside of objects (`x-kubernetes-embedded-resource`): they have a kind, and metadata with its rules. */
import { type FieldError, invalid, required } from '../field-error.ts'
import { isObject, type JsonObject } from '../json.ts'
import { dns1035Label, pathSegmentName } from '../names.ts'
import { validateMetadata } from '../object-meta.ts'
import type { Metadata, Schema } from '../types.ts'
import { nodeOf, type SchemaNode } from './node.ts'

/** The root itself is not looked at: its kind and metadata have been checked before. */
export function validateEmbedded(object: unknown, schema: Schema): FieldError[] {
  const errors: FieldError[] = []
  const node = nodeOf(schema)
  if (node.has.embedded) checkValue(object, node, '', errors)
  return errors
}

function checkValue(value: unknown, node: SchemaNode, path: string, errors: FieldError[]): void {
  if (!node.has.embedded) return
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const [i, item] of value.entries()) checkValue(item, node.items, `${path}[${i}]`, errors)
    return
  }
  if (!isObject(value)) return
  if (node.embedded) checkObject(value, path, errors)
  for (const [key, member] of Object.entries(value)) {
    const property = node.properties.get(key)
    if (property !== undefined) checkValue(member, property, path === '' ? key : `${path}.${key}`, errors)
    else if (node.additional !== undefined) checkValue(member, node.additional, `${path}[${key}]`, errors)
  }
}

function checkObject(object: JsonObject, path: string, errors: FieldError[]): void {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  for (const name of ['apiVersion', 'kind'] as const) {
    const value = object[name]
    if (value === undefined) errors.push(required(at(name)))
    else if (typeof value !== 'string') errors.push(invalid(at(name), value, 'must be a string'))
    else if (value === '') errors.push(invalid(at(name), value, 'must not be empty'))
    else if (name === 'apiVersion') {
      if (value.split('/').length > 2) errors.push(invalid(at(name), value, `unexpected GroupVersion string: ${value}`))
    } else {
      const wrong = dns1035Label(value.toLowerCase())
      if (wrong.length > 0) errors.push(invalid(at(name), value, `may have mixed case, but should otherwise match: ${wrong.join(',')}`))
    }
  }
  if (isObject(object['metadata'])) checkMetadata(object['metadata'] as Metadata, at(''), errors)
}

/** Types of its fields have been checked when it was decoded. It may be of any kind, and needs no name. */
function checkMetadata(metadata: Metadata, prefix: string, errors: FieldError[]): void {
  const named = { ...metadata, name: metadata.name || 'fakename' }
  for (const error of validateMetadata(named, Boolean(metadata.namespace), pathSegmentName)) {
    errors.push({ ...error, field: `${prefix}${error.field}` })
  }
}
