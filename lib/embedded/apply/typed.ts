/** What the walks over typed values share: which part of a type a value takes, the steps of list items, errors. */
import { isObject, type Json, type JsonObject } from '../json.ts'
import { goFormat } from '../patch/go-format.ts'
import type { FieldType, ListType, MapType } from './field-type.ts'
import { keyElement, type PathElement, valueElement } from './path-element.ts'

/** Values do not fit their type. `text` as structured-merge-diff says it. */
export class TypedError extends Error {
  override readonly name = 'TypedError'
}

/** An item has no place in its list. */
export class NoPlaceError extends Error {
  override readonly name = 'NoPlaceError'
}

export interface TypedProblem {
  readonly path: string
  readonly message: string
}

export function typedError(problems: readonly TypedProblem[]): TypedError {
  const texts = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return new TypedError(texts.length === 1 ? (texts[0] as string) : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n'))
}

/** Of several parts a type may have, the one that is handled first is the map, then the scalar, then the list. */
export type Part = 'map' | 'scalar' | 'list'

/** The part that a value takes; `undefined` where the type leaves it open (null, nothing, or a value of a wrong type). */
export function partOf(type: FieldType, value: Json | undefined): Part | undefined {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return type.list === undefined ? undefined : 'list'
  if (typeof value === 'object') return type.map === undefined ? undefined : 'map'
  return type.scalar === undefined ? undefined : 'scalar'
}

export function firstPart(type: FieldType): Part {
  if (type.map !== undefined) return 'map'
  return type.scalar === undefined ? 'list' : 'scalar'
}

/** The parts under which two values are looked at: mostly one, two where they are of different kinds. */
export function partsOf(type: FieldType, left: Json | undefined, right: Json | undefined): [Part] | [Part, Part] {
  const [a, b] = [partOf(type, left), partOf(type, right)]
  const [partA, partB] = [a ?? firstPart(type), b ?? firstPart(type)]
  if (right === undefined) return [partA]
  if (left === undefined || a === b || (isSingle(type) && partA === partB)) return [partB]
  return [partA, partB]
}

const isSingle = (type: FieldType) =>
  Number(type.map !== undefined) + Number(type.list !== undefined) + Number(type.scalar !== undefined) === 1

export function asMap(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

export function asList(value: Json | undefined): Json[] | undefined {
  return Array.isArray(value) ? value : undefined
}

export function isEmptyMap(map: JsonObject | undefined): boolean {
  if (map === undefined) return true
  for (const key in map) if (map[key] !== undefined) return false
  return true
}

export const memberOf = (map: JsonObject | undefined, key: string): Json | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined

/** @throws NoPlaceError for a map in a set, and an item without its keys */
export function listElement(type: ListType, item: Json): PathElement {
  if (type.keys.length === 0) {
    if (item === null) throw new NoPlaceError("associative list without keys has an element that's an explicit null")
    if (Array.isArray(item)) throw new NoPlaceError('not supported: associative list with lists as elements')
    if (typeof item === 'object') throw new NoPlaceError("associative list without keys has an element that's a map type")
    return valueElement(item)
  }
  if (item === null) throw new NoPlaceError('associative list with keys may not have a null element')
  if (!isObject(item)) throw new NoPlaceError('associative list with keys may not have non-map elements')
  const keys: [string, Json][] = []
  for (const name of type.keys) {
    const value = memberOf(item, name) ?? keyDefault(type.element.map, item, name)
    if (value !== undefined) keys.push([name, value])
  }
  if (keys.length > 0) return keyElement(keys)
  const names = type.declaredKeys.map((name) => JSON.stringify(name)).join(' ')
  throw new NoPlaceError(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  )
}

/** A key that is null stays null. */
function keyDefault(element: MapType | undefined, item: JsonObject, name: string): Json | undefined {
  if (Object.hasOwn(item, name) && item[name] === null) return null
  return element?.defaultOf(name) ?? undefined
}

/** `%v` of structured-merge-diff's box around an unstructured value. */
export const boxed = (value: Json): string => `&{${goFormat(value)}}`
