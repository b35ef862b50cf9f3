/** Volumes of a pod. Sources that only old clusters had are taken as they come. */
import { duplicate, forbidden, invalid, required } from '../../field-error.ts'
import { dnsLabel } from '../../names.ts'
import { parseQuantity } from '../../quantity.ts'
import { validateClaimSpec } from './claims.ts'
import { type Errors, entries, type Part, requiredText, syntax } from './common.ts'
import { descendingPath, noBacksteps, type Volumes, validateFieldRef, validateResourceFieldRef } from './containers.ts'

const SOURCES = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'storageos',
  'photonPersistentDisk',
  'projected',
  'portworxVolume',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
]
const MODE = 'must be a number between 0 and 0777 (octal), both inclusive'

/** @returns the volumes that containers may mount */
export function validateVolumes(errors: Errors, volumes: Part[] | undefined, field: string): Volumes {
  const known = new Map<string, Part>()
  for (const [i, volume] of entries(volumes)) {
    const at = `${field}[${i}]`
    const own: Errors = []
    validateSource(own, volume, at)
    if (requiredText(own, volume.name, `${at}.name`)) syntax(own, volume.name, `${at}.name`, dnsLabel)
    if (known.has(volume.name)) own.push(duplicate(`${at}.name`, volume.name))
    if (own.length === 0) known.set(volume.name, volume)
    else errors.push(...own)
  }
  return known
}

function validateSource(errors: Errors, volume: Part, at: string): void {
  const [first, ...more] = SOURCES.filter((source) => volume[source])
  if (first == null) {
    errors.push(required(at, 'must specify a volume type'))
    return
  }
  for (const source of more) errors.push(forbidden(`${at}.${source}`, 'may not specify more than 1 volume type'))
  const source = volume[first]
  const field = `${at}.${first}`
  switch (first) {
    case 'emptyDir':
      if (source.sizeLimit != null && parseQuantity(source.sizeLimit).nanos < 0n) {
        errors.push(forbidden(`${field}.sizeLimit`, 'SizeLimit field must be a valid resource quantity'))
      }
      return
    case 'hostPath':
      if (requiredText(errors, source.path, `${field}.path`)) noBacksteps(errors, source.path, `${field}.path`)
      return
    case 'secret':
      requiredText(errors, source.secretName, `${field}.secretName`)
      validateItems(errors, source, field)
      return
    case 'configMap':
      requiredText(errors, source.name, `${field}.name`)
      validateItems(errors, source, field)
      return
    case 'persistentVolumeClaim':
      requiredText(errors, source.claimName, `${field}.claimName`)
      return
    case 'nfs':
      requiredText(errors, source.server, `${field}.server`)
      requiredText(errors, source.path, `${field}.path`)
      if (!(source.path ?? '').startsWith('/')) errors.push(invalid(`${field}.path`, source.path ?? '', 'must be an absolute path'))
      return
    case 'downwardAPI':
      mode(errors, source.defaultMode, `${field}.defaultMode`)
      for (const [, file] of entries(source.items)) validateDownwardFile(errors, file, field)
      return
    case 'projected':
      validateProjected(errors, source, field)
      return
    case 'csi':
      requiredText(errors, source.driver, `${field}.driver`)
      return
    case 'ephemeral':
      if (!source.volumeClaimTemplate) errors.push(required(`${field}.volumeClaimTemplate`))
      else validateClaimSpec(errors, source.volumeClaimTemplate.spec, `${field}.volumeClaimTemplate.spec`)
      return
  }
}

function mode(errors: Errors, value: number | undefined, field: string): void {
  if (value != null && (value > 0o777 || value < 0)) errors.push(invalid(field, value, MODE))
}

function validateItems(errors: Errors, source: Part, field: string): void {
  mode(errors, source.defaultMode, `${field}.defaultMode`)
  for (const [i, item] of entries(source.items)) validateItem(errors, item, `${field}.items[${i}]`)
}

function validateItem(errors: Errors, item: Part, at: string): void {
  requiredText(errors, item.key, `${at}.key`)
  requiredText(errors, item.path, `${at}.path`)
  reservedPath(errors, item.path ?? '', `${at}.path`)
  mode(errors, item.mode, `${at}.mode`)
}

function reservedPath(errors: Errors, path: string, field: string): void {
  descendingPath(errors, path, field)
  if (path.startsWith('..') && !path.startsWith('../')) errors.push(invalid(field, path, "must not start with '..'"))
}

const VOLUME_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']

function validateDownwardFile(errors: Errors, file: Part, field: string): void {
  requiredText(errors, file.path, `${field}.path`)
  reservedPath(errors, file.path ?? '', `${field}.path`)
  if (file.fieldRef) {
    validateFieldRef(errors, file.fieldRef, `${field}.fieldRef`, VOLUME_FIELDS)
    if (file.resourceFieldRef) errors.push(invalid(field, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (file.resourceFieldRef) validateResourceFieldRef(errors, file.resourceFieldRef, `${field}.resourceFieldRef`, true)
  else errors.push(required(field, 'one of fieldRef and resourceFieldRef is required'))
  mode(errors, file.mode, `${field}.mode`)
}

function validateProjected(errors: Errors, projected: Part, field: string): void {
  mode(errors, projected.defaultMode, `${field}.defaultMode`)
  for (const [i, source] of entries(projected.sources)) {
    const at = `${field}.sources[${i}]`
    for (const kind of ['secret', 'configMap']) {
      if (!source[kind]) continue
      requiredText(errors, source[kind].name, `${at}.${kind}.name`)
      for (const [j, item] of entries(source[kind].items)) validateItem(errors, item, `${at}.${kind}.items[${j}]`)
    }
    for (const [, file] of entries(source.downwardAPI?.items)) validateDownwardFile(errors, file, `${at}.downwardAPI`)
    const token = source.serviceAccountToken
    if (token) {
      if (token.expirationSeconds < 600) {
        errors.push(
          invalid(
            `${at}.serviceAccountToken.expirationSeconds`,
            token.expirationSeconds,
            'may not specify a duration less than 10 minutes',
          ),
        )
      }
      if (token.expirationSeconds > 2 ** 32) {
        errors.push(
          invalid(
            `${at}.serviceAccountToken.expirationSeconds`,
            token.expirationSeconds,
            'may not specify a duration larger than 2^32 seconds',
          ),
        )
      }
      requiredText(errors, token.path, `${at}.serviceAccountToken.path`)
    }
  }
}
