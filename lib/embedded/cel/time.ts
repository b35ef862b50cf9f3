/** Texts and parts of timestamps and durations, as Go reads and writes them. */
import { CelError, INT_MAX, INT_MIN } from './values.ts'

const SECOND = 1_000_000_000n
const MINUTE = 60n * SECOND
const HOUR = 60n * MINUTE

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
}

/** `time.ParseDuration`; undefined where it is no duration. */
export function parseDuration(text: string): bigint | undefined {
  const [, sign, body = ''] = /^([+-]?)(.*)$/s.exec(text) as RegExpExecArray
  if (body === '0') return 0n
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined
  let total = 0n
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNITS[unit] as bigint
    total += BigInt(whole === '' ? 0 : whole) * scale
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
  }
  const value = sign === '-' ? -total : total
  return value > INT_MAX || value < INT_MIN ? undefined : value
}

/** `3600s`, `1.5s`. */
export function showDuration(ns: bigint): string {
  return `${plainDecimal(Number(ns / SECOND) + Number(ns % SECOND) / 1e9)}s`
}

/** Without an exponent. */
function plainDecimal(value: number): string {
  const text = String(value)
  const [mantissa, exponent] = text.split('e')
  if (exponent === undefined) return text
  return value.toFixed(Math.min(100, -Number(exponent) + ((mantissa as string).split('.')[1] ?? '').length))
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/

/** Nanoseconds since 1970 of an RFC 3339 time; undefined where it is none. */
export function parseTimestamp(text: string): { ns: bigint; offsetMinutes: number } | undefined {
  const match = RFC3339.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match
  const ms = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second))
  if (ms === undefined) return undefined
  const offsetMinutes = zone === 'Z' ? 0 : offsetOf(zone)
  if (offsetMinutes === undefined) return undefined
  const nanos = BigInt(fraction.slice(0, 9).padEnd(9, '0'))
  return { ns: (BigInt(ms) - BigInt(offsetMinutes) * 60_000n) * 1_000_000n + nanos, offsetMinutes }
}

/** Of a date without a time (`2020-02-29`). */
export function parseDate(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (match === null) return undefined
  const ms = utc(Number(match[1]), Number(match[2]), Number(match[3]), 0, 0, 0)
  return ms === undefined ? undefined : BigInt(ms) * 1_000_000n
}

function utc(year: number, month: number, day: number, hour: number, minute: number, second: number): number | undefined {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  date.setUTCHours(hour, minute, second)
  return date.getTime()
}

function offsetOf(zone: string): number | undefined {
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))]
  if (hours > 23 || minutes > 59) return undefined
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
}

/** RFC 3339, with as many digits of the second as there are. */
export function showTimestamp(ns: bigint, offsetMinutes = 0): string {
  const { ms, nanos } = split(ns)
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
  const local = new Date(ms + offsetMinutes * 60_000).toISOString().replace(/\.\d+Z$/, '')
  const minutes = Math.abs(offsetMinutes)
  const two = (n: number) => String(n).padStart(2, '0')
  const zone = offsetMinutes === 0 ? 'Z' : `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  return `${local}${fraction}${zone}`
}

/** Whole seconds in milliseconds, and the nanoseconds above them. */
function split(ns: bigint): { ms: number; nanos: number } {
  let seconds = ns / SECOND
  let nanos = ns % SECOND
  if (nanos < 0n) {
    nanos += SECOND
    seconds -= 1n
  }
  return { ms: Number(seconds) * 1000, nanos: Number(nanos) }
}

export const epochSeconds = (ns: bigint): bigint => BigInt(split(ns).ms) / 1000n

export type TimePart =
  | 'getFullYear'
  | 'getMonth'
  | 'getDayOfYear'
  | 'getDayOfMonth'
  | 'getDate'
  | 'getDayOfWeek'
  | 'getHours'
  | 'getMinutes'
  | 'getSeconds'
  | 'getMilliseconds'

/** One part of a time, in UTC or in a zone (`+02:00`, `America/New_York`). */
export function timePart(part: TimePart, ns: bigint, zone?: string): bigint | CelError {
  const { ms, nanos } = split(ns)
  if (part === 'getMilliseconds') return BigInt(Math.floor(nanos / 1e6))
  const offset = zone === undefined ? 0 : zoneOffset(zone, ms)
  if (offset instanceof CelError) return offset
  const date = new Date(ms + offset)
  switch (part) {
    case 'getFullYear':
      return BigInt(date.getUTCFullYear())
    case 'getMonth':
      return BigInt(date.getUTCMonth())
    case 'getDayOfYear':
      return BigInt(Math.floor((date.getTime() - new Date(date).setUTCMonth(0, 1)) / 86_400_000))
    case 'getDayOfMonth':
      return BigInt(date.getUTCDate() - 1)
    case 'getDate':
      return BigInt(date.getUTCDate())
    case 'getDayOfWeek':
      return BigInt(date.getUTCDay())
    case 'getHours':
      return BigInt(date.getUTCHours())
    case 'getMinutes':
      return BigInt(date.getUTCMinutes())
    case 'getSeconds':
      return BigInt(date.getUTCSeconds())
  }
}

/** Milliseconds that a zone is ahead of UTC at a time. */
function zoneOffset(zone: string, ms: number): number | CelError {
  const colon = zone.indexOf(':')
  if (colon >= 0) {
    const hours = goInteger(zone.slice(0, colon))
    if (hours instanceof CelError) return hours
    const minutes = goInteger(zone.slice(colon + 1))
    if (minutes instanceof CelError) return minutes
    return (zone[0] === '-' ? hours * 60 - minutes : hours * 60 + minutes) * 60_000
  }
  if (zone === '' || zone === 'UTC') return 0
  try {
    return namedOffset(zone, ms)
  } catch {
    return new CelError(`unknown time zone ${zone}`)
  }
}

function namedOffset(zone: string, ms: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  })
  const parts = new Map(format.formatToParts(new Date(ms)).map(({ type, value }) => [type, value]))
  const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
  const year = parts.get('era') === 'BC' ? 1 - number('year') : number('year')
  const local = new Date(0)
  local.setUTCFullYear(year, number('month') - 1, number('day'))
  local.setUTCHours(number('hour'), number('minute'), number('second'))
  return local.getTime() - ms
}

function goInteger(text: string): number | CelError {
  return /^[+-]?\d+$/.test(text) ? Number(text) : new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
}
