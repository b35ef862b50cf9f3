/** PersistentVolume, StorageClass and what belongs to CSI. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { qualifiedName } from '../../names.ts'
import { parseQuantity, wholeValue } from '../../quantity.ts'
import type { Strategy } from '../../types.ts'
import { VOLUME_MODES, validateAccessModes } from './claims.ts'
import {
  count,
  type Errors,
  entries,
  immutable,
  oneOf,
  type Part,
  positiveQuantity,
  requiredText,
  sameSemantically,
  setDefault,
} from './common.ts'
import { defaultVolumeSource } from './pod-defaults.ts'
import { validateNodeSelector } from './pod-spec.ts'

const SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
]

export const persistentVolume: Strategy = {
  returnsDeleted: true,
  defaults({ spec }) {
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain')
    setDefault(spec, 'volumeMode', 'Filesystem')
    if (spec.hostPath) spec.hostPath.type ??= ''
    defaultVolumeSource(spec)
    if (spec.claimRef) {
      setDefault(spec.claimRef, 'kind', 'PersistentVolumeClaim')
      setDefault(spec.claimRef, 'apiVersion', 'v1')
    }
  },
  prepareForCreate(object, context) {
    const now = `${new Date(context.now()).toISOString().slice(0, 19)}Z`
    object.status = { phase: 'Pending', lastPhaseTransitionTime: now }
  },
  validate: ({ spec }) => validateVolume(spec),
  validateUpdate({ spec }, old, { subresource }) {
    if (subresource === 'status') return []
    const errors = validateVolume(spec)
    const source = (part: Part) => Object.fromEntries(SOURCES.filter((each) => part[each]).map((each) => [each, part[each]]))
    if (!sameSemantically(source(spec), source(old.spec))) {
      errors.push(forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'))
    }
    immutable(errors, spec.volumeMode, old.spec.volumeMode, 'volumeMode')
    return errors
  },
}

function validateVolume(spec: Part): FieldError[] {
  const errors: Errors = []
  if (count(spec.accessModes) === 0) errors.push(required('spec.accessModes'))
  validateAccessModes(errors, spec.accessModes ?? [], 'spec.accessModes')
  const capacity: Record<string, string> = spec.capacity ?? {}
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'))
  if (capacity.storage == null || Object.keys(capacity).length > 1)
    errors.push(notSupported('spec.capacity', spec.capacity ?? null, ['storage']))
  for (const [name, value] of Object.entries(capacity)) {
    const number = Number(wholeValue(parseQuantity(value)))
    if (number < 0) errors.push(invalid(`spec.capacity[${name}]`, number, 'must be a valid resource quantity'))
    positiveQuantity(errors, value, `spec.capacity[${name}]`)
  }
  oneOf(errors, spec.persistentVolumeReclaimPolicy, 'spec.persistentVolumeReclaimPolicy', ['Delete', 'Recycle', 'Retain'])
  if (spec.nodeAffinity) {
    if (!spec.nodeAffinity.required) errors.push(required('spec.nodeAffinity.required', 'must specify required node constraints'))
    else validateNodeSelector(errors, spec.nodeAffinity.required, 'spec.nodeAffinity.required')
  }
  validateSource(errors, spec)
  oneOf(errors, spec.volumeMode, 'spec.volumeMode', VOLUME_MODES)
  return errors
}

function validateSource(errors: Errors, spec: Part): void {
  const [first, ...more] = SOURCES.filter((source) => spec[source])
  if (first == null) errors.push(required('spec', 'must specify a volume type'))
  for (const source of more) errors.push(forbidden(`spec.${source}`, 'may not specify more than 1 volume type'))
  if (first === 'hostPath') {
    requiredText(errors, spec.hostPath.path, 'spec.hostPath.path')
    if (spec.hostPath.path === '/' && spec.persistentVolumeReclaimPolicy === 'Recycle') {
      errors.push(forbidden('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'"))
    }
  }
  if (first === 'nfs') {
    requiredText(errors, spec.nfs.server, 'spec.nfs.server')
    if (requiredText(errors, spec.nfs.path, 'spec.nfs.path') && !spec.nfs.path.startsWith('/')) {
      errors.push(invalid('spec.nfs.path', spec.nfs.path, 'must be an absolute path'))
    }
  }
  if (first === 'csi') {
    requiredText(errors, spec.csi.driver, 'spec.csi.driver')
    requiredText(errors, spec.csi.volumeHandle, 'spec.csi.volumeHandle')
  }
  if (first === 'local') {
    requiredText(errors, spec.local.path, 'spec.local.path')
    if (!spec.nodeAffinity) errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'))
  }
}

export const storageClass: Strategy = {
  returnsDeleted: true,
  defaults(object) {
    setDefault(object, 'reclaimPolicy', 'Delete')
    setDefault(object, 'volumeBindingMode', 'Immediate')
  },
  validate: validateStorageClass,
  validateUpdate(object, old) {
    const errors = validateStorageClass(object)
    for (const member of ['parameters', 'provisioner', 'reclaimPolicy']) immutable(errors, object[member], old[member], member)
    immutable(errors, object.volumeBindingMode, old.volumeBindingMode, 'volumeBindingMode')
    return errors
  },
}

function validateStorageClass({ provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies }: Part): FieldError[] {
  const errors: Errors = []
  if (!provisioner) errors.push(required('provisioner', provisioner ?? ''))
  else for (const problem of qualifiedName(provisioner.toLowerCase())) errors.push(invalid('provisioner', provisioner, problem))
  for (const key of Object.keys(parameters ?? {})) if (key === '') errors.push(invalid('parameters', key, 'field can not be empty.'))
  oneOf(errors, reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain'])
  oneOf(errors, volumeBindingMode, 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer'])
  for (const [i, { matchLabelExpressions }] of entries(allowedTopologies)) {
    for (const [j, { key = '', values }] of entries(matchLabelExpressions)) {
      const at = `allowedTopologies[${i}].matchLabelExpressions[${j}]`
      if (count(values) === 0) errors.push(required(`${at}.values`))
      for (const problem of qualifiedName(key)) errors.push(invalid(`${at}.key`, key, problem))
    }
  }
  return errors
}

export const csiDriver: Strategy = {
  returnsDeleted: true,
  allowUnconditionalUpdate: false,
  defaults({ spec }) {
    spec.attachRequired ??= true
    for (const member of ['podInfoOnMount', 'storageCapacity', 'requiresRepublish', 'seLinuxMount']) spec[member] ??= false
    setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType')
    if (count(spec.volumeLifecycleModes) === 0) spec.volumeLifecycleModes = ['Persistent']
  },
}

export const conditionalOnly: Strategy = { allowUnconditionalUpdate: false }
export const conditionalAndReturned: Strategy = { allowUnconditionalUpdate: false, returnsDeleted: true }
