/**
 * Garbage collection: what an owner leaves behind goes with it, in the background, in the foreground, or not at all
 * (https://kubernetes.io/docs/concepts/architecture/garbage-collection/). As in a cluster it happens after the answer to the
 * delete, and objects that are about to go can be seen.
 *
 * Only objects that have owners are remembered, and those that wait for their dependents: a write of any other costs nothing.
 */
import { type Core, type RequestOptions, SYSTEM } from '../core.ts'
import { FOREGROUND, ORPHAN } from '../object-meta.ts'
import type { ApiObject, OwnerReference, ResourceType, StoreEvent } from '../types.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { typeOfBucket, typeOfReference } from './kinds.ts'
import { recordEvent } from './record-event.ts'

interface Place {
  readonly bucket: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

interface Dependent extends Place {
  readonly owners: readonly OwnerReference[]
}

type Owners = Record<'solid' | 'dangling' | 'waiting', OwnerReference[]>

const AS_CONTROLLER: RequestOptions = { user: SYSTEM, fieldManager: 'kube-controller-manager' }

export function startGarbageCollector(core: Core): void {
  const collector = new GarbageCollector(core)
  for (const bucket of core.store.buckets()) {
    for (const { object, namespace, name } of bucket.list()) collector.seen(bucket.key, namespace, name, object)
  }
  core.store.observe((event, bucket) => collector.observe(event, bucket))
  core.registry.onChange(() => collector.kindsChanged())
}

class GarbageCollector {
  readonly #core: Core
  /** Objects with owners, by uid. */
  readonly #dependents = new Map<string, Dependent>()
  /** Uids of dependents, by the uid of an owner, there or not. */
  readonly #byOwner = new Map<string, Set<string>>()
  /** Objects in deletion that wait for their dependents, by uid. */
  readonly #waiting = new Map<string, Place>()
  /** Dependents with an owner of a kind that is not known (now). */
  readonly #unknown = new Set<string>()
  readonly #queue: KeyedQueue

  constructor(core: Core) {
    this.#core = core
    this.#queue = new KeyedQueue(core.tasks, (uid) => this.#process(uid))
  }

  observe({ type, object, namespace, name }: StoreEvent, bucket: string): void {
    if (type === 'DELETED') this.#gone(object)
    else this.seen(bucket, namespace, name, object)
  }

  seen(bucket: string, namespace: string, name: string, { metadata }: ApiObject): void {
    const { uid = '', ownerReferences, finalizers, deletionTimestamp } = metadata
    if (ownerReferences !== undefined || this.#dependents.has(uid))
      this.#link({ bucket, namespace, name, uid, owners: ownerReferences ?? [] })
    const waits = deletionTimestamp !== undefined && finalizers?.some((each) => each === FOREGROUND || each === ORPHAN) === true
    if (waits) {
      this.#waiting.set(uid, { bucket, namespace, name, uid })
      this.#queue.add(uid)
    } else if (this.#waiting.size > 0) this.#waiting.delete(uid)
  }

  /** An owner's kind that was unknown may be known now. */
  kindsChanged(): void {
    for (const uid of this.#unknown) this.#queue.add(uid)
    this.#unknown.clear()
  }

  #link(dependent: Dependent): void {
    const { uid, owners } = dependent
    const before = this.#dependents.get(uid)
    if (before !== undefined && before.owners === owners) return
    this.#unlink(uid)
    if (owners.length > 0) {
      this.#dependents.set(uid, dependent)
      for (const owner of owners) {
        const dependents = this.#byOwner.get(owner.uid)
        if (dependents === undefined) this.#byOwner.set(owner.uid, new Set([uid]))
        else dependents.add(uid)
      }
      this.#queue.add(uid)
    }
    if (before !== undefined) this.#tellWaiting(before)
  }

  #unlink(uid: string): void {
    for (const owner of this.#dependents.get(uid)?.owners ?? []) {
      const dependents = this.#byOwner.get(owner.uid)
      if (dependents?.delete(uid) && dependents.size === 0) this.#byOwner.delete(owner.uid)
    }
    this.#dependents.delete(uid)
    this.#unknown.delete(uid)
  }

  #gone({ metadata: { uid = '' } }: ApiObject): void {
    this.#waiting.delete(uid)
    const dependent = this.#dependents.get(uid)
    this.#unlink(uid)
    if (dependent !== undefined) this.#tellWaiting(dependent)
    for (const each of this.#byOwner.get(uid) ?? []) this.#queue.add(each)
  }

  #tellWaiting(dependent: Dependent): void {
    for (const owner of dependent.owners) if (this.#waiting.has(owner.uid)) this.#queue.add(owner.uid)
  }

  async #process(uid: string): Promise<void> {
    const waiting = this.#waiting.get(uid)
    if (waiting !== undefined) {
      const object = this.#live(waiting)
      const finalizers = object?.metadata.finalizers ?? []
      if (object !== undefined && finalizers.includes(ORPHAN)) return this.#orphan(waiting)
      if (object !== undefined && finalizers.includes(FOREGROUND)) return this.#deleteDependents(waiting)
    }
    const dependent = this.#dependents.get(uid)
    if (dependent !== undefined) await this.#attemptToDelete(dependent)
  }

  #live(place: Place): ApiObject | undefined {
    const object = this.#core.store.bucket(place.bucket).get(place.namespace, place.name)?.object
    return object?.metadata.uid === place.uid ? object : undefined
  }

