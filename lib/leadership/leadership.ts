import type { WriteGate } from '../api/write-gate.ts'

/** What the engine asks of an election. Where there is none, a process always leads. */
export interface Leadership extends WriteGate {
  /** Whether this process may act now: by the clock, not by what was last heard. Finding out that it may not any more ends it. */
  readonly leads: boolean
  /** Greater for every later leader, as a decimal text. Undefined before this process has led. */
  readonly fencingToken: string | undefined
}
