/** Job → Pods that end. */
import type { ApiObject } from '../types.ts'
import { conditionOf, isReady, isTerminating, JOBS, PODS, podOf, type World } from './world.ts'

export async function syncJob(world: World, namespace: string, name: string): Promise<void> {
  const job = world.get(JOBS, namespace, name)
  if (job === undefined || isTerminating(job) || isOver(job)) return
  const pods = world.controlledBy(job, PODS)
  const active = pods.filter((pod) => !isTerminating(pod) && pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded')
  const succeeded = pods.filter((pod) => pod.status?.phase === 'Succeeded').length
  const failed = pods.filter((pod) => pod.status?.phase === 'Failed').length
  const completions: number | undefined = job.spec.completions
  const parallelism: number = job.spec.parallelism ?? 1
  const suspended = job.spec.suspend === true
  const isDone = completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions
  const hasFailed = failed > (job.spec.backoffLimit ?? 6)
  if (isDone || hasFailed || suspended) {
    for (const pod of active) {
      await world.delete(PODS, pod)
      world.tell(job, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`, CONTROLLER)
    }
  } else {
    const missing = completions === undefined ? (succeeded > 0 ? 0 : parallelism) : Math.min(parallelism, completions - succeeded)
    for (let i = active.length; i < missing; i++) {
      const pod = await world.create(PODS, podOf(job, job.spec.template, { generateName: `${name}-` }, {}))
      if (pod !== undefined) world.tell(job, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`, CONTROLLER)
    }
  }
  await report(world, namespace, name, { succeeded, failed, isDone, hasFailed, suspended })
}

const CONTROLLER = 'job-controller'

const isOver = (job: ApiObject) => conditionOf(job, 'Complete') === 'True' || conditionOf(job, 'Failed') === 'True'

interface Counts {
  readonly succeeded: number
  readonly failed: number
  readonly isDone: boolean
  readonly hasFailed: boolean
  readonly suspended: boolean
}

async function report(world: World, namespace: string, name: string, counts: Counts): Promise<void> {
  const job = world.get(JOBS, namespace, name)
  if (job === undefined) return
  const pods = world.controlledBy(job, PODS).filter((pod) => !isTerminating(pod))
  const active = pods.filter((pod) => pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded')
  const now = world.now()
  const { succeeded, failed, isDone, hasFailed, suspended } = counts
  const over = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastProbeTime: now,
    lastTransitionTime: now,
    reason,
    message,
  })
  const conditions = isDone
    ? [
        over('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods'),
        over('Complete', 'CompletionsReached', 'Reached expected number of succeeded pods'),
      ]
    : hasFailed
      ? [
          over('FailureTarget', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'),
          over('Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'),
        ]
      : suspended
        ? [job.status?.conditions?.[0] ?? over('Suspended', 'JobSuspended', 'Job suspended')]
        : undefined
  await world.setStatus(JOBS, job, {
    ...(suspended ? {} : { startTime: job.status?.startTime ?? now }),
    ...(active.length > 0 ? { active: active.length } : {}),
    ...(succeeded > 0 ? { succeeded } : {}),
    ...(failed > 0 ? { failed } : {}),
    ready: active.filter(isReady).length,
    terminating: 0,
    uncountedTerminatedPods: {},
    ...(isDone ? { completionTime: now } : {}),
    ...(conditions === undefined ? {} : { conditions }),
  })
  if (isDone) world.tell(job, 'Completed', 'Job completed', CONTROLLER)
  else if (hasFailed) world.tell(job, 'BackoffLimitExceeded', 'Job has reached the specified backoff limit', CONTROLLER, 'Warning')
  else if (suspended && conditionOf(job, 'Suspended') !== 'True') world.tell(job, 'Suspended', 'Job suspended', CONTROLLER)
}
