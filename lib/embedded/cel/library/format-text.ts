/** `'%s is %d'.format([…])`: the clauses, and what each says of a value that is not for it. */
import { showDuration, showTimestamp } from '../time.ts'
import { CelError, Duration, ListValue, MapValue, showDouble, Timestamp, TypeValue, typeName, Uint, type Value } from '../values.ts'

/** Why a text cannot be formatted. */
export class FormatError extends Error {}

export type Clause = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o'

/** What a clause says when a value of this type comes. */
export const REFUSALS: Readonly<Record<Clause, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
}

const DEFAULT_PRECISION = 6
/** More than Go accepts. */
const MAX_WIDTH = 1_000_000

/**
 * Walks the clauses of a format. `argument` is asked for each in turn: it gives what stands in its place.
 * @throws FormatError
 */
export function interpolate(format: string, argument: (index: number, clause: Clause, precision: number) => string, count: number): string {
  let result = ''
  let index = 0
  for (let i = 0; i < format.length; i++) {
    if (format[i] !== '%') {
      result += format[i]
      continue
    }
    if (format[i + 1] === '%') {
      result += '%'
      i++
      continue
    }
    if (index >= count) throw new FormatError(`index ${index} out of range`)
    if (i + 1 >= format.length) throw new FormatError('unexpected end of string')
    const { clause, precision, length } = parseClause(format.slice(i + 1))
    result += argument(index++, clause, precision)
    i += length
  }
  return result
}

function parseClause(rest: string): { clause: Clause; precision: number; length: number } {
  const [all, digits] = /^(?:\.(\d*))?/.exec(rest) as RegExpExecArray
  const clause = rest[all.length]
  const fail = (detail: string) => new FormatError(`could not parse formatting clause: ${detail}`)
  if (clause === undefined) throw fail('error while parsing precision: could not find end of precision specifier')
  if (digits === '') {
    throw fail('error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax')
  }
  if (!Object.hasOwn(REFUSALS, clause)) throw fail(`unrecognized formatting clause "${clause}"`)
  return { clause: clause as Clause, precision: digits === undefined ? DEFAULT_PRECISION : Number(digits), length: all.length + 1 }
}

export function format(text: string, list: ListValue): Value {
  try {
    return interpolate(text, (index, clause, precision) => formatOne(clause, list.at(index), precision), list.size)
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message)
    throw error
  }
}

function formatOne(clause: Clause, value: Value, precision: number): string {
  const text = clauseText(clause, value, precision)
  if (text === undefined) throw new FormatError(`error during formatting: ${REFUSALS[clause]}, was given ${typeName(value)}`)
  return text
}

function clauseText(clause: Clause, value: Value, precision: number): string | undefined {
  const whole = typeof value === 'bigint' ? value : value instanceof Uint ? value.value : undefined
  switch (clause) {
    case 's':
      return stringText(value)
    case 'd':
      return whole?.toString()
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : whole?.toString(2)
    case 'o':
      return whole?.toString(8)
    case 'x':
      return whole?.toString(16) ?? hexOf(value)
    case 'X':
      return (whole?.toString(16) ?? hexOf(value))?.toUpperCase()
    default: {
      const number = doubleOf(value)
      if (number === undefined) return undefined
      if (clause === 'f') return Number.isFinite(number) ? grouped(fixedText(number, precision)) : notFinite(number)
      // The precision comes out as a width.
      return (Number.isFinite(number) ? scientific(number) : notFinite(number)).padStart(Math.min(precision, MAX_WIDTH))
    }
  }
}

function hexOf(value: Value): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : undefined
}

function doubleOf(value: Value): number | undefined {
  if (typeof value === 'number') return value
  if (value === 'NaN') return Number.NaN
  if (value === 'Infinity') return Infinity
  return value === '-Infinity' ? -Infinity : undefined
}

const notFinite = (number: number) => (Number.isNaN(number) ? 'NaN' : number > 0 ? '∞' : '-∞')

/** Rounds half to even, as Go does. */
function fixedText(number: number, precision: number): string {
  const text = number.toFixed(Math.min(100, precision))
  const exact = number.toFixed(Math.min(100, precision + 60))
  const tail = exact.slice(exact.indexOf('.') + 1 + precision)
  if (!/^50*$/.test(tail) || /[02468]$/.test(text)) return text
  const down = exact.slice(0, exact.indexOf('.') + 1 + precision)
  return precision === 0 ? down.slice(0, -1) : down
}

/** With the thousands separators of en_US. */
function grouped(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? separated : `${separated}.${fraction}`
}

/** `1.5×10⁰²` is what the en_US locale makes of it. */
function scientific(number: number): string {
  const [mantissa = '', exponent = ''] = number.toExponential(DEFAULT_PRECISION).split('e')
  const power = Number(exponent)
  return `${mantissa}×10${superscript(`${power < 0 ? '-' : ''}${String(Math.abs(power)).padStart(2, '0')}`)}`
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = {
  '-': '⁻',
  '0': '⁰',
  '1': '¹',
  '2': '²',
  '3': '³',
  '4': '⁴',
  '5': '⁵',
  '6': '⁶',
  '7': '⁷',
  '8': '⁸',
  '9': '⁹',
}
const superscript = (digits: string) => [...digits].map((digit) => SUPERSCRIPTS[digit]).join('')

function stringText(value: Value): string | undefined {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return showDouble(value, 6)
  }
  if (value instanceof Uint) return value.value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (value instanceof Timestamp) return showTimestamp(value.ns, value.offsetMinutes)
  if (value instanceof Duration) return showDuration(value.ns)
  if (value instanceof TypeValue) return value.name
  if (value instanceof ListValue) return `[${[...value].map(nestedText).join(', ')}]`
  return value instanceof MapValue ? mapText(value) : undefined
}

function mapText(map: MapValue): string {
  const pairs = [...map.keys()].map((key) => [keyText(key), nestedText(map.find(key) as Value)] as const)
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(', ')}}`
}

function keyText(key: Value): string {
  if (typeof key === 'string') return JSON.stringify(key)
  if (typeof key === 'boolean' || typeof key === 'bigint') return String(key)
  if (key instanceof Uint) return key.value.toString()
  throw new FormatError(`error during formatting: no formatting function for map key of type ${typeName(key)}`)
}

/** A value within a list or a map: as a literal of the language. */
function nestedText(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString())}`
  if (value instanceof Timestamp) return `timestamp("${showTimestamp(value.ns, value.offsetMinutes)}")`
  if (value instanceof Duration) return `duration("${showDuration(value.ns)}")`
  if (value instanceof TypeValue) return `type(${value.name})`
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return `"${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}"`
    return value.toFixed(DEFAULT_PRECISION)
  }
  const text = stringText(value)
  if (text === undefined) throw new FormatError(`error during formatting: no formatting function for ${typeName(value)}`)
  return text
}
