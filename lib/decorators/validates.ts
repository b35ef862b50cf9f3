import type { AdmissionContext } from '../resource/admission-context.ts'
import type { ValidatesOptions } from '../resource/handler-spec.ts'
import type { Invalid } from '../resource/invalid.ts'
import type { KindRef } from '../resource/kind.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'

/** Nothing where all is well. */
// biome-ignore lint/suspicious/noConfusingVoidType: a method without a return statement has the type void
export type Verdict = void | undefined | Invalid | readonly Invalid[]

/** What `@validates` goes on. `old` is what is there; undefined where the object is being created. */
export type ValidateMethod<O> = (object: O, old: O | undefined, context: AdmissionContext) => Verdict | Promise<Verdict>

/**
 * Asked by the API server before an object of the class's kind is stored. For what rules in CEL cannot say: those need no operator that
 * answers, so they come first (`validations` of `resource()`).
 *
 * Flow: after defaults and the schema. It returns nothing, or throws or returns `Invalid`; all that several methods find is told at once.
 *
 * Guarantees: objects come in the version of `Kind`, whatever version was written. What changes only finalizers, owners or, while the object
 * is being deleted, anything but its desired state, is not asked about: an object that became invalid can still go.
 *
 * Assumptions: quick, and without effects. It may be asked several times for one write, and for writes that then fail.
 *
 * Caveats: objects that were there before the method are not checked. `kubectl scale` passes by: bounds of replicas belong into the schema.
 * While the operator is down, nothing can be written (`failurePolicy`).
 *
 * Errors: any other error refuses the request with 500; its text goes to the operator's log only.
 *
 * @example
 * @validates(Database)
 * validate(db: Database, old: Database | undefined) {
 *   if (old && parse(db.spec.storage) < parse(old.spec.storage)) throw new Invalid('storage cannot shrink', { field: 'spec.storage' })
 * }
 */
export function validates<O>(kind: KindRef<O>, options?: ValidatesOptions): HandlerDecorator<ValidateMethod<O>> {
  return methodDecorator({ decorator: 'validates', kind, options })
}
