/** Columns of services, endpoints, ingresses and what belongs to them. */
import { ageOf } from '../../table.ts'
import { type Cells, isDefault, labelsOrNone, listed, NONE, named, selectorOrNone, UNSET } from './format.ts'

interface ServicePort {
  readonly port?: number
  readonly nodePort?: number
  readonly protocol?: string
}

export const service: Cells = ({ metadata, spec = {}, status = {} }, now) => [
  metadata.name ?? '',
  spec.type ?? '',
  spec.clusterIPs?.[0] ?? NONE,
  externalAddress(spec, status),
  (spec.ports ?? []).map(portText).join(',') || NONE,
  ageOf(metadata.creationTimestamp, now),
  labelsOrNone(spec.selector),
]

function portText({ port = 0, nodePort = 0, protocol = '' }: ServicePort): string {
  return nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
}

interface ServiceSpec {
  readonly type?: string
  readonly externalName?: string
  readonly externalIPs?: readonly string[]
}

function externalAddress(
  { type, externalName = '', externalIPs = [] }: ServiceSpec,
  { loadBalancer }: { loadBalancer?: LoadBalancer },
): string {
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || NONE
    case 'LoadBalancer':
      return [...loadBalancerAddresses(loadBalancer), ...externalIPs].join(',') || '<pending>'
    case 'ExternalName':
      return externalName
    default:
      return '<unknown>'
  }
}

interface LoadBalancer {
  readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[]
}

function loadBalancerAddresses(loadBalancer: LoadBalancer | undefined): string[] {
  const addresses = (loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => (ip ? [ip] : hostname ? [hostname] : []))
  return [...new Set(addresses)].sort()
}

interface Subset {
  readonly addresses?: readonly { readonly ip: string }[]
  readonly ports?: readonly { readonly port: number }[]
}

export const endpoints: Cells = named(({ subsets }) => [endpointsText(subsets ?? [])])

function endpointsText(subsets: readonly Subset[]): string {
  if (subsets.length === 0) return NONE
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    // Headless services may have no ports.
    ports.length === 0 ? addresses.map(({ ip }) => ip) : ports.flatMap(({ port }) => addresses.map(({ ip }) => hostPort(ip, port))),
  )
  return listed(all, 3)
}

const hostPort = (ip: string, port: number) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)

interface EndpointPort {
  readonly port?: number
  readonly name?: string
}

export const endpointSlice: Cells = named(({ addressType, ports, endpoints: all }) => [
  addressType ?? '',
  listed(
    (ports ?? []).map(({ port, name }: EndpointPort) => (port === undefined ? (name ?? '*') : String(port))),
    3,
  ) || UNSET,
  listed(
    (all ?? []).flatMap(({ addresses }: { addresses?: string[] }) => addresses ?? []),
    3,
  ) || UNSET,
])

export const ingress: Cells = named(({ spec = {}, status = {} }) => [
  spec.ingressClassName ?? NONE,
  hostsText(spec.rules ?? []),
  loadBalancerAddresses(status.loadBalancer).join(','),
  (spec.tls ?? []).length > 0 ? '80, 443' : '80',
])

/** The first three; the rest is counted in rules, also those without a host. */
function hostsText(rules: readonly { readonly host?: string }[]): string {
  const hosts: string[] = []
  let more = false
  for (const { host } of rules) {
    if (hosts.length === 3) more = true
    if (!more && host) hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - 3} more...` : hosts.join(',')
}

export const ingressClass: Cells = (object, now) => {
  const { metadata, spec = {} } = object
  const { kind, apiGroup, name } = spec.parameters ?? {}
  const suffix = isDefault(object, 'ingressclass.kubernetes.io/is-default-class') ? ' (default)' : ''
  const parameters = spec.parameters === undefined ? NONE : `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`
  return [`${metadata.name}${suffix}`, spec.controller ?? '', parameters, ageOf(metadata.creationTimestamp, now)]
}

export const networkPolicy: Cells = named(({ spec }) => [selectorOrNone(spec?.podSelector)])

export const serviceCidr: Cells = named(({ spec }) => [(spec?.cidrs ?? []).join(',')])

/** A cell more than there are columns, as the server has it. */
export const ipAddress: Cells = named(({ spec }) => {
  const parent = spec?.parentRef
  if (parent === undefined) return [NONE]
  const resource = parent.group ? `${parent.resource}.${parent.group}` : (parent.resource ?? '')
  return [[resource.toLowerCase(), ...(parent.namespace ? [parent.namespace] : []), parent.name].join('/')]
})
