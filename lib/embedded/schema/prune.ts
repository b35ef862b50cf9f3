/**
 * Drops what a schema does not know, and nulls where it allows none: what decoding into a Go struct does for built-in kinds
 * (`unstructuredSchemaCoercer` and `structuralschema/pruning`).
 */
import { isObject, type JsonObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { nodeOf, type SchemaNode } from './node.ts'
import { pruneMetadata } from './object-meta-fields.ts'

export interface PruneOptions {
  /** It is a whole object: apiVersion, kind and metadata belong to it whatever the schema says. */
  readonly root: boolean
}

/** Only what is unknown; nulls stay. In place. */
export function pruneUnknown(value: unknown, schema: Schema): void {
  pruneValue(value, nodeOf(schema), [], [], false)
}

type Path = (string | number)[]

const META = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Prunes `object` in place and gives the paths of the unknown fields: those of metadata, then the others sorted
 * (`spec.bogus`, `spec.list[0].x`), then those in the metadata of embedded resources. Nulls are dropped without a word.
 */
export function prune(object: unknown, schema: Schema, options: PruneOptions): string[] {
  const node = nodeOf(schema)
  const unknown: string[] = []
  const metadata = options.root && isObject(object) && isObject(object['metadata']) ? pruneMetadata(object['metadata']) : []
  pruneValue(object, node, [], unknown, options.root)
  dropNulls(object, node)
  const embedded: string[] = []
  if (node.has.embedded) pruneEmbedded(object, node, '', embedded)
  return [...metadata, ...unknown.sort(), ...embedded.sort()]
}

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

function pruneEmbedded(value: unknown, node: SchemaNode | undefined, path: string, unknown: string[]): void {
  if (node === undefined || !node.has.embedded || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) pruneEmbedded(item, node.items, `${path}[${i}]`, unknown)
    return
  }
  const object = value as JsonObject
  if (node.embedded && isObject(object['metadata'])) {
    unknown.push(...pruneMetadata(object['metadata'], `${path}.metadata`))
  }
  for (const [key, member] of Object.entries(object)) {
    pruneEmbedded(member, node.properties.get(key) ?? node.additional, path === '' ? key : `${path}.${key}`, unknown)
  }
}
