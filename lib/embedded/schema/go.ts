/** Values and numbers as Go sees and writes them, where errors show it. */

import { define } from '../json.ts'

const MAX_INT64 = 2n ** 63n - 1n
const MIN_INT64 = -(2n ** 63n)

/** An `int64` of a decoded object; other numbers are `float64`. A JSON `1.0` has become 1 by then. */
export function isInt64(value: unknown): value is number | bigint {
  if (typeof value === 'number') return Number.isSafeInteger(value)
  return typeof value === 'bigint' && value <= MAX_INT64 && value >= MIN_INT64
}

/** `%v` of a number: shortest digits, an exponent below 1e-4 and from 1e21 on. */
export function formatNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return isInt64(value) ? value.toString() : formatNumber(Number(value))
  if (Number.isSafeInteger(value)) return String(value)
  const size = Math.abs(value)
  if (size >= 1e-4 && size < 1e21) return Number.isInteger(value) ? BigInt(value).toString() : String(value)
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  return `${mantissa}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, '0')}`
}

/** Of a float that is a whole number for Go's JSON schema library: within 2^53, and equal but for rounding. */
export function isJsonInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false
  const rounded = Math.trunc(value)
  if (rounded === value) return true
  if (rounded === 0) return false
  return Math.abs(value - rounded) / (Math.abs(value) + Math.abs(rounded)) < 1e-9
}

/** With the members of objects in the order in which Go writes a map: by name. */
export function sortMembers<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortMembers) as T
  const sorted = {}
  for (const key of Object.keys(value).sort()) define(sorted, key, sortMembers((value as Record<string, unknown>)[key]))
  return sorted as T
}

/** Code points, as Go counts the length of a string. */
export function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(i + 1)
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--
      i++
    }
  }
  return count
}
