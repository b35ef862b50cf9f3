/** Columns of Pod: what `kubectl get pods` says of its state, in the order in which the server looks for it. */
import { ageOf } from '../../table.ts'
import type { ApiObject } from '../../types.ts'
import { type Cells, isTrue, NONE } from './format.ts'

interface ContainerStatus {
  readonly name: string
  readonly ready?: boolean
  readonly started?: boolean
  readonly restartCount?: number
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string }
  readonly running?: object
  readonly terminated?: Terminated
}

interface Terminated {
  readonly reason?: string
  readonly signal?: number
  readonly exitCode?: number
  readonly finishedAt?: string
}

export const pod: Cells = (object, now) => {
  const { metadata, spec = {}, status = {} } = object
  const { ready, total, reason, restarts } = podState(object, now)
  return [
    metadata.name ?? '',
    `${ready}/${total}`,
    reason,
    restarts,
    ageOf(metadata.creationTimestamp, now),
    status.podIPs?.[0]?.ip || NONE,
    spec.nodeName || NONE,
    status.nominatedNodeName || NONE,
    readinessGates(object),
  ]
}

/** What marks the row of a pod that has ended. */
export function podRowConditions({ status }: ApiObject): object[] | undefined {
  const completed = { type: 'Completed', status: 'True' }
  if (status?.phase === 'Succeeded') return [{ ...completed, reason: 'Succeeded', message: 'The pod has completed successfully.' }]
  if (status?.phase === 'Failed') return [{ ...completed, reason: 'Failed', message: 'The pod failed.' }]
  return undefined
}

interface PodState {
  readonly ready: number
  readonly total: number
  readonly reason: string
  readonly restarts: string
}

function podState({ metadata, spec = {}, status = {} }: ApiObject, now: number): PodState {
  const phase: string = status.phase ?? ''
  const sidecars = new Set<string>(
    (spec.initContainers ?? []).flatMap(({ name, restartPolicy }: { name: string; restartPolicy?: string }) =>
      restartPolicy === 'Always' ? [name] : [],
    ),
  )
  const gated = (status.conditions ?? []).some(
    ({ type, reason }: { type: string; reason?: string }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  )
  const first: string = gated ? 'SchedulingGated' : status.reason || phase
  const init = initState(status.initContainerStatuses ?? [], sidecars, (spec.initContainers ?? []).length)
  let { ready, restarts } = init
  let reason = init.reason ?? first
  if (init.reason === undefined || isTrue(status.conditions, 'Initialized')) {
    const main = mainState(status.containerStatuses ?? [], reason, isTrue(status.conditions, 'Ready'))
    ready += main.ready
    restarts = sum(init.sidecarRestarts, main.restarts)
    reason = main.reason
  }
  if (metadata.deletionTimestamp !== undefined) {
    if (status.reason === 'NodeLost') reason = 'Unknown'
    else if (phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating'
  }
  return { ready, total: (spec.containers ?? []).length + sidecars.size, reason, restarts: restartText(restarts, now) }
}

interface Restarts {
  readonly count: number
  /** Of the last end of a container. */
  readonly last: string | undefined
}

const NO_RESTARTS: Restarts = { count: 0, last: undefined }

const restartsOf = ({ restartCount = 0, lastState }: ContainerStatus): Restarts => ({
  count: restartCount,
  last: lastState?.terminated?.finishedAt,
})

function sum(a: Restarts, b: Restarts): Restarts {
  const later = a.last === undefined || (b.last !== undefined && b.last > a.last) ? b.last : a.last
  return { count: a.count + b.count, last: later }
}

function restartText({ count, last }: Restarts, now: number): string {
  return count === 0 || last === undefined ? String(count) : `${count} (${ageOf(last, now)} ago)`
}

interface InitState {
  readonly ready: number
  /** Undefined: initialisation is over. */
  readonly reason: string | undefined
  readonly restarts: Restarts
  readonly sidecarRestarts: Restarts
}

/** Up to the first container that still keeps the pod from starting. */
function initState(statuses: readonly ContainerStatus[], sidecars: ReadonlySet<string>, total: number): InitState {
  let ready = 0
  let restarts = NO_RESTARTS
  let sidecarRestarts = NO_RESTARTS
  for (const [i, container] of statuses.entries()) {
    const isSidecar = sidecars.has(container.name)
    restarts = sum(restarts, restartsOf(container))
    if (isSidecar) sidecarRestarts = sum(sidecarRestarts, restartsOf(container))
    const { terminated, waiting } = container.state ?? {}
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue
    if (isSidecar && container.started === true) {
      if (container.ready === true) ready++
      continue
    }
    let reason = `${i}/${total}`
    if (terminated !== undefined) reason = endOf(terminated)
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') reason = waiting.reason
    return { ready, reason: `Init:${reason}`, restarts, sidecarRestarts }
  }
  return { ready, reason: undefined, restarts, sidecarRestarts }
}

function endOf({ reason, signal, exitCode = 0 }: Terminated): string {
  if (reason) return reason
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`
}

function mainState(statuses: readonly ContainerStatus[], before: string, podReady: boolean) {
  let reason = before
  let ready = 0
  let restarts = NO_RESTARTS
  let failed = ''
  let running = false
  // The first container has the last word.
  for (const container of statuses.toReversed()) {
    restarts = sum(restarts, restartsOf(container))
    const { waiting, terminated, running: runs } = container.state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated !== undefined) {
      reason = endOf(terminated)
      if ((terminated.exitCode ?? 0) !== 0) failed = reason
    } else if (container.ready === true && runs !== undefined) {
      running = true
      ready++
    }
  }
  if (reason === 'Completed') {
    if (running && podReady) reason = 'Running'
    else if (failed !== '') reason = failed
    else if (running) reason = 'NotReady'
  }
  return { reason, ready, restarts }
}

function readinessGates({ spec = {}, status = {} }: ApiObject): string {
  const gates: readonly { conditionType: string }[] = spec.readinessGates ?? []
  if (gates.length === 0) return NONE
  return `${gates.filter(({ conditionType }) => isTrue(status.conditions, conditionType)).length}/${gates.length}`
}
