/**
 * JSON merge patch (RFC 7396) as evanphx/json-patch v4 applies it: nulls are also dropped from objects inside of lists, unless
 * the list replaces an object.
 */
import { cloneJson, define, isObject, type Json, type JsonObject } from '../json.ts'
import { badRequest } from '../status.ts'
import { jsonKind } from './go-format.ts'

/**
 * The target with the patch merged in; the inputs stay as they are.
 * @throws ApiError 400 where the patch is not an object.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (patch === null) throw badRequest('Invalid JSON Patch')
  if (!isObject(patch)) {
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`)
  }
  const result = cloneJson(target)
  if (!isObject(result)) return withoutNulls(patch)
  mergeInto(result, patch)
  return result
}

function mergeInto(target: JsonObject, patch: JsonObject): void {
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === undefined) continue
    if (value === null) {
      delete target[key]
      continue
    }
    const current = Object.hasOwn(target, key) ? target[key] : undefined
    if (!isObject(current)) define(target, key, withoutNulls(value))
    else if (isObject(value)) mergeInto(current, value)
    else define(target, key, cloneJson(value))
  }
}

/** A copy whose objects have no null members; a null in a list is an element and stays. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item))
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member !== null && member !== undefined) define(result, key, withoutNulls(member))
  }
  return result
}
