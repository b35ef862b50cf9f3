import type { Random } from '../api/clock.ts'
import { ConnectionError, StatusError } from '../api/status-error.ts'
import { SilenceError, type WatchEnd } from './watch-connection.ts'
import { troubleOf } from './watch-trouble.ts'

/** A connection that lived for so long was a good one; one that ends earlier does not prove that the server is well again. */
export const LIVED_MS = 10_000

/** So many watches in a row that end young without an event make their resourceVersion suspect. */
const BARREN = 3
/** So many silent watches in a row may be those of an API server that will never tell anything again from there (its history was rolled back). */
const SILENT = 5
/** So many streamed lists in a row that break off make the server's support for them suspect. */
const BROKEN_LISTS = 2

const FIRST_PAUSE_MS = 800
const LONGEST_PAUSE_MS = 30_000
/** What an administrator provides (a CRD, a right) should be noticed soon. */
const LONGEST_PAUSE_MISSING_MS = 10_000
/** Longer than this nobody is left alone, whatever a server (or a load balancer's maintenance page) asks for. */
const LONGEST_ASKED_MS = 60_000
const JITTER = 0.25

/** One try to list and watch, after its end. */
export interface Attempt extends WatchEnd {
  /** What it was at when it ended; a streamed list is a watch. */
  readonly verb: 'list' | 'watch'
  /** Whether it had the store complete: by its list, or because it went on from an earlier one. */
  readonly complete: boolean
  /** Events and bookmarks after the list. */
  readonly events: number
}

/** What is remembered from one attempt to the next. */
export interface History {
  /** Failures in a row; they end with a connection that lived, not with one that was merely made. */
  readonly failures: number
  /** Watches in a row from the same resourceVersion that ended young without an event. */
  readonly barren: number
  /** Watches in a row from the same resourceVersion that said nothing until they were given up. */
  readonly silent: number
  /** Whether a version expired since the last connection that lived. */
  readonly expired: boolean
  /** Streamed lists in a row that broke off. */
  readonly brokenLists: number
}

export const NO_HISTORY: History = { failures: 0, barren: 0, silent: 0, expired: false, brokenLists: 0 }

export interface Verdict {
  /** Watch from where the store is, list anew, or list in pages because the server does not stream lists. */
  readonly next: 'resume' | 'relist' | 'pages'
  readonly wait: { readonly leastMs: number; readonly longestMs: number } | undefined
  /** Undefined where this end is nothing to tell. */
  readonly failing: { readonly missing: 'kind' | 'list' | 'watch' | undefined } | undefined
  readonly history: History
}

/** How each way an attempt may end is answered. */
export function verdictOf(attempt: Attempt, before: History): Verdict {
  const trouble = troubleOf(attempt, attempt.verb)
  const wait = {
    leastMs: Math.min(LONGEST_ASKED_MS, trouble.retryAfterMs),
    longestMs: trouble.missing === undefined ? LONGEST_PAUSE_MS : LONGEST_PAUSE_MISSING_MS,
  }
  const failing = { missing: trouble.missing }

  if (!attempt.complete) {
    const streamed = attempt.verb === 'watch'
    if (streamed && trouble.noStreamedList) return { next: 'pages', wait: undefined, failing: undefined, history: before }
    const brokenLists = before.brokenLists + (streamed && trouble.blamesRequest ? 1 : 0)
    const history = { ...before, failures: before.failures + 1, barren: 0, silent: 0, brokenLists }
    return { next: brokenLists >= BROKEN_LISTS ? 'pages' : 'relist', wait, failing, history }
  }

  const lived = attempt.livedMs >= LIVED_MS
  const failures = lived ? 0 : before.failures
  const barren = attempt.events > 0 || lived ? 0 : before.barren + (trouble.blamesRequest ? 1 : 0)
  const silent = attempt.events === 0 && attempt.error instanceof SilenceError ? before.silent + 1 : 0
  // After a 404 the CRD may be another one, whose versions do not go on from ours.
  const next = trouble.expired || trouble.missing === 'kind' || barren >= BARREN || silent >= SILENT ? 'relist' : 'resume'
  const doubts = next === 'relist' ? { barren: 0, silent: 0 } : { barren, silent }
  const expired = (before.expired && !lived) || trouble.expired
  const history = { failures: failures + 1, ...doubts, expired, brokenLists: 0 }

  // The regular end after some minutes, a silent connection, a restarted server: go on at once.
  if (lived && !(attempt.error instanceof StatusError))
    return { next, wait: undefined, failing: undefined, history: { ...history, failures } }
  // One relist at once, also after an outage. A server that expires each new version as well is asked with growing pauses.
  if (trouble.expired && (lived || !before.expired)) return { next, wait: undefined, failing: undefined, history: { ...history, failures } }
  // Ended or lost young, but it did its work: no failure, but a pause, or a server that ends each watch after an event would be asked all the time.
  const wasCut = attempt.error === undefined || attempt.error instanceof ConnectionError
  if (attempt.events > 0 && wasCut) return { next, wait, failing: undefined, history: { ...history, failures } }
  return { next, wait, failing, history }
}

/** Milliseconds: 0.8 s, doubled with each failure in a row up to 30 s (10 s where something is missing), a quarter more or less. */
export function pauseMs(failures: number, wait: NonNullable<Verdict['wait']>, random: Random): number {
  const step = Math.min(wait.longestMs, FIRST_PAUSE_MS * 2 ** Math.min(Math.max(failures - 1, 0), 20))
  return Math.max(wait.leastMs, step * (1 - JITTER + 2 * JITTER * random()))
}
