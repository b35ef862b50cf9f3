/**
 * Where the decorators write and `collect` reads.
 *
 * A registration lives on the method function, under a key that is the same in every copy of the package, and once more on
 * its class: a decorator of somebody else's that wraps the method afterwards hides the function, and a getter or a private
 * method has none that could be found. Nothing is judged here: what is wrong is written down and reported by `collect`, which knows file and class.
 */

import 'reflect-metadata/lite'

export const HANDLER = Symbol.for('tsop.handler')
const NOTES = Symbol.for('tsop.handler.notes')

export type DecoratorName = 'onReconcile' | 'onDelete' | 'owns' | 'watches' | 'validates' | 'defaults'

/** One use of a decorator. Unchecked: what a user passed, who may not use TypeScript. */
export interface Registration {
  readonly decorator: DecoratorName
  readonly kind: unknown
  readonly options: unknown
}

/** What was decorated, where it cannot be a handler method. */
export type Misplaced = 'static' | 'private' | 'getter' | 'setter' | 'accessor' | 'field' | 'class' | 'symbol'

export interface Note {
  /** As written: `#name` for a private one. */
  readonly name: string
  readonly registration: Registration
  readonly misplaced?: Misplaced | undefined
}

/**
 * TC39 decorators share one object per class, if the runtime knows the symbol. Node does not yet; compilers take it where
 * it is there when the class is defined, as TypeScript advises
 * (https://www.typescriptlang.org/docs/handbook/release-notes/typescript-5-2.html).
 */
const METADATA: symbol = ((Symbol as { metadata?: symbol }).metadata as symbol | undefined) ?? installMetadataSymbol()

/** Writes a registration on the method. */
export function register(method: object, registration: Registration): void {
  Reflect.defineMetadata(HANDLER, [...registrationsOf(method), registration], method)
}

/** Those of this very method, not of one it overrides. */
export function registrationsOf(method: object): readonly Registration[] {
  return (Reflect.getOwnMetadata(HANDLER, method) as Registration[] | undefined) ?? []
}

/** Writes a note on a class by what the decorator got: its prototype or itself (legacy), or its metadata object (TC39). */
export function note(place: object, entry: Note): void {
  Reflect.defineMetadata(NOTES, [...notesAt(place), entry], place)
}

/** The notes of this very class, not of one it extends. */
export function notesOf(cls: { readonly prototype: object }): readonly Note[] {
  const shared: unknown = Object.hasOwn(cls, METADATA) ? (cls as unknown as Record<symbol, unknown>)[METADATA] : undefined
  return [...notesAt(cls.prototype), ...notesAt(cls), ...(typeof shared === 'object' && shared !== null ? notesAt(shared) : [])]
}

function notesAt(place: object): readonly Note[] {
  return (Reflect.getOwnMetadata(NOTES, place) as Note[] | undefined) ?? []
}

function installMetadataSymbol(): symbol {
  const symbol = Symbol.for('Symbol.metadata')
  Object.defineProperty(Symbol, 'metadata', { value: symbol, writable: true, configurable: true })
  return symbol
}
