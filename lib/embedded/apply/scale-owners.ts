/**
 * Who owns the number of replicas: the object keeps it at the object's path, its Scale at `spec.replicas`. A write through the
 * subresource takes it from those who had it.
 */
import type { ManagedFieldsEntry, Schema, SchemaSource } from '../types.ts'
import { difference, has, setOf } from './field-set.ts'
import { decodeManaged, encodeManaged, Managed, type Owner } from './managed-fields.ts'
import { fieldElement } from './path-element.ts'

/** Where objects of an apiVersion have the number. `undefined`: there is no such version, or it has none. */
export type ReplicasPath = (apiVersion: string) => readonly string[] | undefined

export const SCALE_VERSION = 'autoscaling/v1'
const REPLICAS = ['spec', 'replicas'].map(fieldElement)

const SCALE: Schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: { type: 'integer' } } },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
  },
}
export const SCALE_SCHEMA: SchemaSource = { root: SCALE, resolve: (schema) => schema }

/** The owners of an object as owners of its Scale. */
export function ownersOfScale(entries: readonly ManagedFieldsEntry[] | undefined, pathOf: ReplicasPath): ManagedFieldsEntry[] | undefined {
  const object = decoded(entries)
  const scale = new Managed(new Map(), object.times)
  for (const [id, owner] of object.owners) {
    const path = elements(pathOf(owner.apiVersion))
    if (path === undefined || !has(owner.set, path)) continue
    scale.owners.set(id, { ...owner, set: setOf(REPLICAS), apiVersion: SCALE_VERSION })
  }
  return encodeManaged(scale)
}

/**
 * The owners of an object after its Scale was written. The real server gives new ones no time, so neither do we.
 * `apiVersion`: the one of the request.
 */
export function ownersFromScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  scaleEntries: readonly ManagedFieldsEntry[] | undefined,
  pathOf: ReplicasPath,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  const [object, scale] = [decoded(entries), decoded(scaleEntries)]
  const owners = new Map<string, Owner>()
  for (const [id, owner] of object.owners) {
    const path = elements(pathOf(owner.apiVersion))
    if (path === undefined || !has(owner.set, path)) owners.set(id, owner)
    else if (scale.owners.delete(id)) owners.set(id, owner)
    else {
      const set = difference(owner.set, setOf(path))
      if (set.size > 0) owners.set(id, { ...owner, set })
    }
  }
  const path = elements(pathOf(apiVersion))
  for (const [id, owner] of scale.owners) {
    if (path !== undefined && has(owner.set, REPLICAS)) owners.set(id, { ...owner, set: setOf(path), apiVersion })
  }
  return encodeManaged(new Managed(owners, object.times))
}

const elements = (path: readonly string[] | undefined) => path?.map(fieldElement)

function decoded(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  try {
    return decodeManaged(entries)
  } catch {
    return new Managed()
  }
}
