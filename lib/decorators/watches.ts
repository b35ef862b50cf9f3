import type { WatchContext, WatchKeys } from '../resource/context.ts'
import type { WatchOptions } from '../resource/handler-spec.ts'
import type { KindRef } from '../resource/kind.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'

/** What `@watches` goes on. */
export type WatchMethod<W> = (object: W, context: WatchContext<never>) => WatchKeys | Promise<WatchKeys>

/**
 * Wakes primary objects when an object of another kind changes, which they do not own.
 *
 * Flow: called with each changed object (and with its last known form when it was deleted); the objects it names are run. Where
 * a change may move it from one to another, it is called for the old form as well.
 *
 * Guarantees: without `labels` and `fields` the kind is cached, so that `ctx.get` and `ctx.list` of it in a run cost nothing. With them the
 * cache may lack what there is, and reads are live.
 *
 * Assumptions: quick and without effects.
 *
 * Caveats: naming an object that does not exist does nothing. A name without a namespace is that of a cluster-scoped object.
 *
 * Errors: one that throws is logged, and called again with growing pauses.
 *
 * @example
 * @watches(Secret, { labels: { app: 'db' } })
 * secret(secret: Secret) {
 *   const { namespace, labels } = secret.metadata
 *   return labels?.database && { name: labels.database, namespace }
 * }
 */
export function watches<W>(kind: KindRef<W>, options?: WatchOptions<W>): HandlerDecorator<WatchMethod<W>> {
  return methodDecorator({ decorator: 'watches', kind, options })
}
