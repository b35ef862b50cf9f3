/**
 * Drops what a schema does not know, and nulls where it allows none: what decoding into a Go struct does for built-in kinds
 * (`unstructuredSchemaCoercer` and `structuralschema/pruning`).
 */
import { show } from '../field-error.ts'
import { isObject, type JsonObject } from '../json.ts'
import { decodeMetadata } from '../operations/decode-metadata.ts'
import { goType } from '../operations/go-type.ts'
import { badRequest } from '../status.ts'
import type { Schema } from '../types.ts'
import { sortMembers } from './go.ts'
import { nodeOf, type SchemaNode } from './node.ts'

export interface PruneOptions {
  /** It is a whole object: apiVersion, kind and metadata belong to it whatever the schema says. */
  readonly root: boolean
  /** Embedded objects with metadata of wrong types stay as they are, instead of being refused: of what is stored. */
  readonly lenient?: boolean
}

/**
 * Prunes `object` in place and gives the sorted paths of the unknown fields (`spec.bogus`, `spec.list[0].x`), then those in the
 * metadata of embedded objects. Nulls are dropped without a word. The metadata of the object itself is not looked at.
 * @throws ApiError 400 where an embedded object has parts of wrong types
 */
export function prune(object: unknown, schema: Schema, options: PruneOptions): string[] {
  const node = nodeOf(schema)
  const unknown: string[] = []
  pruneValue(object, node, [], unknown, options.root)
  dropNulls(object, node)
  if (unknown.length > 1) unknown.sort()
  if (!node.has.embedded) return unknown
  const embedded: string[] = []
  decodeEmbedded(object, node, '', embedded, options.lenient === true)
  return [...unknown, ...embedded.sort()]
}

/** Only what is unknown; nulls stay. In place. */
export function pruneUnknown(value: unknown, schema: Schema): void {
  pruneValue(value, nodeOf(schema), [], [], false)
}

type Path = (string | number)[]

const META = new Set(['apiVersion', 'kind', 'metadata'])

function pruneValue(value: unknown, node: SchemaNode | undefined, path: Path, unknown: string[], whole: boolean): void {
  if (typeof value !== 'object' || value === null) return
  if (node?.preserve === true) {
    pruneKnown(value, node, path, unknown)
    return
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      path.push(i)
      pruneValue(item, node?.items, path, unknown, false)
      path.pop()
    }
    return
  }
  const object = value as JsonObject
  const keepsMeta = whole || node?.embedded === true
  for (const key of Object.keys(object)) {
    if (keepsMeta && META.has(key)) continue
    const property = node?.properties.get(key)
    if (property === undefined && node?.hasAdditional !== true) {
      unknown.push(join(path, key))
      delete object[key]
      continue
    }
    const member = object[key]
    if (typeof member !== 'object' || member === null) continue
    path.push(key)
    pruneValue(member, property ?? node?.additional, path, unknown, false)
    path.pop()
  }
}

/** Below a node that keeps what it does not know: what it does know is pruned as ever. */
function pruneKnown(value: unknown, node: SchemaNode | undefined, path: Path, unknown: string[]): void {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      path.push(i)
      pruneKnown(item, node.items, path, unknown)
      path.pop()
    }
    return
  }
  for (const [key, member] of Object.entries(value)) {
    if (node.embedded && META.has(key)) continue
    const property = node.properties.get(key)
    if (property === undefined && !node.hasAdditional) continue
    path.push(key)
    pruneValue(member, property ?? node.additional, path, unknown, false)
    path.pop()
  }
}

function join(path: Path, key: string): string {
  let text = ''
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`
  return text === '' ? key : `${text}.${key}`
}

/** A null is as good as nothing, unless it is allowed or stands for a default; in a list it stays, and is an error. */
function dropNulls(value: unknown, node: SchemaNode | undefined): void {
  if (node === undefined || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (node.items !== undefined) for (const item of value) dropNulls(item, node.items)
    return
  }
  const object = value as JsonObject
  for (const key of Object.keys(object)) {
    const property = node.properties.get(key) ?? node.additional
    if (property === undefined) continue
    const member = object[key]
    if (member === null) {
      if (!property.nullable && property.default === undefined) delete object[key]
    } else if (typeof member === 'object') dropNulls(member, property)
  }
}

function decodeEmbedded(value: unknown, node: SchemaNode | undefined, path: string, unknown: string[], lenient: boolean): void {
  if (node === undefined || !node.has.embedded || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) decodeEmbedded(item, node.items, `${path}[${i}]`, unknown, lenient)
    return
  }
  const object = value as JsonObject
  if (node.embedded) decodeObject(object, path, unknown, lenient)
  for (const [key, member] of Object.entries(object)) {
    decodeEmbedded(member, node.properties.get(key) ?? node.additional, path === '' ? key : `${path}.${key}`, unknown, lenient)
  }
}

function decodeObject(object: JsonObject, path: string, unknown: string[], lenient: boolean): void {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  const wrong = (name: string, text: string) => badRequest(`${at(name)}: Invalid value: ${show(sortMembers(object[name]))}: ${text}`)
  try {
    for (const name of ['apiVersion', 'kind']) {
      if (object[name] !== undefined && typeof object[name] !== 'string') throw wrong(name, 'must be a string')
    }
    if (object['metadata'] === null) object['metadata'] = {}
    const { metadata } = object
    if (metadata === undefined) return
    if (!isObject(metadata)) {
      throw wrong('metadata', `json: cannot unmarshal ${goType(metadata)} into Go value of type v1.ObjectMeta`)
    }
    for (const field of decodeMetadata(metadata, (text) => wrong('metadata', text))) unknown.push(at(field))
  } catch (error) {
    if (!lenient) throw error
  }
}
