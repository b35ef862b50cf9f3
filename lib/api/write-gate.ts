/**
 * The last check before a mutating request leaves. Leadership closes it when the lease's deadline passes; without leader
 * election it is always open.
 */
export interface WriteGate {
  /** Throws where nothing may be written any more. Called synchronously right before every mutating request is sent. */
  check(): void
}

export const openGate: WriteGate = { check() {} }
