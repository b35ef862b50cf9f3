/**
 * All errors that tsop raises by itself, in one table. `docs/reference/errors.md` is tested against it.
 */
import { redactText } from '../observe/redact.ts'
import { isOwnCode } from '../resource/own-code.ts'
import { REASON } from './outcome.ts'

const TERMINAL = Symbol.for('tsop.TerminalError')

export const ERRORS = {
  TSOP_TERMINAL: 'Raised by a handler: do not try again until the object changes.',
  TSOP_TIMEOUT: "A run took longer than its handler's `timeout` and was cut off.",
  TSOP_CONTEXT_CLOSED: 'A context was used after its run had ended.',
  TSOP_CHILD_CONTROLLED: 'A child of that name exists and belongs to another controller.',
  TSOP_CHILD_TERMINATING: 'A child of that name is still being deleted.',
  TSOP_CHILD_SCOPE: 'A namespaced owner cannot own a cluster-scoped object or one in another namespace.',
  TSOP_CHILD_INVALID: 'A builder returned something that is no object, or two objects of one name.',
  TSOP_NOT_DECLARED: 'A child was asked for of a kind that the handler does not declare with @owns.',
  TSOP_STATUS_INVALID: 'A handler put something into the status that is no JSON, or set a condition that is the engine’s.',
  TSOP_STATUS_MISSING: 'The definition of the kind has no status subresource.',
  TSOP_EXTERNAL_INVALID: 'A step of ctx.external was named or answered in a way that cannot be recorded.',
  TSOP_EXTERNAL_LOST: 'The external system no longer knows a job that was started.',
  TSOP_LEASE_LOST: 'Something was to be written by a process that does not lead, or may not be leading any more.',
  TSOP_UNHANDLED: 'A promise of a handler that nobody awaited was rejected, or a callback of it threw.',
} as const

export type ErrorCode = keyof typeof ERRORS

/** An error of tsop's own. `reason` is what the condition `Ready` shows. */
export class TsopError extends Error {
  readonly code: ErrorCode
  readonly reason: string
  constructor(code: ErrorCode, reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TsopError'
    this.code = code
    this.reason = reason
  }
}

/**
 * Ends a run for good: trying again would not help until somebody acts.
 *
 * The object gets `Stalled=True` and `Ready=False` with this reason and message. It is run again when its generation changes,
 * when its labels or annotations are touched, or when the operator starts anew. In `@onDelete` it keeps the finalizer, and so the object.
 *
 * @example
 * throw new TerminalError('UnknownSize', `the provider has no size ${db.spec.size}`)
 */
export class TerminalError extends TsopError {
  readonly [TERMINAL] = true
  /** @throws TypeError where `reason` is no CamelCase word (it goes to a condition) */
  constructor(reason: string, message: string, options?: ErrorOptions) {
    if (!REASON.test(reason))
      throw new TypeError(`TerminalError: reason must be a CamelCase word such as 'InvalidSize', not ${JSON.stringify(reason)}`)
    super('TSOP_TERMINAL', reason, message, options)
    this.name = 'TerminalError'
  }
}

/** Also true for a TerminalError of another copy of the package. */
export function isTerminalError(error: unknown): error is TerminalError {
  return typeof error === 'object' && error !== null && TERMINAL in error
}

/** What the run saw is no longer true; ends it without an error. */
export class StaleError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StaleError'
  }
}

/** One line of an error for a condition or a log: its message, and those of its causes, where `fetch failed` hides what happened. Without what looks like a credential. */
export function messageOf(error: unknown): string {
  let text = ownMessage(error)
  let cause = causeOf(error)
  for (let depth = 0; cause !== undefined && depth < 3; depth++) {
    const more = ownMessage(cause)
    if (!text.includes(more)) text += `: ${more}`
    cause = causeOf(cause)
  }
  return redactText(text)
}

function ownMessage(error: unknown): string {
  // What `fetch` gives for a name with several addresses.
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) return ownMessage(error.errors[0])
  if (error instanceof Error) return partOf(error.message) || partOf(error.name) || 'an error without a message'
  return typeof error === 'string' ? error : `a value that is no Error was thrown: ${textOf(error)}`
}

function causeOf(error: unknown): Error | undefined {
  return error instanceof Error && error.cause instanceof Error ? error.cause : undefined
}

const FRAME = /(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()]+:\d+:\d+)\)?$/

/** The first line of a stack that is the user's own code, as `file:line:column`; undefined where there is none. */
export function whereThrown(error: unknown): string | undefined {
  const stack = error instanceof Error && !(error instanceof TsopError) ? error.stack : undefined
  for (const line of stack?.split('\n') ?? []) {
    const place = FRAME.exec(line)?.[1]
    if (place === undefined || place.includes('/node_modules/')) continue
    const href = place.startsWith('file:') ? place : `file://${place}`
    if (!isOwnCode(href)) return href.slice('file://'.length)
  }
  return undefined
}

/** A message is a text, or should be. */
function partOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return value === undefined || value === null ? '' : (JSON.stringify(value) ?? String(value))
  } catch {
    return ''
  }
}

/** Not every object can be turned into text. */
function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return 'an object'
  }
}
