/** Columns of what makes pods, and of what scales and protects them. */
import { ageOf, humanDuration } from '../../table.ts'
import {
  type Cells,
  containerCells,
  isTrue,
  labelsOrNone,
  NONE,
  named,
  quantityText,
  selectorOrNone,
  selectorText,
  truth,
  UNSET,
} from './format.ts'

export const podTemplate: Cells = ({ metadata, template }) => [
  metadata.name ?? '',
  ...containerCells(template?.spec?.containers),
  labelsOrNone(template?.metadata?.labels),
]

export const replicationController: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  spec.replicas ?? 0,
  status.replicas ?? 0,
  status.readyReplicas ?? 0,
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.template?.spec?.containers),
  labelsOrNone(spec.selector),
]

export const replicaSet: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  spec.replicas ?? 0,
  status.replicas ?? 0,
  status.readyReplicas ?? 0,
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.template?.spec?.containers),
  selectorOrNone(spec.selector),
]

export const deployment: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
  status.updatedReplicas ?? 0,
  status.availableReplicas ?? 0,
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.template?.spec?.containers),
  selectorText(spec.selector),
]

export const statefulSet: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.template?.spec?.containers),
]

export const daemonSet: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  status.desiredNumberScheduled ?? 0,
  status.currentNumberScheduled ?? 0,
  status.numberReady ?? 0,
  status.updatedNumberScheduled ?? 0,
  status.numberAvailable ?? 0,
  labelsOrNone(spec.template?.spec?.nodeSelector),
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.template?.spec?.containers),
  selectorOrNone(spec.selector),
]

export const controllerRevision: Cells = named(({ metadata, revision }) => {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner === undefined) return [NONE, revision ?? 0]
  const [group] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : []
  const kind = group === undefined ? owner.kind : `${owner.kind}.${group}`
  return [`${kind.toLowerCase()}/${owner.name}`, revision ?? 0]
})

export const job: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  jobStatus(metadata.deletionTimestamp !== undefined, status.conditions),
  completions(spec, status.succeeded ?? 0),
  jobDuration(status, now),
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.template?.spec?.containers),
  selectorOrNone(spec.selector),
]

function jobStatus(deleting: boolean, conditions: Parameters<typeof isTrue>[0]): string {
  if (isTrue(conditions, 'Complete')) return 'Complete'
  if (isTrue(conditions, 'Failed')) return 'Failed'
  if (deleting) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isTrue(conditions, type)) ?? 'Running'
}

function completions({ completions, parallelism = 0 }: { completions?: number; parallelism?: number }, succeeded: number): string {
  if (completions !== undefined) return `${succeeded}/${completions}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration({ startTime, completionTime }: { startTime?: string; completionTime?: string }, now: number): string {
  if (startTime === undefined) return ''
  const end = completionTime === undefined ? now : Date.parse(completionTime)
  return humanDuration(end - Date.parse(startTime))
}

export const cronJob: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  spec.schedule ?? '',
  spec.timeZone ?? NONE,
  truth(spec.suspend),
  (status.active ?? []).length,
  status.lastScheduleTime === undefined ? NONE : ageOf(status.lastScheduleTime, now),
  ageOf(metadata.creationTimestamp, now),
  ...containerCells(spec.jobTemplate?.spec?.template?.spec?.containers),
  selectorOrNone(spec.jobTemplate?.spec?.selector),
]

export const podDisruptionBudget: Cells = named(({ spec = {}, status = {} }) => [
  spec.minAvailable === undefined ? 'N/A' : String(spec.minAvailable),
  spec.maxUnavailable === undefined ? 'N/A' : String(spec.maxUnavailable),
  status.disruptionsAllowed ?? 0,
])

interface Target {
  readonly value?: string
  readonly averageValue?: string
  readonly averageUtilization?: number
}

interface Metric {
  readonly type: string
  readonly [source: string]: unknown
}

interface MetricSource {
  readonly name?: string
  readonly target?: Target
  readonly current?: Target
}

export const autoscalerV2: Cells = named(({ spec = {}, status = {} }) => [
  `${spec.scaleTargetRef?.kind ?? ''}/${spec.scaleTargetRef?.name ?? ''}`,
  metricsText(spec.metrics ?? [], status.currentMetrics ?? []),
  spec.minReplicas === undefined ? UNSET : String(spec.minReplicas),
  spec.maxReplicas ?? 0,
  status.currentReplicas ?? 0,
])

/** The one metric that the old version shows in its fields. */
export const autoscalerV1: Cells = (object, now) => {
  const { spec = {}, status = {} } = object
  const target = spec.targetCPUUtilizationPercentage
  const current = status.currentCPUUtilizationPercentage
  const metrics = target === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: target } } }]
  const currentMetrics =
    current === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]
  return autoscalerV2({ ...object, spec: { ...spec, metrics }, status: { ...status, currentMetrics } }, now)
}

function metricsText(metrics: readonly Metric[], statuses: readonly Metric[]): string {
  if (metrics.length === 0) return NONE
  const texts = metrics.map((metric, i) => metricText(metric, statuses[i]))
  return texts.length > 2 ? `${texts.slice(0, 2).join(', ')} + ${texts.length - 2} more...` : texts.join(', ')
}

const SOURCES: Readonly<Record<string, string>> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

function metricText(metric: Metric, status: Metric | undefined): string {
  const source = SOURCES[metric.type]
  if (source === undefined) return '<unknown type>'
  const { name = '', target = {} } = (metric[source] ?? {}) as MetricSource
  const current = (status?.[source] as MetricSource | undefined)?.current
  const shown = (value: string | undefined) => (value === undefined ? '<unknown>' : quantityText(value))
  if (metric.type === 'Pods') return `${shown(current?.averageValue)}/${quantityText(target.averageValue)}`
  if (metric.type === 'Resource' || metric.type === 'ContainerResource') {
    if (target.averageValue !== undefined) return `${name}: ${shown(current?.averageValue)}/${quantityText(target.averageValue)}`
    const now = current?.averageUtilization === undefined ? '<unknown>' : `${current.averageUtilization}%`
    const wanted = target.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`
    return `${name}: ${now}/${wanted}`
  }
  if (target.averageValue !== undefined) return `${shown(current?.averageValue)}/${quantityText(target.averageValue)} (avg)`
  return `${shown(current?.value)}/${quantityText(target.value)}`
}
