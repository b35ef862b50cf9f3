/**
 * Strategic merge patch: a merge patch that knows from the schema which lists merge, and by which key. Directives in the patch
 * say the rest: `$patch`, `$retainKeys`, `$setElementOrder/LIST`, `$deleteFromPrimitiveList/LIST`.
 */
import { cloneJson, define, isObject, type Json, type JsonObject } from '../json.ts'
import { ApiError, badRequest, plainError } from '../status.ts'
import type { Schema, SchemaSource } from '../types.ts'
import { orderElements, partition, sameElement } from './element-order.ts'
import { goFormat, goType } from './go-format.ts'
import { listRule, mapSchema } from './patch-rules.ts'

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const ORDER = '$setElementOrder'
const DELETE_FROM_PRIMITIVES = '$deleteFromPrimitiveList'

/**
 * The target with the patch merged in; the inputs stay as they are. Only for kinds whose schema carries
 * `x-kubernetes-patch-…`: custom resources have none, and answer 415 before this.
 * @throws ApiError 400 for directives that are malformed, 500 with the merge's own words for the rest, as the real server does.
 */
export function applyStrategicMergePatch(target: JsonObject, patch: JsonObject, schemas: SchemaSource): JsonObject {
  return new Merge(schemas).map(cloneJson(target), cloneJson(patch), schemas.root)
}

class Merge {
  readonly #schemas: SchemaSource

  constructor(schemas: SchemaSource) {
    this.#schemas = schemas
  }

  /** Changes and consumes both. */
  map(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
    if (Object.hasOwn(patch, DIRECTIVE)) return directedMap(patch)
    retainKeys(target, patch)
    this.#ordered(target, patch, schema)
    for (const patchKey of deletionsFirst(Object.keys(patch))) this.#member(target, patchKey, patch[patchKey] as Json, schema)
    return target
  }

  #member(target: JsonObject, patchKey: string, value: Json, schema: Schema | undefined): void {
    const deletes = patchKey.startsWith(DELETE_FROM_PRIMITIVES)
    const key = deletes ? listName(patchKey, DELETE_FROM_PRIMITIVES) : patchKey
    if (value === null) {
      delete target[key]
      return
    }
    const current = Object.hasOwn(target, key) ? target[key] : undefined
    const [ours, theirs] = [kindOf(current), kindOf(value)]
    if (ours !== theirs || (ours !== 'map' && ours !== 'list')) {
      if (!deletes) set(target, key, withoutDirectives(ours === theirs ? value : withoutNulls(value)))
    } else if (ours === 'map') {
      const { schema: inner, strategy } = mapSchema(this.#schemas, schema, key)
      define(target, key, strategy === 'replace' ? value : this.map(current as JsonObject, value as JsonObject, inner))
    } else {
      const rule = listRule(this.#schemas, schema, key)
      const merges = deletes || rule.strategy === 'merge'
      define(target, key, merges ? this.#list(current as Json[], value as Json[], rule.element, rule.mergeKey, deletes) : value)
    }
  }

  #list(target: Json[], patch: Json[], element: Schema | undefined, mergeKey: string, deletes: boolean): Json[] {
    if (target.length === 0 && patch.length === 0) return target
    if (elementKind(target, patch) !== 'map') {
      if (deletes) return target.filter((item) => !patch.some((other) => sameElement(item, other)))
      const merged = withoutRepeats([...target, ...patch])
      return this.#inOrder(merged, patch, target, '', false)
    }
    if (mergeKey === '') throw plainError(`cannot merge lists without merge key for ${element === undefined ? '' : 'struct'}`)
    const special = directedList(target, patch as JsonObject[], mergeKey)
    const merged = this.#items(special.target, special.patch, element, mergeKey)
    return this.#inOrder(merged, special.patch, special.target, mergeKey, true)
  }

  #items(target: JsonObject[], patch: JsonObject[], element: Schema | undefined, mergeKey: string): JsonObject[] {
    const merged = [...target]
    for (const item of patch) {
      const key = keyOf(item, mergeKey)
      const at = merged.findIndex((other) => sameElement(memberOf(other, mergeKey), key))
      if (at < 0) merged.push(item)
      else merged[at] = this.map(merged[at] as JsonObject, item, element)
    }
    return merged
  }

