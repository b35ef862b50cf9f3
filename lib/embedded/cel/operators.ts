/** Arithmetic, order and membership at run time, with the errors of cel-go. */
import {
  CelError,
  compare,
  Duration,
  errorOr,
  INT_MAX,
  INT_MIN,
  ListValue,
  MapValue,
  noSuchOverload,
  Timestamp,
  UINT_MAX,
  Uint,
  type Value,
} from './values.ts'

const INT_OVERFLOW = 'integer overflow'
const UINT_OVERFLOW = 'unsigned integer overflow'
/** 0001-01-01 and 9999-12-31, in nanoseconds. */
const MIN_TIME = -62135596800n * 1_000_000_000n
const MAX_TIME = 253402300800n * 1_000_000_000n

export function int(value: bigint): Value {
  return value > INT_MAX || value < INT_MIN ? new CelError(INT_OVERFLOW) : value
}

export function uint(value: bigint): Value {
  return value > UINT_MAX || value < 0n ? new CelError(UINT_OVERFLOW) : new Uint(value)
}

export function duration(ns: bigint): Value {
  return ns > INT_MAX || ns < INT_MIN ? new CelError(INT_OVERFLOW) : new Duration(ns)
}

export function timestamp(ns: bigint, offsetMinutes = 0): Value {
  return ns < MIN_TIME || ns >= MAX_TIME ? new CelError('timestamp overflow') : new Timestamp(ns, offsetMinutes)
}

export function add(a: Value, b: Value): Value {
  switch (typeof a) {
    case 'bigint':
      return typeof b === 'bigint' ? int(a + b) : noSuchOverload()
    case 'number':
      return typeof b === 'number' ? a + b : noSuchOverload()
    case 'string':
      return typeof b === 'string' ? a + b : noSuchOverload()
  }
  if (a instanceof ListValue) return b instanceof ListValue ? a.add(b) : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value + b.value) : noSuchOverload()
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? new Uint8Array(Buffer.concat([a, b])) : noSuchOverload()
  if (a instanceof Duration) {
    if (b instanceof Duration) return duration(a.ns + b.ns)
    return b instanceof Timestamp ? timestamp(a.ns + b.ns, b.offsetMinutes) : noSuchOverload()
  }
  if (a instanceof Timestamp) return b instanceof Duration ? timestamp(a.ns + b.ns, a.offsetMinutes) : noSuchOverload()
  return unsupported('_+_', a)
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a - b) : noSuchOverload()
  if (typeof a === 'number') return typeof b === 'number' ? a - b : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value - b.value) : noSuchOverload()
  if (a instanceof Duration) return b instanceof Duration ? duration(a.ns - b.ns) : noSuchOverload()
  if (a instanceof Timestamp) {
    if (b instanceof Timestamp) return duration(a.ns - b.ns)
    return b instanceof Duration ? timestamp(a.ns - b.ns, a.offsetMinutes) : noSuchOverload()
  }
  return unsupported('_-_', a)
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? int(a * b) : noSuchOverload()
  if (typeof a === 'number') return typeof b === 'number' ? a * b : noSuchOverload()
  if (a instanceof Uint) return b instanceof Uint ? uint(a.value * b.value) : noSuchOverload()
  return unsupported('_*_', a)
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'bigint') {
    if (typeof b !== 'bigint') return noSuchOverload()
    return b === 0n ? new CelError('division by zero') : int(a / b)
  }
  if (typeof a === 'number') return typeof b === 'number' ? a / b : noSuchOverload()
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return noSuchOverload()
    return b.value === 0n ? new CelError('division by zero') : uint(a.value / b.value)
  }
  return unsupported('_/_', a)
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'bigint') {
    if (typeof b !== 'bigint') return noSuchOverload()
    if (b === 0n) return new CelError('modulus by zero')
    return a === INT_MIN && b === -1n ? new CelError(INT_OVERFLOW) : a % b
  }
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return noSuchOverload()
    return b.value === 0n ? new CelError('modulus by zero') : uint(a.value % b.value)
  }
  return unsupported('_%_', a)
}

export function negate(value: Value): Value {
  if (typeof value === 'bigint') return int(-value)
  if (typeof value === 'number') return -value
  if (value instanceof Duration) return duration(-value.ns)
  return unsupported('-_', value)
}

export function not(value: Value): Value {
  return typeof value === 'boolean' ? !value : noSuchOverload()
}

export type Comparison = '_<_' | '_<=_' | '_>_' | '_>=_'

const HOLDS: Readonly<Record<Comparison, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
}

export function comparison(operator: Comparison): (a: Value, b: Value) => Value {
  const holds = HOLDS[operator]
  return (a, b) => {
    if (a === null || (typeof a === 'object' && !isOrdered(a))) return unsupported(operator, a)
    const order = compare(a, b)
    return typeof order === 'number' ? holds(order) : order
  }
}

const isOrdered = (value: object) =>
  value instanceof Uint || value instanceof Timestamp || value instanceof Duration || value instanceof Uint8Array

export function contains(value: Value, container: Value): Value {
  if (container instanceof ListValue) return container.contains(value)
  if (!(container instanceof MapValue)) return errorOr(container)
  const found = container.find(value)
  return found instanceof CelError ? found : found !== undefined
}

/** Texts and times are asked for the operator as a method, and only then found to have none. */
function unsupported(operator: string, value: Value): CelError {
  const isReceiver = typeof value === 'string' || value instanceof Timestamp || value instanceof Duration
  return isReceiver ? noSuchOverload() : new CelError(`no such overload: ${operator}`)
}
