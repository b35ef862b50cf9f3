/** How simulated workloads behave. */
import type { ApiObject } from '../types.ts'

/** Why a pod does not become ready, or not stay so. */
export interface PodFailure {
  /** Its containers wait for ever for this reason: `ImagePullBackOff`, `CrashLoopBackOff`, `CreateContainerConfigError`, … */
  readonly waiting?: string
  /** Its containers end with this code instead of running on (or, in a Job, of ending well). */
  readonly exitCode?: number
  readonly message?: string
}

export interface SimulationOptions {
  /** Milliseconds from where a pod has its node until its containers are ready. Default 200. */
  readonly podReadyMs?: number
  /** Milliseconds that the containers of a pod that ends (of a Job) run. Default 200. */
  readonly podRunMs?: number
  /** Milliseconds until a deleted pod is gone, where its grace period is not shorter. Default 100. */
  readonly podStopMs?: number
  /** Milliseconds until a claim is bound. Default 100. */
  readonly claimBoundMs?: number
  /** Asked when a pod would become ready. Default: what its annotation `simulate.tsop.dev/fail` says. */
  readonly podFailure?: (pod: ApiObject) => PodFailure | undefined
  /** Names of nodes. Default: one, `embedded`. None: pods and claims are made and wait, as in a cluster without nodes. */
  readonly nodes?: readonly string[]
}

export type Simulation = Required<SimulationOptions>

/** On a pod (so in a workload's template): a reason to wait (`ImagePullBackOff`), or an exit code. */
export const FAIL = 'simulate.tsop.dev/fail'
/** On a pod: seconds until it is ready, instead of what the options say. */
export const READY_AFTER = 'simulate.tsop.dev/ready-after'

export function simulationOf(options: SimulationOptions): Simulation {
  return {
    podReadyMs: options.podReadyMs ?? 200,
    podRunMs: options.podRunMs ?? 200,
    podStopMs: options.podStopMs ?? 100,
    claimBoundMs: options.claimBoundMs ?? 100,
    podFailure: options.podFailure ?? annotatedFailure,
    nodes: options.nodes ?? ['embedded'],
  }
}

export function readyAfterMs(pod: ApiObject, { podReadyMs }: Simulation): number {
  const seconds = Number.parseFloat(pod.metadata.annotations?.[READY_AFTER] ?? '')
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : podReadyMs
}

function annotatedFailure({ metadata: { annotations } }: ApiObject): PodFailure | undefined {
  const text = annotations?.[FAIL]
  if (text === undefined || text === '') return undefined
  return /^\d+$/.test(text) ? { exitCode: Number(text) } : { waiting: text }
}
