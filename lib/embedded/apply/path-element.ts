/**
 * One step of a field's path, as FieldsV1 writes it: `f:name`, `k:{"name":"a","port":80}`, `v:"x"`, `i:0`. The text is canonical
 * (keys sorted, values as Go's JSON writes them), so that equal steps are equal strings and sets need no other form.
 */
import { encodeJson, isObject, type Json, type JsonObject } from '../json.ts'
import { goFormat } from '../patch/go-format.ts'

export type PathElement = string

export const fieldElement = (name: string): PathElement => `f:${name}`
export const valueElement = (value: Json): PathElement => `v:${goJson(value)}`

/** `keys` sorted by name. */
export function keyElement(keys: readonly (readonly [string, Json])[]): PathElement {
  let text = ''
  for (const [name, value] of keys) text += `${text === '' ? '' : ','}${goJson(name)}:${goJson(value)}`
  return `k:{${text}}`
}

/** `undefined`: of a kind that is not known, to be ignored. @throws Error where it is malformed */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:')
  if (text[1] !== ':') throw new Error(`missing colon: ${text}`)
  switch (text[0]) {
    case 'f':
      return text
    case 'v':
      return valueElement(JSON.parse(text.slice(2)))
    case 'k': {
      const value: unknown = JSON.parse(text.slice(2))
      if (!isObject(value)) throw new Error(`expected an object: ${text}`)
      return keyElement(sortedEntries(value))
    }
    case 'i':
      if (!/^i:[+-]?\d+$/.test(text)) throw new Error(`invalid index: ${text}`)
      return `i:${Number(text.slice(2))}`
    default:
      return undefined
  }
}

/** The order of the real server: names, keys, values, indices; each by its own order. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0
  const [kindA, kindB] = [RANK[a[0] as 'f'], RANK[b[0] as 'f']]
  if (kindA !== kindB) return kindA - kindB
  switch (a[0]) {
    case 'f':
      return a < b ? -1 : 1
    case 'k':
      return compareKeys(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)))
    case 'v':
      return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)))
    default:
      return Number(a.slice(2)) - Number(b.slice(2))
  }
}

const RANK = { f: 0, k: 1, v: 2, i: 3 }

/** As a conflict shows it: `.spec`, `[name="a",port=80]`, `[="x"]`, `[0]`. */
export function showElement(element: PathElement): string {
  const content = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${content}`
    case 'k':
      return `[${sortedEntries(JSON.parse(content))
        .map(([name, value]) => `${name}=${showValue(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${showValue(JSON.parse(content))}]`
    default:
      return `[${content}]`
  }
}

function showValue(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(showValue).join(',')}]`
  if (isObject(value))
    return Object.keys(value)
      .map((key) => `${key}=${showValue(value[key] as Json)}`)
      .join('')
  return goFormat(value)
}

const sortedEntries = (object: JsonObject) => Object.entries(object as Record<string, Json>).sort(([a], [b]) => (a < b ? -1 : 1))

function compareKeys(a: JsonObject, b: JsonObject): number {
  const [left, right] = [sortedEntries(a), sortedEntries(b)]
  for (let i = 0; ; i++) {
    const [l, r] = [left[i], right[i]]
    if (l === undefined || r === undefined) return l === r ? 0 : l === undefined ? -1 : 1
    if (l[0] !== r[0]) return l[0] < r[0] ? -1 : 1
    const order = compareValues(l[1], r[1])
    if (order !== 0) return order
  }
}

/** Numbers, strings, booleans, lists, maps, null. */
function compareValues(a: Json, b: Json): number {
  const [rankA, rankB] = [valueRank(a), valueRank(b)]
  if (rankA !== rankB) return rankA - rankB
  if (a === b) return 0
  if (Array.isArray(a) || isObject(a)) {
    const [left, right] = [goJson(a), goJson(b)]
    return left === right ? 0 : left < right ? -1 : 1
  }
  return (a as string) < (b as string) ? -1 : 1
}

function valueRank(value: Json): number {
  if (value === null) return 5
  if (Array.isArray(value)) return 3
  switch (typeof value) {
    case 'string':
      return 1
    case 'boolean':
      return 2
    case 'object':
      return 4
    default:
      return 0
  }
}

const ESCAPED = /[<>&\u2028\u2029]/
const ESCAPED_ALL = /[<>&\u2028\u2029]/g

/** JSON as Go writes it: `<`, `>` and `&` escaped. */
export function goJson(value: Json): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : encodeJson(value)
  if (!ESCAPED.test(text)) return text
  return text.replace(ESCAPED_ALL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
