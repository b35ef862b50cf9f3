/** Namespace and Node. */
import { invalid } from '../../field-error.ts'
import { labelName, qualifiedName } from '../../names.ts'
import type { Strategy } from '../../types.ts'
import { type Errors, entries, oneOf, type Part, requiredText, syntax } from './common.ts'

const NAME_LABEL = 'kubernetes.io/metadata.name'

export const namespace: Strategy = {
  returnsDeleted: true,
  validateName: labelName,
  defaults({ metadata }) {
    if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name }
  },
  prepareForCreate(object) {
    object.status = { phase: 'Active' }
    const finalizers: string[] = object.spec?.finalizers ?? []
    if (!finalizers.includes('kubernetes')) finalizers.push('kubernetes')
    object.spec = { ...object.spec, finalizers }
    // The name is generated after the defaults.
    if (object.metadata.name) object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name }
  },
  prepareForUpdate(object, old, { subresource }) {
    if (subresource !== 'finalize') object.spec = { ...object.spec, finalizers: old.spec?.finalizers }
    if (subresource === '' && object.status === undefined) object.status = old.status
  },
  validate({ spec }) {
    const errors: Errors = []
    for (const [, finalizer] of entries(spec?.finalizers)) {
      for (const problem of qualifiedName(finalizer as string)) errors.push(invalid('spec.finalizers', finalizer, problem))
    }
    return errors
  },
  validateUpdate({ metadata, status }, _old, { subresource }) {
    const errors: Errors = []
    if (subresource !== 'status') return errors
    if (metadata.deletionTimestamp === undefined) {
      if (status?.phase !== 'Active')
        errors.push(invalid('status.Phase', status?.phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty"))
    } else if (status?.phase !== 'Terminating') {
      errors.push(invalid('status.Phase', status?.phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty"))
    }
    return errors
  },
  selectableFields: { 'status.phase': ({ status }) => status?.phase ?? '', name: ({ metadata }) => metadata.name ?? '' },
}

export const node: Strategy = {
  defaults({ status }) {
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
  },
  validate: ({ spec }) => validateTaints(spec),
  validateUpdate: ({ spec }) => validateTaints(spec),
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
}

function validateTaints(spec: Part): Errors {
  const errors: Errors = []
  const seen = new Set<string>()
  for (const [i, { key = '', value = '', effect }] of entries(spec?.taints)) {
    const at = `spec.taints[${i}]`
    syntax(errors, key, `${at}.key`, qualifiedName)
    if (requiredText(errors, effect, `${at}.effect`)) oneOf(errors, effect, `${at}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
    const id = `${key}:${effect}`
    if (seen.has(id)) errors.push({ type: 'Duplicate', field: at, message: `Duplicate value: ${JSON.stringify({ key, value, effect })}` })
    seen.add(id)
  }
  return errors
}
