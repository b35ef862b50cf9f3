/**
 * JSON merge patches (RFC 7386): what to send so that one object becomes another, and what the server makes of it.
 * A merge patch replaces lists whole and cannot set a field to null: null means "remove".
 */

import { isObject } from '../resource/is-object.ts'

type Json = Record<string, unknown>

/**
 * The merge patch that turns `from` into `to`; `undefined` where the two are equal. A field that is null or undefined in
 * `to` counts as absent, as it would be on the server.
 */
export function mergePatch(from: object, to: object): object | undefined {
  const before = from as Json
  const after = to as Json
  let patch: Json | undefined
  for (const key of Object.keys(before)) {
    if (!isAbsent(before[key]) && isAbsent(own(after, key))) patch = set(patch, key, null)
  }
  for (const key of Object.keys(after)) {
    const wanted = after[key]
    const present = own(before, key)
    if (isAbsent(wanted)) continue
    if (isObject(wanted) && isObject(present)) {
      const inner = mergePatch(present, wanted)
      if (inner !== undefined) patch = set(patch, key, inner)
    } else if (!equalJson(present, wanted)) {
      patch = set(patch, key, wanted)
    }
  }
  return patch
}

/** What a server makes of `target` and a merge patch. Changes neither; the result may share parts with both. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Json = isObject(target) ? { ...target } : {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === null) delete result[key]
    else if (value !== undefined) set(result, key, applyMergePatch(own(result, key), value))
  }
  return result
}

/** Equal as JSON: the order of keys does not matter, and a field that is undefined is as good as absent. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  for (const key of Object.keys(a)) if (!equalJson(a[key], own(b, key))) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && own(a, key) === undefined) return false
  return true
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null
}

/** A key such as `constructor` or `__proto__` may be a label like any other. */
function own(object: Json, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function set(object: Json | undefined, key: string, value: unknown): Json {
  const target = object ?? {}
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
  return target
}
