/** What the simulated controllers see of the server, and how they write to it. */

import { recordEvent } from '../controllers/record-event.ts'
import type { Core } from '../core.ts'
import { SYSTEM } from '../core.ts'
import { cloneJson, equalJson } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import { ApiError } from '../status.ts'
import { bind } from '../subresources/binding.ts'
import type { ApiObject, OwnerReference, ResourceType } from '../types.ts'
import type { Simulation } from './options.ts'

export interface Kind {
  readonly group: string
  readonly version: string
  readonly resource: string
}

export const PODS: Kind = { group: '', version: 'v1', resource: 'pods' }
export const REPLICA_SETS: Kind = { group: 'apps', version: 'v1', resource: 'replicasets' }
export const DEPLOYMENTS: Kind = { group: 'apps', version: 'v1', resource: 'deployments' }
export const STATEFUL_SETS: Kind = { group: 'apps', version: 'v1', resource: 'statefulsets' }
export const DAEMON_SETS: Kind = { group: 'apps', version: 'v1', resource: 'daemonsets' }
export const JOBS: Kind = { group: 'batch', version: 'v1', resource: 'jobs' }
export const CLAIMS: Kind = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
export const VOLUMES: Kind = { group: '', version: 'v1', resource: 'persistentvolumes' }
export const SERVICES: Kind = { group: '', version: 'v1', resource: 'services' }
export const ENDPOINTS: Kind = { group: '', version: 'v1', resource: 'endpoints' }
export const ENDPOINT_SLICES: Kind = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' }
export const NODES: Kind = { group: '', version: 'v1', resource: 'nodes' }
export const STORAGE_CLASSES: Kind = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' }

export const bucketOf = ({ group, resource }: Kind) => `${group}/${resource}`

export class World {
  readonly core: Core
  readonly simulation: Simulation
  readonly #warn: (message: string) => void
  readonly #warned = new Set<string>()
  /** `bucket namespace/name` of what an object controls, by its uid. */
  readonly #controlled = new Map<string, Map<string, { kind: Kind; namespace: string; name: string }>>()

  /** `warn` gets what the user of the server should know. */
  constructor(core: Core, simulation: Simulation, warn: (message: string) => void) {
    this.core = core
    this.simulation = simulation
    this.#warn = warn
  }

  /** Once for each text, whichever of its objects it is about. */
  warn(about: ApiObject, texts: readonly string[]): void {
    for (const text of texts) {
      if (this.#warned.has(text)) continue
      this.#warned.add(text)
      const { name = '', namespace = '' } = about.metadata
      this.#warn(`${about.kind} ${namespace}/${name}: ${text}`)
    }
  }

  get(kind: Kind, namespace: string, name: string): ApiObject | undefined {
    return this.core.lookup.get(kind.group, kind.resource, namespace, name)
  }

  list(kind: Kind, namespace?: string): readonly ApiObject[] {
    return this.core.lookup.list(kind.group, kind.resource, namespace)
  }

  /** What `owner` controls of this kind, in the order of names. */
  controlledBy(owner: ApiObject, kind: Kind): ApiObject[] {
    const found: ApiObject[] = []
    for (const { kind: each, namespace, name } of this.#controlled.get(owner.metadata.uid ?? '')?.values() ?? []) {
      const object = each === kind ? this.get(kind, namespace, name) : undefined
      if (object !== undefined && controllerOf(object)?.uid === owner.metadata.uid) found.push(object)
    }
    return found.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  }

  /** Keeps `controlledBy` true. */
  noted(kind: Kind, object: ApiObject, gone: boolean): void {
    const owner = controllerOf(object)
    if (owner === undefined) return
    const { namespace = '', name = '' } = object.metadata
    const key = `${bucketOf(kind)} ${namespace}/${name}`
    const known = this.#controlled.get(owner.uid)
    if (!gone && known === undefined) this.#controlled.set(owner.uid, new Map([[key, { kind, namespace, name }]]))
    else if (!gone) known?.set(key, { kind, namespace, name })
    else if (known?.delete(key) && known.size === 0) this.#controlled.delete(owner.uid)
  }

  now(): string {
    return timestamp(this.core.clock.now())
  }

  /** `undefined` where it is there already. @throws ApiError where it may not be (a namespace that ends, a quota): tried again later */
  async create(kind: Kind, object: ApiObject): Promise<ApiObject | undefined> {
    const type = this.#type(kind)
    if (type === undefined) return undefined
    return existingIsNothing(this.core.operations.create(type, object.metadata.namespace ?? '', object, as(kind)))
  }

  /** Writes what differs. With annotations, which do not count as a generation here. */
  async setStatus(kind: Kind, object: ApiObject, status: object, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    const isAnnotated = Object.entries(annotations).every(([key, value]) => object.metadata.annotations?.[key] === value)
    if (isAnnotated && equalJson(object.status ?? {}, status)) return
    const type = this.#type(kind)
    const next = { ...cloneJson(object), status: cloneJson(status) }
    if (!isAnnotated) next.metadata.annotations = { ...next.metadata.annotations, ...annotations }
    const { namespace = '', name = '' } = object.metadata
    if (type !== undefined) await this.core.operations.update(type, namespace, name, 'status', next, as(kind))
  }

  async update(kind: Kind, object: ApiObject, change: (object: ApiObject) => void): Promise<void> {
    const type = this.#type(kind)
    if (type === undefined) return
    const next = cloneJson(object)
    change(next)
    if (equalJson(next, object)) return
    await this.core.operations.update(type, object.metadata.namespace ?? '', object.metadata.name ?? '', '', next, as(kind))
  }

  tell(about: ApiObject, reason: string, message: string, component: string, type: 'Normal' | 'Warning' = 'Normal'): void {
    recordEvent(this.core, about, { type, reason, message, component })
  }

  bind({ metadata: { namespace = '', name = '', uid } }: ApiObject, node: string): void {
    const type = this.#type(PODS)
    if (type !== undefined) bind(this.core, type, namespace, name, node, uid)
  }

  async delete(kind: Kind, object: ApiObject, gracePeriodSeconds?: number): Promise<void> {
    const type = this.#type(kind)
    const { namespace = '', name = '', uid = '' } = object.metadata
    if (type === undefined) return
    const deletion = { preconditions: { uid }, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) }
    await missingIsNothing(this.core.operations.delete(type, namespace, name, deletion, as(kind)))
  }

