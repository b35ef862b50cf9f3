/** `metadata` of a custom object: its fields are known and typed whatever the schema says (`metav1.ObjectMeta`). */
import { isObject } from '../json.ts'
import type { ApiError } from '../status.ts'
import { goType } from './go-type.ts'

type Refuse = (text: string) => ApiError

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

/** Removes what ObjectMeta does not have, and nulls; gives the paths of the former (`metadata.bogus`). @throws what `refuse` makes of Go's text for a wrong type */
export function decodeMetadata(metadata: object, refuse: Refuse): string[] {
  const fields = metadata as Record<string, unknown>
  const unknown: string[] = []
  for (const key of Object.keys(fields)) {
    const shape = FIELDS.get(key)
    const value = fields[key]
    if (shape === undefined) {
      unknown.push(`metadata.${key}`)
      delete fields[key]
    } else if (value === null || value === undefined) delete fields[key]
    else check(key, shape, value, fields, unknown, refuse)
  }
  return unknown
}

function check(key: string, shape: Shape, value: unknown, fields: Record<string, unknown>, unknown: string[], refuse: Refuse): void {
  const wrong = (found: unknown, type: string) =>
    refuse(`json: cannot unmarshal ${goType(found)} into Go struct field ObjectMeta.${key} of type ${type}`)
  switch (shape) {
    case 'string':
      if (typeof value !== 'string') throw wrong(value, 'string')
      if (value === '') delete fields[key]
      return
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value)) throw wrong(value, 'int64')
      return
    case 'time':
      if (typeof value !== 'string') throw wrong(value, 'string')
      fields[key] = decodeTime(value, refuse)
      return
    case 'map':
      if (!isObject(value)) throw wrong(value, 'map[string]string')
      for (const [member, each] of Object.entries(value)) {
        if (each === null) value[member] = ''
        else if (typeof each !== 'string') throw wrong(each, 'string')
      }
      if (Object.keys(value).length === 0) delete fields[key]
      return
    case 'strings':
      if (!Array.isArray(value)) throw wrong(value, '[]string')
      for (const each of value) if (typeof each !== 'string') throw wrong(each, 'string')
      if (value.length === 0) delete fields[key]
      return
    case 'owners':
      if (!Array.isArray(value)) throw wrong(value, '[]v1.OwnerReference')
      for (const [i, each] of value.entries()) {
        if (!isObject(each)) throw wrong(each, 'v1.OwnerReference')
        checkOwner(each, i, unknown, refuse)
      }
      if (value.length === 0) delete fields[key]
      return
    case 'managers':
      if (!Array.isArray(value)) throw wrong(value, '[]v1.ManagedFieldsEntry')
      for (const each of value) if (!isObject(each)) throw wrong(each, 'v1.ManagedFieldsEntry')
  }
}

function checkOwner(owner: Record<string, unknown>, index: number, unknown: string[], refuse: Refuse): void {
  for (const key of Object.keys(owner)) {
    const value = owner[key]
    const type = OWNER.get(key)
    if (type === undefined) {
      unknown.push(`metadata.ownerReferences[${index}].${key}`)
      delete owner[key]
    } else if (value === null) delete owner[key]
    else if (typeof value !== type) {
      const wanted = type === 'boolean' ? 'bool' : type
      throw refuse(`json: cannot unmarshal ${goType(value)} into Go struct field OwnerReference.ownerReferences.${key} of type ${wanted}`)
    }
  }
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/

/** RFC 3339 to whole seconds in UTC, as `metav1.Time` keeps it. */
function decodeTime(text: string, refuse: Refuse): string {
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time))
    throw refuse(`parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(text)} as "2006"`)
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}
