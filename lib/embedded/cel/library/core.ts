/** The functions and operators of the language itself. */
import { type Library, loose, member, overload } from '../environment.ts'
import { int, timestamp, uint } from '../operators.ts'
import { RegexCache } from '../regex.ts'
import { epochSeconds, parseDuration, parseTimestamp, showDuration, showTimestamp, type TimePart, timePart } from '../time.ts'
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, listOf, mapOf, param, STRING, TIMESTAMP, typeOf, UINT } from '../types.ts'
import {
  CelError,
  Duration,
  INT_MAX,
  INT_MIN,
  noSuchOverload,
  showDouble,
  sizeOf,
  type Timestamp,
  TypeValue,
  typeName,
  UINT_MAX,
  Uint,
  type Value,
} from '../values.ts'

const A = param('A')
const B = param('B')
const LIST_A = listOf(A)
const MAP_AB = mapOf(A, B)

/** Pure and immutable per pattern, so that servers may share it. */
export const regexes = new RegexCache()

const NUMBERS = { double: DOUBLE, int64: INT, uint64: UINT } as const
const COMPARED: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  int64: INT,
  uint64: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  timestamp: TIMESTAMP,
  duration: DURATION,
}

/** `less_int64_double` and so on: all numbers compare with all. The first that fits decides what a type variable is. */
function comparisons(name: string) {
  const isNumber = (type: string) => Object.hasOwn(NUMBERS, type)
  return Object.entries(COMPARED).flatMap(([left, a]) => {
    const others = isNumber(left) ? Object.entries(COMPARED).filter(([right]) => right !== left && isNumber(right)) : []
    if (left === 'int64') others.reverse()
    if (left === 'uint64') others.reverse()
    return [overload(`${name}_${left}`, [a, a], BOOL), ...others.map(([right, b]) => overload(`${name}_${left}_${right}`, [a, b], BOOL))]
  })
}

const arithmetic = (name: string, types: Readonly<Record<string, CelType>>) =>
  Object.entries(types).map(([suffix, type]) => overload(`${name}_${suffix}`, [type, type], type))

const conversionError = (from: string, to: string) => new CelError(`type conversion error from '${from}' to '${to}'`)

function size(value: Value): Value {
  const count = sizeOf(value)
  return count === undefined ? new CelError('no such overload: size') : BigInt(count)
}

const text = (f: (a: string, b: string) => Value) => (a: Value, b: Value) =>
  typeof a === 'string' && typeof b === 'string' ? f(a, b) : noSuchOverload()

const matches = text((subject, pattern) => {
  const regex = regexes.compile(pattern)
  return typeof regex === 'string' ? new CelError(regex) : regex.test(subject)
})

const identity = (value: Value) => value

function doubleToInt(value: number): Value {
  if (Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new CelError('integer overflow')
  return BigInt(Math.trunc(value))
}

function doubleToUint(value: number): Value {
  if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return new CelError('unsigned integer overflow')
  return new Uint(BigInt(Math.trunc(value)))
}

function stringToInt(value: string): Value {
  if (!/^[+-]?\d+$/.test(value)) return conversionError('string', 'int')
  const parsed = BigInt(value.replace('+', ''))
  return parsed < INT_MIN || parsed > INT_MAX ? conversionError('string', 'int') : parsed
}

function stringToUint(value: string): Value {
  if (!/^\d+$/.test(value) || BigInt(value) > UINT_MAX) return conversionError('string', 'uint')
  return new Uint(BigInt(value))
}

/** `strconv.ParseFloat`. */
export function parseFloat64(text: string): number | undefined {
  const value = text.replace(/(?<=[0-9a-fA-FxX])_(?=[0-9a-fA-F])/g, '')
  if (/^[+-]?(?:inf|infinity)$/i.test(value)) return value[0] === '-' ? -Infinity : Infinity
  if (/^[+-]?nan$/i.test(value)) return Number.NaN
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/.exec(value)
  if (hex !== null) {
    const [, sign, whole = '', fraction = '', power = ''] = hex
    const digits = whole + fraction
    if (digits === '') return undefined
    return (sign === '-' ? -1 : 1) * Number(BigInt(`0x${digits}`)) * 2 ** (Number(power) - 4 * fraction.length)
  }
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)) return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

