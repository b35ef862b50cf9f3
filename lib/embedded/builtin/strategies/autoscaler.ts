/** HorizontalPodAutoscaler, in both versions. */
import { convertAutoscaler } from '../../conversion/autoscalers.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { dnsLabel, pathSegment } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import {
  count,
  type Errors,
  entries,
  nonNegative,
  nonNegativeQuantity,
  oneOf,
  type Part,
  positiveQuantity,
  requiredText,
  syntax,
} from './common.ts'

const V2 = 'autoscaling/v2'
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics'

export const horizontalPodAutoscaler: Strategy = {
  defaults(object) {
    const { spec } = object
    spec.minReplicas ??= 1
    if (object.apiVersion !== V2) {
      // v1 is stored as v2, whose default metric this is.
      if (object.metadata.annotations?.[METRICS_ANNOTATION] == null) spec.targetCPUUtilizationPercentage ??= 80
      return
    }
    if (count(spec.metrics) === 0) {
      spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }]
    }
    if (!spec.behavior) return
    spec.behavior.scaleUp = { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: scaleUpPolicies(), ...spec.behavior.scaleUp }
    spec.behavior.scaleDown = {
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      ...spec.behavior.scaleDown,
    }
  },
  validate: (object) => validateAutoscaler(object),
  validateUpdate(object, _old, { subresource }) {
    if (subresource !== 'status') return validateAutoscaler(object)
    const errors: Errors = []
    for (const member of ['currentReplicas', 'desiredReplicas']) nonNegative(errors, object.status?.[member], `status.${member}`)
    return errors
  },
}

const scaleUpPolicies = () => [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
]

function validateAutoscaler(object: ApiObject): FieldError[] {
  const { spec } = convertAutoscaler(object, V2)
  const errors: Errors = []
  const { minReplicas, maxReplicas = 0 } = spec
  if (minReplicas != null && minReplicas < 1) errors.push(invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'))
  if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'))
  else if (maxReplicas < 1) errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'))
  if (minReplicas != null && maxReplicas < minReplicas) {
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'))
  }
  const target = spec.scaleTargetRef ?? {}
  reference(errors, target, 'spec.scaleTargetRef')
  const version: string = target.apiVersion ?? ''
  if (!version.includes('/') && !(version === 'v1' && target.kind === 'ReplicationController')) {
    errors.push(invalid('spec.scaleTargetRef.apiVersion', version, 'apiVersion must specify API group'))
  }

  validateMetrics(errors, spec.metrics, minReplicas)
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = spec.behavior?.[direction]
    if (rules) validateRules(errors, rules, `spec.behavior.${direction}`)
  }
  return errors
}

function reference(errors: Errors, { kind, name }: Part, at: string): void {
  if (requiredText(errors, kind, `${at}.kind`)) syntax(errors, kind, `${at}.kind`, pathSegment)
  if (requiredText(errors, name, `${at}.name`)) syntax(errors, name, `${at}.name`, pathSegment)
}

const SOURCES = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
])

function validateMetrics(errors: Errors, metrics: Part[] | undefined, minReplicas: number | undefined): void {
  for (const [i, metric] of entries(metrics)) validateMetric(errors, metric, `spec.metrics[${i}]`)
  if (minReplicas === 0 && !(metrics ?? []).some(({ type }) => type === 'Object' || type === 'External')) {
    errors.push(forbidden('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'))
  }
}

function validateMetric(errors: Errors, metric: Part, at: string): void {
  const type: string = metric.type ?? ''
  if (type === '') errors.push(required(`${at}.type`, 'must specify a metric source type'))
  const member = SOURCES.get(type)
  if (member == null) {
    // The real server says it twice, too.
    errors.push(notSupported(`${at}.type`, type, [...SOURCES.keys()]), notSupported(`${at}.type`, type, [...SOURCES.keys()]))
  } else if (!metric[member]) errors.push(required(`${at}.${member}`, 'must populate information for the given metric source'))
  else validateSource(errors, metric[member], member, `${at}.${member}`)
  const present = [...SOURCES.values()].filter((each) => metric[each])
  if (present.length === 1) return
  for (const each of present) if (each !== member) errors.push(forbidden(`${at}.${each}`, 'must populate the given metric source only'))
}

