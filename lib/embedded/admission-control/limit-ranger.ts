/** LimitRanges: defaults of containers, and bounds of containers, pods and volume claims. */

import { joinErrors } from '../auth/rbac.ts'
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import { compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../quantity.ts'
import type { ApiObject } from '../types.ts'
import { type ContainerResources, podResources, type ResourceList, resourceList } from './pod-resources.ts'
import { isResource, refusal } from './refusal.ts'

type Amounts = Readonly<Record<string, string | number>>

interface Limit {
  readonly type: string
  readonly min?: Amounts
  readonly max?: Amounts
  readonly default?: Amounts
  readonly defaultRequest?: Amounts
  readonly maxLimitRequestRatio?: Amounts
}

export function limitRanger(core: Core): AdmissionPlugin {
  const rangesOf = ({ namespace }: AdmissionRequest) => core.lookup.list('', 'limitranges', namespace)
  return {
    name: 'LimitRanger',
    mutate(request) {
      const { object, operation } = request
      if (object === undefined || operation !== 'CREATE' || !isResource(request, '/pods')) return
      for (const range of rangesOf(request)) setDefaults(object, limitsOf(range))
    },
    validate(request) {
      const { object, operation } = request
      if (object === undefined || operation === 'DELETE') return
      const pod = isResource(request, '/pods') && operation === 'CREATE'
      if (!pod && !isResource(request, '/persistentvolumeclaims')) return
      for (const range of rangesOf(request)) {
        const errors = limitsOf(range).flatMap((limit) => (pod ? podErrors(limit, object) : claimErrors(limit, object)))
        if (errors.length > 0) throw refusal(request, joinErrors(errors.map((text) => new Error(text))))
      }
    },
  }
}

const limitsOf = (range: ApiObject): readonly Limit[] => range.spec?.limits ?? []

interface Container {
  readonly name: string
  resources?: { limits?: Record<string, string | number>; requests?: Record<string, string | number> }
}

function setDefaults(pod: ApiObject, limits: readonly Limit[]): void {
  const forContainers = limits.filter((limit) => limit.type === 'Container')
  const defaults = Object.assign({}, ...forContainers.map((limit) => limit.default))
  const requests = Object.assign({}, ...forContainers.map((limit) => limit.defaultRequest))
  const notes = [
    ...((pod.spec.containers ?? []) as Container[]).flatMap((each) => fill(each, defaults, requests, 'container')),
    ...((pod.spec.initContainers ?? []) as Container[]).flatMap((each) => fill(each, defaults, requests, 'init container')),
  ]
  if (notes.length === 0) return
  pod.metadata.annotations ??= {}
  pod.metadata.annotations['kubernetes.io/limit-ranger'] = `LimitRanger plugin set: ${notes.join('; ')}`
}

function fill(container: Container, defaults: Amounts, requests: Amounts, what: string): string[] {
  const missing = (wanted: Amounts, given: Amounts | undefined) =>
    Object.keys(wanted)
      .filter((name) => given === undefined || !Object.hasOwn(given, name))
      .sort()
  const resources = container.resources ?? {}
  const newRequests = missing(requests, resources.requests)
  const newLimits = missing(defaults, resources.limits)
  const merge = (given: Amounts | undefined, wanted: Amounts, names: readonly string[]) => ({
    ...given,
    ...Object.fromEntries(names.map((name) => [name, wanted[name] as string])),
  })
  if (newLimits.length > 0) resources.limits = merge(resources.limits, defaults, newLimits)
  if (newRequests.length > 0) resources.requests = merge(resources.requests, requests, newRequests)
  container.resources = resources
  const note = (names: readonly string[], kind: string) =>
    names.length === 0 ? [] : [`${names.join(', ')} ${kind} for ${what} ${container.name}`]
  return [...note(newRequests, 'request'), ...note(newLimits, 'limit')]
}

function podErrors(limit: Limit, pod: ApiObject): string[] {
  if (limit.type === 'Pod') return boundErrors(limit, podResources(pod, 'requests'), podResources(pod, 'limits'))
  if (limit.type !== 'Container') return []
  const containers: readonly ContainerResources[] = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])]
  return containers.flatMap(({ resources }) => boundErrors(limit, resourceList(resources?.requests), resourceList(resources?.limits)))
}

function boundErrors({ type, min, max, maxLimitRequestRatio }: Limit, requests: ResourceList, limits: ResourceList): string[] {
  const each = (amounts: Amounts | undefined, check: (name: string, bound: Quantity) => string | undefined) =>
    Object.entries(amounts ?? {}).flatMap(([name, value]) => check(name, parseQuantity(value)) ?? [])
  return [
    ...each(min, (name, bound) => minError(type, name, bound, requests.get(name), limits.get(name))),
    ...each(max, (name, bound) => maxError(type, name, bound, requests.get(name), limits.get(name))),
    ...each(maxLimitRequestRatio, (name, bound) => ratioError(type, name, bound, requests.get(name), limits.get(name))),
  ]
}

function claimErrors({ type, min, max }: Limit, claim: ApiObject): string[] {
  if (type !== 'PersistentVolumeClaim') return []
  const requests = resourceList(claim.spec?.resources?.requests)
  const errors: string[] = []
  for (const [name, value] of Object.entries(min ?? {})) {
    const error = minError(type, name, parseQuantity(value), requests.get(name), undefined)
    if (error !== undefined) errors.push(error)
  }
  for (const [name, value] of Object.entries(max ?? {})) {
    const bound = parseQuantity(value)
    const request = requests.get(name)
    const text = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`
    if (request === undefined) errors.push(`${text}.  No request is specified`)
    else if (compareQuantities(request, bound) > 0) errors.push(`${text}, but request is ${formatQuantity(request)}`)
  }
  return errors
}

function minError(
  type: string,
  name: string,
  bound: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string | undefined {
  const text = `minimum ${name} usage per ${type} is ${formatQuantity(bound)}`
  if (request === undefined) return `${text}.  No request is specified`
  if (compareQuantities(request, bound) < 0) return `${text}, but request is ${formatQuantity(request)}`
  if (limit !== undefined && compareQuantities(limit, bound) < 0) return `${text}, but limit is ${formatQuantity(limit)}`
  return undefined
}

function maxError(
  type: string,
  name: string,
  bound: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`
  if (limit === undefined) return `${text}.  No limit is specified`
  if (compareQuantities(limit, bound) > 0) return `${text}, but limit is ${formatQuantity(limit)}`
  if (request !== undefined && compareQuantities(request, bound) > 0) return `${text}, but request is ${formatQuantity(request)}`
  return undefined
}

function ratioError(
  type: string,
  name: string,
  bound: Quantity,
  request: Quantity | undefined,
  limit: Quantity | undefined,
): string | undefined {
  const text = `${name} max limit to request ratio per ${type} is ${formatQuantity(bound)}`
  if (request === undefined || request.nanos === 0n) return `${text}, but no request is specified or request is 0`
  if (limit === undefined || limit.nanos === 0n) return `${text}, but no limit is specified or limit is 0`
  const ratio = Number(limit.nanos) / Number(request.nanos)
  return ratio > Number(bound.nanos) / 1e9 ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}
