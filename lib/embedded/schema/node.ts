/**
 * A structural schema made ready: types, formats and patterns looked up once, and what has nothing to do below a node is
 * known, so that writes do not search for it.
 */
import type { Schema } from '../types.ts'
import { type FormatCheck, formatCheck, isKnownFormat } from './formats.ts'
import { compilePattern, type Pattern } from './pattern.ts'

export interface SchemaNode {
  readonly schema: Schema
  /** `['integer', 'string']` of int-or-string. */
  readonly types: readonly string[]
  readonly nullable: boolean
  /** `''` where it is not enforced for the type. */
  readonly format: string
  readonly formatCheck: FormatCheck | undefined
  readonly pattern: Pattern | undefined
  /** Keeps fields that it does not know. */
  readonly preserve: boolean
  /** A whole object with apiVersion, kind and metadata. */
  readonly embedded: boolean
  /** Undefined: none. A `null` is none. */
  readonly default: unknown
  readonly properties: ReadonlyMap<string, SchemaNode>
  readonly items: SchemaNode | undefined
  readonly additional: SchemaNode | undefined
  /** There is an `additionalProperties`, if only a boolean. */
  readonly hasAdditional: boolean
  /** `additionalProperties: false` */
  readonly closed: boolean
  readonly required: readonly string[]
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
  /** It has one of these four. */
  readonly composed: boolean
  /** What is here or below. */
  readonly has: Features
}

export interface Features {
  readonly defaults: boolean
  readonly listTypes: boolean
  readonly embedded: boolean
}

const known = new WeakMap<Schema, SchemaNode>()

/** Made once for a schema: whoever hands one in does not change it any more. */
export function nodeOf(schema: Schema): SchemaNode {
  const ready = known.get(schema)
  if (ready !== undefined) return ready
  const node = compile(schema)
  known.set(schema, node)
  return node
}

function compile(schema: Schema): SchemaNode {
  const properties = new Map(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, nodeOf(each)]))
  const items = schema.items === undefined ? undefined : nodeOf(schema.items)
  const { additionalProperties } = schema
  const additional = typeof additionalProperties === 'object' ? nodeOf(additionalProperties) : undefined
  const types = schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : schema.type ? [schema.type] : []
  const format = schema.format !== undefined && isKnownFormat(schema.format, types.length > 1 ? '' : types[0]) ? schema.format : ''
  return {
    schema,
    types,
    nullable: schema.nullable === true,
    format,
    formatCheck: format === '' ? undefined : formatCheck(format),
    pattern: schema.pattern ? lazyPattern(schema.pattern) : undefined,
    preserve: schema['x-kubernetes-preserve-unknown-fields'] === true,
    embedded: schema['x-kubernetes-embedded-resource'] === true,
    default: schema.default ?? undefined,
    properties,
    items,
    additional,
    hasAdditional: additionalProperties !== undefined,
    closed: additionalProperties === false,
    required: schema.required ?? [],
    allOf: (schema.allOf ?? []).map(nodeOf),
    anyOf: (schema.anyOf ?? []).map(nodeOf),
    oneOf: (schema.oneOf ?? []).map(nodeOf),
    not: schema.not === undefined ? undefined : nodeOf(schema.not),
    composed: [schema.allOf, schema.anyOf, schema.oneOf].some((each) => each && each.length > 0) || schema.not !== undefined,
    has: features(schema, [...properties.values(), ...(items ? [items] : []), ...(additional ? [additional] : [])]),
  }
}

function features(schema: Schema, children: readonly SchemaNode[]): Features {
  const listType = schema['x-kubernetes-list-type']
  const defaultsHere = children.some((each) => each.default !== undefined)
  return {
    defaults: defaultsHere || children.some((each) => each.has.defaults),
    listTypes: listType === 'set' || listType === 'map' || children.some((each) => each.has.listTypes),
    embedded: schema['x-kubernetes-embedded-resource'] === true || children.some((each) => each.has.embedded),
  }
}

/** Compiled at the first string it meets: most servers start with definitions that nobody uses. */
function lazyPattern(text: string): Pattern {
  let pattern: Pattern | undefined
  return {
    test(value) {
      pattern ??= compilePattern(text)
      return pattern.test(value)
    },
  }
}
