/**
 * Deployment → ReplicaSets. A roll-out brings the new set to its full size first and then ends the old ones (`Recreate`: the
 * other way round): steps of maxSurge and maxUnavailable are not simulated.
 */
import { cloneJson } from '../json.ts'
import type { ApiObject } from '../types.ts'
import { conditions, controllerReference, DEPLOYMENTS, isTerminating, REPLICA_SETS, templateHash, type World } from './world.ts'

const REVISION = 'deployment.kubernetes.io/revision'
/** Annotations of a Deployment that its sets do not get. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
])

export async function syncDeployment(world: World, namespace: string, name: string): Promise<void> {
  const deployment = world.get(DEPLOYMENTS, namespace, name)
  if (deployment === undefined || isTerminating(deployment)) return
  const hash = templateHash(deployment.spec.template)
  const before = sets(world, deployment)
  if (deployment.spec.paused !== true) await roll(world, deployment, before, hash)
  await report(world, namespace, name, hash)
}

function sets(world: World, deployment: ApiObject): ApiObject[] {
  return world.controlledBy(deployment, REPLICA_SETS).filter((set) => !isTerminating(set))
}

const isOf = (set: ApiObject, hash: string) => set.metadata.labels?.['pod-template-hash'] === hash
const revisionOf = (object: ApiObject) => Number(object.metadata.annotations?.[REVISION] ?? 0)

async function roll(world: World, deployment: ApiObject, known: readonly ApiObject[], hash: string): Promise<void> {
  const wanted: number = deployment.spec.replicas ?? 1
  const old = known.filter((set) => !isOf(set, hash))
  const revision = Math.max(0, ...old.map(revisionOf)) + 1
  const current = known.find((set) => isOf(set, hash))
  const oldAreGone = old.every((set) => (set.status?.replicas ?? 0) === 0 && (set.spec.replicas ?? 0) === 0)
  if (deployment.spec.strategy?.type === 'Recreate' && !oldAreGone) {
    for (const set of old) await scale(world, deployment, set, 0)
    return
  }
  if (current === undefined) {
    const set = await world.create(REPLICA_SETS, setOf(deployment, hash, wanted, revision))
    if (set !== undefined && wanted > 0) tellScaled(world, deployment, set, 0, wanted)
  } else {
    const before: number = current.spec.replicas ?? 1
    if (before !== wanted) tellScaled(world, deployment, current, before, wanted)
    await world.update(REPLICA_SETS, current, (set) => {
      set.spec.replicas = wanted
      set.metadata.annotations = { ...set.metadata.annotations, ...inherited(deployment) }
      if (revisionOf(set) < revision) set.metadata.annotations[REVISION] = String(revision)
    })
    if ((current.status?.availableReplicas ?? 0) >= wanted && current.status?.observedGeneration === current.metadata.generation) {
      for (const set of old) await scale(world, deployment, set, 0)
    }
  }
  const limit: number = deployment.spec.revisionHistoryLimit ?? 10
  const done = old.filter((set) => (set.spec.replicas ?? 0) === 0 && (set.status?.replicas ?? 0) === 0)
  const oldest = [...done].sort((a, b) => revisionOf(a) - revisionOf(b)).slice(0, Math.max(0, done.length - limit))
  for (const set of oldest) await world.delete(REPLICA_SETS, set)
}

async function scale(world: World, deployment: ApiObject, set: ApiObject, replicas: number): Promise<void> {
  const before: number = set.spec.replicas ?? 1
  if (before === replicas) return
  await world.update(REPLICA_SETS, set, (object) => {
    object.spec.replicas = replicas
  })
  tellScaled(world, deployment, set, before, replicas)
}

function tellScaled(world: World, deployment: ApiObject, set: ApiObject, from: number, to: number): void {
  const direction = from < to ? 'up' : 'down'
  const message = `Scaled ${direction} replica set ${set.metadata.name} from ${from} to ${to}`
  world.tell(deployment, 'ScalingReplicaSet', message, 'deployment-controller')
}

function setOf(deployment: ApiObject, hash: string, replicas: number, revision: number): ApiObject {
  const template = cloneJson(deployment.spec.template)
  const labels = { ...template.metadata?.labels, 'pod-template-hash': hash }
  template.metadata = { ...template.metadata, labels }
  const { name, namespace } = deployment.metadata
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace: namespace ?? '',
      labels,
      annotations: {
        ...inherited(deployment),
        'deployment.kubernetes.io/desired-replicas': String(replicas),
        'deployment.kubernetes.io/max-replicas': String(replicas + 1),
        [REVISION]: String(revision),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas,
      selector: {
        ...cloneJson(deployment.spec.selector),
        matchLabels: { ...deployment.spec.selector?.matchLabels, 'pod-template-hash': hash },
      },
      template,
    },
  }
}

/** Such as `kubernetes.io/change-cause`, which `kubectl rollout history` shows. */
function inherited({ metadata }: ApiObject): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)))
}