  #inOrder(merged: Json[], patchOrder: Json[], serverOrder: Json[], mergeKey: string, maps: boolean): Json[] {
    const { listed, others } = partition(merged, patchOrder, mergeKey)
    return orderElements(listed, others, patchOrder, serverOrder, mergeKey, maps)
  }

  /** Merges the lists that a `$setElementOrder` names, and takes them and it out of the patch. */
  #ordered(target: JsonObject, patch: JsonObject, schema: Schema | undefined): void {
    for (const directive of Object.keys(patch)) {
      if (!directive.startsWith(ORDER)) continue
      const order = asList(patch[directive])
      delete patch[directive]
      const key = listName(directive, ORDER)
      const current = Object.hasOwn(target, key) ? asList(target[key]) : undefined
      const given = Object.hasOwn(patch, key) ? asList(patch[key]) : undefined
      const rule = listRule(this.#schemas, schema, key)
      checkOrder(given ?? [], order, rule.mergeKey)
      if (current === undefined && given === undefined) continue
      const before = current === undefined ? [] : [...current]
      let merged: Json[]
      if (given === undefined) merged = before
      else if (current === undefined) merged = withoutDirectives(given) as Json[]
      else if (rule.strategy === 'merge') merged = this.#list(current, [...given], rule.element, rule.mergeKey, false)
      else merged = given
      const { listed, others } = partition(merged, order, rule.mergeKey)
      const maps = elementKind(before, given ?? []) === 'map'
      define(target, key, orderElements(listed, others, order, before, rule.mergeKey, maps))
      delete patch[key]
    }
  }
}

/** The real server takes members in any order; so an element that is deleted and added in one patch is there after it. */
function deletionsFirst(keys: string[]): string[] {
  if (!keys.some((key) => key.startsWith(DELETE_FROM_PRIMITIVES))) return keys
  return [...keys].sort((a, b) => Number(b.startsWith(DELETE_FROM_PRIMITIVES)) - Number(a.startsWith(DELETE_FROM_PRIMITIVES)))
}

function directedMap(patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE]
  if (directive === 'replace') {
    delete patch[DIRECTIVE]
    return patch
  }
  if (directive === 'delete') return {}
  throw plainError(`unknown patch type: ${goFormat(directive)} in map: ${goFormat(patch)}`)
}

/** Carries out `$patch` elements of a list: what is left of both. */
function directedList(target: Json[], patch: JsonObject[], mergeKey: string): { target: JsonObject[]; patch: JsonObject[] } {
  let kept = target as JsonObject[]
  let replaces = false
  const plain: JsonObject[] = []
  for (const item of patch) {
    if (!Object.hasOwn(item, DIRECTIVE)) plain.push(item)
    else if (item[DIRECTIVE] === 'replace') replaces = true
    else if (item[DIRECTIVE] === 'merge') throw plainError('merging lists cannot yet be specified in the patch')
    else if (item[DIRECTIVE] !== 'delete') {
      throw plainError(`unknown patch type: ${goFormat(item[DIRECTIVE])} in map: ${goFormat(item)}`)
    } else {
      const key = keyOf(item, mergeKey)
      kept = kept.filter((other) => !sameElement(memberOf(other, mergeKey), key))
    }
  }
  return replaces ? { target: plain, patch: [] } : { target: kept, patch: plain }
}

