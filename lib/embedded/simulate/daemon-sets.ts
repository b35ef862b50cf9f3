/** DaemonSet → a Pod on every node. */
import type { ApiObject } from '../types.ts'
import { DAEMON_SETS, isReady, isTerminating, NODES, PODS, podOf, templateHash, type World } from './world.ts'

const REVISION = 'controller-revision-hash'
const CONTROLLER = 'daemonset-controller'

export async function syncDaemonSet(world: World, namespace: string, name: string): Promise<void> {
  const set = world.get(DAEMON_SETS, namespace, name)
  if (set === undefined || isTerminating(set)) return
  const hash = templateHash(set.spec.template)
  const nodes = world.list(NODES).filter((node) => matches(set.spec.template.spec?.nodeSelector, node))
  const pods = world.controlledBy(set, PODS).filter((pod) => !isTerminating(pod))
  for (const node of nodes) {
    const pod = pods.find((each) => each.spec.nodeName === node.metadata.name)
    if (pod === undefined) await createPod(world, set, node, hash)
    else if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') await deletePod(world, set, pod)
    else if (pod.metadata.labels?.[REVISION] !== hash && set.spec.updateStrategy?.type !== 'OnDelete') {
      await deletePod(world, set, pod)
      break
    }
  }
  for (const pod of pods) if (!nodes.some((node) => node.metadata.name === pod.spec.nodeName)) await deletePod(world, set, pod)
  await report(world, namespace, name, nodes.length, hash)
}

function matches(selector: Record<string, string> | undefined, { metadata: { labels } }: ApiObject): boolean {
  return Object.entries(selector ?? {}).every(([key, value]) => labels?.[key] === value)
}

async function createPod(world: World, set: ApiObject, node: ApiObject, hash: string): Promise<void> {
  const pod = podOf(set, set.spec.template, { generateName: `${set.metadata.name}-` }, { [REVISION]: hash })
  pod.spec.nodeName = node.metadata.name
  const made = await world.create(PODS, pod)
  if (made !== undefined) world.tell(set, 'SuccessfulCreate', `Created pod: ${made.metadata.name}`, CONTROLLER)
}

async function deletePod(world: World, set: ApiObject, pod: ApiObject): Promise<void> {
  await world.delete(PODS, pod)
  world.tell(set, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`, CONTROLLER)
}

async function report(world: World, namespace: string, name: string, nodes: number, hash: string): Promise<void> {
  const set = world.get(DAEMON_SETS, namespace, name)
  if (set === undefined) return
  const pods = world.controlledBy(set, PODS).filter((pod) => !isTerminating(pod))
  const ready = pods.filter(isReady).length
  const updated = pods.filter((pod) => pod.metadata.labels?.[REVISION] === hash).length
  await world.setStatus(DAEMON_SETS, set, {
    currentNumberScheduled: pods.length,
    numberMisscheduled: 0,
    desiredNumberScheduled: nodes,
    numberReady: ready,
    observedGeneration: set.metadata.generation,
    ...(updated > 0 ? { updatedNumberScheduled: updated } : {}),
    ...(ready > 0 ? { numberAvailable: ready } : {}),
    ...(nodes > ready ? { numberUnavailable: nodes - ready } : {}),
  })
}
