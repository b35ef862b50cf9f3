/**
 * HorizontalPodAutoscaler v1 and v2. What v1 has no field for travels in annotations, as the real server does it, so that a client
 * of v1 loses nothing.
 */
import type { ApiObject } from '../types.ts'

type Part = ApiObject[string]

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics'
const STATUSES = 'autoscaling.alpha.kubernetes.io/current-metrics'
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions'
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior'
const TRAVELLING = [METRICS, STATUSES, CONDITIONS, BEHAVIOR]

export function convertAutoscaler(object: ApiObject, toApiVersion: string): ApiObject {
  if (object.apiVersion === toApiVersion) return object
  return toApiVersion === 'autoscaling/v1' ? toV1(object) : toV2(object)
}

const isCpuUtilization = (metric: Part) =>
  metric.type === 'Resource' && metric.resource?.name === 'cpu' && metric.resource.target?.averageUtilization !== undefined

function toV1(object: ApiObject): ApiObject {
  const { metrics = [], behavior, ...spec } = object.spec ?? {}
  const { currentMetrics = [], conditions = [], ...status } = object.status ?? {}
  const annotations = withoutTravelling(object.metadata.annotations)
  const cpu = metrics.find(isCpuUtilization)
  const others = metrics.filter((metric: Part) => !isCpuUtilization(metric)).map(metricToV1)
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others)
  if (currentMetrics?.length > 0) annotations[STATUSES] = JSON.stringify(currentMetrics.map(statusToV1))
  if (conditions?.length > 0) annotations[CONDITIONS] = JSON.stringify(conditions)
  if (behavior) annotations[BEHAVIOR] = JSON.stringify(behavior)
  const current = (currentMetrics ?? []).find((each: Part) => each.type === 'Resource' && each.resource?.name === 'cpu')
  const utilization = current?.resource.current?.averageUtilization
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object, annotations),
    spec: { ...spec, ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu.resource.target.averageUtilization }) },
    status: { ...status, ...(utilization === undefined ? {} : { currentCPUUtilizationPercentage: utilization }) },
  }
}

function toV2(object: ApiObject): ApiObject {
  const { targetCPUUtilizationPercentage: cpu, ...spec } = object.spec ?? {}
  const { currentCPUUtilizationPercentage: _, ...status } = object.status ?? {}
  const annotations = object.metadata.annotations ?? {}
  const metrics = (parsed(annotations[METRICS]) ?? []).map(metricToV2)
  if (cpu !== undefined) {
    metrics.push({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } } })
  }
  const statuses = parsed(annotations[STATUSES])?.map(statusToV2)
  const conditions = parsed(annotations[CONDITIONS])
  const behavior = parsed(annotations[BEHAVIOR])
  return {
    kind: object.kind,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object, withoutTravelling(annotations)),
    spec: { ...spec, ...(metrics.length > 0 ? { metrics } : {}), ...(behavior ? { behavior } : {}) },
    status: { ...status, currentMetrics: statuses ?? null, ...(conditions ? { conditions } : {}) },
  }
}

function withoutTravelling(annotations: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !TRAVELLING.includes(name)))
}

function withAnnotations(object: ApiObject, annotations: Record<string, string>): ApiObject['metadata'] {
  const { annotations: _, ...metadata } = object.metadata
  return Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata
}

function parsed(text: string | undefined): Part {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const defined = (part: Record<string, unknown>) => Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined))

function metricToV1({ type, resource, containerResource, pods, object, external }: Part): Part {
  return defined({
    type,
    object:
      object &&
      defined({
        target: object.describedObject,
        metricName: object.metric?.name,
        targetValue: object.target?.value ?? '0',
        selector: object.metric?.selector,
        averageValue: object.target?.averageValue,
      }),
    pods:
      pods &&
      defined({ metricName: pods.metric?.name, targetAverageValue: pods.target?.averageValue ?? '0', selector: pods.metric?.selector }),
    resource:
      resource &&
      defined({
        name: resource.name,
        targetAverageUtilization: resource.target?.averageUtilization,
        targetAverageValue: resource.target?.averageValue,
      }),
    containerResource:
      containerResource &&
      defined({
        name: containerResource.name,
        targetAverageUtilization: containerResource.target?.averageUtilization,
        targetAverageValue: containerResource.target?.averageValue,
        container: containerResource.container,
      }),
    external:
      external &&
      defined({
        metricName: external.metric?.name,
        metricSelector: external.metric?.selector,
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      }),
  })
}

function metricToV2({ type, resource, containerResource, pods, object, external }: Part): Part {
  const target = ({ targetAverageUtilization: averageUtilization, targetAverageValue: averageValue }: Part) =>
    defined({ type: averageUtilization === undefined ? 'AverageValue' : 'Utilization', averageValue, averageUtilization })
  return defined({
    type,
    object: object && {
      describedObject: object.target,
      target: defined({
        type: object.averageValue === undefined ? 'Value' : 'AverageValue',
        value: object.averageValue === undefined ? object.targetValue : undefined,
        averageValue: object.averageValue,
      }),
      metric: defined({ name: object.metricName, selector: object.selector }),
    },
    pods: pods && {
      metric: defined({ name: pods.metricName, selector: pods.selector }),
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue },
    },
    resource: resource && { name: resource.name, target: target(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: target(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: defined({ name: external.metricName, selector: external.metricSelector }),
      target: defined({
        type: external.targetValue === undefined ? 'AverageValue' : 'Value',
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  })
}

function statusToV1({ type, resource, pods, ...rest }: Part): Part {
  return defined({
    type,
    pods:
      pods &&
      defined({ metricName: pods.metric?.name, currentAverageValue: pods.current?.averageValue ?? '0', selector: pods.metric?.selector }),
    resource:
      resource &&
      defined({
        name: resource.name,
        currentAverageUtilization: resource.current?.averageUtilization,
        currentAverageValue: resource.current?.averageValue ?? '0',
      }),
    ...rest,
  })
}

function statusToV2({ type, resource, pods, ...rest }: Part): Part {
  return defined({
    type,
    pods: pods && {
      metric: defined({ name: pods.metricName, selector: pods.selector }),
      current: { averageValue: pods.currentAverageValue },
    },
    resource: resource && {
      name: resource.name,
      current: defined({ averageValue: resource.currentAverageValue, averageUtilization: resource.currentAverageUtilization }),
    },
    ...rest,
  })
}
