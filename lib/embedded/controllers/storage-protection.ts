/**
 * Takes the finalizers away that protect storage in use, once it is not used any more: of a claim, when no pod that has a node
 * names it; of a volume, when it is bound to no claim (https://kubernetes.io/docs/concepts/storage/persistent-volumes/).
 */
import { type Core, type RequestOptions, SYSTEM } from '../core.ts'
import { cloneJson } from '../json.ts'
import type { ApiObject } from '../types.ts'
import { KeyedQueue } from './keyed-queue.ts'

export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection'
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection'

const CLAIMS = '/persistentvolumeclaims'
const VOLUMES = '/persistentvolumes'
const AS_CONTROLLER: RequestOptions = { user: SYSTEM, fieldManager: 'kube-controller-manager' }

export function startStorageProtection(core: Core): void {
  const protection = new StorageProtection(core)
  for (const bucket of [CLAIMS, VOLUMES]) {
    for (const { name, namespace, object } of core.store.bucket(bucket).list()) protection.seen(bucket, namespace, name, object)
  }
  core.store.observe(({ type, namespace, name, object }, bucket) => {
    if (bucket === CLAIMS || bucket === VOLUMES) {
      if (type !== 'DELETED') protection.seen(bucket, namespace, name, object)
      else protection.gone(bucket, namespace, name)
    } else if (bucket === '/pods') protection.podChanged(namespace)
  })
}

class StorageProtection {
  readonly #core: Core
  readonly #queue: KeyedQueue
  /** Claims that are to go and may still be used: `namespace name`. */
  readonly #waiting = new Set<string>()

  constructor(core: Core) {
    this.#core = core
    this.#queue = new KeyedQueue(core.tasks, (key) => this.#release(key))
  }

  seen(bucket: string, namespace: string, name: string, { metadata }: ApiObject): void {
    const finalizer = bucket === CLAIMS ? CLAIM_PROTECTION : VOLUME_PROTECTION
    if (metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(finalizer) !== true) return
    if (bucket === CLAIMS) this.#waiting.add(`${namespace} ${name}`)
    this.#queue.add(`${bucket} ${namespace} ${name}`)
  }

  gone(bucket: string, namespace: string, name: string): void {
    if (bucket === CLAIMS) this.#waiting.delete(`${namespace} ${name}`)
  }

  podChanged(namespace: string): void {
    if (this.#waiting.size === 0) return
    for (const key of this.#waiting) if (key.startsWith(`${namespace} `)) this.#queue.add(`${CLAIMS} ${key}`)
  }

  async #release(key: string): Promise<void> {
    const [bucket, namespace = '', name = ''] = key.split(' ')
    const resource = bucket === CLAIMS ? 'persistentvolumeclaims' : 'persistentvolumes'
    const finalizer = bucket === CLAIMS ? CLAIM_PROTECTION : VOLUME_PROTECTION
    const type = this.#core.registry.find('', 'v1', resource)
    const object = this.#core.lookup.get('', resource, namespace, name)
    if (type === undefined || object?.metadata.deletionTimestamp === undefined) return
    const used = bucket === CLAIMS ? this.#isMounted(namespace, name) : object.status?.phase === 'Bound'
    if (used) return
    const next = cloneJson(object)
    next.metadata.finalizers = object.metadata.finalizers?.filter((each) => each !== finalizer) ?? []
    await this.#core.operations.update(type, namespace, name, '', next, AS_CONTROLLER)
  }

  #isMounted(namespace: string, claim: string): boolean {
    return this.#core.lookup.list('', 'pods', namespace).some((pod) => {
      if (!pod.spec?.nodeName) return false
      const volumes = (pod.spec.volumes ?? []) as readonly {
        name: string
        persistentVolumeClaim?: { claimName: string }
        ephemeral?: object
      }[]
      return volumes.some(
        ({ name, persistentVolumeClaim, ephemeral }) =>
          persistentVolumeClaim?.claimName === claim || (ephemeral !== undefined && `${pod.metadata.name}-${name}` === claim),
      )
    })
  }
}
