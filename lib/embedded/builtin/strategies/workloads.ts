/** Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController and PodTemplate. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { equalJson } from '../../json.ts'
import { dnsLabel } from '../../names.ts'
import type { Strategy } from '../../types.ts'
import { defaultClaimSpec, validateClaimTemplate } from './claims.ts'
import {
  type Errors,
  entries,
  immutable,
  isEmptySelector,
  isZeroAmount,
  labelSelector,
  nonNegative,
  notOverHundredPercent,
  type Part,
  positiveIntOrPercent,
  sameSemantically,
  selects,
  setDefault,
  syntax,
  unknownLabel,
} from './common.ts'
import { defaultPodSpec } from './pod-defaults.ts'
import { validateTemplate } from './pod-spec.ts'
import { templateWarnings } from './pod-warnings.ts'
import { keepLabels } from './status.ts'

const MISMATCH = '`selector` does not match template `labels`'

interface Controlled {
  /** As the error of an empty selector names the kind. */
  readonly called: string
  /** As the error of a deadline names it: that of the controller that makes the pods. */
  readonly kind: string
  /** What is said of a selector that cannot be used; without it nothing is. */
  readonly unusable?: string
  /** A missing selector is an error of its own. */
  readonly selectorRequired: boolean
  /** Volumes that the controller will add. */
  readonly alsoMounts?: readonly string[]
}

/** Selector and template: the labels fit, and the pods live as long as the controller wants. */
function validateControlled(errors: Errors, spec: Part, rules: Controlled): void {
  const { selector, template } = spec
  if (!selector && rules.selectorRequired) errors.push(required('spec.selector'))
  const before = errors.length
  labelSelector(errors, selector, 'spec.selector')
  const broken = errors.length > before
  const empty = isEmptySelector(selector)
  if (selector && empty) errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${rules.called}`))
  if (broken && rules.unusable != null) {
    errors.push(invalid('spec.selector', selector, rules.unusable))
    return
  }
  if (!selector || (!broken && !empty && !selects(selector, template?.metadata?.labels))) {
    errors.push(invalid('spec.template.metadata.labels', template?.metadata?.labels ?? null, MISMATCH))
  }
  validateTemplate(errors, template, 'spec.template', rules.alsoMounts)
  const policy = template?.spec?.restartPolicy
  if (template && policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy ?? '', ['Always']))
  if (template?.spec?.activeDeadlineSeconds != null) {
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${rules.kind} is not Supported`))
  }
}

const OF_REPLICA_SET: Controlled = { called: 'deployment', kind: 'ReplicaSet', unusable: 'invalid label selector', selectorRequired: true }

/** An update strategy as the server shows it in errors: by the names of its internal type. */
const shownStrategy = ({ type = '', rollingUpdate }: Part) => ({
  Type: type,
  RollingUpdate: rollingUpdate ? shownRollingUpdate(rollingUpdate) : null,
})
const shownRollingUpdate = ({ partition, maxUnavailable = null, maxSurge }: Part) => ({
  ...(partition === undefined ? {} : { Partition: partition }),
  MaxUnavailable: maxUnavailable,
  ...(maxSurge === undefined ? {} : { MaxSurge: maxSurge }),
})

export const deployment: Strategy = {
  generation: ({ metadata }, old) => !sameSemantically(metadata.annotations, old.metadata.annotations),
  defaults({ spec }) {
    spec.replicas ??= 1
    setDefault(spec.strategy, 'type', 'RollingUpdate')
    if (spec.strategy.type === 'RollingUpdate') {
      spec.strategy.rollingUpdate ??= {}
      spec.strategy.rollingUpdate.maxUnavailable ??= '25%'
      spec.strategy.rollingUpdate.maxSurge ??= '25%'
    }
    spec.revisionHistoryLimit ??= 10
    spec.progressDeadlineSeconds ??= 600
    defaultPodSpec(spec.template.spec)
  },
  prepareForUpdate: keepLabels,
  resetFields: { '': [['status']], status: [['spec'], ['metadata', 'labels']] },
  validate: ({ spec }) => validateDeployment(spec),
  validateUpdate({ spec, status }, old, { subresource }) {
    if (subresource === 'status') return validateReplicaStatus(status)
    const errors = validateDeployment(spec)
    immutable(errors, spec.selector, old.spec.selector, 'spec.selector')
    return errors
  },
  warnings: templateWarnings,
}

