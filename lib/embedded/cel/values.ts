/**
 * Values while an expression runs. An int is a `bigint`, a double a `number`; an error is a value too, since `&&` and `||`
 * may do without it.
 */

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | OptionalValue
  | ListValue
  | MapValue
  | Opaque
  | CelError

export const INT_MAX = 9223372036854775807n
export const INT_MIN = -9223372036854775808n
export const UINT_MAX = 18446744073709551615n

export class CelError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export const noSuchOverload = () => new CelError('no such overload')
export const isError = (value: Value): value is CelError => value instanceof CelError
/** The error itself, or that nothing fits this value. */
export const errorOr = (value: Value): CelError => (value instanceof CelError ? value : noSuchOverload())

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** Nanoseconds since 1970, UTC. */
export class Timestamp {
  readonly ns: bigint
  /** Of the zone it was written in; only its text shows it. */
  readonly offsetMinutes: number

  constructor(ns: bigint, offsetMinutes = 0) {
    this.ns = ns
    this.offsetMinutes = offsetMinutes
  }
}

export class Duration {
  readonly ns: bigint

  constructor(ns: bigint) {
    this.ns = ns
  }
}

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

export class OptionalValue {
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

export const NONE = new OptionalValue(undefined)

/** A value of one of Kubernetes' own types. */
export abstract class Opaque {
  abstract readonly typeName: string
  abstract equals(other: Value): Value
  /** Bytes that count for the cost of using it. */
  size(): number | undefined {
    return undefined
  }
  /** `string(x)`, where the type has that. */
  asText(): string | undefined {
    return undefined
  }
}

export abstract class ListValue {
  abstract readonly size: number
  abstract at(index: number): Value

  /** For `optional.ofNonZeroValue`: data with a schema never is. */
  get isZero(): boolean {
    return this.size === 0
  }

  *[Symbol.iterator](): IterableIterator<Value> {
    for (let i = 0; i < this.size; i++) yield this.at(i)
  }

  contains(value: Value): Value {
    for (let i = 0; i < this.size; i++) if (equal(this.at(i), value) === true) return true
    return false
  }

  add(other: ListValue): ListValue {
    return new PlainList([...this, ...other])
  }

  equals(other: Value): Value {
    if (!(other instanceof ListValue) || other.size !== this.size) return false
    for (let i = 0; i < this.size; i++) {
      const result = equal(this.at(i), other.at(i))
      if (result !== true) return result === false ? false : result
    }
    return true
  }
}

export class PlainList extends ListValue {
  readonly items: readonly Value[]

  constructor(items: readonly Value[]) {
    super()
    this.items = items
  }

  get size(): number {
    return this.items.length
  }

  at(index: number): Value {
    return this.items[index] as Value
  }
}

/** What a loop collects: adding changes it, so that a loop stays linear. */
export class GrowingList extends ListValue {
  readonly items: Value[] = []

  get size(): number {
    return this.items.length
  }

  at(index: number): Value {
    return this.items[index] as Value
  }

  override add(other: ListValue): ListValue {
    for (const each of other) this.items.push(each)
    return this
  }
}

export abstract class MapValue {
  abstract readonly size: number
  /** Undefined: no such key. A CelError: a key of a kind that the map cannot have. */
  abstract find(key: Value): Value | undefined
  abstract keys(): Iterable<Value>

  get isZero(): boolean {
    return this.size === 0
  }

  equals(other: Value): Value {
    if (!(other instanceof MapValue) || other.size !== this.size) return false
    for (const key of this.keys()) {
      const theirs = other.find(key)
      if (theirs === undefined || theirs instanceof CelError) return false
      const result = equal(this.find(key) as Value, theirs)
      if (result !== true) return result
    }
    return true
  }
}

export class PlainMap extends MapValue {
  readonly #entries = new Map<string, readonly [Value, Value]>()

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super()
    for (const [key, value] of entries) this.set(key, value)
  }

  /** Only while it is made. */
  set(key: Value, value: Value): void {
    this.#entries.set(keyText(key) as string, [key, value])
  }

  get size(): number {
    return this.#entries.size
  }

  find(key: Value): Value | undefined {
    const text = keyText(key)
    return text === undefined ? undefined : this.#entries.get(text)?.[1]
  }

  *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key
  }
}

