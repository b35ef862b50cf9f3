import type { KubeObject } from '../resource/kind.ts'

/** What happened to one object in a store. */
export interface Change {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly key: string
  readonly uid: string
  /** Of a deletion that an event told: the one of the event. */
  readonly resourceVersion: string
  /**
   * The new object; of a deletion the last one known. All listeners get the same instance: it is read-only. It is free where
   * the change came by an event. Where it came by a list it is parsed on first use, which must be while the listener is
   * called; later it throws, since the store may have let the text go.
   */
  readonly object: KubeObject
  /** What the store had before; undefined for an added object. Parsed on first use; read-only as well. */
  readonly old: KubeObject | undefined
  /** From a list, not from a watch event. */
  readonly initial: boolean
}

/** Where the text of a listed object is, until its listeners have been called. */
export type LateText = () => string

export class LazyChange implements Change {
  readonly type: Change['type']
  readonly key: string
  readonly uid: string
  readonly resourceVersion: string
  readonly initial: boolean
  #object: KubeObject | string | LateText | undefined
  #old: KubeObject | string | undefined

  constructor(
    type: Change['type'],
    of: { readonly key: string; readonly uid: string; readonly resourceVersion: string },
    what: { readonly object: KubeObject | string | LateText; readonly old: string | undefined; readonly initial: boolean },
  ) {
    this.type = type
    this.key = of.key
    this.uid = of.uid
    this.resourceVersion = of.resourceVersion
    this.initial = what.initial
    this.#object = what.object
    this.#old = what.old
  }

  get object(): KubeObject {
    if (typeof this.#object === 'function') this.#object = this.#object()
    if (typeof this.#object === 'string') this.#object = JSON.parse(this.#object) as KubeObject
    if (this.#object === undefined) throw new Error('the object of a listed change must be read while the listener is called')
    return this.#object
  }

  get old(): KubeObject | undefined {
    if (typeof this.#old === 'string') this.#old = JSON.parse(this.#old) as KubeObject
    return this.#old
  }

  /** All listeners have been called. */
  seal(): void {
    if (typeof this.#object === 'function') this.#object = undefined
  }
}