function validateDeployment(spec: Part): FieldError[] {
  const errors: Errors = []
  nonNegative(errors, spec.replicas, 'spec.replicas')
  validateControlled(errors, spec, OF_REPLICA_SET)
  validateDeploymentStrategy(errors, spec.strategy)
  nonNegative(errors, spec.minReadySeconds, 'spec.minReadySeconds')
  nonNegative(errors, spec.revisionHistoryLimit, 'spec.revisionHistoryLimit')
  if (spec.progressDeadlineSeconds != null) {
    nonNegative(errors, spec.progressDeadlineSeconds, 'spec.progressDeadlineSeconds')
    if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
      errors.push(invalid('spec.progressDeadlineSeconds', spec.progressDeadlineSeconds, 'must be greater than minReadySeconds'))
    }
  }
  return errors
}

function validateDeploymentStrategy(errors: Errors, strategy: Part): void {
  switch (strategy.type) {
    case 'Recreate':
      if (strategy.rollingUpdate != null) {
        errors.push(forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'"))
      }
      return
    case 'RollingUpdate': {
      const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {}
      const field = 'spec.strategy.rollingUpdate'
      positiveIntOrPercent(errors, maxUnavailable, `${field}.maxUnavailable`)
      positiveIntOrPercent(errors, maxSurge, `${field}.maxSurge`)
      if (isZeroAmount(maxUnavailable) && isZeroAmount(maxSurge)) {
        errors.push(invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'))
      }
      notOverHundredPercent(errors, maxUnavailable, `${field}.maxUnavailable`)
      return
    }
    default:
      errors.push(notSupported('spec.strategy', shownStrategy(strategy), ['Recreate', 'RollingUpdate']))
  }
}

const STATUS_COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'fullyLabeledReplicas',
  'terminatingReplicas',
  'collisionCount',
]

/** `labeled`: the kind counts the replicas that have all labels of the template. */
export function validateReplicaStatus(status: Part, labeled = false): FieldError[] {
  const errors: Errors = []
  if (!status) return errors
  for (const member of STATUS_COUNTS) nonNegative(errors, status[member], `status.${member}`)
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0, fullyLabeledReplicas = 0 } = status
  const larger = 'cannot be greater than status.replicas'
  if (labeled && fullyLabeledReplicas > replicas) errors.push(invalid('status.fullyLabeledReplicas', fullyLabeledReplicas, larger))
  if (updatedReplicas > replicas) errors.push(invalid('status.updatedReplicas', updatedReplicas, larger))
  if (readyReplicas > replicas) errors.push(invalid('status.readyReplicas', readyReplicas, larger))
  if (availableReplicas > replicas) errors.push(invalid('status.availableReplicas', availableReplicas, larger))
  if (availableReplicas > readyReplicas)
    errors.push(invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas'))
  return errors
}

export const replicaSet: Strategy = {
  generation: true,
  defaults({ spec }) {
    spec.replicas ??= 1
    if (spec.template?.spec) defaultPodSpec(spec.template.spec)
  },
  validate: ({ spec }) => validateReplicaSet(spec),
  validateUpdate({ spec, status }, old, { subresource }) {
    if (subresource === 'status') return validateReplicaStatus(status, true)
    const errors = validateReplicaSet(spec)
    immutable(errors, spec.selector, old.spec.selector, 'spec.selector')
    return errors
  },
  warnings: templateWarnings,
}

function validateReplicaSet(spec: Part): FieldError[] {
  const errors: Errors = []
  nonNegative(errors, spec.replicas, 'spec.replicas')
  nonNegative(errors, spec.minReadySeconds, 'spec.minReadySeconds')
  validateControlled(errors, spec, OF_REPLICA_SET)
  return errors
}

const REVISION_ANNOTATION = 'deprecated.daemonset.template.generation'

export const daemonSet: Strategy = {
  generation: true,
  defaults({ metadata, spec }) {
    setDefault(spec.updateStrategy, 'type', 'RollingUpdate')
    if (spec.updateStrategy.type === 'RollingUpdate') {
      spec.updateStrategy.rollingUpdate ??= {}
      spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1
      spec.updateStrategy.rollingUpdate.maxSurge ??= 0
    }
    spec.revisionHistoryLimit ??= 10
    defaultPodSpec(spec.template.spec)
    // The counter of the internal type is always written, and so owned by whoever writes first.
    metadata.annotations = { [REVISION_ANNOTATION]: '0', ...metadata.annotations }
  },
  prepareForCreate({ metadata }) {
    const counted = Number(metadata.annotations?.[REVISION_ANNOTATION] ?? 0)
    metadata.annotations = { ...metadata.annotations, [REVISION_ANNOTATION]: String(Math.max(counted, 1)) }
  },
  prepareForUpdate(object, old, context) {
    if (context.subresource === 'status') return
    const was = Number(old.metadata.annotations?.[REVISION_ANNOTATION] ?? 1)
    const now = equalJson(object.spec.template, old.spec.template) ? was : was + 1
    object.metadata.annotations = { ...object.metadata.annotations, [REVISION_ANNOTATION]: String(now) }
  },
  validate: ({ spec }) => validateDaemonSet(spec),
  validateUpdate({ spec }, old, { subresource }) {
    if (subresource === 'status') return []
    const errors = validateDaemonSet(spec)
    immutable(errors, spec.selector, old.spec.selector, 'spec.selector')
    return errors
  },
  warnings: templateWarnings,
}

function validateDaemonSet(spec: Part): FieldError[] {
  const errors: Errors = []
  validateControlled(errors, spec, { called: 'daemonset', kind: 'DaemonSet', selectorRequired: false })
  nonNegative(errors, spec.minReadySeconds, 'spec.minReadySeconds')
  validateDaemonSetStrategy(errors, spec.updateStrategy)
  nonNegative(errors, spec.revisionHistoryLimit, 'spec.revisionHistoryLimit')
  return errors
}

function validateDaemonSetStrategy(errors: Errors, strategy: Part): void {
  if (strategy.type === 'OnDelete') return
  if (strategy.type !== 'RollingUpdate') {
    errors.push(notSupported('spec.updateStrategy', shownStrategy(strategy), ['RollingUpdate', 'OnDelete']))
    return
  }
  const field = 'spec.updateStrategy.rollingUpdate'
  const { maxUnavailable = 0, maxSurge = 0 } = strategy.rollingUpdate ?? {}
  positiveIntOrPercent(errors, maxUnavailable, `${field}.maxUnavailable`)
  positiveIntOrPercent(errors, maxSurge, `${field}.maxSurge`)
  if (!isZeroAmount(maxUnavailable) && !isZeroAmount(maxSurge)) {
    errors.push(invalid(`${field}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  }
  if (isZeroAmount(maxUnavailable) && isZeroAmount(maxSurge)) {
    errors.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  }
  notOverHundredPercent(errors, maxUnavailable, `${field}.maxUnavailable`)
  notOverHundredPercent(errors, maxSurge, `${field}.maxSurge`)
}

export const statefulSet: Strategy = {
  generation: true,
  defaults({ spec }) {
    setDefault(spec, 'podManagementPolicy', 'OrderedReady')
    if (!spec.updateStrategy.type) {
      spec.updateStrategy.type = 'RollingUpdate'
      spec.updateStrategy.rollingUpdate ??= {}
    }
    if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
      spec.updateStrategy.rollingUpdate.partition ??= 0
    }
    spec.persistentVolumeClaimRetentionPolicy ??= {}
    setDefault(spec.persistentVolumeClaimRetentionPolicy, 'whenDeleted', 'Retain')
    setDefault(spec.persistentVolumeClaimRetentionPolicy, 'whenScaled', 'Retain')
    spec.replicas ??= 1
    spec.revisionHistoryLimit ??= 10
    defaultPodSpec(spec.template.spec)
    for (const [, claim] of entries(spec.volumeClaimTemplates)) {
      setDefault(claim, 'kind', 'PersistentVolumeClaim')
      setDefault(claim, 'apiVersion', 'v1')
      defaultClaimSpec(claim.spec)
      claim.status ??= {}
      setDefault(claim.status, 'phase', 'Pending')
    }
  },
  validate: ({ spec }) => validateStatefulSet(spec),
  validateUpdate({ spec, status }, old, { subresource }) {
    if (subresource === 'status') return validateReplicaStatus(status)
    return validateStatefulSetUpdate(spec, old.spec)
  },
  warnings: templateWarnings,
}

function validateStatefulSet(spec: Part): FieldError[] {
  const errors: Errors = []
  if (!spec.podManagementPolicy) errors.push(required('spec.podManagementPolicy'))
  else if (!['OrderedReady', 'Parallel'].includes(spec.podManagementPolicy)) {
    errors.push(invalid('spec.podManagementPolicy', spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"))
  }
  validateStatefulSetStrategy(errors, spec.updateStrategy)
  validateRetention(errors, spec.persistentVolumeClaimRetentionPolicy)
  nonNegative(errors, spec.replicas, 'spec.replicas')
  nonNegative(errors, spec.minReadySeconds, 'spec.minReadySeconds')
  if (spec.ordinals) nonNegative(errors, spec.ordinals.start, 'spec.ordinals.start')
  if (spec.serviceName) syntax(errors, spec.serviceName, 'spec.serviceName', dnsLabel)
  // The controller writes these two itself.
  const { subdomain: _s, hostname: _h, ...podSpec } = spec.template?.spec ?? {}
  const template = spec.template && { ...spec.template, spec: podSpec }
  validateControlled(
    errors,
    { ...spec, template },
    { called: 'statefulset', kind: 'StatefulSet', unusable: '', selectorRequired: true, alsoMounts: claimNames(spec) },
  )
  for (const [i, claim] of entries(spec.volumeClaimTemplates)) validateClaimTemplate(errors, claim, `spec.volumeClaimTemplates[${i}]`)
  nonNegative(errors, spec.revisionHistoryLimit, 'spec.revisionHistoryLimit')
  return errors
}

/** Pods of the set may mount what its claim templates will make. */
const claimNames = (spec: Part): string[] => (spec.volumeClaimTemplates ?? []).map((claim: Part) => claim.metadata?.name ?? '')

function validateStatefulSetStrategy(errors: Errors, strategy: Part): void {
  const field = 'spec.updateStrategy'
  switch (strategy.type) {
    case 'OnDelete':
      if (strategy.rollingUpdate) {
        errors.push(
          invalid(`${field}.rollingUpdate`, shownRollingUpdate(strategy.rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'"),
        )
      }
      return
    case 'RollingUpdate':
      nonNegative(errors, strategy.rollingUpdate?.partition, `${field}.rollingUpdate.partition`)
      if (strategy.rollingUpdate?.maxUnavailable != null) {
        positiveIntOrPercent(errors, strategy.rollingUpdate.maxUnavailable, `${field}.rollingUpdate.maxUnavailable`)
        if (isZeroAmount(strategy.rollingUpdate.maxUnavailable)) {
          errors.push(invalid(`${field}.rollingUpdate.maxUnavailable`, strategy.rollingUpdate.maxUnavailable, 'cannot be 0'))
        }
        notOverHundredPercent(errors, strategy.rollingUpdate.maxUnavailable, `${field}.rollingUpdate.maxUnavailable`)
      }
      return
    default:
      errors.push(strategy.type ? invalid(field, shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'") : required(field))
  }
}

function validateRetention(errors: Errors, policy: Part): void {
  if (!policy) return
  for (const member of ['whenDeleted', 'whenScaled']) {
    if (!['Delete', 'Retain'].includes(policy[member])) {
      errors.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${member}`, policy[member], ['Retain', 'Delete']))
    }
  }
}

