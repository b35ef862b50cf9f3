import type { AdmissionContext } from '../resource/admission-context.ts'
import type { DefaultsOptions } from '../resource/handler-spec.ts'
import type { KindRef } from '../resource/kind.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'

/** The object as it should be; nothing where the method changed the one it got. */
// biome-ignore lint/suspicious/noConfusingVoidType: a method without a return statement has the type void
export type Defaulted<O> = void | undefined | O

/** What `@defaults` goes on. */
export type DefaultMethod<O> = (object: O, old: O | undefined, context: AdmissionContext) => Defaulted<O> | Promise<Defaulted<O>>

/**
 * Fills in what the author of an object left open, before the API server checks and stores it. What `.default()` in the schema can say,
 * it should: that needs no operator that answers.
 *
 * Flow: after the schema's defaults, before its checks. It changes the object, or returns another one; the difference is what is stored.
 *
 * Guarantees: objects come in the version of `Kind`. `old` is what is there. Only the desired state, labels and annotations may change.
 *
 * Assumptions: run on its own result it changes nothing, for the API server may ask twice. Quick, and without effects.
 *
 * Caveats: it sees objects before they are checked: a field may have another type than it should. One method a class. Tools that compare what
 * they applied with what is there see the difference; never overwrite what the author has said.
 *
 * Errors: `Invalid` refuses the request. Any other error does so with 500, unless the object breaks its schema: then the API server says how.
 *
 * @example
 * @defaults(Database)
 * defaults(db: Database) { db.spec.storage ??= db.spec.engine === 'mysql' ? '2Gi' : '1Gi' }
 */
export function defaults<O>(kind: KindRef<O>, options?: DefaultsOptions): HandlerDecorator<DefaultMethod<O>> {
  return methodDecorator({ decorator: 'defaults', kind, options })
}