/** Equal for numbers of the same value, whatever their type. Undefined: this is no key. */
export function keyText(key: Value): string | undefined {
  switch (typeof key) {
    case 'string':
      return `"${key}`
    case 'bigint':
      return key.toString()
    case 'number':
      return Number.isInteger(key) ? BigInt(key).toString() : key.toString()
    case 'boolean':
      return key ? 'true' : 'false'
    default:
      return key instanceof Uint ? key.value.toString() : undefined
  }
}

/** The name that `type(x)` shows. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
  }
  if (value === null) return 'null_type'
  if (value instanceof ListValue) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof OptionalValue) return 'optional_type'
  if (value instanceof Opaque) return value.typeName
  return 'error'
}

/** `a == b`: true, false, or an error from deep within. */
export function equal(a: Value, b: Value): Value {
  if (a === null || b === null) return a === b
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return a === b
    case 'bigint':
    case 'number':
      return equalNumbers(a, b)
  }
  if (a instanceof Uint) return equalNumbers(a.value, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof Timestamp) return b instanceof Timestamp && a.ns === b.ns
  if (a instanceof Duration) return b instanceof Duration && a.ns === b.ns
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof OptionalValue) return equalOptionals(a, b)
  if (a instanceof CelError) return a
  return a.equals(b)
}

function equalNumbers(a: bigint | number, b: Value): boolean {
  const other = b instanceof Uint ? b.value : b
  if (typeof other !== 'bigint' && typeof other !== 'number') return false
  // As Go does it: an int beside a double becomes one.
  return typeof a === typeof other ? a === other : Number(a) === Number(other)
}

function equalOptionals(a: OptionalValue, b: Value): Value {
  if (!(b instanceof OptionalValue)) return false
  if (a.value === undefined || b.value === undefined) return a.value === b.value
  return equal(a.value, b.value)
}

/** -1, 0, 1, or an error where the two have no order. */
export function compare(a: Value, b: Value): -1 | 0 | 1 | CelError {
  if (typeof a === 'string') return typeof b === 'string' ? compareText(a, b) : noSuchOverload()
  const left = a instanceof Uint ? a.value : a
  const right = b instanceof Uint ? b.value : b
  if (typeof left === 'bigint' || typeof left === 'number') {
    if (typeof right !== 'bigint' && typeof right !== 'number') return noSuchOverload()
    if (Number.isNaN(left) || Number.isNaN(right)) return new CelError('NaN values cannot be ordered')
    return typeof left === typeof right ? order(left, right) : order(Number(left), Number(right))
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return order(Number(a), Number(b))
  if (a instanceof Timestamp && b instanceof Timestamp) return order(a.ns, b.ns)
  if (a instanceof Duration && b instanceof Duration) return order(a.ns, b.ns)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) as -1 | 0 | 1
  return errorOr(a)
}

const order = (a: bigint | number, b: bigint | number) => (a < b ? -1 : a > b ? 1 : 0)

const SURROGATE = /[\ud800-\udfff]/

/** In the order of code points, as Go compares. */
export function compareText(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b)) as -1 | 0 | 1
  return a < b ? -1 : 1
}

/** Code points, not UTF-16 units. */
export function textLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}

/** Code points one by one; the text itself where it has no surrogates, which can be indexed the same way. */
export function points(text: string): readonly string[] | string {
  return SURROGATE.test(text) ? [...text] : text
}

/** `size(x)`: undefined where the value has none. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === 'string') return textLength(value)
  if (value instanceof ListValue || value instanceof MapValue) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof Opaque) return value.size()
  return undefined
}

/** The zero value of its type, for `optional.ofNonZeroValue`. */
export function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Duration) return value.ns === 0n
  if (value instanceof OptionalValue) return value.value === undefined
  if (value instanceof Timestamp) return value.ns === -62135596800000000000n
  if (value instanceof ListValue || value instanceof MapValue) return value.isZero
  return value instanceof Uint8Array && value.length === 0
}

/** A value as Go prints it within a message: `no such key: x`. */
export function showValue(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return showDouble(value)
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint) return value.value.toString()
  if (value instanceof TypeValue) return value.name
  if (value instanceof CelError) return value.message
  if (value instanceof ListValue) return `[${[...value].map(showValue).join(', ')}]`
  return typeName(value)
}

/** Shortest, with an exponent below 1e-4 and from 10^`large` on: 21 is Go's `%v`, 6 its `%g`, which is CEL's `string(double)`. */
export function showDouble(value: number, large = 21): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (power >= -4 && power < large) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
