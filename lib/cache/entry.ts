import { type KubeObject, keyOf } from '../resource/kind.ts'
import { Block, type TextArena } from './text-arena.ts'

/** What the store knows of an object without parsing it. */
export interface Meta {
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  /** Absent for kinds that count no generations (ConfigMap, Secret, …). */
  readonly generation: number | undefined
  /** What its status says of the generation that was acted on last. */
  readonly observedGeneration: number | undefined
  /** Whether it has a deletionTimestamp. */
  readonly deleting: boolean
  /** The uid of the owner reference that has `controller: true`. */
  readonly controllerUid: string | undefined
}

/** One version of one object: the few fields that are looked at often, and the whole as JSON text in an arena. */
export class Entry extends Block implements Meta {
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation: number | undefined
  readonly observedGeneration: number | undefined
  readonly deleting: boolean
  readonly controllerUid: string | undefined

  /** Takes `managedFields` off the object: some half of the metadata, and of no use to an operator. */
  constructor(object: KubeObject, arena: TextArena) {
    super()
    const metadata = object.metadata as KubeObject['metadata'] & { managedFields?: unknown }
    if (metadata.managedFields !== undefined) delete metadata.managedFields
    this.key = keyOf(metadata)
    this.uid = metadata.uid
    this.resourceVersion = metadata.resourceVersion
    this.generation = metadata.generation
    this.observedGeneration = observedGeneration(object)
    this.deleting = metadata.deletionTimestamp !== undefined
    this.controllerUid = metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid
    arena.write(this, JSON.stringify(object))
  }
}

/** Only a number counts: the status of a kind without a schema may hold anything there. */
function observedGeneration(object: KubeObject): number | undefined {
  const observed = (object as { status?: { observedGeneration?: unknown } | null }).status?.observedGeneration
  return typeof observed === 'number' ? observed : undefined
}