async function report(world: World, namespace: string, name: string, hash: string): Promise<void> {
  const deployment = world.get(DEPLOYMENTS, namespace, name)
  if (deployment === undefined) return
  const all = sets(world, deployment)
  const current = all.find((set) => isOf(set, hash))
  const sum = (field: string) => all.reduce((total, set) => total + (set.status?.[field] ?? 0), 0)
  const wanted: number = deployment.spec.replicas ?? 1
  const replicas = sum('replicas')
  const available = sum('availableReplicas')
  const updated: number = current?.status?.replicas ?? 0
  const complete = updated === wanted && replicas === wanted && available === wanted
  const isAvailable = available >= wanted - unavailable(deployment, wanted)
  const set = current?.metadata.name ?? `${name}-${hash}`
  const status = {
    observedGeneration: deployment.metadata.generation,
    ...positive('replicas', replicas),
    ...positive('updatedReplicas', updated),
    ...positive('readyReplicas', sum('readyReplicas')),
    ...positive('availableReplicas', available),
    ...positive('unavailableReplicas', Math.max(0, Math.max(wanted, replicas) - available)),
    terminatingReplicas: sum('terminatingReplicas'),
    conditions: conditions(
      deployment,
      [
        isAvailable
          ? { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
          : {
              type: 'Available',
              status: 'False',
              reason: 'MinimumReplicasUnavailable',
              message: 'Deployment does not have minimum availability.',
            },
        complete
          ? {
              type: 'Progressing',
              status: 'True',
              reason: 'NewReplicaSetAvailable',
              message: `ReplicaSet "${set}" has successfully progressed.`,
            }
          : { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: `ReplicaSet "${set}" is progressing.` },
      ],
      world.now(),
    ),
  }
  const revision = current?.metadata.annotations?.[REVISION]
  const annotations = revision === undefined ? {} : { [REVISION]: revision }
  await world.setStatus(DEPLOYMENTS, deployment, withUpdateTimes(deployment, status, world.now()), annotations)
}

const positive = (name: string, value: number) => (value > 0 ? { [name]: value } : {})

function unavailable({ spec }: ApiObject, wanted: number): number {
  const most = spec.strategy?.rollingUpdate?.maxUnavailable ?? 0
  return typeof most === 'number' ? most : Math.floor((wanted * Number.parseInt(most, 10)) / 100)
}

interface Updated {
  type: string
  status: string
  reason?: string
  message?: string
  lastUpdateTime?: string
}

/** `lastUpdateTime` moves with the reason, `lastTransitionTime` only with the status. */
function withUpdateTimes<S extends { conditions: object[] }>(before: ApiObject, status: S, now: string): S {
  const old: readonly Updated[] = before.status?.conditions ?? []
  const times = (status.conditions as Updated[]).map((condition) => {
    const known = old.find(({ type }) => type === condition.type)
    const same = known?.status === condition.status && known.reason === condition.reason && known.message === condition.message
    return { ...condition, lastUpdateTime: same ? known?.lastUpdateTime : now }
  })
  return { ...status, conditions: times }
}
