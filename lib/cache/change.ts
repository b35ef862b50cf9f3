import type { KubeObject } from '../resource/kind.ts'
import { type Entry, objectOf } from './entry.ts'

/** What happened to one object in a store. */
export interface Change {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly key: string
  readonly uid: string
  /** Of a deletion that an event told: the one of the event. */
  readonly resourceVersion: string
  /**
   * The new object; of a deletion the last one known. All listeners get the same instance: it is read-only. Free where it
   * came by an event, parsed on first use where it came by a list.
   */
  readonly object: KubeObject
  /** What the store had before; undefined for an added object. Parsed on first use; read-only as well. */
  readonly old: KubeObject | undefined
  /** From a list, not from a watch event. */
  readonly initial: boolean
}

export class LazyChange implements Change {
  readonly type: Change['type']
  readonly initial: boolean
  readonly #entry: Entry
  readonly #oldEntry: Entry | undefined
  #object: KubeObject | undefined
  #old: KubeObject | undefined

  constructor(type: Change['type'], entry: Entry, old: Entry | undefined, initial: boolean, object?: KubeObject) {
    this.type = type
    this.initial = initial
    this.#entry = entry
    this.#oldEntry = old
    this.#object = object
  }

  get key(): string {
    return this.#entry.key
  }

  get uid(): string {
    return this.#entry.uid
  }

  get resourceVersion(): string {
    return this.#object?.metadata.resourceVersion ?? this.#entry.resourceVersion
  }

  get object(): KubeObject {
    this.#object ??= objectOf(this.#entry)
    return this.#object
  }

  get old(): KubeObject | undefined {
    if (this.#oldEntry === undefined) return undefined
    this.#old ??= objectOf(this.#oldEntry)
    return this.#old
  }
}
