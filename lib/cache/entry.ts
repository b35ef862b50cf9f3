import { type KubeObject, keyOf } from '../resource/kind.ts'

/** What the store knows of an object without parsing it. */
export interface Meta {
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  /** Absent for kinds that count no generations (ConfigMap, Secret, …). */
  readonly generation: number | undefined
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean
  /** The uid of the owner reference that has `controller: true`. */
  readonly controllerUid: string | undefined
}

/** One version of one object: the few fields that are looked at often, and the whole as JSON text. Never changed. */
export interface Entry extends Meta {
  readonly text: string
}

/** Makes an entry; takes `managedFields` off the object (some half of the metadata, and of no use to an operator). */
export function entryOf(object: KubeObject): Entry {
  const metadata = object.metadata as KubeObject['metadata'] & { managedFields?: unknown }
  if (metadata.managedFields !== undefined) delete metadata.managedFields
  return {
    key: keyOf(metadata),
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    generation: metadata.generation,
    deleting: metadata.deletionTimestamp !== undefined,
    controllerUid: metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid,
    text: JSON.stringify(object),
  }
}

/** A fresh object each time: the caller owns it. */
export function objectOf(entry: Entry): KubeObject {
  return JSON.parse(entry.text) as KubeObject
}
