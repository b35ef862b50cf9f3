/** One decorator for both dialects: TypeScript's `experimentalDecorators` and TC39's (the default of TypeScript 5 and later). */

import { HandlerError } from './handler-error.ts'
import { type Misplaced, note, type Registration, register } from './metadata.ts'

/** Decorates a method that takes and returns what `F` says; static and private ones are refused where the dialect can tell. */
export interface HandlerDecorator<F extends (...args: never[]) => unknown> {
  <G extends F>(method: G, context: { readonly kind: 'method'; readonly static: false; readonly private: false }): void
  <G extends F>(prototype: object & { prototype?: never }, name: string, descriptor: TypedPropertyDescriptor<G>): void
}

export function methodDecorator<F extends (...args: never[]) => unknown>(registration: Registration): HandlerDecorator<F> {
  if (usedBare(registration)) {
    throw new HandlerError([
      {
        text: `@${registration.decorator} needs the kind of its objects: write @${registration.decorator}(Kind) instead of @${registration.decorator}`,
      },
    ])
  }
  return (target: unknown, second: unknown, third?: unknown): void => {
    if (isContext(second)) standard(registration, target, second)
    else legacy(registration, target as object, second as PropertyKey | undefined, third as PropertyDescriptor | undefined)
  }
}

/** What TC39 hands over; all kinds of decorators, since a user may put it anywhere. */
type AnyContext = {
  readonly kind: string
  readonly name?: unknown
  readonly static?: boolean
  readonly private?: boolean
  readonly metadata?: object
}

function standard(registration: Registration, target: unknown, context: AnyContext): void {
  const misplaced: Misplaced | undefined =
    context.kind !== 'method'
      ? (context.kind as Misplaced)
      : context.private
        ? 'private'
        : context.static
          ? 'static'
          : typeof context.name === 'symbol'
            ? 'symbol'
            : undefined
  const entry = { name: String(context.name), registration, misplaced }
  if (context.metadata !== undefined && context.metadata !== null) note(context.metadata, entry)
  // Without the shared object nothing leads from such a member to its class.
  else if (misplaced !== undefined) throw new HandlerError([{ method: entry.name, text: misplacedText(entry.registration, misplaced) }])
  if (misplaced === undefined) register(target as object, registration)
}

function legacy(
  registration: Registration,
  target: object,
  name: PropertyKey | undefined,
  descriptor: PropertyDescriptor | undefined,
): void {
  const misplaced: Misplaced | undefined =
    name === undefined
      ? 'class'
      : typeof target === 'function'
        ? 'static'
        : descriptor?.get !== undefined
          ? 'getter'
          : descriptor?.set !== undefined
            ? 'setter'
            : typeof descriptor?.value !== 'function'
              ? 'field'
              : typeof name === 'symbol'
                ? 'symbol'
                : undefined
  note(target, { name: String(name ?? ''), registration, misplaced })
  if (misplaced === undefined) register(descriptor?.value as object, registration)
}

/** What is wrong with decorating this, and what to do. */
export function misplacedText(registration: Registration, misplaced: Misplaced): string {
  const decorator = `@${registration.decorator}`
  switch (misplaced) {
    case 'static':
      return `${decorator} on a static method: the engine calls methods of an instance; remove \`static\``
    case 'private':
      return `${decorator} on a private method: the engine cannot call it; remove the \`#\``
    case 'class':
      return `${decorator} on a class: put it on the method that does the work`
    case 'symbol':
      return `${decorator} on a method named by a symbol: give it a name, for logs and errors`
    default:
      return `${decorator} on ${misplaced === 'accessor' ? 'an' : 'a'} ${misplaced}: put it on a method, such as \`${EXAMPLES[registration.decorator]}\``
  }
}

const EXAMPLES: Readonly<Record<Registration['decorator'], string>> = {
  onReconcile: 'async reconcile(db, ctx) { … }',
  onDelete: 'async reconcile(db, ctx) { … }',
  owns: 'service(db) { … }',
  watches: 'async reconcile(db, ctx) { … }',
  validates: 'validate(db, old, ctx) { … }',
  defaults: 'defaults(db) { … }',
}

function isContext(value: unknown): value is AnyContext {
  return typeof value === 'object' && value !== null && 'kind' in value
}

/** `@onReconcile` without a call is handed the method instead of a kind. */
function usedBare({ kind, options }: Registration): boolean {
  if (typeof kind === 'function' && isContext(options) && 'addInitializer' in options) return true
  return typeof kind === 'object' && kind !== null && typeof options === 'string' && !('apiVersion' in kind)
}
