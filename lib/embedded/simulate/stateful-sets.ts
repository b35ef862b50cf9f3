/** StatefulSet → Pods with a number each, and their claims. */
import { cloneJson } from '../json.ts'
import type { ApiObject } from '../types.ts'
import { CLAIMS, isReady, isTerminating, PODS, podOf, STATEFUL_SETS, templateHash, type World } from './world.ts'

const REVISION = 'controller-revision-hash'
const CONTROLLER = 'statefulset-controller'

export async function syncStatefulSet(world: World, namespace: string, name: string): Promise<void> {
  const set = world.get(STATEFUL_SETS, namespace, name)
  if (set === undefined || isTerminating(set)) return
  const revision = `${name}-${templateHash(set.spec.template)}`
  const first: number = set.spec.ordinals?.start ?? 0
  const wanted: number = set.spec.replicas ?? 1
  const inOrder = set.spec.podManagementPolicy !== 'Parallel'
  const pods = new Map(world.controlledBy(set, PODS).map((pod) => [ordinalOf(pod, name), pod]))
  await step(world, set, pods, { first, wanted, inOrder, revision })
  await report(world, namespace, name, revision)
}

interface Goal {
  readonly first: number
  readonly wanted: number
  readonly inOrder: boolean
  readonly revision: string
}

/** One step where pods come and go in order, all of them where they do so at once. */
async function step(
  world: World,
  set: ApiObject,
  pods: ReadonlyMap<number, ApiObject>,
  { first, wanted, inOrder, revision }: Goal,
): Promise<void> {
  for (let ordinal = first; ordinal < first + wanted; ordinal++) {
    const pod = pods.get(ordinal)
    if (pod === undefined) await createPod(world, set, ordinal, revision)
    else if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') await deletePod(world, set, pod)
    if (inOrder && (pod === undefined || !isReady(pod))) return
  }
  const surplus = [...pods.keys()].filter((ordinal) => ordinal < first || ordinal >= first + wanted).sort((a, b) => b - a)
  for (const ordinal of surplus) {
    const pod = pods.get(ordinal) as ApiObject
    if (!isTerminating(pod)) await deletePod(world, set, pod)
    if (inOrder) return
  }
  if (set.spec.updateStrategy?.type === 'OnDelete') return
  const partition: number = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0
  for (let ordinal = first + wanted - 1; ordinal >= Math.max(first, partition); ordinal--) {
    const pod = pods.get(ordinal)
    if (pod === undefined || isTerminating(pod)) return
    if (pod.metadata.labels?.[REVISION] !== revision) return deletePod(world, set, pod)
    if (!isReady(pod)) return
  }
}

async function deletePod(world: World, set: ApiObject, pod: ApiObject): Promise<void> {
  await world.delete(PODS, pod)
  world.tell(set, 'SuccessfulDelete', `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`, CONTROLLER)
}

function ordinalOf({ metadata: { name: pod = '' } }: ApiObject, set: string): number {
  return pod.startsWith(`${set}-`) ? Number(pod.slice(set.length + 1)) : Number.NaN
}

async function createPod(world: World, set: ApiObject, ordinal: number, revision: string): Promise<void> {
  const { name = '', namespace = '' } = set.metadata
  const podName = `${name}-${ordinal}`
  const pod = podOf(
    set,
    set.spec.template,
    { name: podName },
    {
      'apps.kubernetes.io/pod-index': String(ordinal),
      [REVISION]: revision,
      'statefulset.kubernetes.io/pod-name': podName,
    },
  )
  pod.spec.hostname = podName
  if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName
  for (const template of (set.spec.volumeClaimTemplates ?? []) as ApiObject[]) {
    const volume = template.metadata.name ?? ''
    const claim = `${volume}-${podName}`
    const others = ((pod.spec.volumes ?? []) as { name: string }[]).filter((each) => each.name !== volume)
    pod.spec.volumes = [{ name: volume, persistentVolumeClaim: { claimName: claim } }, ...others]
    if (world.get(CLAIMS, namespace, claim) !== undefined) continue
    const made = await world.create(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claim,
        namespace,
        labels: { ...template.metadata.labels, ...set.spec.selector?.matchLabels },
        ...(template.metadata.annotations === undefined ? {} : { annotations: { ...template.metadata.annotations } }),
      },
      spec: cloneJson(template.spec),
    })
    if (made === undefined) continue
    world.tell(set, 'SuccessfulCreate', `Create Claim ${claim} Pod ${podName} in StatefulSet ${name} success`, CONTROLLER)
  }
  const made = await world.create(PODS, pod)
  if (made !== undefined) world.tell(set, 'SuccessfulCreate', `Create Pod ${podName} in StatefulSet ${name} successful`, CONTROLLER)
}

async function report(world: World, namespace: string, name: string, revision: string): Promise<void> {
  const set = world.get(STATEFUL_SETS, namespace, name)
  if (set === undefined) return
  const pods = world.controlledBy(set, PODS).filter((pod) => !isTerminating(pod))
  const ready = pods.filter(isReady).length
  const updated = pods.filter((pod) => pod.metadata.labels?.[REVISION] === revision).length
  const wanted: number = set.spec.replicas ?? 1
  const done = updated === wanted && ready === wanted && pods.length === wanted
  // The old revision stays the current one until the last pod is new.
  const current: string = done ? revision : (set.status?.currentRevision ?? revision)
  const old = pods.filter((pod) => pod.metadata.labels?.[REVISION] === current).length
  await world.setStatus(STATEFUL_SETS, set, {
    observedGeneration: set.metadata.generation,
    replicas: pods.length,
    ...(ready > 0 ? { readyReplicas: ready } : {}),
    ...(old > 0 ? { currentReplicas: old } : {}),
    ...(updated > 0 ? { updatedReplicas: updated } : {}),
    currentRevision: current,
    updateRevision: revision,
    collisionCount: 0,
    availableReplicas: ready,
  })
}
