/** Which addresses and node ports services may have, and which are taken. */
import type { ApiObject, WriteContext } from '../../types.ts'
import type { Part } from './common.ts'

/** `--service-cluster-ip-range`: 254 addresses. */
export const CLUSTER_RANGE = '10.0.0.0/24'
const PREFIX = '10.0.0.'
/** The lower part of the range is left to who asks for an address. */
const STATIC_ADDRESSES = 16
const FIRST_NODE_PORT = 30_000
export const LAST_NODE_PORT = 32_767
const STATIC_NODE_PORTS = 86

export const isInRange = (address: string) => address.startsWith(PREFIX) && hostOf(address) >= 1 && hostOf(address) <= 254

const hostOf = (address: string) => Number(address.slice(PREFIX.length))

const others = (object: ApiObject, context: WriteContext) =>
  context.lookup
    .list('', 'services')
    .filter(({ metadata }) => metadata.name !== object.metadata.name || metadata.namespace !== object.metadata.namespace)

export function usedAddresses(object: ApiObject, context: WriteContext): Set<string> {
  const used = new Set<string>()
  for (const { spec } of others(object, context)) for (const address of spec?.clusterIPs ?? []) used.add(address)
  return used
}

export function usedNodePorts(object: ApiObject, context: WriteContext): Set<number> {
  const used = new Set<number>()
  for (const { spec } of others(object, context)) {
    for (const port of spec?.ports ?? []) if (port.nodePort) used.add(port.nodePort)
    if (spec?.healthCheckNodePort) used.add(spec.healthCheckNodePort)
  }
  return used
}

/** Starts at a place that the name decides: the same run of tests gets the same addresses. */
export function freeAddress(object: ApiObject, used: ReadonlySet<string>): string | undefined {
  const host = pick(254 - STATIC_ADDRESSES, seedOf(object), (i) => !used.has(`${PREFIX}${STATIC_ADDRESSES + 1 + i}`))
  if (host !== undefined) return `${PREFIX}${STATIC_ADDRESSES + 1 + host}`
  const low = pick(STATIC_ADDRESSES, 0, (i) => !used.has(`${PREFIX}${i + 1}`))
  return low === undefined ? undefined : `${PREFIX}${low + 1}`
}

export function freeNodePort(object: ApiObject, used: ReadonlySet<number>): number | undefined {
  const first = FIRST_NODE_PORT + STATIC_NODE_PORTS
  const found = pick(LAST_NODE_PORT - first + 1, seedOf(object), (i) => !used.has(first + i))
  return found === undefined ? undefined : first + found
}

function pick(count: number, seed: number, free: (index: number) => boolean): number | undefined {
  for (let i = 0; i < count; i++) {
    const index = (seed + i) % count
    if (free(index)) return index
  }
  return undefined
}

function seedOf({ metadata }: ApiObject): number {
  let hash = 2_166_136_261
  for (const character of `${metadata.namespace}/${metadata.name}`) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0
  return hash
}

export const isNodePort = (port: number) => port >= FIRST_NODE_PORT && port <= LAST_NODE_PORT

export const hasNodePorts = (spec: Part) =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
