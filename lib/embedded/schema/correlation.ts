/**
 * Which old value a new one came from, for ratcheting: members by name, items of a list of type map by their keys, nothing
 * else in a list (`k8s.io/apiserver/pkg/cel/common`).
 */
import { equalJson, isObject } from '../json.ts'
import type { SchemaNode } from './node.ts'

/** There is no old value; an old `null` is one. */
export const NONE = Symbol('none')

export function oldMember(old: unknown, key: string): unknown {
  return isObject(old) && Object.hasOwn(old, key) ? old[key] : NONE
}

export function oldItem(old: unknown, item: unknown, node: SchemaNode): unknown {
  if (!Array.isArray(old) || node.schema['x-kubernetes-list-type'] !== 'map' || !isObject(item)) return NONE
  const keys = node.schema['x-kubernetes-list-map-keys'] ?? []
  return old.find((each) => isObject(each) && keys.every((key) => equalJson(each[key], item[key]))) ?? NONE
}

/** Equal, where the order of a list of type map does not count. */
export function isUnchanged(value: unknown, old: unknown, node: SchemaNode | undefined): boolean {
  if (old === NONE) return false
  if (equalJson(value, old)) return true
  if (node === undefined) return false
  if (Array.isArray(value) && Array.isArray(old)) {
    return value.length === old.length && value.every((item) => isUnchanged(item, oldItem(old, item, node), node.items))
  }
  if (!isObject(value) || !isObject(old) || Object.keys(value).length !== Object.keys(old).length) return false
  return Object.keys(value).every((key) => isUnchanged(value[key], oldMember(old, key), node.properties.get(key) ?? node.additional))
}
