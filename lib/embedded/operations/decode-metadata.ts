/** `metadata` of a custom object: its fields are known and typed whatever the schema says (`metav1.ObjectMeta`). */
import { isObject } from '../json.ts'
import { badRequest } from '../status.ts'
import type { ApiObject } from '../types.ts'
import { goType, unknownField } from './decode.ts'

type Shape = 'string' | 'integer' | 'time' | 'map' | 'strings' | 'owners' | 'managers'

const FIELDS = new Map<string, Shape>([
  ['name', 'string'],
  ['generateName', 'string'],
  ['namespace', 'string'],
  ['selfLink', 'string'],
  ['uid', 'string'],
  ['resourceVersion', 'string'],
  ['generation', 'integer'],
  ['creationTimestamp', 'time'],
  ['deletionTimestamp', 'time'],
  ['deletionGracePeriodSeconds', 'integer'],
  ['labels', 'map'],
  ['annotations', 'map'],
  ['ownerReferences', 'owners'],
  ['finalizers', 'strings'],
  ['managedFields', 'managers'],
])
const OWNER = new Map<string, 'string' | 'boolean'>([
  ['apiVersion', 'string'],
  ['kind', 'string'],
  ['name', 'string'],
  ['uid', 'string'],
  ['controller', 'boolean'],
  ['blockOwnerDeletion', 'boolean'],
])

/** Removes what ObjectMeta does not have, and nulls. @throws ApiError 400 for a wrong type, with Go's text */
export function decodeMetadata(object: ApiObject): string[] {
  const metadata = object.metadata as unknown as Record<string, unknown>
  const unknown: string[] = []
  for (const key of Object.keys(metadata)) {
    const shape = FIELDS.get(key)
    const value = metadata[key]
    if (shape === undefined) {
      unknown.push(unknownField(`metadata.${key}`))
      delete metadata[key]
    } else if (value === null || value === undefined) delete metadata[key]
    else check(key, shape, value, metadata, unknown)
  }
  return unknown
}

function check(key: string, shape: Shape, value: unknown, metadata: Record<string, unknown>, unknown: string[]): void {
  switch (shape) {
    case 'string':
      if (typeof value !== 'string') throw wrong(value, key, 'string')
      if (value === '') delete metadata[key]
      return
    case 'integer':
      if (typeof value === 'bigint') throw wrong(value, key, 'int64')
      if (typeof value !== 'number' || !Number.isInteger(value)) throw wrong(value, key, 'int64')
      return
    case 'time':
      if (typeof value !== 'string') throw wrong(value, key, 'string')
      metadata[key] = decodeTime(value)
      return
    case 'map':
      if (!isObject(value)) throw wrong(value, key, 'map[string]string')
      for (const [member, each] of Object.entries(value)) {
        if (each === null) value[member] = ''
        else if (typeof each !== 'string') throw wrong(each, key, 'string')
      }
      if (Object.keys(value).length === 0) delete metadata[key]
      return
    case 'strings':
      if (!Array.isArray(value)) throw wrong(value, key, '[]string')
      for (const each of value) if (typeof each !== 'string') throw wrong(each, key, 'string')
      if (value.length === 0) delete metadata[key]
      return
    case 'owners':
      if (!Array.isArray(value)) throw wrong(value, key, '[]v1.OwnerReference')
      for (const [i, each] of value.entries()) checkOwner(each, i, unknown)
      if (value.length === 0) delete metadata[key]
      return
    case 'managers':
      if (!Array.isArray(value)) throw wrong(value, key, '[]v1.ManagedFieldsEntry')
      for (const each of value) if (!isObject(each)) throw wrong(each, key, 'v1.ManagedFieldsEntry')
  }
}

function checkOwner(owner: unknown, index: number, unknown: string[]): void {
  if (!isObject(owner)) throw wrong(owner, 'ownerReferences', 'v1.OwnerReference')
  for (const key of Object.keys(owner)) {
    const value = owner[key]
    const type = OWNER.get(key)
    if (type === undefined) {
      unknown.push(unknownField(`metadata.ownerReferences[${index}].${key}`))
      delete owner[key]
    } else if (value === null) delete owner[key]
    else if (typeof value !== type) {
      throw badRequest(
        `json: cannot unmarshal ${goType(value)} into Go struct field OwnerReference.ownerReferences.${key} of type ${type === 'boolean' ? 'bool' : type}`,
      )
    }
  }
}

function wrong(value: unknown, key: string, type: string) {
  return badRequest(`json: cannot unmarshal ${goType(value)} into Go struct field ObjectMeta.${key} of type ${type}`)
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** RFC 3339 to whole seconds in UTC, as `metav1.Time` keeps it. @throws ApiError 400 */
export function decodeTime(text: string): string {
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) {
    throw badRequest(`parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(text)} as "2006"`)
  }
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}
