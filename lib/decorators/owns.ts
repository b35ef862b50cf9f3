import type { Context } from '../resource/context.ts'
import type { Desired, KindRef } from '../resource/kind.ts'
import type { Result } from '../resource/outcome.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'

export interface OwnsOptions {
  /** The child is named `<owner>-<suffix>`. Default: as its owner. Needed where a class builds several children of one kind. */
  readonly suffix?: string
}

/** What a builder returns: the child as it should be, several, or nothing where there should be none. */
export type Built<C> = Desired<C> | readonly Desired<C>[] | undefined | null

/** What `@owns` goes on: a builder, or the reconcile method. The object is of the class's primary kind. */
export type OwnsMethod<C> = (object: never, context: Context<never>) => Built<C> | Promise<Built<C>> | Result | Promise<Result>

/**
 * Children of the primary object: a change of one wakes its owner, and `ctx.child`, `ctx.children` read them.
 *
 * Flow: on a method of its own it is a builder, called before the reconcile method of each run. What it returns is applied server-side;
 * what it no longer returns is deleted. Stacked on the `@onReconcile` method, that method makes the children itself (`ctx.apply`).
 *
 * Guarantees: apiVersion, kind, name, namespace and the controller reference come by themselves; nothing is sent where nothing differs;
 * an object that another controller owns is never taken.
 *
 * Assumptions: a builder is a function of its object, and of what it reads through the context.
 *
 * Caveats: a namespaced object cannot own a cluster-scoped one or one elsewhere. Children of an array are numbered unless they have names
 * of their own.
 *
 * Errors: a builder that throws fails the run as a reconcile method does.
 *
 * @example
 * @owns(Service)
 * service(db: Database) { return { spec: { ports: [{ port: 5432 }] } } }
 */
export function owns<C>(kind: KindRef<C>, options?: OwnsOptions): HandlerDecorator<OwnsMethod<C>> {
  return methodDecorator({ decorator: 'owns', kind, options })
}