const STATEFUL_MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

function validateStatefulSetUpdate(spec: Part, old: Part): FieldError[] {
  const errors = validateStatefulSet(spec)
  const fixed = (part: Part) => Object.fromEntries(Object.entries(part).filter(([member]) => !STATEFUL_MUTABLE.includes(member)))
  if (!equalJson(fixed(spec), fixed(old))) {
    errors.push(
      forbidden(
        'spec',
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ),
    )
  }
  return errors
}

export const replicationController: Strategy = {
  generation: true,
  defaultPropagation: 'Orphan',
  defaults({ metadata, spec }) {
    const own = spec.template?.metadata?.labels
    if (own) {
      if (!spec.selector || Object.keys(spec.selector).length === 0) spec.selector = { ...own }
      if (!metadata.labels || Object.keys(metadata.labels).length === 0) metadata.labels = { ...own }
    }
    spec.replicas ??= 1
    if (spec.template?.spec) defaultPodSpec(spec.template.spec)
  },
  validate: ({ spec }) => validateController(spec),
  validateUpdate: ({ spec, status }, _old, { subresource }) =>
    subresource === 'status' ? validateReplicaStatus(status, true) : validateController(spec),
  warnings: templateWarnings,
  unknownFieldSelector: unknownLabel,
  selectableFields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
}

