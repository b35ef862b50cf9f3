/** A configuration laid over an object. */
import { define, type Json, type JsonObject } from '../json.ts'
import type { FieldType, ListType, MapType } from './field-type.ts'
import type { PathElement } from './path-element.ts'
import { asList, asMap, isEmptyMap, listElement, memberOf, type Part, partsOf } from './typed.ts'

/** Shares unchanged parts with both; changes neither. @throws NoPlaceError */
export function merge(left: Json | undefined, right: Json | undefined, type: FieldType): Json | undefined {
  if (left === undefined) return right
  if (right === undefined) return left
  let result: Json | undefined
  for (const part of partsOf(type, left, right)) result = mergePart(part, left, right, type)
  return result
}

function mergePart(part: Part, left: Json, right: Json, type: FieldType): Json | undefined {
  if (part === 'map') {
    const map = type.map as MapType
    const [a, b] = [asMap(left), asMap(right)]
    return map.atomic || (isEmptyMap(a) && isEmptyMap(b)) ? right : mergeMaps(a ?? {}, b ?? {}, map)
  }
  if (part === 'list') {
    const list = type.list as ListType
    const [a, b] = [asList(left) ?? [], asList(right) ?? []]
    return list.atomic || (a.length === 0 && b.length === 0) ? right : mergeLists(a, b, list)
  }
  return right
}

function mergeMaps(left: JsonObject, right: JsonObject, type: MapType): JsonObject {
  const result: JsonObject = {}
  for (const key of Object.keys(left)) put(result, key, merge(left[key], memberOf(right, key), type.field(key) ?? UNKNOWN))
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key)) put(result, key, right[key])
  return result
}

/** A field that the schema no longer has. */
const UNKNOWN: FieldType = { scalar: 'untyped' }

function put(result: JsonObject, key: string, value: Json | undefined): void {
  if (value !== undefined) define(result, key, value)
}

/**
 * The items of both, each once. The configuration's order holds among its own items; an item of the object alone stays before
 * the shared item that it preceded.
 */
function mergeLists(left: Json[], right: Json[], type: ListType): Json[] {
  const ours = left.map((item) => listElement(type, item))
  const theirs = right.map((item) => listElement(type, item))
  const [byOurs, byTheirs] = [indexed(ours, left), indexed(theirs, right)]
  const shared = theirs.filter((element) => byOurs.has(element))
  const result: Json[] = []
  const taken = new Set<PathElement>()
  let next = 0
  /** Items that the object has several times are one value: the configuration's replaces all of them. */
  const take = (element: PathElement) => {
    taken.add(element)
    const own = byOurs.get(element)
    const merged = merge(own === REPEATED ? null : own, byTheirs.get(element) as Json, type.element)
    if (merged !== undefined) result.push(merged)
  }
  for (let l = 0, r = 0; l < ours.length || r < theirs.length; ) {
    const [mine, wanted] = [ours[l], theirs[r]]
    if (mine !== undefined && wanted !== undefined) {
      if (mine === wanted) {
        take(mine)
        l++
        r++
        next++
        continue
      }
      if (byTheirs.has(mine) && next < shared.length && shared[next] !== mine) {
        l++
        continue
      }
    }
    if (mine !== undefined) {
      if (!byTheirs.has(mine)) {
        result.push(left[l] as Json)
        l++
        continue
      }
      if (taken.has(mine)) l++
    }
    if (wanted !== undefined) {
      take(wanted)
      r++
      if (shared[next] === wanted) next++
    }
  }
  return result
}

const REPEATED = Symbol('repeated')

function indexed(elements: readonly PathElement[], items: readonly Json[]): Map<PathElement, Json | typeof REPEATED> {
  const index = new Map<PathElement, Json | typeof REPEATED>()
  for (const [i, element] of elements.entries()) index.set(element, index.has(element) ? REPEATED : (items[i] as Json))
  return index
}
