/**
 * An error as log fields. Never an answer's body or the object that was sent: only what names the failure.
 */

/** A message longer than this is cut (a validation error may quote a whole spec). Characters. */
const LONGEST_MESSAGE = 4096

export interface ErrorFields {
  readonly type: string
  readonly message: string
  /** Of an API server's answer: HTTP code, reason and `PATCH /apis/…`. */
  readonly status?: number
  readonly reason?: string
  readonly request?: string
  readonly code?: string
  readonly stack?: string
  readonly cause?: ErrorFields
}

/** `stacks`: with the stack of each error in the chain of causes. */
export function describeError(error: Error, stacks: boolean, depth = 0): ErrorFields {
  const known = error as Error & { status?: unknown; reason?: unknown; request?: unknown; code?: unknown }
  return {
    type: textOf(error.name),
    message: cut(textOf(error.message)),
    ...(typeof known.status === 'number' && { status: known.status }),
    ...(typeof known.reason === 'string' && known.reason !== '' && { reason: known.reason }),
    ...(typeof known.request === 'string' && { request: known.request }),
    ...(typeof known.code === 'string' && { code: known.code }),
    ...(stacks && error.stack !== undefined && { stack: error.stack }),
    ...(error.cause instanceof Error && depth < 4 && { cause: describeError(error.cause, stacks, depth + 1) }),
  }
}

/** What is thrown need not be well formed: a message may be anything, and so may be its text. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return 'an unreadable text'
  }
}

function cut(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}…`
}
