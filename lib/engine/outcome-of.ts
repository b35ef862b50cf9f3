/** How a run ends that threw. */
import { isAlreadyExists, isConflict, isFieldManagerConflict, isNamespaceTerminating } from '../api/status-error.ts'
import { LeaseLostError } from '../leadership/lease-lost-error.ts'
import { cut } from './conditions.ts'
import { isTerminalError, messageOf, StaleError, TsopError } from './errors.ts'
import { type Outcome, REASON, requeueAfter } from './outcome.ts'

export interface Place {
  /** Whether the object is being deleted. */
  readonly deleting: boolean
  /** The builder whose child was being applied. */
  readonly building: string | undefined
}

/** Whatever was thrown: a handler may throw things that throw when they are looked at. */
export function outcomeOf(error: unknown, place: Place): Outcome {
  try {
    return weigh(error, place)
  } catch {
    const message = 'something was thrown that cannot be read'
    return { type: 'error', error: new Error(message), reason: 'ReconcileFailed', message }
  }
}

function weigh(error: unknown, { deleting, building }: Place): Outcome {
  // Silently: the process ends, and whoever leads does it again.
  if (error instanceof LeaseLostError) return { type: 'conflict', error }
  if (error instanceof StaleError || (isConflict(error) && !isAlreadyExists(error) && !isFieldManagerConflict(error)))
    return { type: 'conflict', error }
  if (isTerminalError(error)) return { type: 'terminal', error, reason: error.reason, message: cut(messageOf(error)) }
  if (isNamespaceTerminating(error)) {
    return { type: 'wait', wait: requeueAfter('5s', { reason: 'NamespaceTerminating', message: 'the namespace is being deleted' }) }
  }
  if (error instanceof TsopError && error.code === 'TSOP_CHILD_TERMINATING') {
    // Waiting is no failure. Its end wakes the run; the time is for an end that nobody tells.
    return { type: 'wait', wait: requeueAfter('10s', { reason: error.reason, message: error.message }) }
  }
  const own = (error as { reason?: unknown } | undefined)?.reason
  const isOwn = error instanceof TsopError && typeof own === 'string' && REASON.test(own)
  const reason = isOwn ? own : deleting ? 'DeleteFailed' : 'ReconcileFailed'
  const where = building === undefined || error instanceof TsopError ? '' : `${building}(): `
  return { type: 'error', error, reason, message: cut(where + messageOf(error)) }
}
