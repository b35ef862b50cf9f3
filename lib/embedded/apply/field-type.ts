/**
 * What a schema says of a field's structure: whether it is one value or has fields of its own, and by what the items of a list
 * are told apart. Compiled from the schema when first needed, and kept with it: schemas never change.
 */
import type { Json } from '../json.ts'
import type { Schema, SchemaSource } from '../types.ts'
import { OBJECT_META } from './object-meta-schema.ts'

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped'

/** A value may be of any of the parts that are there. */
export interface FieldType {
  readonly scalar?: Scalar
  readonly list?: ListType
  readonly map?: MapType
}

export interface ListType {
  /** One value as a whole. */
  readonly atomic: boolean
  /** Of a list of maps, sorted; empty: a set of scalars. */
  readonly keys: readonly string[]
  /** The same as the schema lists them. */
  readonly declaredKeys: readonly string[]
  readonly element: FieldType
}

export interface MapType {
  readonly atomic: boolean
  /** `undefined`: not declared, and nothing else is allowed. */
  field(name: string): FieldType | undefined
  /** Declared by name. */
  declares(name: string): boolean
  /** The default of a declared field; keys of list items use it. */
  defaultOf(name: string): Json | undefined
  /** Nothing is declared, all of it goes by the values that come. */
  readonly deduced: boolean
}

/** The type of whole objects. */
export function objectType(source: SchemaSource): FieldType {
  const root = source.root
  let type = roots.get(root)
  if (type === undefined) {
    const properties = { ...root.properties, apiVersion: STRING, kind: STRING, metadata: OBJECT_META }
    type = compile({ ...root, type: 'object', properties }, source, false)
    roots.set(root, type)
  }
  return type
}

const STRING: Schema = { type: 'string' }

const roots = new WeakMap<Schema, FieldType>()
/** Two of each: below `x-kubernetes-preserve-unknown-fields` a schema means something else. */
const known = { strict: new WeakMap<Schema, FieldType>(), preserving: new WeakMap<Schema, FieldType>() }

/** Anything, as one value. */
const ATOMIC: FieldType = {
  scalar: 'untyped',
  get list() {
    return { atomic: true, keys: [], declaredKeys: [], element: ATOMIC }
  },
  get map() {
    return { atomic: true, field: () => ATOMIC, declares: () => false, defaultOf: () => undefined, deduced: false }
  },
}
const DEDUCED_LIST: ListType = { atomic: true, keys: [], declaredKeys: [], element: ATOMIC }
const DEDUCED_MAP: MapType = {
  atomic: false,
  field: () => DEDUCED,
  declares: () => false,
  defaultOf: () => undefined,
  deduced: true,
}
/** Anything: maps have fields, lists are one value. */
const DEDUCED: FieldType = { scalar: 'untyped', list: DEDUCED_LIST, map: DEDUCED_MAP }
const QUANTITY: FieldType = { scalar: 'untyped' }

function typeOf(schema: Schema, source: SchemaSource, preserving: boolean): FieldType {
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined)
  if (reference === undefined) return compileOnce(schema, source, preserving)
  if (reference.endsWith('apimachinery.pkg.api.resource.Quantity')) return QUANTITY
  if (reference.endsWith('apimachinery.pkg.runtime.RawExtension')) return ATOMIC
  const type = compileOnce(source.resolve(schema), source, false)
  const override = schema['x-kubernetes-map-type']
  return override === undefined ? type : overridden(schema, type, override === 'atomic')
}

function compileOnce(schema: Schema, source: SchemaSource, preserving: boolean): FieldType {
  const cache = preserving ? known.preserving : known.strict
  let type = cache.get(schema)
  if (type === undefined) {
    type = compile(schema, source, preserving)
    cache.set(schema, type)
  }
  return type
}

/** A member may say that a type which has fields is one value there. */
function overridden(schema: Schema, type: FieldType, atomic: boolean): FieldType {
  let own = known.strict.get(schema)
  if (own === undefined) {
    const { map, list } = type
    if (map !== undefined) own = { ...type, map: withRelation(map, atomic) }
    else own = list === undefined ? type : { ...type, list: { ...list, atomic } }
    known.strict.set(schema, own)
  }
  return own
}

const withRelation = (map: MapType, atomic: boolean): MapType => ({
  atomic,
  deduced: map.deduced,
  field: (name) => map.field(name),
  declares: (name) => map.declares(name),
  defaultOf: (name) => map.defaultOf(name),
})

