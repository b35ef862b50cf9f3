/**
 * The end of a namespace: everything in it is deleted, and when nothing is left the namespace goes. What holds it up is told in
 * its conditions. The real controller lets five
 * seconds pass before it begins; here it is a moment, in which the contents can still be seen.
 */
import { type Core, type RequestOptions, SYSTEM } from '../core.ts'
import { cloneJson } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import { ApiError } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { namespacedTypes } from './kinds.ts'

const AS_CONTROLLER: RequestOptions = { user: SYSTEM, fieldManager: 'kube-controller-manager' }

const DELAY_MS = 100

export function startNamespaces(core: Core): void {
  const terminating = new Set<string>()
  const queue = new KeyedQueue(core.tasks, (name) => finish(core, name))
  const seen = (name: string, object: ApiObject) => {
    if (object.metadata.deletionTimestamp === undefined || terminating.has(name)) return
    terminating.add(name)
    core.tasks.after(DELAY_MS, () => queue.add(name), true)
  }
  for (const { name, object } of core.store.bucket('/namespaces').list()) seen(name, object)
  core.store.observe(({ type, name, namespace, object }, bucket) => {
    if (bucket === '/namespaces') {
      if (type === 'DELETED') terminating.delete(name)
      else seen(name, object)
    } else if (terminating.size > 0 && terminating.has(namespace) && type !== 'MODIFIED') queue.add(namespace)
  })
}

interface Remaining {
  /** Objects left, by `resource.group`. */
  readonly resources: Map<string, number>
  readonly finalizers: Map<string, number>
  /** What a webhook or a policy said to a deletion: it is tried again. */
  refused: ApiError | undefined
}

async function finish(core: Core, name: string): Promise<void> {
  const type = core.registry.find('', 'v1', 'namespaces') as ResourceType
  if (core.lookup.get('', 'namespaces', '', name)?.metadata.deletionTimestamp === undefined) return
  const remaining = await deleteContents(core, name)
  const namespace = core.lookup.get('', 'namespaces', '', name)
  if (namespace === undefined) return
  const next = cloneJson(namespace)
  next.status = { ...next.status, phase: 'Terminating', conditions: conditions(next.status?.conditions ?? [], remaining, core.clock.now()) }
  const { object } = await core.operations.update(type, '', name, 'status', next, AS_CONTROLLER)
  if (remaining.refused !== undefined) throw remaining.refused
  if (remaining.resources.size > 0 || !object.spec?.finalizers?.includes('kubernetes')) return
  const finalized = cloneJson(object)
  finalized.spec.finalizers = object.spec.finalizers.filter((each: string) => each !== 'kubernetes')
  await core.operations.update(type, '', name, 'finalize', finalized, AS_CONTROLLER)
}

async function deleteContents(core: Core, namespace: string): Promise<Remaining> {
  const remaining: Remaining = { resources: new Map(), finalizers: new Map(), refused: undefined }
  for (const type of [...namespacedTypes(core)]) {
    const bucket = core.store.bucket(type.bucket)
    if (bucket.size === 0) continue
    for (const { name, object } of bucket.list({ namespace })) {
      if (object.metadata.deletionTimestamp !== undefined) continue
      const refused = await deleteOne(core, type, namespace, name)
      remaining.refused ??= refused
    }
    for (const { object } of bucket.list({ namespace })) {
      count(remaining.resources, `${type.resource}.${type.group}`)
      for (const finalizer of object.metadata.finalizers ?? []) count(remaining.finalizers, finalizer)
    }
  }
  return remaining
}

async function deleteOne(core: Core, type: ResourceType, namespace: string, name: string): Promise<ApiError | undefined> {
  try {
    await core.operations.delete(type, namespace, name, { propagationPolicy: 'Background' }, AS_CONTROLLER)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.code === 404 ? undefined : error
  }
}

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

interface Condition {
  type: string
  status: string
  lastTransitionTime?: string
  reason: string
  message: string
}

function conditions(before: readonly Condition[], { resources, finalizers, refused }: Remaining, now: number): Condition[] {
  const list = (counts: ReadonlyMap<string, number>, join: string) =>
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, n]) => `${what}${join}${n} resource instances`)
      .join(', ')
  const wanted: Condition[] = [
    condition('NamespaceDeletionDiscoveryFailure', false, 'ResourcesDiscovered', 'All resources successfully discovered'),
    condition('NamespaceDeletionGroupVersionParsingFailure', false, 'ParsedGroupVersions', 'All legacy kube types successfully parsed'),
    refused === undefined
      ? condition(
          'NamespaceDeletionContentFailure',
          false,
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : condition(
          'NamespaceDeletionContentFailure',
          true,
          'ContentDeletionFailed',
          `Failed to delete all resource types: ${refused.message}`,
        ),
    resources.size === 0
      ? condition('NamespaceContentRemaining', false, 'ContentRemoved', 'All content successfully removed')
      : condition('NamespaceContentRemaining', true, 'SomeResourcesRemain', `Some resources are remaining: ${list(resources, ' has ')}`),
    finalizers.size === 0
      ? condition('NamespaceFinalizersRemaining', false, 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : condition(
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${list(finalizers, ' in ')}`,
        ),
  ]
  return wanted.map((each) => {
    const known = before.find(({ type }) => type === each.type)
    const lastTransitionTime = known?.status === each.status ? known.lastTransitionTime : timestamp(now)
    return { ...each, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) }
  })
}

function condition(type: string, holds: boolean, reason: string, message: string): Condition {
  return { type, status: holds ? 'True' : 'False', reason, message }
}
