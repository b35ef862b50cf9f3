/**
 * Data of an object as values of the language, by its schema: names escaped, formats as timestamps, durations and bytes, lists
 * and maps equal as their list type says. Nothing is copied; members are converted when they are read.
 */

import { equalJson, isObject, type JsonObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { decodeBase64 } from './base64.ts'
import { DynamicList, DynamicMap, dynamicValue } from './dynamic-value.ts'
import { escapeName, unescapeName } from './escape.ts'
import { valueSchema, withResourceFields } from './schema-type.ts'
import { parseDate, parseDuration, parseTimestamp } from './time.ts'
import { CelError, Duration, equal, errorOr, ListValue, MapValue, noSuchOverload, Opaque, Timestamp, Uint, type Value } from './values.ts'

export type Convert = (data: unknown) => Value

const NOTHING = Symbol('nothing')

/** `root`: of a resource. */
export function converter(schema: Schema, root: boolean): Convert {
  const known = root ? withResourceFields(schema) : schema
  const convert = converterOf(known)
  const nothing = known.nullable ? null : NOTHING
  return (data) => {
    if (data !== null && data !== undefined) return convert(data)
    return nothing === null ? null : new CelError('invalid data, got null for schema with nullable=false')
  }
}

function converterOf(schema: Schema): Convert {
  if (schema['x-kubernetes-int-or-string']) return intOrString
  switch (schema.type) {
    case 'object':
      return objectConverter(schema['x-kubernetes-embedded-resource'] ? withResourceFields(schema) : schema)
    case 'array':
      return listConverter(schema)
    case 'string':
      return textConverter(schema.format)
    case 'number':
      return (data) => (isNumber(data) ? Number(data) : new CelError(`invalid data, expected float, got ${goType(data)}`))
    case 'integer':
      return (data) => wholeNumber(data) ?? new CelError(`invalid data, expected int, got ${goType(data)}`)
    case 'boolean':
      return (data) => (typeof data === 'boolean' ? data : new CelError(`invalid data, expected bool, got ${goType(data)}`))
    default:
      if (schema['x-kubernetes-preserve-unknown-fields']) return (data) => new Preserved(data)
      return () =>
        new CelError(
          `invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ${schema.type ?? ''}`,
        )
  }
}

const isNumber = (data: unknown) => typeof data === 'number' || typeof data === 'bigint'

function wholeNumber(data: unknown): bigint | undefined {
  if (typeof data === 'bigint') return data
  return typeof data === 'number' && Number.isInteger(data) ? BigInt(data) : undefined
}

function intOrString(data: unknown): Value {
  if (typeof data === 'string') return data
  return wholeNumber(data) ?? new CelError('invalid data, expected XIntOrString value to be either a string or integer')
}

function goType(data: unknown): string {
  if (Array.isArray(data)) return '[]interface {}'
  switch (typeof data) {
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    case 'bigint':
      return 'int64'
    case 'number':
      return Number.isInteger(data) ? 'int64' : 'float64'
    default:
      return 'map[string]interface {}'
  }
}

function textConverter(format: string | undefined): Convert {
  const parse = format === undefined ? undefined : FORMATS[format]
  return (data) => {
    if (typeof data !== 'string') return new CelError(`invalid data, expected string, got ${goType(data)}`)
    return parse === undefined ? data : parse(data)
  }
}

const FORMATS: Readonly<Record<string, ((text: string) => Value) | undefined>> = {
  duration: (text) => {
    const ns = parseDuration(text)
    return ns === undefined ? new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`) : new Duration(ns)
  },
  date: (text) => {
    const ns = parseDate(text)
    return ns === undefined ? new CelError(`Invalid date formatted string ${text}`) : new Timestamp(ns)
  },
  'date-time': (text) => {
    const time = parseTimestamp(text)
    return time === undefined ? new CelError(`Invalid date-time formatted string ${text}`) : new Timestamp(time.ns, time.offsetMinutes)
  },
  byte: (text) => decodeBase64(text) ?? new CelError(`Invalid byte formatted string ${text}: illegal base64 data`),
}

function objectConverter(schema: Schema): Convert {
  const make = mapMaker(schema)
  return (data) => (isObject(data) ? make(data) : new CelError('invalid data, expected a map for the provided schema with type=object'))
}

function mapMaker(schema: Schema): (data: JsonObject) => Value {
  if (schema.properties !== undefined) {
    const fields = fieldsOf(schema.properties)
    return (data) => new FieldsValue(data, fields)
  }
  const values = valueSchema(schema)
  const convert = values === undefined ? undefined : converter(values, false)
  return (data) => new SchemaMap(data, convert)
}

/** What `oldSelf.value()` gives to a path: the data without its schema. */
export function unwrapOptional(value: Value): Value {
  return value instanceof FieldsValue || value instanceof SchemaMap || value instanceof SchemaList ? dynamicValue(value.data) : value
}

interface Field {
  readonly property: string
  readonly name: string
  readonly convert: Convert
}

interface Fields {
  /** By the name in an expression, and by the property where that reads the same. */
  readonly byName: ReadonlyMap<string, Field>
  readonly byProperty: ReadonlyMap<string, Field>
}

function fieldsOf(properties: Readonly<Record<string, Schema>>): Fields {
  const byName = new Map<string, Field>()
  const byProperty = new Map<string, Field>()
  for (const [property, schema] of Object.entries(properties)) {
    const field = { property, name: escapeName(property) ?? property, convert: lazy(schema) }
    byProperty.set(property, field)
    byName.set(field.name, field)
    if (unescapeName(property) === property && !byName.has(property)) byName.set(property, field)
  }
  return { byName, byProperty }
}

/** Most members of a schema are never read by a rule. */
function lazy(schema: Schema): Convert {
  let convert: Convert | undefined
  return (data) => {
    convert ??= converter(schema, false)
    return convert(data)
  }
}

/** Keys and values that stand in the data; `undefined` members are none. */
const members = (data: JsonObject) => Object.keys(data).filter((key) => data[key] !== undefined)
const own = (data: JsonObject, key: string) => (Object.hasOwn(data, key) ? data[key] : undefined)

/** An object with properties: null is as good as absent. */
class FieldsValue extends MapValue {
  readonly data: JsonObject
  readonly #fields: Fields

  constructor(data: JsonObject, fields: Fields) {
    super()
    this.data = data
    this.#fields = fields
  }

  override get isZero(): boolean {
    return false
  }

  get size(): number {
    return members(this.data).length
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return errorOr(key)
    const field = this.#fields.byName.get(key)
    const data = field && own(this.data, field.property)
    return field === undefined || data === undefined || data === null ? undefined : field.convert(data)
  }

  *keys(): Iterable<Value> {
    for (const property of members(this.data)) {
      const field = this.#fields.byProperty.get(property)
      if (field !== undefined) yield field.name
    }
  }

  /** Members that the schema does not know are compared as they are, where both have them. */
  override equals(other: Value): Value {
    if (!(other instanceof MapValue)) return errorOr(other)
    if (other.size !== this.size) return false
    for (const property of members(this.data)) {
      const field = this.#fields.byProperty.get(property)
      if (field === undefined) {
        if (!(other instanceof FieldsValue)) return noSuchOverload()
        const theirs = own(other.data, property)
        if (theirs !== undefined && !equalJson(own(this.data, property), theirs)) return false
        continue
      }
      const result = sameMember(this.find(field.name), other.find(field.name))
      if (result !== true) return result
    }
    return true
  }
}

function sameMember(mine: Value | undefined, theirs: Value | undefined): Value {
  if (mine === undefined || theirs === undefined) return mine === theirs
  return equal(mine, theirs)
}

/** An object with additionalProperties. Without a schema for them no key can be seen. */
class SchemaMap extends MapValue {
  readonly data: JsonObject
  readonly #convert: Convert | undefined

  constructor(data: JsonObject, convert: Convert | undefined) {
    super()
    this.data = data
    this.#convert = convert
  }

  override get isZero(): boolean {
    return false
  }

  get size(): number {
    return members(this.data).length
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return errorOr(key)
    const data = own(this.data, key)
    return data === undefined || this.#convert === undefined ? undefined : this.#convert(data)
  }

  *keys(): Iterable<Value> {
    if (this.#convert !== undefined) yield* members(this.data)
  }

  override equals(other: Value): Value {
    if (!(other instanceof MapValue)) return errorOr(other)
    if (other.size !== this.size) return false
    if (this.#convert === undefined) return other instanceof SchemaMap ? equalJson(this.data, other.data) : noSuchOverload()
    for (const key of members(this.data)) {
      const result = sameMember(this.find(key), other.find(key))
      if (result !== true) return result
    }
    return true
  }
}

function listConverter(schema: Schema): Convert {
  if (schema.items === undefined) return () => new CelError('invalid array type, expected Items with a non-empty Schema')
  const convert = converter(schema.items, false)
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeName(key) ?? key)
  const make = (data: readonly unknown[]): Value => {
    switch (schema['x-kubernetes-list-type']) {
      case 'map':
        return new KeyedList(data, convert, keys)
      case 'set':
        return new SetList(data, convert)
      default:
        return new SchemaList(data, convert)
    }
  }
  return (data) =>
    Array.isArray(data) ? make(data) : new CelError('invalid data, expected an array for the provided schema with type=array')
}

class SchemaList extends ListValue {
  readonly data: readonly unknown[]
  protected readonly convert: Convert

  constructor(data: readonly unknown[], convert: Convert) {
    super()
    this.data = data
    this.convert = convert
  }

  override get isZero(): boolean {
    return false
  }

  get size(): number {
    return this.data.length
  }

  at(index: number): Value {
    return this.convert(this.data[index])
  }

  override contains(value: Value): Value {
    let error: CelError | undefined
    for (let i = 0; i < this.size; i++) {
      const result = equal(this.at(i), value)
      if (result === true) return true
      if (typeof result !== 'boolean') error ??= errorOr(result)
    }
    return error ?? false
  }

  override equals(other: Value): Value {
    return other instanceof ListValue ? super.equals(other) : errorOr(other)
  }

  override add(other: ListValue): ListValue {
    return new SchemaList([...this.data, ...dataOf(other)], this.convert)
  }
}

/** What the elements of a list were made from. */
function dataOf(list: ListValue): readonly unknown[] {
  return list instanceof SchemaList || list instanceof DynamicList ? list.data : [...list].map(dataOfValue)
}

function dataOfValue(value: Value): unknown {
  if (value instanceof FieldsValue || value instanceof SchemaMap || value instanceof SchemaList) return value.data
  if (value instanceof DynamicMap || value instanceof DynamicList) return value.data
  if (value instanceof Uint) return value.value
  if (value instanceof MapValue)
    return Object.fromEntries([...value.keys()].map((key) => [String(key), dataOfValue(value.find(key) as Value)]))
  return value
}

/** Equal without regard to order; a sum has each element once. */
class SetList extends SchemaList {
  override equals(other: Value): Value {
    if (!(other instanceof ListValue)) return errorOr(other)
    if (other.size !== this.size) return false
    const mine = new Set(this.data.map(identity))
    return dataOf(other).every((each) => mine.has(identity(each)))
  }

  override add(other: ListValue): ListValue {
    const seen = new Set(this.data.map(identity))
    const all = [...this.data]
    for (const each of dataOf(other)) {
      if (seen.has(identity(each))) continue
      seen.add(identity(each))
      all.push(each)
    }
    return new SetList(all, this.convert)
  }
}

/** Equal without regard to order, elements found by their keys; a sum replaces those with the same keys. */
class KeyedList extends SchemaList {
  readonly #keys: readonly string[]

  constructor(data: readonly unknown[], convert: Convert, keys: readonly string[]) {
    super(data, convert)
    this.#keys = keys
  }

  #keyOf(element: unknown): string {
    return this.#keys.map((key) => (isObject(element) ? identity(own(element, key)) : '')).join('\0')
  }

  override equals(other: Value): Value {
    if (!(other instanceof ListValue)) return errorOr(other)
    if (other.size !== this.size) return false
    const mine = new Map(this.data.map((each) => [this.#keyOf(each), each]))
    for (const each of other) {
      const key = this.#keyOf(dataOfValue(each))
      if (!mine.has(key)) return false
      const result = equal(this.convert(mine.get(key)), each)
      if (result !== true) return result
    }
    return true
  }

  override add(other: ListValue): ListValue {
    const all = [...this.data]
    const positions = new Map(all.map((each, i) => [this.#keyOf(each), i]))
    for (const each of dataOf(other)) {
      const position = positions.get(this.#keyOf(each))
      if (position === undefined) all.push(each)
      else all[position] = each
    }
    return new KeyedList(all, this.convert, this.#keys)
  }
}

/** The same for the same scalar. */
const identity = (data: unknown): string => `${typeof data === 'bigint' ? 'number' : typeof data}:${String(data)}`

/** Data below x-kubernetes-preserve-unknown-fields: it can only be compared. */
class Preserved extends Opaque {
  readonly typeName = 'unknown'
  readonly data: unknown

  constructor(data: unknown) {
    super()
    this.data = data
  }

  equals(other: Value): Value {
    return other instanceof Preserved ? equalJson(this.data, other.data) : equalJson(this.data, other)
  }
}