function compile(schema: Schema, source: SchemaSource, preservingAbove: boolean): FieldType {
  const preserving = preservingAbove || schema['x-kubernetes-preserve-unknown-fields'] === true
  switch (schema.type) {
    case undefined:
    case '':
      return { scalar: 'untyped', list: listType(schema, source, preserving), map: new DeclaredMap(schema, source, preserving) }
    case 'object':
      return { map: new DeclaredMap(schema, source, preserving) }
    case 'array':
      return { list: listType(schema, source, preserving) }
    case 'integer':
    case 'number':
      return { scalar: 'numeric' }
    case 'boolean':
      return { scalar: 'boolean' }
    default:
      return { scalar: schema.type === 'string' && (!schema.format || schema.format === 'byte') ? 'string' : 'untyped' }
  }
}

function listType(schema: Schema, source: SchemaSource, preserving: boolean): ListType {
  let element: FieldType | undefined
  return {
    ...listRelation(schema),
    get element() {
      element ??= schema.items === undefined ? ATOMIC : typeOf(schema.items, source, preserving)
      return element
    },
  }
}

/** Without a list type, the patch strategy says it: that is older. */
function listRelation(schema: Schema): Omit<ListType, 'element'> {
  const kind = schema['x-kubernetes-list-type']
  if (kind === 'set') return associative([])
  if (kind === 'map') return associative(schema['x-kubernetes-list-map-keys'] ?? [])
  if (kind !== undefined || !schema['x-kubernetes-patch-strategy']?.startsWith('merge')) {
    return { atomic: true, keys: [], declaredKeys: [] }
  }
  const key = schema['x-kubernetes-patch-merge-key']
  return associative(key === undefined ? [] : [key])
}

const associative = (keys: readonly string[]) => ({ atomic: false, keys: [...keys].sort(), declaredKeys: keys })

class DeclaredMap implements MapType {
  readonly atomic: boolean
  readonly deduced: boolean
  readonly #schema: Schema
  readonly #source: SchemaSource
  readonly #preserving: boolean
  readonly #fields = new Map<string, FieldType>()
  #others: FieldType | null | undefined

  constructor(schema: Schema, source: SchemaSource, preserving: boolean) {
    this.atomic = schema['x-kubernetes-map-type'] === 'atomic'
    this.#schema = schema
    this.#source = source
    this.#preserving = preserving
    this.deduced = schema.properties === undefined && this.#other() === DEDUCED
  }

  field(name: string): FieldType | undefined {
    const known = this.#fields.get(name)
    if (known !== undefined) return known
    if (!this.declares(name)) return this.#other() ?? undefined
    const type = this.#declared(name)
    this.#fields.set(name, type)
    return type
  }

  declares(name: string): boolean {
    const { properties } = this.#schema
    return (properties !== undefined && Object.hasOwn(properties, name)) || (this.#embedded && EMBEDDED.has(name))
  }

  defaultOf(name: string): Json | undefined {
    const { properties } = this.#schema
    return properties !== undefined && Object.hasOwn(properties, name) ? (properties[name]?.default as Json | undefined) : undefined
  }

  get #embedded(): boolean {
    return this.#schema['x-kubernetes-embedded-resource'] === true
  }

  #declared(name: string): FieldType {
    const embedded = this.#embedded ? EMBEDDED.get(name) : undefined
    return typeOf(embedded ?? (this.#schema.properties?.[name] as Schema), this.#source, this.#preserving)
  }

  #other(): FieldType | null {
    if (this.#others === undefined) this.#others = this.#compileOther()
    return this.#others
  }

  #compileOther(): FieldType | null {
    const { additionalProperties, properties } = this.#schema
    if (additionalProperties === undefined) {
      return this.#preserving || properties === undefined || Object.keys(properties).length === 0 ? DEDUCED : null
    }
    if (typeof additionalProperties === 'boolean') return additionalProperties ? DEDUCED : null
    return typeOf(additionalProperties, this.#source, this.#preserving)
  }
}

/** An embedded resource has these, declared or not. */
const EMBEDDED: ReadonlyMap<string, Schema> = new Map([
  ['apiVersion', STRING],
  ['kind', STRING],
  ['metadata', OBJECT_META],
])
