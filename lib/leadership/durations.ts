/** The three durations of an election, and what they have to be to each other. */

export interface LeaseDurations {
  /** How long others wait, after they last saw the lease change, before they take it. Whole seconds. */
  readonly leaseMs: number
  /** How long after a renewal was sent its sender still acts. */
  readonly renewMs: number
  /** The pause between two renewals, and between two looks of a standby. */
  readonly retryMs: number
}

/** Those of Kubernetes' own components. */
export const DEFAULT_DURATIONS: LeaseDurations = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

/** Between the last moment a write may leave and the moment others may lead. */
const SHORTEST_MARGIN_MS = 1_000
const SHORTEST_RETRY_MS = 100

/** How the durations are called in messages. */
export interface DurationNames {
  readonly lease: string
  readonly renew: string
  readonly retry: string
}

/** @throws TypeError that says which duration is wrong, why, and what would be right */
export function checkDurations({ leaseMs, renewMs, retryMs }: LeaseDurations, names: DurationNames): void {
  const { lease, renew, retry } = names
  if (!(retryMs >= SHORTEST_RETRY_MS))
    throw new TypeError(`${retry} is ${seconds(retryMs)}: expected at least ${seconds(SHORTEST_RETRY_MS)}`)
  if (!(leaseMs >= 1_000) || leaseMs % 1_000 !== 0)
    throw new TypeError(`${lease} is ${seconds(leaseMs)}: a Lease counts whole seconds, from 1 on`)
  if (!(renewMs >= 2 * retryMs)) {
    throw new TypeError(
      `${renew} (${seconds(renewMs)}) must be at least twice ${retry} (${seconds(retryMs)}), or a single lost renewal ends the leadership`,
    )
  }
  if (!(leaseMs >= renewMs + SHORTEST_MARGIN_MS)) {
    throw new TypeError(
      `${lease} (${seconds(leaseMs)}) must be at least ${seconds(SHORTEST_MARGIN_MS)} longer than ${renew} (${seconds(renewMs)}): what a leader has sent must have ended before another one leads`,
    )
  }
}

/** Of one request about the lease: so that a renewal can be tried again before the deadline. */
export function requestTimeoutMs({ renewMs }: LeaseDurations): number {
  return Math.max(500, renewMs / 2)
}

/** How long before others may lead the last write is given up. */
export function marginMs({ leaseMs, renewMs }: LeaseDurations): number {
  return Math.min(1_000, (leaseMs - renewMs) / 2)
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}
