/** `metadata.managedFields`, decoded: who owns which fields. */
import { isObject, type JsonObject } from '../json.ts'
import type { ManagedFieldsEntry } from '../types.ts'
import { type FieldSet, union } from './field-set.ts'
import { parseFields, writeFields } from './fields-v1.ts'
import { goJson } from './path-element.ts'

/** What tells one manager from another: an applier is the same in all versions, an updater is not. */
export type ManagerId = string

export interface Owner {
  readonly set: FieldSet
  readonly apiVersion: string
  readonly applied: boolean
}

export class Managed {
  readonly owners: Map<ManagerId, Owner>
  /** Of the last change of each; an apply that changed nothing has none. */
  readonly times: Map<ManagerId, string>

  constructor(owners: Map<ManagerId, Owner> = new Map(), times: Map<ManagerId, string> = new Map()) {
    this.owners = owners
    this.times = times
  }
}

export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

/** As the real server makes it: its order decides where times are equal. */
export function managerId({ manager, operation, apiVersion, subresource }: Manager): ManagerId {
  const parts = [member('manager', manager), member('operation', operation)]
  if (operation !== 'Apply') parts.push(member('apiVersion', apiVersion))
  parts.push(member('subresource', subresource))
  return `{${parts.filter((part) => part !== '').join(',')}}`
}

const member = (name: string, value: string) => (value === '' ? '' : `"${name}":${goJson(value)}`)

export function parseManagerId(id: ManagerId): Partial<Manager> {
  return JSON.parse(id)
}

/** @throws Error where an entry is not one */
export function decodeManaged(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  const managed = new Managed()
  if (entries === undefined || entries === null) return managed
  for (const [i, entry] of entries.entries()) {
    if (!isObject(entry)) throw new Error('managed fields entry is not an object')
    const { manager = '', operation, apiVersion = '', time, fieldsType = '', fieldsV1, subresource = '' } = entry as ManagedFieldsEntry
    if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`')
    if (apiVersion === '') throw new Error('apiVersion must not be empty')
    if ((fieldsType as string) === '') throw new Error(`missing fieldsType in managed fields entry ${i}`)
    if (fieldsType !== 'FieldsV1') throw new Error(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${i}`)
    const id = managerId({ manager, operation, apiVersion, subresource })
    managed.owners.set(id, { set: parseFields((fieldsV1 ?? {}) as JsonObject), apiVersion, applied: operation === 'Apply' })
    if (time) managed.times.set(id, time)
  }
  return managed
}

/** Appliers first, then by time (in seconds), name, version and subresource. `undefined`: nobody owns anything. */
export function encodeManaged({ owners, times }: Managed): ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined
  const entries: ManagedFieldsEntry[] = []
  for (const [id, { set, apiVersion, applied }] of owners) {
    const { manager, operation, subresource } = parseManagerId(id)
    const time = times.get(id)
    entries.push({
      ...(manager ? { manager } : {}),
      operation: applied ? 'Apply' : (operation ?? 'Update'),
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: writeFields(set),
      ...(subresource ? { subresource } : {}),
    })
  }
  return entries.length === 1 ? entries : entries.sort(byAge)
}

function byAge(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a.time) - seconds(b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

const compareText = (a = '', b = '') => (a === b ? 0 : a < b ? -1 : 1)
const seconds = (time: string | undefined) => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0)

/** More updaters than these share an entry. */
const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/** Puts the oldest updaters of a version together until there are few enough. In place. */
export function capUpdaters({ owners, times }: Managed): void {
  let count = 0
  for (const owner of owners.values()) if (!owner.applied) count++
  if (count <= MAX_UPDATERS) return
  const updaters = [...owners.keys()].filter((id) => !owners.get(id)?.applied)
  updaters.sort((a, b) => seconds(times.get(a)) - seconds(times.get(b)) || compareText(a, b))
  const firstOfVersion = new Map<string, ManagerId>()
  for (const id of updaters) {
    if (count <= MAX_UPDATERS) return
    const owner = owners.get(id) as Owner
    const { apiVersion } = owner
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id)
      continue
    }
    const bucket = managerId({ manager: ANCIENT, operation: 'Update', apiVersion, subresource: '' })
    const merged = owners.get(bucket) ?? (owners.get(first) as Owner)
    if (!owners.has(bucket)) owners.delete(first)
    owners.delete(id)
    owners.set(bucket, { ...owner, set: union(owner.set, merged.set) })
    count--
    const time = times.get(id)
    if (time === undefined) times.delete(bucket)
    else times.set(bucket, time)
  }
}
