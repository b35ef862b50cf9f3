/** Values as Go prints them: some messages of the API server quote parts of a patch this way. */
import { isObject, type Json } from '../json.ts'

/** `%v`: `map[a:1 b:[x y]]`, members sorted by name, strings bare, null as `<nil>`. */
export function goFormat(value: Json | undefined): string {
  if (value === undefined || value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`
  if (isObject(value)) {
    const members = Object.keys(value).filter((key) => value[key] !== undefined)
    return `map[${members
      .sort()
      .map((key) => `${key}:${goFormat(value[key])}`)
      .join(' ')}]`
  }
  return typeof value === 'number' ? goNumber(value) : String(value)
}

/** `%v` of an int64 or, where it is no integer, of a float64. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString()
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  if (exponent >= -4 && exponent < 21) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

/** The dynamic type of a decoded JSON value. */
export function goType(value: Json | undefined): string {
  if (value === undefined || value === null) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}'
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    case 'bigint':
      return 'int64'
    default:
      return Number.isInteger(value) ? 'int64' : 'float64'
  }
}

/** What `encoding/json` calls a value that does not fit its target. */
export function jsonKind(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'object') return 'object'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'number'
}
