/** What an object counts for in a ResourceQuota, by the names that `spec.hard` has. */
import { addQuantities, parseQuantity, type Quantity } from '../quantity.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { type ContainerResources, podResources, type ResourceList } from './pod-resources.ts'

/** Kinds with a plain name of their own besides `count/…`. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets', 'pods', 'services', 'persistentvolumeclaims'].map((name) => [
    `/${name}`,
    name,
  ]),
)
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage']
const STORAGE_CLASS = '.storageclass.storage.k8s.io/'
const ONE = parseQuantity('1')

/** Not counted: they are not stored, or never were. */
export const isCounted = (type: ResourceType): boolean =>
  type.namespaced && type.bucket !== '/events' && type.bucket !== '/bindings' && type.verbs.includes('list')

export const countName = ({ bucket }: ResourceType): string => {
  const [group, resource] = bucket.split('/')
  return `count/${resource}${group === '' ? '' : `.${group}`}`
}

/** The names of `hard` that are about this kind. */
export function matchingNames(type: ResourceType, hard: Iterable<string>): string[] {
  return [...hard].filter((name) => name === countName(type) || name === ALIASES.get(type.bucket) || isOwnName(type.bucket, name))
}

function isOwnName(bucket: string, name: string): boolean {
  if (bucket === '/pods') {
    const bare = name.replace(/^(requests|limits)\./, '')
    if (COMPUTE.includes(bare) || bare.startsWith('hugepages-')) return true
    return name.startsWith('requests.') && bare !== 'storage'
  }
  if (bucket === '/services') return name === 'services.nodeports' || name === 'services.loadbalancers'
  if (bucket === '/persistentvolumeclaims') {
    return (
      name === 'requests.storage' ||
      name.endsWith(`${STORAGE_CLASS}requests.storage`) ||
      name.endsWith(`${STORAGE_CLASS}persistentvolumeclaims`)
    )
  }
  return false
}

export function usageOf(type: ResourceType, object: ApiObject): ResourceList {
  const usage: ResourceList = new Map([[countName(type), ONE]])
  const alias = ALIASES.get(type.bucket)
  if (type.bucket === '/pods') addPod(usage, object)
  else if (alias !== undefined) usage.set(alias, ONE)
  if (type.bucket === '/services') addService(usage, object)
  if (type.bucket === '/persistentvolumeclaims') addClaim(usage, object)
  return usage
}

/** One that has ended uses nothing any more. */
function addPod(usage: ResourceList, pod: ApiObject): void {
  const phase = pod.status?.phase
  if (phase === 'Succeeded' || phase === 'Failed') return
  usage.set('pods', ONE)
  for (const [name, value] of podResources(pod, 'requests')) {
    if (COMPUTE.includes(name) || name.startsWith('hugepages-')) usage.set(name, value)
    usage.set(`requests.${name}`, value)
  }
  for (const [name, value] of podResources(pod, 'limits')) if (COMPUTE.includes(name)) usage.set(`limits.${name}`, value)
}

interface Port {
  readonly nodePort?: number
}

function addService(usage: ResourceList, { spec }: ApiObject): void {
  const ports: readonly Port[] = spec?.ports ?? []
  const balanced = spec?.type === 'LoadBalancer'
  const explicit = balanced && spec.allocateLoadBalancerNodePorts === false
  const counted = explicit ? ports.filter((port) => port.nodePort) : ports
  usage.set('services.nodeports', parseQuantity(balanced || spec?.type === 'NodePort' ? counted.length : 0))
  usage.set('services.loadbalancers', parseQuantity(balanced ? 1 : 0))
}

function addClaim(usage: ResourceList, claim: ApiObject): void {
  const className = claim.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? claim.spec?.storageClassName
  if (className) usage.set(`${className}${STORAGE_CLASS}persistentvolumeclaims`, ONE)
  const storage = claim.spec?.resources?.requests?.storage
  if (storage === undefined) return
  usage.set('requests.storage', parseQuantity(storage))
  if (className) usage.set(`${className}${STORAGE_CLASS}requests.storage`, parseQuantity(storage))
}

/** CPU and memory that a quota counts must be said of each container. */
export function missingOfPod(names: readonly string[], pod: ApiObject): string | undefined {
  if (pod.spec?.resources?.requests !== undefined || pod.spec?.resources?.limits !== undefined) return undefined
  const containers: readonly ContainerResources[] = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
  const has = ({ resources }: ContainerResources, name: string) => {
    const [kind, resource] = name.includes('.') ? name.split('.') : ['requests', name]
    return Object.hasOwn((kind === 'limits' ? resources?.limits : resources?.requests) ?? {}, resource as string)
  }
  const texts = names
    .filter((name) => /^(?:(?:requests|limits)\.)?(?:cpu|memory)$/.test(name))
    .sort()
    .flatMap((name) => {
      const lacking = containers.filter((each) => !has(each, name)).map((each) => each.name)
      return lacking.length === 0 ? [] : [`${name} for: ${[...new Set(lacking)].sort().join(',')}`]
    })
  return texts.length === 0 ? undefined : `must specify ${texts.join('; ')}`
}

export function sum(total: ResourceList, usage: ResourceList, names: Iterable<string>): void {
  for (const name of names) {
    const value = usage.get(name)
    if (value !== undefined) total.set(name, plus(total.get(name), value))
  }
}

const plus = (a: Quantity | undefined, b: Quantity) => (a === undefined ? b : addQuantities(a, b))