  #type({ group, version, resource }: Kind): ResourceType | undefined {
    return this.core.registry.find(group, version, resource)
  }
}

export function controllerOf({ metadata }: ApiObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find((owner) => owner.controller === true)
}

export function controllerReference({ apiVersion, kind, metadata: { name = '', uid = '' } }: ApiObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

export function isReady(pod: ApiObject): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready') === 'True'
}

export function isTerminating({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

export function conditionOf(object: ApiObject, type: string): string | undefined {
  return object.status?.conditions?.find((each: { type: string }) => each.type === type)?.status
}

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

/** Conditions with the times of their last change. `extra`: further members each of them has. */
export function conditions(before: ApiObject, wanted: readonly Condition[], now: string, extra: object = {}): object[] {
  const old: readonly (Condition & { lastTransitionTime?: string })[] = before.status?.conditions ?? []
  return wanted.map((condition) => {
    const known = old.find(({ type }) => type === condition.type)
    return { ...condition, ...extra, lastTransitionTime: known?.status === condition.status ? known.lastTransitionTime : now }
  })
}

/** A short name for a template, stable as long as the template is: what `pod-template-hash` is for. */
export function templateHash(template: unknown): string {
  let hash = 0x811c9dc5
  for (const char of JSON.stringify(template)) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0
  const letters = 'bcdfghjklmnpqrstvwxz2456789'
  let name = ''
  for (let i = 0; i < 9; i++) {
    name += letters[hash % letters.length]
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0
  }
  return name
}

/** A pod of a workload's template. */
export function podOf(owner: ApiObject, template: ApiObject, metadata: object, labels: Record<string, string>): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      namespace: owner.metadata.namespace ?? '',
      labels: { ...template.metadata?.labels, ...labels },
      ...(template.metadata?.annotations === undefined ? {} : { annotations: { ...template.metadata.annotations } }),
      ...(template.metadata?.finalizers === undefined ? {} : { finalizers: [...template.metadata.finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: cloneJson(template.spec),
  }
}

const as = ({ resource }: Kind) => ({ user: SYSTEM, fieldManager: resource === 'pods' ? 'kubelet' : 'kube-controller-manager' })

const existingIsNothing = <T>(promise: Promise<T>) => unless(promise, (error) => error.reason === 'AlreadyExists')
const missingIsNothing = <T>(promise: Promise<T>) => unless(promise, (error) => error.code === 404)

async function unless<T>(promise: Promise<T>, expected: (error: ApiError) => boolean): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof ApiError && expected(error)) return undefined
    throw error
  }
}