function validateSource(errors: Errors, source: Part, member: string, at: string): void {
  const target = source.target ?? {}
  if (member === 'resource' || member === 'containerResource') {
    requiredText(errors, source.name, `${at}.name`, 'must specify a resource name')
    if (member === 'containerResource' && requiredText(errors, source.container, `${at}.container`, 'must specify a container')) {
      syntax(errors, source.container, `${at}.container`, dnsLabel)
    }
  } else {
    if (member === 'object') reference(errors, source.describedObject ?? {}, `${at}.describedObject`)
    requiredText(errors, source.metric?.name, `${at}.metric.name`, 'must specify a metric name')
  }
  validateTarget(errors, target, `${at}.target`)
  const { value, averageValue, averageUtilization } = target
  if (member === 'pods') {
    if (averageValue == null) errors.push(required(`${at}.target.averageValue`, 'must specify a positive target averageValue'))
  } else if (member === 'object' && value == null && averageValue == null) {
    errors.push(required(`${at}.target.averageValue`, 'must set either a target value or averageValue'))
  } else if (member === 'external') {
    if (value == null && averageValue == null) {
      errors.push(required(`${at}.target.averageValue`, 'must set either a target value for metric or a per-pod target'))
    }
    if (value != null && averageValue != null) {
      errors.push(forbidden(`${at}.target.value`, 'may not set both a target value for metric and a per-pod target'))
    }
  } else if (member === 'resource' || member === 'containerResource') {
    if (averageUtilization == null && averageValue == null) {
      errors.push(required(`${at}.target.averageUtilization`, 'must set either a target raw value or a target utilization'))
    }
    if (averageUtilization != null && averageValue != null) {
      errors.push(forbidden(`${at}.target.averageValue`, 'may not set both a target raw value and a target utilization'))
    }
  }
}

function validateTarget(errors: Errors, { type, value, averageValue, averageUtilization }: Part, at: string): void {
  if (!type) errors.push(required(`${at}.type`, 'must specify a metric target type'))
  if (!['Utilization', 'Value', 'AverageValue'].includes(type ?? '')) {
    errors.push(invalid(`${at}.type`, type ?? '', 'must be either Utilization, Value, or AverageValue'))
  }
  if (value != null) positiveOr(errors, value, `${at}.value`)
  if (averageValue != null) positiveOr(errors, averageValue, `${at}.averageValue`)
  if (averageUtilization != null && averageUtilization < 1) {
    errors.push(invalid(`${at}.averageUtilization`, averageUtilization, 'must be greater than 0'))
  }
}

function positiveOr(errors: Errors, amount: string, field: string): void {
  const own: Errors = []
  positiveQuantity(own, amount, field)
  if (own.length > 0) errors.push(invalid(field, amount, 'must be positive'))
}

function validateRules(errors: Errors, rules: Part, at: string): void {
  const window = rules.stabilizationWindowSeconds
  if (window != null && window < 0)
    errors.push(invalid(`${at}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'))
  if (window != null && window > 3600)
    errors.push(invalid(`${at}.stabilizationWindowSeconds`, window, 'must be less than or equal to 3600'))
  oneOf(errors, rules.selectPolicy, `${at}.selectPolicy`, ['Disabled', 'Max', 'Min'])
  if (count(rules.policies) === 0) errors.push(required(`${at}.policies`, 'must specify at least one Policy'))
  for (const [i, { type, value = 0, periodSeconds = 0 }] of entries(rules.policies)) {
    const here = `${at}.policies[${i}]`
    if (type !== 'Pods' && type !== 'Percent') errors.push(notSupported(`${here}.type`, type ?? '', ['Percent', 'Pods']))
    if (value <= 0) errors.push(invalid(`${here}.value`, value, 'must be greater than zero'))
    if (periodSeconds <= 0) errors.push(invalid(`${here}.periodSeconds`, periodSeconds, 'must be greater than zero'))
    if (periodSeconds > 1800) errors.push(invalid(`${here}.periodSeconds`, periodSeconds, 'must be less than or equal to 1800'))
  }
  if (rules.tolerance != null) nonNegativeQuantity(errors, rules.tolerance, `${at}.tolerance`)
}
