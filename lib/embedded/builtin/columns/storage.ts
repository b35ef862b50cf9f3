/** Columns of volumes, claims and what provides them. */
import { ageOf } from '../../table.ts'
import type { ApiObject } from '../../types.ts'
import { type Cells, isDefault, NONE, named, quantityText, UNSET } from './format.ts'

const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class'

export const persistentVolume: Cells = (object, now) => {
  const { metadata, spec = {}, status = {} } = object
  const { claimRef } = spec
  return [
    metadata.name ?? '',
    quantityText(spec.capacity?.storage),
    accessModes(spec.accessModes),
    spec.persistentVolumeReclaimPolicy ?? '',
    phaseOf(object),
    claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`,
    classOf(object),
    spec.volumeAttributesClassName ?? UNSET,
    status.reason ?? '',
    ageOf(metadata.creationTimestamp, now),
    spec.volumeMode ?? UNSET,
  ]
}

export const persistentVolumeClaim: Cells = (object, now) => {
  const { metadata, spec = {}, status = {} } = object
  const bound = Boolean(spec.volumeName)
  return [
    metadata.name ?? '',
    phaseOf(object),
    spec.volumeName ?? '',
    bound ? quantityText(status.capacity?.storage) : '',
    bound ? accessModes(status.accessModes) : '',
    classOf(object),
    spec.volumeAttributesClassName ?? UNSET,
    ageOf(metadata.creationTimestamp, now),
    spec.volumeMode ?? UNSET,
  ]
}

const phaseOf = ({ metadata, status }: ApiObject) => (metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating')
const classOf = ({ metadata, spec }: ApiObject) => metadata.annotations?.[BETA_CLASS] ?? spec?.storageClassName ?? ''

const SHORT_MODES = { ReadWriteOnce: 'RWO', ReadOnlyMany: 'ROX', ReadWriteMany: 'RWX', ReadWriteOncePod: 'RWOP' }

function accessModes(modes: readonly string[] = []): string {
  return Object.entries(SHORT_MODES)
    .flatMap(([mode, short]) => (modes.includes(mode) ? [short] : []))
    .join(',')
}

export const storageClass: Cells = (object, now) => {
  const { metadata, provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion } = object
  const annotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class']
  return [
    `${metadata.name}${isDefault(object, ...annotations) ? ' (default)' : ''}`,
    provisioner ?? '',
    reclaimPolicy ?? 'Delete',
    volumeBindingMode ?? 'Immediate',
    allowVolumeExpansion ?? false,
    ageOf(metadata.creationTimestamp, now),
  ]
}

export const csiDriver: Cells = named(({ spec = {} }) => [
  spec.attachRequired ?? true,
  spec.podInfoOnMount ?? false,
  spec.storageCapacity ?? false,
  spec.tokenRequests === undefined ? UNSET : spec.tokenRequests.map(({ audience }: { audience?: string }) => audience ?? '').join(','),
  spec.requiresRepublish ?? false,
  (spec.volumeLifecycleModes ?? []).join(',') || NONE,
])

export const csiNode: Cells = named(({ spec }) => [(spec?.drivers ?? []).length])

export const volumeAttachment: Cells = named(({ spec = {}, status = {} }) => [
  spec.attacher ?? '',
  spec.source?.persistentVolumeName ?? '',
  spec.nodeName ?? '',
  status.attached ?? false,
])

export const volumeAttributesClass: Cells = named(({ driverName }) => [driverName ?? ''])
