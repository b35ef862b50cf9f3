/** What a scheduler and the kubelets do with pods: a node, an address, containers that start, end, and stop. */
import type { Core } from '../core.ts'
import type { ApiObject } from '../types.ts'
import { type PodFailure, readyAfterMs } from './options.ts'
import { CLAIMS, conditions, isTerminating, NODES, PODS, type World } from './world.ts'

const SCHEDULER = 'default-scheduler'
const KUBELET = 'kubelet'

export class Pods {
  readonly #world: World
  readonly #core: Core
  /** What happens next with a pod, by uid: one thing at a time. */
  readonly #timers = new Map<string, { step: string; cancel(): void }>()
  #addresses = 0

  constructor(world: World) {
    this.#world = world
    this.#core = world.core
  }

  gone(uid: string): void {
    this.#timers.get(uid)?.cancel()
    this.#timers.delete(uid)
  }

  async sync(namespace: string, name: string): Promise<void> {
    const pod = this.#world.get(PODS, namespace, name)
    if (pod === undefined) return
    // Without nodes there is neither scheduler nor kubelet: a pod is whatever others make of it.
    if (this.#world.simulation.nodes.length === 0) return
    if (isTerminating(pod)) return this.#stop(pod)
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return
    if (!pod.spec.nodeName) return this.#schedule(pod)
    if (pod.status?.phase !== 'Running') return this.#start(pod)
  }

  /** Claims that are not bound yet, and nodes that do not fit, keep a pod waiting: it is looked at again when they change. */
  async #schedule(pod: ApiObject): Promise<void> {
    const node = this.#world.list(NODES).find((each) => fits(pod, each))
    const unbound = claimsOf(pod).find((claim) => this.#world.get(CLAIMS, pod.metadata.namespace ?? '', claim)?.status?.phase !== 'Bound')
    if (node === undefined || unbound !== undefined || pod.spec.schedulingGates?.length > 0) {
      const message =
        pod.spec.schedulingGates?.length > 0
          ? 'Scheduling is blocked due to non-empty scheduling gates'
          : unbound === undefined
            ? `0/${this.#world.list(NODES).length} nodes are available: no node fits the pod.`
            : `0/${this.#world.list(NODES).length} nodes are available: persistentvolumeclaim "${unbound}" is not bound.`
      const known = pod.status?.conditions?.find(({ type }: { type: string }) => type === 'PodScheduled')
      if (known?.message !== message) this.#world.tell(pod, 'FailedScheduling', message, SCHEDULER, 'Warning')
      await this.#world.setStatus(PODS, pod, {
        ...pod.status,
        phase: 'Pending',
        conditions: conditions(pod, [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }], this.#world.now()),
      })
      return
    }
    this.#world.bind(pod, node.metadata.name ?? '')
    const { namespace, name } = pod.metadata
    this.#world.tell(pod, 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`, SCHEDULER)
  }

  async #start(pod: ApiObject): Promise<void> {
    if (pod.status?.startTime === undefined) {
      await this.#world.setStatus(PODS, pod, this.#status(pod, 'Pending', { waiting: { reason: 'ContainerCreating' } }, false))
    }
    this.#later(pod, 'run', readyAfterMs(pod, this.#world.simulation), (now) => this.#run(now))
  }

  async #run(pod: ApiObject): Promise<void> {
    const failure = this.#world.simulation.podFailure(pod)
    if (failure?.waiting !== undefined) {
      const waiting = { reason: failure.waiting, ...(failure.message === undefined ? {} : { message: failure.message }) }
      // It is looked at again whenever somebody touches it.
      const isNews = pod.status?.containerStatuses?.[0]?.state?.waiting?.reason !== failure.waiting
      await this.#world.setStatus(PODS, pod, this.#status(pod, 'Pending', { waiting }, false))
      if (isNews) this.#world.tell(pod, 'Failed', `Error: ${failure.message ?? failure.waiting}`, KUBELET, 'Warning')
      return
    }
    await this.#world.setStatus(PODS, pod, this.#status(pod, 'Running', { running: { startedAt: this.#world.now() } }, true))
    this.#world.tell(pod, 'Started', 'Container started', KUBELET)
    if (failure === undefined && pod.spec.restartPolicy === 'Always') return
    this.#later(pod, 'end', this.#world.simulation.podRunMs, (now) => this.#end(now, failure))
  }

  /** Containers that may not restart leave the pod ended; others are left crashing. */
  async #end(pod: ApiObject, failure: PodFailure | undefined): Promise<void> {
    const exitCode = failure?.exitCode ?? 0
    const restarts = pod.spec.restartPolicy === 'Always' || (pod.spec.restartPolicy === 'OnFailure' && exitCode !== 0)
    if (restarts) {
      const waiting = { reason: 'CrashLoopBackOff', message: failure?.message ?? 'back-off restarting failed container' }
      await this.#world.setStatus(PODS, pod, this.#status(pod, 'Running', { waiting }, false, 1))
      const { namespace, name, uid } = pod.metadata
      const [container] = (pod.spec.containers ?? []) as { name: string }[]
      const message = `Back-off restarting failed container ${container?.name} in pod ${name}_${namespace}(${uid})`
      this.#world.tell(pod, 'BackOff', message, KUBELET, 'Warning')
      return
    }
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    const times = { startedAt: pod.status?.startTime, finishedAt: this.#world.now() }
    const terminated = { exitCode, reason, ...(failure?.message === undefined ? {} : { message: failure.message }), ...times }
    await this.#world.setStatus(PODS, pod, this.#status(pod, exitCode === 0 ? 'Succeeded' : 'Failed', { terminated }, false))
  }

  #stop(pod: ApiObject): void {
    const grace = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000
    this.#later(pod, 'stop', Math.min(grace, this.#world.simulation.podStopMs), (now) => this.#world.delete(PODS, now, 0))
  }

  #status(pod: ApiObject, phase: string, state: object, ready: boolean, restartCount = 0): object {
    const started = 'running' in state
    const ended = phase === 'Succeeded'
    const notReady = ended ? { reason: 'PodCompleted' } : { reason: 'ContainersNotReady', message: unready(pod) }
    const flag = (type: string, holds: boolean, why: object = {}) =>
      ({ type, status: holds ? 'True' : 'False', ...(holds ? {} : why) }) as const
    return {
      ...pod.status,
      phase,
      conditions: conditions(
        pod,
        [
          flag('PodReadyToStartContainers', !ended && phase !== 'Failed'),
          flag('Initialized', true, {}),
          flag('Ready', ready, notReady),
          flag('ContainersReady', ready, notReady),
          flag('PodScheduled', true),
        ].map((condition) => condition as { type: string; status: 'True' | 'False' }),
        this.#world.now(),
        { observedGeneration: pod.metadata.generation },
      ),
      hostIP: '127.0.0.1',
      hostIPs: [{ ip: '127.0.0.1' }],
      ...this.#address(pod),
      startTime: pod.status?.startTime ?? this.#world.now(),
      containerStatuses: ((pod.spec.containers ?? []) as { name: string; image: string }[]).map(({ name, image }) => ({
        name,
        state,
        lastState: {},
        ready,
        restartCount,
        image,
        imageID: started || ended ? `embedded://${image}` : '',
        started,
        ...(started || ended ? { containerID: `embedded://${pod.metadata.uid}/${name}` } : {}),
      })),
      qosClass: pod.status?.qosClass ?? 'BestEffort',
    }
  }

  /** An address from 10.244.0.0/16, kept as long as the pod lives. */
  #address(pod: ApiObject): object {
    if (pod.status?.podIP !== undefined) return { podIP: pod.status.podIP, podIPs: pod.status.podIPs }
    this.#addresses = (this.#addresses % 65_533) + 1
    const ip = `10.244.${this.#addresses >> 8}.${this.#addresses & 255}`
    return { podIP: ip, podIPs: [{ ip }] }
  }

  /** `f` gets the pod as it is then, if it still is that pod. */
  #later(pod: ApiObject, step: string, ms: number, f: (pod: ApiObject) => void | Promise<void>): void {
    const { uid = '', namespace = '', name = '' } = pod.metadata
    const waiting = this.#timers.get(uid)
    if (waiting?.step === step) return
    waiting?.cancel()
    const timer = this.#core.tasks.after(
      ms,
      async () => {
        if (this.#timers.get(uid)?.step === step) this.#timers.delete(uid)
        const now = this.#world.get(PODS, namespace, name)
        if (now?.metadata.uid !== uid || (step !== 'stop' && isTerminating(now))) return
        try {
          await f(now)
        } catch (error) {
          // Somebody wrote to it in between: with what it is then.
          if ((error as { code?: number }).code !== 409) throw error
          this.#later(pod, step, 0, f)
        }
      },
      true,
    )
    this.#timers.set(uid, { step, cancel: () => timer.cancel() })
  }
}

function unready({ spec }: ApiObject): string {
  return `containers with unready status: [${(spec.containers ?? []).map(({ name }: { name: string }) => name).join(' ')}]`
}

function claimsOf({ spec, metadata }: ApiObject): string[] {
  const claims: string[] = []
  for (const volume of spec.volumes ?? []) {
    if (volume.persistentVolumeClaim !== undefined) claims.push(volume.persistentVolumeClaim.claimName)
    if (volume.ephemeral !== undefined) claims.push(`${metadata.name}-${volume.name}`)
  }
  return claims
}

function fits({ spec }: ApiObject, { metadata: { labels }, spec: node }: ApiObject): boolean {
  if (node?.unschedulable === true) return false
  return Object.entries((spec.nodeSelector ?? {}) as Record<string, string>).every(([key, value]) => labels?.[key] === value)
}
