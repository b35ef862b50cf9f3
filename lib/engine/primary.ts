/**
 * What the engine holds of the object that a run is about: taken when the run begins and renewed with each own write of it.
 * The handler gets the object itself and may do with it what it likes.
 */
import { copyJson } from '../cache/copy-json.ts'
import type { KindRef, KubeObject, ObjectRef } from '../resource/kind.ts'
import type { Status } from './conditions.ts'

/** Where the record of `ctx.external` lives for kinds whose status has no place for it. */
export const EXTERNAL_ANNOTATION = 'tsop.dev/external'

export class Primary {
  readonly kind: KindRef
  readonly ref: ObjectRef
  readonly key: string
  readonly uid: string
  /** Whether it was being deleted when the run began. */
  readonly deleting: boolean
  /** The generation that the handler is given. */
  generation: number | undefined
  resourceVersion: string
  status: Status | undefined
  externalAnnotation: string | undefined

  constructor(kind: KindRef, key: string, object: KubeObject) {
    const { name, namespace, uid, deletionTimestamp } = object.metadata
    this.kind = kind
    this.ref = namespace === undefined ? { name } : { name, namespace }
    this.key = key
    this.uid = uid
    this.deleting = deletionTimestamp !== undefined
    this.generation = object.metadata.generation
    this.resourceVersion = object.metadata.resourceVersion
    this.#take(object)
  }

  /** The server's answer to an own write. The generation stays the one that the handler was given. */
  renew(object: KubeObject): void {
    this.resourceVersion = object.metadata.resourceVersion
    this.#take(object)
  }

  #take(object: KubeObject): void {
    const status = (object as { status?: Status }).status
    // A copy: the object goes to the handler, which may change it.
    this.status = copyJson(status)
    this.externalAnnotation = object.metadata.annotations?.[EXTERNAL_ANNOTATION]
  }
}
