/** Service → Endpoints and EndpointSlice with the addresses of its ready pods. */
import type { ApiObject } from '../types.ts'
import { ENDPOINT_SLICES, ENDPOINTS, isReady, isTerminating, PODS, SERVICES, type World } from './world.ts'

interface Port {
  readonly name?: string
  readonly port: number
  readonly protocol?: string
  readonly targetPort?: number | string
}

export async function syncEndpoints(world: World, namespace: string, name: string): Promise<void> {
  const service = world.get(SERVICES, namespace, name)
  const selector: Record<string, string> | undefined = service?.spec?.selector
  if (service === undefined || isTerminating(service) || selector === undefined || Object.keys(selector).length === 0) return
  const pods = world.list(PODS, namespace).filter((pod) => isSelected(pod, selector) && pod.status?.podIP !== undefined && !isOver(pod))
  const ready = pods.filter((pod) => isReady(pod) || service.spec.publishNotReadyAddresses === true)
  const unready = pods.filter((pod) => !ready.includes(pod) && !isTerminating(pod))
  const ports = ((service.spec.ports ?? []) as Port[]).map((port) => ({
    ...(port.name === undefined ? {} : { name: port.name }),
    port: numberOf(port, pods[0]),
    protocol: port.protocol ?? 'TCP',
  }))
  await syncOld(world, service, ready, unready, ports)
  await syncSlice(world, service, ready, unready, ports)
}

export function isSelected({ metadata: { labels } }: ApiObject, selector: Record<string, string>): boolean {
  return Object.entries(selector).every(([key, value]) => labels?.[key] === value)
}

const isOver = ({ status }: ApiObject) => status?.phase === 'Succeeded' || status?.phase === 'Failed'

function numberOf({ targetPort, port }: Port, pod: ApiObject | undefined): number {
  if (typeof targetPort === 'number') return targetPort
  for (const container of pod?.spec.containers ?? []) {
    for (const each of container.ports ?? []) if (each.name === targetPort) return each.containerPort
  }
  return port
}

const reference = ({ kind, metadata: { name, namespace, uid } }: ApiObject) => ({ kind: kind || 'Pod', name, namespace, uid })

async function syncOld(world: World, service: ApiObject, ready: ApiObject[], unready: ApiObject[], ports: object[]): Promise<void> {
  const { name = '', namespace = '', labels } = service.metadata
  const address = (pod: ApiObject) => ({
    ip: pod.status.podIP,
    nodeName: pod.spec.nodeName,
    targetRef: reference(pod),
  })
  const subset = {
    ...(ready.length > 0 ? { addresses: ready.map(address) } : {}),
    ...(unready.length > 0 ? { notReadyAddresses: unready.map(address) } : {}),
    ports,
  }
  const subsets = ready.length + unready.length === 0 ? undefined : [subset]
  const known = world.get(ENDPOINTS, namespace, name)
  if (known === undefined) {
    await world.create(ENDPOINTS, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, ...(labels === undefined ? {} : { labels: { ...labels } }) },
      ...(subsets === undefined ? {} : { subsets }),
    })
    return
  }
  await world.update(ENDPOINTS, known, (object) => {
    if (subsets === undefined) delete object.subsets
    else object.subsets = subsets
  })
}

async function syncSlice(world: World, service: ApiObject, ready: ApiObject[], unready: ApiObject[], ports: object[]): Promise<void> {
  const { name = '', namespace = '', uid = '' } = service.metadata
  const endpoints = [...ready, ...unready].map((pod) => ({
    addresses: [pod.status.podIP],
    conditions: { ready: ready.includes(pod), serving: ready.includes(pod), terminating: isTerminating(pod) },
    nodeName: pod.spec.nodeName,
    targetRef: reference(pod),
  }))
  const known = world.controlledBy(service, ENDPOINT_SLICES)[0]
  if (known === undefined) {
    await world.create(ENDPOINT_SLICES, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${name}-`,
        namespace,
        labels: {
          ...service.metadata.labels,
          'kubernetes.io/service-name': name,
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
      },
      addressType: 'IPv4',
      endpoints,
      ports,
    })
    return
  }
  await world.update(ENDPOINT_SLICES, known, (object) => {
    object.endpoints = endpoints
    object.ports = ports
  })
}
