/** Which objects a class runs over and watches: what the server is asked for, and what is selected here. */
import { matchesFields, matchesLabels } from '../api/selectors.ts'
import type { Cache } from '../cache/cache.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import { type KindRef, type KubeObject, keyOf } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { servedNamespaces } from '../resource/served-namespaces.ts'

export class Selection {
  readonly #spec: HandlerSpec
  /** Those that the operator serves; undefined: all. */
  readonly #namespaces: readonly string[] | undefined
  readonly #log: Log

  /** @throws TypeError where the class's namespaces and the operator's have none in common */
  constructor(spec: HandlerSpec, namespaces: readonly string[] | undefined, log: Log) {
    this.#spec = spec
    this.#namespaces = namespaces
    this.#log = log
    if (this.namespacesOf(spec.kind)?.length !== 0) return
    const own = spec.reconcile.options.namespaces?.join(', ')
    throw new TypeError(
      `${spec.className}: its namespaces (${own}) and those the operator serves (${namespaces?.join(', ')}) have none in common`,
    )
  }

  namespacesOf(kind: KindRef, watched?: readonly string[]): readonly string[] | undefined {
    return servedNamespaces(this.#spec, kind, this.#namespaces, watched)
  }

  /**
   * Selectors go to the server, but for a class with `@onDelete`: an object that holds its finalizer must be seen to the end, also after it has
   * left the selection. Those are selected here.
   */
  ofPrimary(kind: KindRef): Parameters<Cache['source']>[1] {
    const { labels, fields } = this.#spec.reconcile.options
    const within = { namespaces: this.namespacesOf(kind) }
    return this.#hasDelete
      ? within
      : { ...within, ...(labels === undefined ? {} : { labels }), ...(fields === undefined ? {} : { fields }) }
  }

  /** Whether a primary object is to be run. One that is being deleted always is. */
  wants(object: KubeObject): boolean {
    if (object.metadata.deletionTimestamp !== undefined) return true
    const { labels, fields, when } = this.#spec.reconcile.options
    if (this.#hasDelete) {
      if (labels !== undefined && !matchesLabels(labels, object.metadata.labels ?? {})) return false
      if (fields !== undefined && !matchesFields(fields, object)) return false
    }
    if (when === undefined) return true
    try {
      return when(object)
    } catch (error) {
      this.#log.error({ err: error, key: keyOf(object.metadata) }, '`when` threw; the object is run as if it had returned true')
      return true
    }
  }

  get #hasDelete(): boolean {
    return this.#spec.onDelete !== undefined
  }
}
