/**
 * Simulated workloads: what a controller manager, a scheduler and kubelets make of Deployments, StatefulSets, DaemonSets, Jobs,
 * claims and Services, as far as operators look at it. No container runs.
 */
import { KeyedQueue } from '../controllers/keyed-queue.ts'
import type { Core } from '../core.ts'
import type { ApiObject, StoreEvent } from '../types.ts'
import { Claims, PROVISIONER } from './claims.ts'
import { syncDaemonSet } from './daemon-sets.ts'
import { syncDeployment } from './deployments.ts'
import { isSelected, syncEndpoints } from './endpoints.ts'
import { syncJob } from './jobs.ts'
import { misplacedAnnotations, type SimulationOptions, simulationOf, wrongAnnotations } from './options.ts'
import { Pods } from './pods.ts'
import { syncReplicaSet } from './replica-sets.ts'
import { syncStatefulSet } from './stateful-sets.ts'
import {
  bucketOf,
  CLAIMS,
  controllerOf,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  JOBS,
  type Kind,
  NODES,
  PODS,
  REPLICA_SETS,
  SERVICES,
  STATEFUL_SETS,
  STORAGE_CLASSES,
  World,
} from './world.ts'

/** `warn` gets what the user of the server should know: annotations that say nothing, for example. */
export async function startSimulation(core: Core, options: SimulationOptions, warn: (message: string) => void): Promise<void> {
  const world = new World(core, simulationOf(options), warn)
  const simulator = new Simulator(world)
  for (const kind of WATCHED) for (const object of world.list(kind)) simulator.seen(kind, object)
  const kinds = new Map(WATCHED.map((kind) => [bucketOf(kind), kind]))
  core.store.observe((event, bucket) => {
    const kind = kinds.get(bucket)
    if (kind !== undefined) simulator.observe(kind, event)
  })
  await furnish(world)
}

const WATCHED: readonly Kind[] = [
  PODS,
  REPLICA_SETS,
  DEPLOYMENTS,
  STATEFUL_SETS,
  DAEMON_SETS,
  JOBS,
  CLAIMS,
  SERVICES,
  ENDPOINTS,
  ENDPOINT_SLICES,
  NODES,
]

/** A node to run on, and a class of storage to claim from. */
async function furnish(world: World): Promise<void> {
  for (const name of world.simulation.nodes) {
    if (world.get(NODES, '', name) !== undefined) continue
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
    const node = await world.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} })
    const resources = { cpu: '16', memory: '64Gi', pods: '1000', 'ephemeral-storage': '1Ti' }
    const now = world.now()
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'this node is simulated' }
    const stored = node === undefined ? undefined : world.get(NODES, '', name)
    if (stored === undefined) continue
    await world.setStatus(NODES, stored, {
      capacity: resources,
      allocatable: resources,
      conditions: [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }],
      addresses: [
        { type: 'InternalIP', address: '127.0.0.1' },
        { type: 'Hostname', address: name },
      ],
    })
  }
  if (world.simulation.nodes.length === 0 || world.list(STORAGE_CLASSES).length > 0) return
  await world.create(STORAGE_CLASSES, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  })
}

class Simulator {
  readonly #world: World
  readonly #pods: Pods
  readonly #claims: Claims
  readonly #queue: KeyedQueue
  readonly #work: ReadonlyMap<string, (namespace: string, name: string) => void | Promise<void>>

  constructor(world: World) {
    this.#world = world
    this.#pods = new Pods(world)
    this.#claims = new Claims(world)
    this.#work = new Map<string, (namespace: string, name: string) => void | Promise<void>>([
      [bucketOf(PODS), (namespace, name) => this.#pods.sync(namespace, name)],
      [bucketOf(CLAIMS), (namespace, name) => this.#claims.sync(namespace, name)],
      [bucketOf(REPLICA_SETS), (namespace, name) => syncReplicaSet(world, namespace, name)],
      [bucketOf(DEPLOYMENTS), (namespace, name) => syncDeployment(world, namespace, name)],
      [bucketOf(STATEFUL_SETS), (namespace, name) => syncStatefulSet(world, namespace, name)],
      [bucketOf(DAEMON_SETS), (namespace, name) => syncDaemonSet(world, namespace, name)],
      [bucketOf(JOBS), (namespace, name) => syncJob(world, namespace, name)],
      [bucketOf(SERVICES), (namespace, name) => syncEndpoints(world, namespace, name)],
    ])
    this.#queue = new KeyedQueue(world.core.tasks, async (key) => {
      const [bucket = '', namespace = '', name = ''] = key.split(' ')
      await this.#work.get(bucket)?.(namespace, name)
    })
  }

  observe(kind: Kind, { type, object }: StoreEvent): void {
    const { uid = '' } = object.metadata
    if (type === 'DELETED') {
      this.#world.noted(kind, object, true)
      if (kind === PODS) this.#pods.gone(uid)
      if (kind === CLAIMS) this.#world.core.tasks.soon(() => this.#claims.gone(object))
      this.#wakeOthers(kind, object)
    } else this.seen(kind, object)
  }

  seen(kind: Kind, object: ApiObject): void {
    this.#world.noted(kind, object, false)
    if (object.metadata.annotations !== undefined) this.#checkAnnotations(kind, object)
    this.#add(kind, object)
    this.#wakeOthers(kind, object)
  }

  #checkAnnotations(kind: Kind, object: ApiObject): void {
    if (kind === PODS) this.#world.warn(object, wrongAnnotations(object))
    else if (OWNERS.has(object.kind ?? '') && kind !== REPLICA_SETS) this.#world.warn(object, misplacedAnnotations(object))
  }

  #add(kind: Kind, { metadata: { namespace = '', name = '' } }: ApiObject): void {
    if (this.#work.has(bucketOf(kind))) this.#queue.add(`${bucketOf(kind)} ${namespace} ${name}`)
  }

  /** Its controller, the Services that select it, the pods that wait for it. */
  #wakeOthers(kind: Kind, object: ApiObject): void {
    const { namespace = '' } = object.metadata
    const owner = controllerOf(object)
    const ownerKind = OWNERS.get(owner?.kind ?? '')
    if (owner !== undefined && ownerKind !== undefined) this.#queue.add(`${bucketOf(ownerKind)} ${namespace} ${owner.name}`)
    if (kind === PODS) {
      for (const service of this.#world.list(SERVICES, namespace)) {
        if (service.spec?.selector !== undefined && isSelected(object, service.spec.selector)) this.#add(SERVICES, service)
      }
    }
    if (kind === CLAIMS || kind === NODES) {
      for (const pod of this.#world.list(PODS, kind === CLAIMS ? namespace : undefined)) if (!pod.spec.nodeName) this.#add(PODS, pod)
    }
    if (kind === NODES) for (const set of this.#world.list(DAEMON_SETS)) this.#add(DAEMON_SETS, set)
    // What the simulation keeps comes back where somebody takes it away.
    if (kind === ENDPOINTS || kind === ENDPOINT_SLICES) {
      const service = object.metadata.labels?.['kubernetes.io/service-name'] ?? object.metadata.name ?? ''
      this.#queue.add(`${bucketOf(SERVICES)} ${namespace} ${service}`)
    }
  }
}

const OWNERS: ReadonlyMap<string, Kind> = new Map([
  ['ReplicaSet', REPLICA_SETS],
  ['Deployment', DEPLOYMENTS],
  ['StatefulSet', STATEFUL_SETS],
  ['DaemonSet', DAEMON_SETS],
  ['Job', JOBS],
])