function stringToBool(value: string): Value {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value)) return true
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(value)) return false
  return conversionError('string', 'bool')
}

function bytesToString(value: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

function stringToTimestamp(value: string): Value {
  const parsed = parseTimestamp(value)
  return parsed === undefined ? conversionError('string', 'google.protobuf.Timestamp') : timestamp(parsed.ns, parsed.offsetMinutes)
}

function stringToDuration(value: string): Value {
  const ns = parseDuration(value)
  return ns === undefined ? conversionError('string', 'google.protobuf.Duration') : new Duration(ns)
}

/** `timestamp_to_year`, `…_with_tz`, and `duration_to_…` where durations have the part. */
function timeParts(part: TimePart, id: string, ofDuration?: bigint) {
  const parts = [
    member(`timestamp_to_${id}`, [TIMESTAMP], INT, (time: Timestamp) => timePart(part, time.ns)),
    member(`timestamp_to_${id}_with_tz`, [TIMESTAMP, STRING], INT, (time: Timestamp, zone: string) => timePart(part, time.ns, zone)),
  ]
  if (ofDuration !== undefined) parts.push(member(`duration_to_${id}`, [DURATION], INT, (time: Duration) => time.ns / ofDuration))
  return parts
}

export const core: Library = {
  '_?_:_': [overload('conditional', [BOOL, A, A], A)],
  '_&&_': [overload('logical_and', [BOOL, BOOL], BOOL)],
  '_||_': [overload('logical_or', [BOOL, BOOL], BOOL)],
  '!_': [overload('logical_not', [BOOL], BOOL)],
  '@not_strictly_false': [overload('not_strictly_false', [BOOL], BOOL)],
  '_==_': [overload('equals', [A, A], BOOL)],
  '_!=_': [overload('not_equals', [A, A], BOOL)],
  '_+_': [
    ...arithmetic('add', { bytes: BYTES, double: DOUBLE, duration_duration: DURATION }),
    overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
    overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    ...arithmetic('add', { int64: INT, list: LIST_A, string: STRING, uint64: UINT }),
  ],
  '_-_': [
    ...arithmetic('subtract', { double: DOUBLE, duration_duration: DURATION, int64: INT }),
    overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
    ...arithmetic('subtract', { uint64: UINT }),
  ],
  '_*_': arithmetic('multiply', NUMBERS),
  '_/_': arithmetic('divide', NUMBERS),
  '_%_': arithmetic('modulo', { int64: INT, uint64: UINT }),
  '-_': [overload('negate_double', [DOUBLE], DOUBLE), overload('negate_int64', [INT], INT)],
  '_<_': comparisons('less'),
  '_<=_': comparisons('less_equals'),
  '_>_': comparisons('greater'),
  '_>=_': comparisons('greater_equals'),
  '_[_]': [overload('index_list', [LIST_A, INT], A), overload('index_map', [MAP_AB, A], B)],
  '@in': [overload('in_list', [A, LIST_A], BOOL), overload('in_map', [A, MAP_AB], BOOL)],
  size: loose(
    overload('size_bytes', [BYTES], INT, size),
    member('bytes_size', [BYTES], INT, size),
    overload('size_list', [LIST_A], INT, size),
    member('list_size', [LIST_A], INT, size),
    overload('size_map', [MAP_AB], INT, size),
    member('map_size', [MAP_AB], INT, size),
    overload('size_string', [STRING], INT, size),
    member('string_size', [STRING], INT, size),
  ),
  type: [overload('type', [A], typeOf(A), (value: Value) => new TypeValue(typeName(value)))],
  dyn: [overload('to_dyn', [A], DYN, identity)],
  bool: [overload('bool_to_bool', [BOOL], BOOL, identity), overload('string_to_bool', [STRING], BOOL, stringToBool)],
  bytes: [
    overload('bytes_to_bytes', [BYTES], BYTES, identity),
    overload('string_to_bytes', [STRING], BYTES, (value: string) => new Uint8Array(Buffer.from(value))),
  ],
  double: [
    overload('double_to_double', [DOUBLE], DOUBLE, identity),
    overload('int64_to_double', [INT], DOUBLE, (value: bigint) => Number(value)),
    overload('string_to_double', [STRING], DOUBLE, (value: string) => parseFloat64(value) ?? conversionError('string', 'double')),
    overload('uint64_to_double', [UINT], DOUBLE, (value: Uint) => Number(value.value)),
  ],
  duration: [
    overload('duration_to_duration', [DURATION], DURATION, identity),
    overload('int64_to_duration', [INT], DURATION, () => conversionError('int', 'google.protobuf.Duration')),
    overload('string_to_duration', [STRING], DURATION, stringToDuration),
  ],
  int: [
    overload('int64_to_int64', [INT], INT, identity),
    overload('double_to_int64', [DOUBLE], INT, doubleToInt),
    overload('duration_to_int64', [DURATION], INT, (value: Duration) => value.ns),
    overload('string_to_int64', [STRING], INT, stringToInt),
    overload('timestamp_to_int64', [TIMESTAMP], INT, (value: Timestamp) => epochSeconds(value.ns)),
    overload('uint64_to_int64', [UINT], INT, (value: Uint) => int(value.value)),
  ],
  string: [
    overload('string_to_string', [STRING], STRING, identity),
    overload('bool_to_string', [BOOL], STRING, (value: boolean) => String(value)),
    overload('bytes_to_string', [BYTES], STRING, bytesToString),
    overload('double_to_string', [DOUBLE], STRING, (value: number) => showDouble(value, 6)),
    overload('duration_to_string', [DURATION], STRING, (value: Duration) => showDuration(value.ns)),
    overload('int64_to_string', [INT], STRING, (value: bigint) => value.toString()),
    overload('timestamp_to_string', [TIMESTAMP], STRING, (value: Timestamp) => showTimestamp(value.ns, value.offsetMinutes)),
    overload('uint64_to_string', [UINT], STRING, (value: Uint) => value.value.toString()),
  ],
  timestamp: [
    overload('timestamp_to_timestamp', [TIMESTAMP], TIMESTAMP, identity),
    overload('int64_to_timestamp', [INT], TIMESTAMP, (value: bigint) => timestamp(value * 1_000_000_000n)),
    overload('string_to_timestamp', [STRING], TIMESTAMP, stringToTimestamp),
  ],
  uint: [
    overload('uint64_to_uint64', [UINT], UINT, identity),
    overload('double_to_uint64', [DOUBLE], UINT, doubleToUint),
    overload('int64_to_uint64', [INT], UINT, (value: bigint) => uint(value)),
    overload('string_to_uint64', [STRING], UINT, stringToUint),
  ],
  contains: loose(
    member(
      'contains_string',
      [STRING, STRING],
      BOOL,
      text((a, b) => a.includes(b)),
    ),
  ),
  endsWith: loose(
    member(
      'ends_with_string',
      [STRING, STRING],
      BOOL,
      text((a, b) => a.endsWith(b)),
    ),
  ),
  startsWith: loose(
    member(
      'starts_with_string',
      [STRING, STRING],
      BOOL,
      text((a, b) => a.startsWith(b)),
    ),
  ),
  matches: loose(overload('matches', [STRING, STRING], BOOL, matches), member('matches_string', [STRING, STRING], BOOL, matches)),
  getFullYear: timeParts('getFullYear', 'year'),
  getMonth: timeParts('getMonth', 'month'),
  getDayOfYear: timeParts('getDayOfYear', 'day_of_year'),
  getDayOfMonth: timeParts('getDayOfMonth', 'day_of_month'),
  getDate: timeParts('getDate', 'day_of_month_1_based'),
  getDayOfWeek: timeParts('getDayOfWeek', 'day_of_week'),
  getHours: timeParts('getHours', 'hours', 3_600_000_000_000n),
  getMinutes: timeParts('getMinutes', 'minutes', 60_000_000_000n),
  getSeconds: timeParts('getSeconds', 'seconds', 1_000_000_000n),
  getMilliseconds: timeParts('getMilliseconds', 'milliseconds', 1_000_000n),
}
