/** ReplicaSet → Pods. */
import type { ApiObject } from '../types.ts'
import { isReady, isTerminating, PODS, podOf, REPLICA_SETS, type World } from './world.ts'

const CONTROLLER = 'replicaset-controller'

export async function syncReplicaSet(world: World, namespace: string, name: string): Promise<void> {
  const set = world.get(REPLICA_SETS, namespace, name)
  if (set === undefined || isTerminating(set)) return
  const pods = world.controlledBy(set, PODS).filter((pod) => !isTerminating(pod))
  // One that has failed is replaced and stays to be looked at; an evicted one too.
  const living = pods.filter((pod) => pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded')
  const wanted: number = set.spec.replicas ?? 1
  try {
    for (let i = living.length; i < wanted; i++) {
      const pod = await world.create(PODS, podOf(set, set.spec.template, { generateName: `${name}-` }, {}))
      if (pod !== undefined) world.tell(set, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`, CONTROLLER)
    }
    for (const pod of surplus(living, wanted)) {
      await world.delete(PODS, pod)
      world.tell(set, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`, CONTROLLER)
    }
  } finally {
    await report(world, namespace, name)
  }
}

/** The least useful go first. */
function surplus(pods: readonly ApiObject[], wanted: number): ApiObject[] {
  if (pods.length <= wanted) return []
  return [...pods].sort((a, b) => Number(isReady(a)) - Number(isReady(b))).slice(0, pods.length - wanted)
}

async function report(world: World, namespace: string, name: string): Promise<void> {
  const set = world.get(REPLICA_SETS, namespace, name)
  if (set === undefined) return
  const all = world.controlledBy(set, PODS)
  const pods = all.filter((pod) => !isTerminating(pod) && pod.status?.phase !== 'Failed')
  const ready = pods.filter(isReady).length
  await world.setStatus(REPLICA_SETS, set, {
    replicas: pods.length,
    ...(pods.length > 0 ? { fullyLabeledReplicas: pods.length } : {}),
    ...(ready > 0 ? { readyReplicas: ready, availableReplicas: ready } : {}),
    terminatingReplicas: all.filter(isTerminating).length,
    observedGeneration: set.metadata.generation,
  })
}
