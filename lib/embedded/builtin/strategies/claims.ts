/** PersistentVolumeClaims, by themselves and in templates. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { equalJson } from '../../json.ts'
import { dnsSubdomain, labelName } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import {
  type Errors,
  immutable,
  labelSelector,
  less,
  oneOf,
  type Part,
  positiveQuantity,
  requiredText,
  setDefault,
  syntax,
  templateMetadata,
} from './common.ts'

export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const VOLUME_MODES = ['Block', 'Filesystem']

export function defaultClaimSpec(spec: Part): void {
  setDefault(spec, 'volumeMode', 'Filesystem')
}

export const persistentVolumeClaim: Strategy = {
  returnsDeleted: true,
  defaults({ spec }) {
    defaultClaimSpec(spec)
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' }
    const { spec } = object
    // Other sources could not be named that way, and are dropped.
    if (spec.dataSource && !isOldSource(spec.dataSource)) delete spec.dataSource
    // The two ways to name a source are kept equal.
    if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource }
    else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) spec.dataSource = { ...spec.dataSourceRef }
  },
  validate({ spec }) {
    const errors: Errors = []
    validateClaimSpec(errors, spec, 'spec')
    return errors
  },
  validateUpdate: (object, old, { subresource }) => (subresource === 'status' ? [] : validateUpdate(object, old)),
}

const isOldSource = ({ kind, apiGroup }: Part) =>
  (kind === 'PersistentVolumeClaim' && !apiGroup) || (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')

export function validateClaimSpec(errors: Errors, spec: Part, field: string): void {
  const modes: string[] = spec?.accessModes ?? []
  if (modes.length === 0) errors.push(required(`${field}.accessModes`, 'at least 1 access mode is required'))
  labelSelector(errors, spec?.selector, `${field}.selector`)
  validateAccessModes(errors, modes, `${field}.accessModes`)
  const size: string | undefined = spec?.resources?.requests?.storage
  const at = `${field}.resources[storage]`
  if (size == null) errors.push(required(at))
  else positiveQuantity(errors, size, at)
  if (spec?.storageClassName) syntax(errors, spec.storageClassName, `${field}.storageClassName`, dnsSubdomain)
  oneOf(errors, spec?.volumeMode, `${field}.volumeMode`, VOLUME_MODES)
  for (const member of ['dataSource', 'dataSourceRef']) {
    const source = spec?.[member]
    if (!source) continue
    requiredText(errors, source.name, `${field}.${member}.name`)
    requiredText(errors, source.kind, `${field}.${member}.kind`)
    if (!source.apiGroup && source.kind !== 'PersistentVolumeClaim') {
      errors.push(invalid(`${field}.${member}`, source.kind ?? '', "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
    }
    if (source.namespace)
      for (const problem of labelName(source.namespace, false))
        errors.push(invalid(`${field}.${member}.namespace`, source.namespace, problem))
  }
}

export function validateAccessModes(errors: Errors, modes: readonly string[], field: string): void {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.push(notSupported(field, mode, ACCESS_MODES))
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))) {
    errors.push(forbidden(field, 'may not use ReadWriteOncePod with other access modes'))
  }
}

export function validateClaimTemplate(errors: Errors, claim: Part, at: string): void {
  templateMetadata(errors, claim.metadata, `${at}.metadata`)
  validateClaimSpec(errors, claim.spec, `${at}.spec`)
}

const IMMUTABLE_SPEC = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

function validateUpdate({ spec, status }: ApiObject, old: ApiObject): FieldError[] {
  const errors: Errors = []
  validateClaimSpec(errors, spec, 'spec')
  const bound = (status?.phase ?? old.status?.phase) === 'Bound'
  const fixed = (part: Part) => ({
    ...part,
    volumeName: old.spec.volumeName ? part.volumeName : undefined,
    storageClassName: old.spec.storageClassName == null && part.storageClassName ? undefined : part.storageClassName,
    ...(bound ? { volumeAttributesClassName: undefined, resources: withoutStorage(part.resources) } : {}),
  })
  if (!equalJson(fixed(spec), fixed(old.spec))) errors.push(forbidden('spec', IMMUTABLE_SPEC))
  const [now, before] = [spec.resources?.requests?.storage, old.spec.resources?.requests?.storage]
  if (now && before && less(now, before)) {
    const capacity = old.status?.capacity?.storage ?? '0'
    if (!less(capacity, now)) errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'))
  }
  immutable(errors, spec.volumeMode, old.spec.volumeMode, 'volumeMode')
  return errors
}

function withoutStorage(resources: Part): Part {
  if (!resources?.requests) return resources
  const { storage: _, ...requests } = resources.requests
  return { ...resources, requests }
}
