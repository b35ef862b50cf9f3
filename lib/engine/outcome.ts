/**
 * How a run ends: done, waiting, failed, or failed for good. One of the four, never ambiguous.
 */

import { parseDuration } from '../resource/duration.ts'
import type { Duration } from '../resource/handler-spec.ts'
import { REQUEUE_AFTER, type RequeueAfter } from '../resource/outcome.ts'

/** The shortest wait. A shorter one would only burn CPU: an event wakes a run at once anyway. */
export const SHORTEST_WAIT_MS = 10
/** The longest wait. Beyond it a process is unlikely to live; the resync comes by more often. */
export const LONGEST_WAIT_MS = 30 * 86_400_000

export interface WaitReason {
  /** CamelCase word for the conditions `Ready` and `Reconciling`, such as `PodsStarting`. Default `Waiting`. */
  readonly reason?: string
  /** A sentence for people. Keep what varies from run to run (times, counts of tries) out of it. */
  readonly message?: string
  /** True: the object is as desired, look again later anyway. `Ready` stays `True`. Default false. */
  readonly ready?: boolean
}

/**
 * Ends a run without an error: run again after `duration`, or earlier when something changes.
 * A wait is not counted as an error; a new generation or the object's deletion cuts it short.
 *
 * @param duration `'30s'`-style text or milliseconds. Under 10 ms it is 10 ms, over 30 days it is 30 days.
 * @throws TypeError for NaN, negative or unreadable durations, and for a reason that is no CamelCase word
 *
 * @example
 * if (!job.finished) return requeueAfter('10s', { reason: 'BackupRunning', message: 'the backup is being taken' })
 */
export function requeueAfter(duration: Duration, why: WaitReason = {}): RequeueAfter {
  const reason = why.reason ?? 'Waiting'
  if (typeof reason !== 'string' || !REASON.test(reason))
    throw new TypeError(`requeueAfter: reason must be a CamelCase word such as 'PodsStarting', not ${JSON.stringify(reason)}`)
  if (why.message !== undefined && typeof why.message !== 'string')
    throw new TypeError(`requeueAfter: message must be a text, not ${typeof why.message}`)
  const afterMs = Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, parseDuration(duration, 'requeueAfter')))
  return Object.freeze({ [REQUEUE_AFTER]: true as const, afterMs, reason, message: why.message ?? '', ready: why.ready ?? false })
}

/** `metav1.Condition.reason` (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/condition/). */
export const REASON = /^[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/

export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'wait'; readonly wait: RequeueAfter }
  /** Tried again with exponential back-off. */
  | { readonly type: 'error'; readonly error: unknown; readonly reason: string; readonly message: string }
  /** Not tried again until somebody changes the object. */
  | { readonly type: 'terminal'; readonly error: unknown; readonly reason: string; readonly message: string }
  /** What the run saw was no longer true: run again, no error. */
  | { readonly type: 'conflict'; readonly error: unknown }
