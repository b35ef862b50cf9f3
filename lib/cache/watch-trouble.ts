import { UnknownKindError } from '../api/discovery.ts'
import { ConnectionError, isForbidden, isGone, isNotFound, StatusError, TimeoutError } from '../api/status-error.ts'
import type { RestartReason } from '../resource/observer.ts'
import { SilenceError, type WatchEnd } from './watch-connection.ts'
import { EndlessListError, WatchProtocolError } from './watch-event.ts'

/** What the end of a list or watch means for the next try. */
export interface Trouble {
  /** The resourceVersion is too old: list anew. */
  readonly expired: boolean
  /** What an administrator has to provide: the kind (its CRD), or the verb the RBAC lacks. */
  readonly missing: 'kind' | 'list' | 'watch' | undefined
  /** The server does not know streamed lists, or does not allow them. */
  readonly noStreamedList: boolean
  /** The server accepted or understood the request and failed it, so what was asked for (the resourceVersion, a streamed list) may be what it stumbles over. */
  readonly blamesRequest: boolean
  /** The least pause the server asked for, in milliseconds. */
  readonly retryAfterMs: number
}

export function troubleOf({ error }: WatchEnd, verb: 'list' | 'watch'): Trouble {
  const status = error instanceof StatusError ? error.status : undefined
  return {
    expired: isGone(error),
    missing:
      isNotFound(error) || error instanceof UnknownKindError
        ? 'kind'
        : isForbidden(error)
          ? deniedVerb(error as StatusError, verb)
          : undefined,
    noStreamedList: error instanceof SilenceError || error instanceof EndlessListError || (status !== undefined && REFUSALS.has(status)),
    blamesRequest: error === undefined || error instanceof WatchProtocolError || (status !== undefined && !INNOCENT.has(status)),
    retryAfterMs: (error instanceof StatusError && error.retryAfterMs) || 0,
  }
}

/** The end in one word, for who counts them. */
export function restartReason(error: Error | undefined): RestartReason {
  if (error === undefined) return 'ended'
  if (isGone(error)) return 'expired'
  if (error instanceof SilenceError) return 'silent'
  if (error instanceof StatusError || error instanceof UnknownKindError) return 'refused'
  return error instanceof ConnectionError || error instanceof TimeoutError ? 'connection' : 'protocol'
}

/** Servers without streamed lists say `sendInitialEvents is forbidden for watch` (422) or do not know the parameters (400, 405, 501). */
const REFUSALS = new Set([400, 405, 422, 501])

/** These say nothing about what was asked for: credentials, rights, a missing kind, load. */
const INNOCENT = new Set([401, 403, 404, 429, 502, 503])

/** The server's text names the verb it missed: `User "x" cannot watch resource "pods" …`. */
function deniedVerb(error: StatusError, asked: 'list' | 'watch'): 'list' | 'watch' {
  const said = /cannot (list|watch) resource/.exec(error.message)?.[1]
  return (said as 'list' | 'watch' | undefined) ?? asked
}
