/** Volume claims and ingresses that name no class get the one that is marked as default; volumes in use are protected. */
import type { AdmissionPlugin, Core } from '../core.ts'
import type { ApiObject } from '../types.ts'
import { isResource, refusal } from './refusal.ts'

const STORAGE_DEFAULT = 'storageclass.kubernetes.io/is-default-class'
const STORAGE_DEFAULT_BETA = 'storageclass.beta.kubernetes.io/is-default-class'
const INGRESS_DEFAULT = 'ingressclass.kubernetes.io/is-default-class'
/** How a claim or an ingress named its class before there was a field. */
const CLAIM_CLASS = 'volume.beta.kubernetes.io/storage-class'
const INGRESS_CLASS = 'kubernetes.io/ingress.class'

export function defaultStorageClass(core: Core): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    mutate(request) {
      const { object, operation } = request
      if (object === undefined || operation !== 'CREATE' || !isResource(request, '/persistentvolumeclaims')) return
      if (object.spec.storageClassName !== undefined || object.metadata.annotations?.[CLAIM_CLASS] !== undefined) return
      const isDefault = (each: ApiObject) =>
        each.metadata.annotations?.[STORAGE_DEFAULT] === 'true' || each.metadata.annotations?.[STORAGE_DEFAULT_BETA] === 'true'
      const found = newest(core.lookup.list('storage.k8s.io', 'storageclasses').filter(isDefault))
      if (found !== undefined) object.spec.storageClassName = found.metadata.name
    },
  }
}

export function defaultIngressClass(core: Core): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    mutate(request) {
      const { object, operation } = request
      if (object === undefined || operation !== 'CREATE' || !isResource(request, 'networking.k8s.io/ingresses')) return
      if (object.spec.ingressClassName !== undefined || object.metadata.annotations?.[INGRESS_CLASS] !== undefined) return
      const classes = core.lookup.list('networking.k8s.io', 'ingressclasses')
      const found = newest(classes.filter((each) => each.metadata.annotations?.[INGRESS_DEFAULT] === 'true'))
      if (found !== undefined) object.spec.ingressClassName = found.metadata.name
    },
  }
}

/** The finalizers that `controllers/storage-protection.ts` takes away when no pod (or claim) uses the volume. */
export const storageProtection = (): AdmissionPlugin => ({
  name: 'StorageObjectInUseProtection',
  mutate(request) {
    const { object, operation } = request
    if (object === undefined || operation !== 'CREATE') return
    const finalizer = isResource(request, '/persistentvolumeclaims')
      ? 'kubernetes.io/pvc-protection'
      : isResource(request, '/persistentvolumes')
        ? 'kubernetes.io/pv-protection'
        : undefined
    if (finalizer === undefined || object.metadata.finalizers?.includes(finalizer)) return
    object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer]
  },
})

/** The newest; by name where they are equally old. */
function newest(classes: readonly ApiObject[]): ApiObject | undefined {
  const age = (each: ApiObject) => Date.parse(each.metadata.creationTimestamp ?? '') || 0
  return [...classes].sort((a, b) => age(b) - age(a) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))[0]
}

/** A claim grows only where its class allows it. */
export function volumeResize(core: Core): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    validate(request) {
      const { object, old, operation } = request
      if (object === undefined || old === undefined || operation !== 'UPDATE' || !isResource(request, '/persistentvolumeclaims')) return
      const size = (claim: ApiObject) => claim.spec?.resources?.requests?.storage
      if (size(object) === size(old)) return
      if (old.status?.phase !== 'Bound') throw refusal(request, 'Only bound persistent volume claims can be expanded')
      const name = old.metadata.annotations?.[CLAIM_CLASS] ?? old.spec.storageClassName ?? ''
      const found = name === '' ? undefined : core.lookup.get('storage.k8s.io', 'storageclasses', '', name)
      if (found?.allowVolumeExpansion === true) return
      throw refusal(
        request,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      )
    },
  }
}
