/** Something that has been begun and not finished, or that is about to begin: what keeps an operator from being at rest. */
export interface Unrest {
  /** For people: `a run over Database shop/orders`. */
  readonly what: string
  /** When it goes on, by the monotonic clock. Absent: as soon as it can. */
  readonly at?: number
}