  /** The owner goes alone: dependents forget it first. */
  async #orphan(owner: Place): Promise<void> {
    for (const uid of this.#byOwner.get(owner.uid) ?? []) {
      const dependent = this.#dependents.get(uid)
      if (dependent !== undefined) await this.#forgetOwners(dependent, new Set([owner.uid]))
    }
    await this.#removeFinalizer(owner, ORPHAN)
  }

  /** The owner goes last: after those dependents that block it. */
  async #deleteDependents(owner: Place): Promise<void> {
    const dependents = [...(this.#byOwner.get(owner.uid) ?? [])].map((uid) => this.#dependents.get(uid) as Dependent)
    const blocking = dependents.filter(({ owners }) => owners.some((each) => each.uid === owner.uid && each.blockOwnerDeletion === true))
    if (blocking.length === 0) return this.#removeFinalizer(owner, FOREGROUND)
    for (const { uid } of dependents) this.#queue.add(uid)
  }

  async #attemptToDelete(dependent: Dependent): Promise<void> {
    const object = this.#live(dependent)
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
    const owners = this.#classify(dependent, object)
    if (owners === undefined) return
    const { solid, dangling, waiting } = owners
    if (solid.length > 0) {
      if (dangling.length + waiting.length > 0) {
        await this.#forgetOwners(dependent, new Set([...dangling, ...waiting].map(({ uid }) => uid)))
      }
      return
    }
    const own = [...(this.#byOwner.get(dependent.uid) ?? [])]
    if (waiting.length > 0 && own.length > 0) {
      // In a circle, each would wait for the other.
      if (own.some((uid) => this.#waiting.has(uid))) await this.#unblockOwners(dependent)
      return this.#delete(dependent, 'Foreground')
    }
    const finalizers = object.metadata.finalizers ?? []
    await this.#delete(dependent, finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background')
  }

  /** `undefined`: what an owner is cannot be told, so the dependent stays. */
  #classify(dependent: Dependent, object: ApiObject): Owners | undefined {
    const owners: Owners = { solid: [], dangling: [], waiting: [] }
    for (const owner of object.metadata.ownerReferences ?? []) {
      const type = typeOfReference(this.#core, owner)
      if (type === undefined) {
        this.#unknown.add(dependent.uid)
        return undefined
      }
      if (type.namespaced && dependent.namespace === '') {
        this.#tellInvalidNamespace(dependent, object, owner)
        return undefined
      }
      const live = this.#core.store.bucket(type.bucket).get(type.namespaced ? dependent.namespace : '', owner.name)?.object
      if (live?.metadata.uid !== owner.uid) {
        if (type.namespaced && this.#isElsewhere(type, owner)) this.#tellInvalidNamespace(dependent, object, owner)
        owners.dangling.push(owner)
      } else if (live.metadata.deletionTimestamp !== undefined && live.metadata.finalizers?.includes(FOREGROUND)) owners.waiting.push(owner)
      else owners.solid.push(owner)
    }
    return owners
  }

  #isElsewhere(type: ResourceType, owner: OwnerReference): boolean {
    return this.#core.store
      .bucket(type.bucket)
      .list()
      .some(({ object }) => object.metadata.uid === owner.uid)
  }

  #tellInvalidNamespace(dependent: Dependent, object: ApiObject, { apiVersion, kind, name, uid }: OwnerReference): void {
    const { namespace } = dependent
    const owner = `ownerRef [${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
    recordEvent(this.#core, object, {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      message: `${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
      component: 'garbage-collector-controller',
    })
  }

  async #delete(place: Place, propagationPolicy: string): Promise<void> {
    const type = typeOfBucket(this.#core, place.bucket)
    if (type === undefined) return
    const { uid } = place
    await this.#core.operations.delete(type, place.namespace, place.name, { propagationPolicy, preconditions: { uid } }, AS_CONTROLLER)
  }

  #forgetOwners(dependent: Dependent, uids: ReadonlySet<string>): Promise<void> {
    return this.#patch(dependent, ({ ownerReferences = [] }) => {
      const left = ownerReferences.filter(({ uid }) => !uids.has(uid))
      return left.length === ownerReferences.length ? undefined : { ownerReferences: left.length === 0 ? null : left }
    })
  }

  #unblockOwners(dependent: Dependent): Promise<void> {
    return this.#patch(dependent, ({ ownerReferences = [] }) => {
      if (!ownerReferences.some((owner) => owner.blockOwnerDeletion)) return undefined
      return { ownerReferences: ownerReferences.map((owner) => ({ ...owner, blockOwnerDeletion: false })) }
    })
  }

  #removeFinalizer(place: Place, finalizer: string): Promise<void> {
    return this.#patch(place, ({ finalizers = [] }) => {
      const left = finalizers.filter((each) => each !== finalizer)
      return left.length === finalizers.length ? undefined : { finalizers: left.length === 0 ? null : left }
    })
  }

  /** `change` of the metadata as it is; `undefined`: nothing to do. */
  async #patch(place: Place, change: (metadata: ApiObject['metadata']) => object | undefined): Promise<void> {
    const type = typeOfBucket(this.#core, place.bucket)
    const object = this.#live(place)
    const metadata = object === undefined ? undefined : change(object.metadata)
    if (type === undefined || object === undefined || metadata === undefined) return
    const { uid, resourceVersion } = object.metadata
    const value = { metadata: { ...metadata, uid, resourceVersion } }
    await this.#core.operations.patch(type, place.namespace, place.name, '', { type: 'merge', value }, AS_CONTROLLER)
  }
}
