/**
 * What is in a cluster from the start: namespaces, the roles and bindings of RBAC, priority classes, the Service `kubernetes`.
 * Written into the store at once, without admission; what is there already (a restored store) stays.
 */
import type { Core } from '../core.ts'
import { newUid, timestamp } from '../object-meta.ts'
import type { ApiObject, Metadata } from '../types.ts'
import { NAMESPACE_CONTENTS } from './namespace-contents.ts'
import { recordedObjects } from './recorded.ts'

export const NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system']
/** Of the Service `kubernetes`: the first of the range. */
const SERVICE_ADDRESS = '10.0.0.1'
const SERVICE_RANGE = '10.0.0.0/24'

export interface BootstrapOptions {
  /** PEM of the server's certificate authority; `''`: it has none. */
  readonly ca: string
}

export function bootstrap(core: Core, { ca }: BootstrapOptions): void {
  for (const name of NAMESPACES) {
    put(core, '/namespaces', namespace(name))
    for (const content of NAMESPACE_CONTENTS) put(core, content.bucket, content.make(name, ca))
  }
  for (const [bucket, objects] of Object.entries(recordedObjects())) {
    const slash = bucket.indexOf('/')
    const type = core.registry.find(bucket.slice(0, slash), 'v1', bucket.slice(slash + 1))
    if (type === undefined) continue
    const { storageVersion: apiVersion, kind } = type
    for (const object of objects) put(core, bucket, { apiVersion, kind, ...object } as ApiObject)
  }
  for (const [bucket, object] of SERVICE) put(core, bucket, object)
  announceAddress(core, '127.0.0.1', 6443)
}

/** Where the Service `kubernetes` leads: the listener's address. */
export function announceAddress(core: Core, address: string, port: number): void {
  const at = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'kubernetes', namespace: 'default', labels: NO_MIRROR } }
  const ports = [{ name: 'https', port, protocol: 'TCP' }]
  put(core, '/endpoints', { ...at, subsets: [{ addresses: [{ ip: address }], ports }] }, true)
  const slice: ApiObject = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes', namespace: 'default', generation: 1, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  }
  put(core, 'discovery.k8s.io/endpointslices', slice, true)
}

const NO_MIRROR = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }

const namespace = (name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
})

const SERVICE: readonly (readonly [string, ApiObject])[] = [
  [
    '/services',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
        clusterIP: SERVICE_ADDRESS,
        clusterIPs: [SERVICE_ADDRESS],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'networking.k8s.io/ipaddresses',
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: {
        name: SERVICE_ADDRESS,
        labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' },
      },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } },
    },
  ],
  [
    'networking.k8s.io/servicecidrs',
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'kubernetes' },
      spec: { cidrs: [SERVICE_RANGE] },
    },
  ],
]

function put(core: Core, bucketKey: string, object: ApiObject, replace = false): void {
  const bucket = core.store.bucket(bucketKey)
  const { name = '', namespace: in_ = '' } = object.metadata
  const stored = bucket.get(in_, name)
  if (stored !== undefined && !replace) return
  bucket.put(in_, name, { ...object, metadata: systemFields(core, object.metadata, stored?.object.metadata) }, stored?.revision ?? 0)
}

/** In the order in which the server writes them. */
function systemFields(core: Core, { name, namespace: in_, ...rest }: Metadata, old: Metadata | undefined): Metadata {
  return {
    name: name ?? '',
    ...(in_ === undefined ? {} : { namespace: in_ }),
    uid: old?.uid ?? newUid(core.random),
    ...(rest.generation === undefined ? {} : { generation: rest.generation }),
    creationTimestamp: old?.creationTimestamp ?? timestamp(core.clock.now()),
    ...rest,
  }
}
