/** PersistentVolumeClaim → a volume made for it. */
import type { ApiObject } from '../types.ts'
import { CLAIMS, isTerminating, STORAGE_CLASSES, VOLUMES, type World } from './world.ts'

const CONTROLLER = 'persistentvolume-controller'
/** Of the storage class that is there from the start. */
export const PROVISIONER = 'simulate.tsop.dev/volumes'

export class Claims {
  readonly #world: World
  readonly #waiting = new Set<string>()
  /** Claims of classes that do not exist, and that were told of. */
  readonly #refused = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  /** A claim of a class that does not exist stays pending, as in a cluster. */
  async sync(namespace: string, name: string): Promise<void> {
    const claim = this.#world.get(CLAIMS, namespace, name)
    const uid = claim?.metadata.uid ?? ''
    if (this.#world.simulation.nodes.length === 0) return
    if (claim === undefined || isTerminating(claim) || claim.status?.phase === 'Bound' || this.#waiting.has(uid)) return
    const storageClass: string | undefined = claim.spec.storageClassName
    if (storageClass !== undefined && storageClass !== '' && this.#world.get(STORAGE_CLASSES, '', storageClass) === undefined) {
      const message = `storageclass.storage.k8s.io ${JSON.stringify(storageClass)} not found`
      if (!this.#refused.has(uid)) this.#world.tell(claim, 'ProvisioningFailed', message, CONTROLLER, 'Warning')
      this.#refused.add(uid)
      return
    }
    this.#waiting.add(uid)
    this.#world.core.tasks.after(
      this.#world.simulation.claimBoundMs,
      async () => {
        this.#waiting.delete(uid)
        const now = this.#world.get(CLAIMS, namespace, name)
        if (now?.metadata.uid === uid && !isTerminating(now)) await this.#bind(now)
      },
      true,
    )
  }

  async #bind(claim: ApiObject): Promise<void> {
    const { name = '', namespace = '', uid = '' } = claim.metadata
    const volumeName: string = claim.spec.volumeName || `pvc-${uid}`
    const capacity = { storage: claim.spec.resources?.requests?.storage ?? '1Gi' }
    const { accessModes, volumeMode, storageClassName } = claim.spec
    if (this.#world.get(VOLUMES, '', volumeName) === undefined) {
      await this.#world.create(VOLUMES, {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: volumeName },
        spec: {
          capacity,
          accessModes,
          ...(volumeMode === undefined ? {} : { volumeMode }),
          ...(storageClassName === undefined ? {} : { storageClassName }),
          persistentVolumeReclaimPolicy: 'Delete',
          hostPath: { path: `/simulated/${volumeName}` },
          claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
        },
      })
    }
    const volume = this.#world.get(VOLUMES, '', volumeName)
    if (volume !== undefined) await this.#world.setStatus(VOLUMES, volume, { ...volume.status, phase: 'Bound' })
    await this.#world.update(CLAIMS, claim, (object) => {
      object.spec.volumeName = volumeName
      object.metadata.annotations = { ...object.metadata.annotations, 'pv.kubernetes.io/bind-completed': 'yes' }
    })
    const bound = this.#world.get(CLAIMS, namespace, name)
    if (bound === undefined) return
    await this.#world.setStatus(CLAIMS, bound, { phase: 'Bound', accessModes, capacity })
    // The one of several that a provisioner writes which says what came of it.
    this.#world.tell(bound, 'ProvisioningSucceeded', `Successfully provisioned volume ${volumeName}`, PROVISIONER)
  }

  /** A volume that was made for its claim goes with it. */
  async gone(claim: ApiObject): Promise<void> {
    this.#refused.delete(claim.metadata.uid ?? '')
    const volume = this.#world.get(VOLUMES, '', claim.spec?.volumeName ?? '')
    if (volume === undefined || volume.spec.claimRef?.uid !== claim.metadata.uid) return
    await this.#world.setStatus(VOLUMES, volume, { ...volume.status, phase: 'Released' })
    if (volume.spec.persistentVolumeReclaimPolicy === 'Delete') await this.#world.delete(VOLUMES, volume)
  }
}