/** `$retainKeys`: only the named members of the target stay, and the patch may give no other. */
function retainKeys(target: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return
  const list = patch[RETAIN_KEYS]
  delete patch[RETAIN_KEYS]
  if (!Array.isArray(list)) throw badRequest('invalid patch format of retainKeys')
  const names = new Set<Json>(list)
  for (const key of Object.keys(patch)) {
    if (patch[key] === null || key.startsWith(DELETE_FROM_PRIMITIVES) || key.startsWith(ORDER)) continue
    if (!names.has(key)) throw badRequest('invalid patch format of retainKeys')
  }
  for (const key of Object.keys(target)) if (!names.has(key)) delete target[key]
}

/** The elements that the patch gives must stand in its `$setElementOrder`, in the same order. */
function checkOrder(patch: Json[], order: Json[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return
  const kept = mergeKey === '' ? patch : patch.filter((item) => !(isObject(item) && item[DIRECTIVE] === 'delete'))
  let at = 0
  for (let i = 0; at < kept.length && i < order.length; ) {
    const item = kept[at]
    if (isObject(item) && Object.hasOwn(item, DIRECTIVE)) {
      at++
      continue
    }
    const same = mergeKey === '' ? sameElement(item, order[i]) : sameElement(keyOf(asMap(item), mergeKey), keyOf(asMap(order[i]), mergeKey))
    if (same) at++
    i++
  }
  if (at < kept.length) {
    throw plainError(`The order in patch list:\n${goFormat(patch)}\n doesn't match ${ORDER} list:\n${goFormat(order)}\n`)
  }
}

function listName(key: string, prefix: string): string {
  const slash = key.indexOf('/')
  if (slash >= 0 && key.slice(0, slash) === prefix) return key.slice(slash + 1)
  throw badRequest(`invalid patch format of ${prefix === ORDER ? 'setElementOrder' : 'primitive'} list`)
}

function set(target: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete target[key]
  else define(target, key, value)
}

/** What the patch adds as it is: without elements and members that are directives. `undefined`: it was one itself. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, DIRECTIVE)) return undefined
  for (const key of Object.keys(value)) set(value, key, withoutDirectives(value[key] as Json))
  return value
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) value.forEach(withoutNulls)
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      if (value[key] === null) delete value[key]
      else withoutNulls(value[key] as Json)
    }
  }
  return value
}

/** Of equal elements the first stays, and the last element takes the place of each other one, as the real server does it. */
function withoutRepeats(list: Json[]): Json[] {
  for (let i = 0; i < list.length - 1; i++) {
    for (let j = i + 1; j < list.length; j++) {
      if (!sameElement(list[i], list[j])) continue
      const last = list.pop() as Json
      if (j < list.length) list[j] = last
      j--
    }
  }
  return list
}

type Kind = 'map' | 'list' | 'string' | 'number' | 'float' | 'boolean' | 'none'

function kindOf(value: Json | undefined): Kind {
  if (value === undefined || value === null) return 'none'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'object':
      return 'map'
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    default:
      return typeof value === 'bigint' || Number.isInteger(value) ? 'number' : 'float'
  }
}

/** All elements must be of one kind, and none a list. */
function elementKind(...lists: Json[][]): Kind {
  let kind: Kind | undefined
  for (const item of lists.flat()) {
    const own = kindOf(item)
    if (own === 'list' && kind === undefined) {
      throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
    }
    kind ??= own
    if (own !== kind) throw plainError(`list element types are not identical: ${goFormat(lists)}`)
  }
  if (kind === undefined) throw plainError('no elements in any of the given slices')
  return kind
}

function memberOf(item: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(item, key) ? item[key] : undefined
}

function keyOf(item: JsonObject, mergeKey: string): Json {
  const key = memberOf(item, mergeKey)
  if (key === undefined) throw plainError(`map: ${goFormat(item)} does not contain declared merge key: ${mergeKey}`)
  return key
}

function asList(value: Json | undefined): Json[] {
  if (Array.isArray(value)) return value
  throw plainError(`expected a []interface {}, but received a ${goType(value)}`)
}

function asMap(value: Json | undefined): JsonObject {
  if (isObject(value)) return value
  throw plainError(`expected a map[string]interface {}, but received a ${goType(value)}`)
}
