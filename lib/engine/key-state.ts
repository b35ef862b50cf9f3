/**
 * What the engine remembers of a key between its runs: only where the last run did not end as done.
 */
import type { KindRef, ObjectRef } from '../resource/kind.ts'
import type { Outcome } from './outcome.ts'
import type { Reason } from './wake.ts'

export interface KeyState {
  readonly outcome: 'wait' | 'error' | 'terminal' | 'conflict'
  readonly summary: string
  readonly message: string
  /** In a row. */
  readonly failures: number
  readonly conflicts: number
  /** Somebody acted after a terminal error. */
  asked: boolean
  /** It waits although all is well. */
  readonly ready: boolean
}

type Unanswered = { kind: KindRef; ref: ObjectRef }

/** An end for good that the status does not tell yet. */
export interface Unreported {
  readonly outcome: Outcome
  readonly generation: number | undefined
  readonly tries: number
}

/** Failures after their run are counted together as long as they come within this time. */
const LATE_MS = 10 * 60_000

export class KeyStates {
  readonly #states = new Map<string, KeyState>()
  readonly #unanswered = new Map<string, Unanswered[]>()
  readonly #unreported = new Map<string, Unreported>()
  readonly #late = new Map<string, { count: number; at: number }>()

  /** 1 for the first try. */
  attempt(key: string): number {
    const state = this.#states.get(key)
    return 1 + (state?.failures ?? 0) + (state?.conflicts ?? 0)
  }

  summary(key: string): string {
    return this.#states.get(key)?.summary ?? 'done'
  }

  /**
   * Whether this reason may start a run now. What others did to related objects does not cut a back-off, nor does it end a terminal error;
   * a new generation, a deletion, and a touch of labels or annotations do. The first two also start the count of failures anew.
   */
  mayWake(key: string, reason: Reason): boolean {
    const state = this.#states.get(key)
    if (state === undefined) return true
    switch (reason) {
      case 'deletion':
      case 'generation':
        this.#unreported.delete(key)
        this.#states.set(key, {
          ...state,
          failures: 0,
          conflicts: 0,
          asked: state.asked || (reason === 'generation' && state.outcome === 'terminal'),
        })
        return true
      case 'touched':
        if (state.outcome === 'terminal') state.asked = true
        this.#unreported.delete(key)
        return true
      case 'metadata':
        return state.outcome !== 'terminal'
      case 'related':
      case 'resync':
        return state.outcome !== 'terminal' && state.outcome !== 'error'
    }
  }

  /** Whether somebody has acted on a terminal error since. */
  asked(key: string): boolean {
    return this.#states.get(key)?.asked ?? false
  }

  settle(key: string, outcome: Outcome): KeyState {
    this.#unreported.delete(key)
    const old = this.#states.get(key)
    const none: KeyState = { outcome: 'wait', summary: 'done', message: '', failures: 0, conflicts: 0, asked: false, ready: false }
    let state: KeyState
    switch (outcome.type) {
      case 'done':
        this.#states.delete(key)
        return none
      case 'wait': {
        const { reason, message, ready } = outcome.wait
        state = { ...none, ready, summary: `wait:${reason}:${message}`, message: `waiting: ${reason} ${message}`.trim() }
        break
      }
      case 'conflict':
        // Neither a success nor a failure: what was counted stays.
        state = {
          ...(old ?? none),
          outcome: 'conflict',
          conflicts: (old?.conflicts ?? 0) + 1,
          message: 'the object changed while it was run',
        }
        break
      case 'error':
      case 'terminal': {
        const { type, reason, message } = outcome
        const failures = type === 'error' ? (old?.failures ?? 0) + 1 : 0
        // What somebody asked for is still to be done where the run did not get that far.
        const asked = type === 'error' && (old?.asked ?? false)
        state = { ...none, outcome: type, summary: `${type}:${reason}:${message}`, message: `${reason}: ${message}`, failures, asked }
      }
    }
    this.#states.set(key, state)
    return state
  }

  /** Remembers that the status of the key's last run has still to be written. @returns how often that has failed */
  unreported(key: string, outcome: Outcome, generation: number | undefined, before: number): number {
    const tries = before + 1
    this.#unreported.set(key, { outcome, generation, tries })
    return tries
  }

  /** What is still to be reported, if the object is of the generation that it was about. */
  toReport(key: string): Unreported | undefined {
    return this.#unreported.get(key)
  }

  /** Counts what failed after its run had ended as done: the run's success does not make it well. @returns how many in a row */
  late(key: string, now: number): number {
    const before = this.#late.get(key)
    const count = before !== undefined && now - before.at < LATE_MS ? before.count + 1 : 1
    this.#late.set(key, { count, at: now })
    return count
  }

  unanswered(key: string, writes: readonly Unanswered[]): void {
    if (writes.length > 0) this.#unanswered.set(key, [...(this.#unanswered.get(key) ?? []), ...writes])
  }

  takeUnanswered(key: string): Unanswered[] {
    const writes = this.#unanswered.get(key)
    if (writes === undefined) return []
    this.#unanswered.delete(key)
    return writes
  }

  forget(key: string): void {
    this.#states.delete(key)
    this.#unanswered.delete(key)
    this.#unreported.delete(key)
    this.#late.delete(key)
  }

  /** Keys whose run only has to be repeated, and is about to be. */
  get conflicting(): readonly string[] {
    return [...this.#states].filter(([, { outcome }]) => outcome === 'conflict').map(([key]) => key)
  }

  /** How many are not as desired, by how their last run ended. A conflict is neither. */
  counts(): { waiting: number; failing: number; stalled: number } {
    const counts = { waiting: 0, failing: 0, stalled: 0 }
    for (const { outcome, ready } of this.#states.values()) {
      if (outcome === 'wait' && !ready) counts.waiting++
      else if (outcome === 'error') counts.failing++
      else if (outcome === 'terminal') counts.stalled++
    }
    return counts
  }

  unfinished(): [string, string][] {
    return [...this.#states].filter(([, state]) => !state.ready).map(([key, state]) => [key, state.message])
  }
}
