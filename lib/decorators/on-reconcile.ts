import type { Context } from '../resource/context.ts'
import type { ReconcileOptions } from '../resource/handler-spec.ts'
import type { KindRef } from '../resource/kind.ts'
import type { Result } from '../resource/outcome.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'

/** What `@onReconcile` and `@onDelete` go on. */
export type ReconcileMethod<O> = (object: O, context: Context<O>) => Result | Promise<Result>

/**
 * The method that drives an object towards what its `spec` asks for. Its kind is the primary kind of the class.
 *
 * Flow: called with the newest object after it, a child of it, or something it `@watches` has changed; with every object at
 * start, and every 10 hours. Before it, the class's `@owns` builders have run; after it, the status is written once.
 *
 * Guarantees: the same object never runs twice at once; a change during a run means exactly one more run; it never sees the
 * world older than what earlier runs wrote; an object being deleted does not get here.
 *
 * Assumptions: it may be run any number of times with the same input and then changes nothing.
 *
 * Caveats: what happened in between is not told. One method a class, one class a kind. A subclass inherits it; overriding the
 * method keeps the decoration, decorating the overriding method replaces it.
 *
 * Errors: a thrown error runs it again with growing pauses; `TerminalError` waits for a change of the object; `requeueAfter` is no error.
 *
 * @example
 * @onReconcile(Database, { concurrency: 4, timeout: '1m' })
 * async reconcile(db: Database, ctx: Context<Database>) {
 *   const set = ctx.child(StatefulSet)
 *   if ((set?.status?.readyReplicas ?? 0) < db.spec.replicas) return requeueAfter('10s', { reason: 'PodsStarting' })
 * }
 */
export function onReconcile<O>(kind: KindRef<O>, options?: ReconcileOptions<O>): HandlerDecorator<ReconcileMethod<O>> {
  return methodDecorator({ decorator: 'onReconcile', kind, options })
}