function validateController(spec: Part): FieldError[] {
  const errors: Errors = []
  nonNegative(errors, spec.minReadySeconds, 'spec.minReadySeconds')
  if (Object.keys(spec.selector ?? {}).length === 0) errors.push(required('spec.selector'))
  nonNegative(errors, spec.replicas, 'spec.replicas')
  const { template } = spec
  if (!template) {
    errors.push(required('spec.template'))
    return errors
  }
  if (Object.keys(spec.selector ?? {}).length > 0 && !selects({ matchLabels: spec.selector }, template.metadata?.labels)) {
    errors.push(invalid('spec.template.metadata.labels', template.metadata?.labels ?? null, MISMATCH))
  }
  validateTemplate(errors, template, 'spec.template')
  if (template.spec?.restartPolicy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', template.spec?.restartPolicy ?? '', ['Always']))
  }
  return errors
}

export const podTemplate: Strategy = {
  returnsDeleted: true,
  generation: true,
  defaults({ template }) {
    defaultPodSpec(template.spec)
  },
  validate: ({ template }) => {
    const errors: Errors = []
    validateTemplate(errors, template, 'template')
    return errors
  },
  validateUpdate: ({ template }) => {
    const errors: Errors = []
    validateTemplate(errors, template, 'template')
    return errors
  },
}
