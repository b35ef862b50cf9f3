/**
 * One state of one object. History keeps many of them: those that are no longer the newest and not of the last few hundred
 * writes are kept as text, a third of the size, and read again when somebody asks.
 */
import { decodeJson, encodeJson } from '../json.ts'
import type { ApiObject, Stored } from '../types.ts'

export class Version implements Stored {
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly sortKey: string
  #content: ApiObject | string

  constructor(namespace: string, name: string, sortKey: string, revision: number, object: ApiObject) {
    this.namespace = namespace
    this.name = name
    this.sortKey = sortKey
    this.revision = revision
    this.#content = object
  }

  get object(): ApiObject {
    return typeof this.#content === 'string' ? (decodeJson(this.#content) as unknown as ApiObject) : this.#content
  }

  /** Gives the size of the text. */
  pack(): number {
    if (typeof this.#content !== 'string') {
      try {
        this.#content = encodeJson(this.#content)
      } catch {
        // Nests too deep to be written. A write must not fail for what it is not about.
      }
    }
    return this.textSize
  }

  /** 0 while it is an object. */
  get textSize(): number {
    return typeof this.#content === 'string' ? this.#content.length : 0
  }
}
