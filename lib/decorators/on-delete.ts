import type { KindRef } from '../resource/kind.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'
import type { ReconcileMethod } from './on-reconcile.ts'

export interface DeleteOptions {
  /** Default `<group>/<plural>` of the kind. Changing it later leaves objects behind that carry the old one. */
  readonly finalizer?: string
}

/**
 * The method that cleans up what lives outside the cluster before an object goes. What the object owns inside the cluster goes by itself.
 *
 * Flow: the class's objects get a finalizer before their first run. Once one is deleted, this method is called until it
 * returns without asking to come back; then the finalizer is removed and the API server lets the object go.
 *
 * Guarantees: the finalizer exists only because this method does; it goes only after the method has returned; those of others
 * are not touched.
 *
 * Assumptions: it may be called several times, also after it has succeeded, and for objects that were never reconciled.
 *
 * Caveats: while it fails the object stays. Its kind is that of `@onReconcile`; one method a class.
 *
 * Errors: as `@onReconcile`; a condition tells why the object is still there.
 *
 * @example
 * @onDelete(Database)
 * async remove(db: Database, ctx: Context<Database>) { await bucket.remove(db.metadata.uid) }
 */
export function onDelete<O>(kind: KindRef<O>, options?: DeleteOptions): HandlerDecorator<ReconcileMethod<O>> {
  return methodDecorator({ decorator: 'onDelete', kind, options })
}
