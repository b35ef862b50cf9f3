/** PodDisruptionBudget, ResourceQuota, LimitRange and PriorityClass. */
import { type FieldError, forbidden, invalid, notSupported } from '../../field-error.ts'
import { qualifiedName } from '../../names.ts'
import { compareQuantities, parseQuantity } from '../../quantity.ts'
import type { Strategy } from '../../types.ts'
import {
  type Errors,
  entries,
  immutable,
  isStandardResource,
  labelSelector,
  less,
  nonNegative,
  notOverHundredPercent,
  oneOf,
  type Part,
  positiveIntOrPercent,
  resourceName,
  resourceValue,
  sameSemantically,
  setDefault,
} from './common.ts'

export const podDisruptionBudget: Strategy = {
  generation: true,
  allowUnconditionalUpdate: false,
  validate: ({ spec }) => validateBudget(spec),
  validateUpdate({ spec, status }, _old, { subresource }) {
    if (subresource !== 'status') return validateBudget(spec)
    const errors: Errors = []
    for (const member of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'])
      nonNegative(errors, status?.[member], `status.${member}`)
    return errors
  },
}

function validateBudget(spec: Part): FieldError[] {
  const errors: Errors = []
  if (spec.minAvailable != null && spec.maxUnavailable != null) {
    const { minAvailable, selector = null, maxUnavailable, unhealthyPodEvictionPolicy = null } = spec
    const shown = {
      MinAvailable: minAvailable,
      Selector: selector,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
    }
    errors.push(invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set'))
  }
  for (const member of ['minAvailable', 'maxUnavailable']) {
    if (spec[member] == null) continue
    positiveIntOrPercent(errors, spec[member], `spec.${member}`)
    notOverHundredPercent(errors, spec[member], `spec.${member}`)
  }
  labelSelector(errors, spec.selector, 'spec.selector')
  oneOf(errors, spec.unhealthyPodEvictionPolicy, 'spec.unhealthyPodEvictionPolicy', ['AlwaysAllow', 'IfHealthyBudget'])
  return errors
}

const SCOPES = [
  'BestEffort',
  'CrossNamespacePodAffinity',
  'NotBestEffort',
  'NotTerminating',
  'PriorityClass',
  'Terminating',
  'VolumeAttributesClass',
]

export const resourceQuota: Strategy = {
  returnsDeleted: true,
  validate: ({ spec }) => validateQuota(spec),
  validateUpdate({ spec }, old, { subresource }) {
    if (subresource === 'status') return []
    const errors = validateQuota(spec)
    if (!sameSemantically([...(spec?.scopes ?? [])].sort(), [...(old.spec?.scopes ?? [])].sort())) {
      errors.push(invalid('spec.scopes', spec?.scopes ?? null, 'field is immutable'))
    }
    return errors
  },
}

function validateQuota(spec: Part): FieldError[] {
  const errors: Errors = []
  for (const [name, value] of Object.entries((spec?.hard ?? {}) as Record<string, string>)) {
    const at = `spec.hard[${name}]`
    quotaResource(errors, name, at)
    resourceValue(errors, name, value, at)
  }
  for (const [, each] of entries(spec?.scopes)) {
    const scope = each as string
    if (!SCOPES.includes(scope)) errors.push(invalid('spec.scopes', spec.scopes, 'unsupported scope'))
    for (const name of Object.keys(spec.hard ?? {})) {
      if (isStandardResource(name) && !countsIn(scope, name))
        errors.push(invalid('spec.scopes', spec.scopes, 'unsupported scope applied to resource'))
    }
  }
  for (const [a, b] of [
    ['BestEffort', 'NotBestEffort'],
    ['Terminating', 'NotTerminating'],
  ] as const) {
    if (spec?.scopes?.includes(a) && spec.scopes.includes(b)) errors.push(invalid('spec.scopes', spec.scopes, 'conflicting scopes'))
  }
  return errors
}

const COMPUTE = ['pods', 'cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']

/** Whether objects of a scope are counted under a name. */
function countsIn(scope: string, name: string): boolean {
  if (scope === 'BestEffort') return name === 'pods'
  if (scope === 'VolumeAttributesClass') return ['persistentvolumeclaims', 'requests.storage'].includes(name)
  return SCOPES.includes(scope) && COMPUTE.includes(name)
}

function quotaResource(errors: Errors, name: string, field: string): void {
  resourceName(errors, name, field)
  if (!name.includes('/') && (!isStandardResource(name) || name === 'storage')) {
    errors.push(invalid(field, name, 'must be a standard resource for quota'))
  }
}

export const limitRange: Strategy = {
  allowCreateOnUpdate: true,
  defaults({ spec }) {
    for (const [, item] of entries(spec?.limits)) {
      if (item.type !== 'Container') continue
      item.default = { ...item.max, ...item.default }
      item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest }
    }
  },
  validate: ({ spec }) => validateLimits(spec),
  validateUpdate: ({ spec }) => validateLimits(spec),
}

function validateLimits(spec: Part): FieldError[] {
  const errors: Errors = []
  const types = new Set<string>()
  for (const [i, item] of entries(spec?.limits)) {
    const at = `spec.limits[${i}]`
    const type = item.type ?? ''
    for (const problem of qualifiedName(type)) errors.push(invalid(`${at}.type`, type, problem))
    if (types.has(type)) errors.push({ type: 'Duplicate', field: `${at}.type`, message: `Duplicate value: ${JSON.stringify(type)}` })
    types.add(type)
    if (type === 'Pod') {
      for (const member of ['default', 'defaultRequest']) {
        if (Object.keys(item[member] ?? {}).length > 0)
          errors.push(forbidden(`${at}.${member}`, "may not be specified when `type` is 'Pod'"))
      }
    }
    if (type === 'PersistentVolumeClaim' && !item.min?.storage && !item.max?.storage) {
      errors.push({
        type: 'Required',
        field: `${at}.limits`,
        message: 'Required value: either minimum or maximum storage value is required, but neither was provided',
      })
    }
    validateBounds(errors, item, at)
  }
  return errors
}

function validateBounds(errors: Errors, item: Part, at: string): void {
  const names = new Set(
    ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'].flatMap((member) => Object.keys(item[member] ?? {})),
  )
  for (const name of names) {
    const value = (member: string): string | undefined => item[member]?.[name]
    const [min, max, limit, request] = [value('min'), value('max'), value('default'), value('defaultRequest')]
    const refuse = (member: string, shown: string | undefined, text: string) =>
      errors.push(invalid(`${at}.${member}[${name}]`, shown, text))
    if (min && max && less(max, min)) refuse('min', min, `min value ${min} is greater than max value ${max}`)
    if (request && min && less(request, min))
      refuse('defaultRequest', request, `min value ${min} is greater than default request value ${request}`)
    if (request && max && less(max, request))
      refuse('defaultRequest', request, `default request value ${request} is greater than max value ${max}`)
    if (request && limit && less(limit, request))
      refuse('defaultRequest', request, `default request value ${request} is greater than default limit value ${limit}`)
    if (limit && min && less(limit, min)) refuse('default', min, `min value ${min} is greater than default value ${limit}`)
    const ratio = value('maxLimitRequestRatio')
    if (ratio && compareQuantities(parseQuantity(ratio), parseQuantity('1')) < 0)
      refuse('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`)
    if (limit && max && less(max, limit)) refuse('default', max, `default value ${limit} is greater than max value ${max}`)
  }
}

const HIGHEST_USER_PRIORITY = 1_000_000_000
const SYSTEM_CLASSES: Readonly<Record<string, number>> = { 'system-cluster-critical': 2_000_000_000, 'system-node-critical': 2_000_001_000 }

export const priorityClass: Strategy = {
  prepareForCreate({ metadata }) {
    // Set once, and never counted up.
    metadata.generation = 1
  },
  defaults(object) {
    setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority')
  },
  validate: ({ metadata, value = 0, preemptionPolicy, globalDefault }) => {
    const errors: Errors = []
    const name = metadata.name ?? ''
    if (name.startsWith('system-')) {
      const known = Object.hasOwn(SYSTEM_CLASSES, name) && SYSTEM_CLASSES[name] === value && globalDefault !== true
      if (!known) {
        const why = Object.hasOwn(SYSTEM_CLASSES, name)
          ? `value of ${name} PriorityClass must be ${SYSTEM_CLASSES[name]}`
          : `${name} is not a known system priority class`
        errors.push(
          forbidden('metadata.name', `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`),
        )
      }
    } else if (value > HIGHEST_USER_PRIORITY) {
      errors.push(forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`))
    }
    if (preemptionPolicy !== 'PreemptLowerPriority' && preemptionPolicy !== 'Never') {
      errors.push(notSupported('preemptionPolicy', preemptionPolicy, ['PreemptLowerPriority', 'Never']))
    }
    return errors
  },
  validateUpdate(object, old) {
    const errors: Errors = []
    if ((object.value ?? 0) !== (old.value ?? 0)) errors.push(forbidden('value', 'may not be changed in an update.'))
    immutable(errors, object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy')
    return errors
  },
}
