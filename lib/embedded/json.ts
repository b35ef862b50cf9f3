/**
 * JSON as the API server reads and writes it: integers that a JavaScript number cannot hold survive (as `bigint`).
 * Nothing else differs from `JSON.parse` and `JSON.stringify`.
 */

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json | undefined
}

/**
 * Sixteen digits in a row, or an exponent of three, may be more than a number holds; looking costs far less than a reviver on
 * every value.
 */
const LONG_NUMBER = /\d{16}|[eE]\+?\d{3}/

/** @throws SyntaxError where it is not JSON, RangeError (with Go's words) for a number that nothing holds */
export function decodeJson(text: string): Json {
  const sound = HALF_PAIR.test(text) ? text.replace(ESCAPE, (all, half?: string) => (half === undefined ? all : '\\ufffd')) : text
  return LONG_NUMBER.test(sound) ? JSON.parse(sound, revive) : JSON.parse(sound)
}

/** Half a surrogate pair, which no UTF-8 can hold: Go reads it as the replacement character. */
const HALF_PAIR = /\\u[dD][89a-fA-F]/
const ESCAPE = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\[\s\S]/g

export function encodeJson(value: Json | object, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch (error) {
    // Only a bigint cannot be written: looking for one beforehand would cost more than writing does.
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, replace, indent)
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A deep copy that shares nothing with the original. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson) as T
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) define(copy, key, cloneJson((value as Record<string, unknown>)[key]))
  return copy as T
}

/** Sets a member whatever its name: `__proto__` too becomes one like any other, as `JSON.parse` makes it. */
export function define(target: object, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else (target as Record<string, unknown>)[key] = value
}

/** Equal as JSON: the order of an object's members does not matter, and one that is undefined is not there. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return isNumeric(a) && isNumeric(b) && String(a) === String(b)
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => equalJson(item, b[i]))
  }
  return sameMembers(a as JsonObject, b as JsonObject) && sameMembers(b as JsonObject, a as JsonObject, true)
}

function sameMembers(a: JsonObject, b: JsonObject, namesOnly = false): boolean {
  for (const key of Object.keys(a)) {
    if (a[key] === undefined) continue
    if (!Object.hasOwn(b, key) || b[key] === undefined) return false
    if (!namesOnly && !equalJson(a[key], b[key])) return false
  }
  return true
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

function revive(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value
  const { source } = context
  if (!Number.isFinite(value)) throw new RangeError(`json: cannot unmarshal number ${source} into Go value of type float64`)
  if (!/^-?\d+$/.test(source)) return value
  const integer = BigInt(source)
  // What an int64 does not hold becomes a float64, as in Go.
  return BigInt.asIntN(64, integer) === integer ? integer : value
}

function replace(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJson(value.toString()) : value
}

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON
