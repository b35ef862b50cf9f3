/** How simulated workloads behave. */
import { parseDuration } from '../../resource/duration.ts'
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

const PREFIX = 'simulate.tsop.dev/'
/** On a pod (so in a workload's template): a reason to wait (`ImagePullBackOff`), or an exit code. */
export const FAIL = `${PREFIX}fail`
/** On a pod: seconds, or a duration such as `1m30s`, until it is ready, instead of what the options say. */
export const READY_AFTER = `${PREFIX}ready-after`

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
  return durationMs(pod.metadata.annotations?.[READY_AFTER]) ?? podReadyMs
}

/** Undefined where there is none, or none that can be read. */
function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  try {
    return parseDuration(text, READY_AFTER)
  } catch {
    return undefined
  }
}

/** What is wrong with the annotations of a pod that are for the simulation; they are ignored then. */
export function wrongAnnotations({ metadata: { annotations = {} } }: ApiObject): string[] {
  return Object.entries(annotations).flatMap(([name, value]) => {
    if (!name.startsWith(PREFIX)) return []
    const is = `${name}: ${JSON.stringify(value)} is ignored:`
    if (name === READY_AFTER) return durationMs(value) === undefined ? [`${is} it takes seconds, or a duration such as 1m30s`] : []
    if (name === FAIL)
      return failureOf(value) === undefined ? [`${is} it takes a reason such as ImagePullBackOff, or an exit code from 1 to 255`] : []
    return [`${is} there are ${READY_AFTER} and ${FAIL}`]
  })
}

/** What of the annotations of a workload was meant for its pods. */
export function misplacedAnnotations({ metadata: { annotations = {} } }: ApiObject): string[] {
  const found = Object.keys(annotations).filter((name) => name === READY_AFTER || name === FAIL)
  return found.map((name) => `${name} is ignored: it belongs to spec.template.metadata.annotations`)
}

function annotatedFailure({ metadata: { annotations } }: ApiObject): PodFailure | undefined {
  const text = annotations?.[FAIL]
  return text === undefined ? undefined : failureOf(text)
}

function failureOf(text: string): PodFailure | undefined {
  if (/^[A-Za-z]+$/.test(text)) return { waiting: text }
  return /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 255 ? { exitCode: Number(text) } : undefined
}
