import type { Context } from '../resource/context.ts'
import type { Desired, KindRef } from '../resource/kind.ts'
import type { RequeueAfter, Result } from '../resource/outcome.ts'
import { type HandlerDecorator, methodDecorator } from './method-decorator.ts'

export interface OwnsOptions {
  /** The child is named `<owner>-<suffix>`. Default: as its owner. Needed where a class builds several children of one kind. */
  readonly suffix?: string
}

/** What a builder returns: the child as it should be, several, or nothing where there should be none. */
export type Built<C> = Desired<C> | readonly Desired<C>[] | undefined | null

type BuilderMethod<C> = (object: never, context: Context<never>) => Built<C> | RequeueAfter | Promise<Built<C> | RequeueAfter>
type ReconcilingMethod = (object: never, context: Context<never>) => Result | Promise<Result>

/**
 * Goes on a builder or on the reconcile method. `void` is the type of a builder whose `return` was forgotten, which would delete the children
 * that there are. So a method may return it only where it takes the context, without which a reconcile method could make no child.
 */
export interface OwnsDecorator<C> extends HandlerDecorator<BuilderMethod<C>> {
  <G extends ReconcilingMethod>(
    method: G & TakesContext<G>,
    context: { readonly kind: 'method'; readonly static: false; readonly private: false },
  ): void
  <G extends ReconcilingMethod>(
    prototype: object & { prototype?: never },
    name: string,
    descriptor: TypedPropertyDescriptor<G> & TakesContext<G>,
  ): void
}

type TakesContext<G extends (...args: never[]) => unknown> = 2 extends Parameters<G>['length'] ? unknown : never

/**
 * Children of the primary object: a change of one wakes its owner, and `ctx.child`, `ctx.children` read them.
 *
 * Flow: on a method of its own it is a builder, called before the reconcile method of each run. What it returns is applied server-side;
 * what it no longer returns is deleted. Stacked on the `@onReconcile` method, that method makes the children itself (`ctx.apply`).
 *
 * Guarantees: apiVersion, kind, name, namespace and the controller reference come by themselves; nothing is sent where nothing differs;
 * an object that another controller owns is never taken.
 *
 * Assumptions: a builder is a function of its object, and of what it reads through the context. One without a `return` is refused.
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
export function owns<C>(kind: KindRef<C>, options?: OwnsOptions): OwnsDecorator<C> {
  return methodDecorator({ decorator: 'owns', kind, options })
}
