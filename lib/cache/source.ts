import { labelMatcher, matchesFields, toFieldSelector, toLabelSelector } from '../api/selectors.ts'
import { type KindRef, type KubeObject, kindName } from '../resource/kind.ts'
import type { FieldSelector, Selector } from '../resource/selector.ts'
import type { Unrest } from '../resource/unrest.ts'
import type { CacheOptions } from './cache.ts'
import { Reflector } from './reflector.ts'
import { Store } from './store.ts'
import type { WatchState } from './watch-state.ts'

/** Which objects of a kind are watched; all that is given must hold. Empty: all. */
export interface Selection {
  readonly namespaces?: readonly string[] | undefined
  readonly labels?: Selector | undefined
  readonly fields?: FieldSelector | undefined
}

/** What is watched of one kind: a store, and how its watches fare. */
export interface Source {
  readonly kind: KindRef<unknown>
  readonly store: Store
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined
  /** Whether a label or field selector leaves objects out: then what the store does not have may exist. */
  readonly selective: boolean
  /** Whether every watch was complete once. It stays true while one fails. */
  readonly synced: boolean
  /** One a watched namespace, or one for all. */
  readonly states: readonly { readonly namespace?: string; readonly state: WatchState }[]
  /** When the last event or bookmark came on any of its watches, in milliseconds since 1970. */
  readonly lastEventAt: number | undefined
  /** Resolves when `synced` is true; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>
  /** Calls `listener` after each change of a state. Returns a function that ends it. */
  onState(listener: (source: Source) => void): () => void
  /** Whether a namespace is watched; `undefined` asks for all of them. */
  covers(namespace: string | undefined): boolean
}

export class WatchedSource implements Source {
  readonly kind: KindRef<unknown>
  readonly store: Store
  readonly namespaces: readonly string[] | undefined
  readonly selective: boolean
  readonly #reflectors: readonly { readonly namespace?: string; readonly reflector: Reflector }[]
  readonly #listeners = new Set<(source: Source) => void>()
  readonly #log: CacheOptions['log']

  constructor(kind: KindRef<unknown>, selection: Selection, { client, clock, random, log, observer }: CacheOptions) {
    const { labels, fields } = selection
    const namespaces = [...new Set(selection.namespaces)].sort()
    this.kind = kind
    this.namespaces = namespaces.length === 0 ? undefined : namespaces
    this.selective = (labels !== undefined && toLabelSelector(labels) !== '') || (fields !== undefined && toFieldSelector(fields) !== '')
    this.store = new Store({ log, selects: selectorOf(this.namespaces, labels, fields) })
    this.#log = log
    this.#reflectors = (this.namespaces ?? [undefined]).map((namespace) => ({
      ...(namespace === undefined ? {} : { namespace }),
      reflector: new Reflector({
        client,
        kind,
        namespace,
        labels,
        fields,
        store: this.store,
        clock,
        random,
        log,
        observer,
        onState: () => this.#tell(),
      }),
    }))
  }

  get synced(): boolean {
    return this.#reflectors.every(({ reflector }) => reflector.synced)
  }

  get states(): Source['states'] {
    return this.#reflectors.map(({ reflector, ...where }) => ({ ...where, state: reflector.state }))
  }

  get lastEventAt(): number | undefined {
    const times = this.#reflectors.flatMap(({ reflector }) => reflector.lastEventAt ?? [])
    return times.length === 0 ? undefined : Math.max(...times)
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = () => {
        stop()
        signal?.removeEventListener('abort', abort)
      }
      const abort = () => {
        end()
        reject(signal?.reason)
      }
      const look = () => {
        if (!this.synced) return
        end()
        resolve()
      }
      const stop = this.onState(look)
      signal?.addEventListener('abort', abort)
      look()
    })
  }

  onState(listener: (source: Source) => void): () => void {
    const own = (source: Source) => listener(source)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Watches that do not follow what happens, and will before long. One that lacks a kind or a right waits for somebody to act. */
  get unrest(): readonly Unrest[] {
    return this.#reflectors.flatMap(({ reflector, namespace }): Unrest[] => {
      const { state, following, pausedUntil } = reflector
      if (following || (state.phase === 'failing' && state.missing !== undefined)) return []
      const where = namespace === undefined ? '' : ` in namespace ${namespace}`
      const why = state.phase === 'failing' ? ` (${state.error.message})` : ''
      return [{ what: `the watch of ${kindName(this.kind)}${where}${why}`, ...(pausedUntil === undefined ? {} : { at: pausedUntil }) }]
    })
  }

  covers(namespace: string | undefined): boolean {
    return this.namespaces === undefined || (namespace !== undefined && this.namespaces.includes(namespace))
  }

  start(): void {
    for (const { reflector } of this.#reflectors) reflector.start()
  }

  stop(): void {
    for (const { reflector } of this.#reflectors) reflector.stop()
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      try {
        listener(this)
      } catch (error) {
        this.#log.error({ err: error }, 'A listener of the watch’s state threw')
      }
    }
  }
}

/** What the server selects, for the responses of own writes; undefined where it selects all. */
function selectorOf(
  namespaces: readonly string[] | undefined,
  labels: Selector | undefined,
  fields: FieldSelector | undefined,
): (object: KubeObject) => boolean {
  const hasLabels = labels === undefined ? undefined : labelMatcher(labels)
  return (object) =>
    (namespaces === undefined || namespaces.includes(object.metadata.namespace ?? '')) &&
    (hasLabels === undefined || hasLabels(object.metadata.labels)) &&
    (fields === undefined || matchesFields(fields, object))
}
