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

export class KeyStates {
  readonly #states = new Map<string, KeyState>()
  readonly #unanswered = new Map<string, Unanswered[]>()

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
        this.#states.set(key, {
          ...state,
          failures: 0,
          conflicts: 0,
          asked: state.asked || (reason === 'generation' && state.outcome === 'terminal'),
        })
        return true
      case 'touched':
        if (state.outcome === 'terminal') state.asked = true
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
  }

  /** A run that only has to be repeated is about to be. */
  get conflicting(): boolean {
    for (const { outcome } of this.#states.values()) if (outcome === 'conflict') return true
    return false
  }

  unfinished(): [string, string][] {
    return [...this.#states].filter(([, state]) => !state.ready).map(([key, state]) => [key, state.message])
  }
}
