/** `POST …/pods/NAME/eviction` (`kubectl drain`): a deletion that a PodDisruptionBudget may refuse. */
import type { DeleteOptions } from '../core.ts'
import { cloneJson } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import { remove } from '../operations/delete.ts'
import { matchesLabelSelector } from '../selectors.ts'
import { ApiError, badRequest } from '../status.ts'
import type { ApiObject } from '../types.ts'
import type { ExtensionAnswer, ExtensionCall } from '../verbs.ts'

/** @throws ApiError 404, 429 while the budget allows no disruption */
export async function evict(call: ExtensionCall, eviction: ApiObject): Promise<ExtensionAnswer> {
  const { core, type, namespace, name, options } = call
  if (eviction.metadata.name && eviction.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object')
  const pod = await core.operations.get(type, namespace, name)
  const dryRun: readonly string[] = eviction.deleteOptions?.dryRun ?? []
  const deletion: DeleteOptions = eviction.deleteOptions ?? {}
  const finished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || pod.status?.phase === 'Pending'
  if (!finished && !pod.metadata.deletionTimestamp) askBudgets(call, pod)
  if (options.dryRun !== true && dryRun.length === 0) tellWhy(call)
  await remove(core, type, namespace, name, deletion, { ...options, dryRun: options.dryRun === true || dryRun.length > 0 })
  return { status: 201, object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } }
}

/** The pod says why it goes; whoever owns which field does not change. */
function tellWhy({ core, type, namespace, name }: ExtensionCall): void {
  const bucket = core.store.bucket(type.bucket)
  const stored = bucket.get(namespace, name)
  if (stored === undefined) return
  const pod = cloneJson(stored.object)
  const others = (pod.status?.conditions ?? []).filter((each: { type: string }) => each.type !== 'DisruptionTarget')
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(core.clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  pod.status = { ...pod.status, conditions: [...others, condition] }
  bucket.put(namespace, name, pod, stored.revision)
}

function askBudgets({ core, namespace }: ExtensionCall, pod: ApiObject): void {
  const budgets = core.lookup
    .list('policy', 'poddisruptionbudgets', namespace)
    .filter(({ spec }) => matchesLabelSelector(spec?.selector, pod.metadata.labels))
  if (budgets.length > 1) {
    throw new ApiError(
      500,
      'InternalError',
      `Internal error occurred: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.`,
    )
  }
  const [budget] = budgets
  if (budget !== undefined && (budget.status?.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) throw unprocessed(budget)
  if (budget === undefined || (budget.status?.disruptionsAllowed ?? 0) > 0) return
  const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {}
  const budgetName = budget.metadata.name ?? ''
  throw new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [
      {
        reason: 'DisruptionBudget',
        message: `The disruption budget ${budgetName} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
      },
    ],
  })
}

function unprocessed({ metadata }: ApiObject): ApiError {
  const message = `The disruption budget ${metadata.name} is still being processed by the server.`
  return new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    retryAfterSeconds: 10,
  })
}
