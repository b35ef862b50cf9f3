/** Namespace and Node. */
import { invalid } from '../../field-error.ts'
import { labelName, qualifiedName } from '../../names.ts'
import type { Strategy } from '../../types.ts'
import { type Errors, entries, oneOf, type Part, requiredText, syntax, unknownLabel } from './common.ts'

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
    if (subresource === '' && object.status == null) object.status = old.status
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
    if (metadata.deletionTimestamp == null) {
      if (status?.phase !== 'Active')
        errors.push(invalid('status.Phase', status?.phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty"))
    } else if (status?.phase !== 'Terminating') {
      errors.push(invalid('status.Phase', status?.phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty"))
    }
    return errors
  },
  unknownFieldSelector: unknownLabel,
  selectableFields: { 'status.phase': ({ status }) => status?.phase ?? '' },
}

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

export const node: Strategy = {
  defaults({ spec, status }) {
    if (spec?.podCIDR && !spec.podCIDRs?.length) spec.podCIDRs = [spec.podCIDR]
    else if (spec?.podCIDRs?.length > 0 && !spec.podCIDR) spec.podCIDR = spec.podCIDRs[0]
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
  },
  // Nothing is scheduled to a node before it has said that it is ready.
  prepareForCreate(object) {
    object.spec ??= {}
    const taints: Part[] = object.spec.taints ?? []
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return
    object.spec.taints = [...taints, { ...NOT_READY }]
  },
  validate: ({ spec }) => validateTaints(spec),
  validateUpdate: ({ spec }) => validateTaints(spec),
  unknownFieldSelector: unknownLabel,
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable === true) },
}

function validateTaints(spec: Part): Errors {
  const errors: Errors = []
  const seen = new Set<string>()
  for (const [i, { key = '', value = '', effect }] of entries(spec?.taints)) {
    const at = `metadata.taints[${i}]`
    syntax(errors, key, `${at}.key`, qualifiedName)
    if (requiredText(errors, effect, `${at}.effect`)) oneOf(errors, effect, `${at}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
    const id = `${key}:${effect}`
    if (seen.has(id))
      errors.push({
        type: 'Duplicate',
        field: at,
        message: `Duplicate value: ${JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: null })}: taints must be unique by key and effect pair`,
      })
    seen.add(id)
  }
  return errors
}
