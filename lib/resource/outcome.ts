/** How a run ends, as seen from a handler's signature. `requeueAfter()` and `TerminalError` themselves belong to the engine. */

/** Marks a `RequeueAfter`; the same in every copy of the package. */
export const REQUEUE_AFTER: unique symbol = Symbol.for('tsop.requeueAfter') as never

/** "All is well, look again later": what `requeueAfter()` returns. */
export interface RequeueAfter {
  readonly [REQUEUE_AFTER]: true
  readonly afterMs: number
  /** CamelCase, for the condition `Reconciling`. */
  readonly reason: string
  /** A sentence for people; `''` where there is nothing to add. */
  readonly message: string
  /** True: the object is as desired, `Ready` stays `True`. */
  readonly ready: boolean
}

/** What a handler method returns: nothing where the object is as it should be, or when to look again. */
// biome-ignore lint/suspicious/noConfusingVoidType: a method without a return statement has the type void
export type Result = void | undefined | RequeueAfter

export function isRequeueAfter(value: unknown): value is RequeueAfter {
  return typeof value === 'object' && value !== null && REQUEUE_AFTER in value
}
