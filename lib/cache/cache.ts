import type { Client } from '../api/client.ts'
import type { Clock, Random } from '../api/clock.ts'
import { toFieldSelector, toLabelSelector } from '../api/selectors.ts'
import { type KindRef, type KubeObject, keyOf, kindKey, kindName, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import type { Observer } from '../resource/observer.ts'
import type { Unrest } from '../resource/unrest.ts'
import { type Selection, type Source, WatchedSource } from './source.ts'

export type { Selection, Source }

export interface CacheOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer?: Pick<Observer, 'watchRestarted'> | undefined
}

/** All that is watched. Who asks for the same kind with the same selection shares one watch and one store. */
export class Cache {
  readonly #options: CacheOptions
  readonly #sources = new Map<string, WatchedSource>()
  readonly #byKind = new Map<string, WatchedSource[]>()
  #phase: 'new' | 'running' | 'stopped' = 'new'

  constructor(options: CacheOptions) {
    this.#options = options
  }

  get sources(): readonly Source[] {
    return [...this.#sources.values()]
  }

  /** What keeps the stores from showing the newest state: watches that begin, or that broke. */
  get unrest(): readonly Unrest[] {
    return this.#phase === 'running' ? [...this.#sources.values()].flatMap((source) => source.unrest) : []
  }

  /** The same source for the same selection. It begins to watch with `start()`, or at once where the cache has started. */
  source(kind: KindRef<unknown>, selection: Selection = {}): Source {
    if (selection.namespaces?.length === 0) throw new TypeError(`${kindName(kind)}: an empty list of namespaces selects nothing`)
    const key = selectionKey(kind, selection)
    let source = this.#sources.get(key)
    if (source === undefined) {
      source = new WatchedSource(kind, selection, this.#options)
      this.#sources.set(key, source)
      this.#byKind.set(kindKey(kind), [...this.#of(kind), source])
      if (this.#phase === 'running') source.start()
    }
    return source
  }

  /** The source that sees most of a kind: all before selected objects, then all namespaces before some, then more before fewer. */
  find(kind: KindRef<unknown>): Source | undefined {
    return [...this.#of(kind)].sort((a, b) => narrowness(a) - narrowness(b))[0]
  }

  /** The response of an own write, for every store of the kind. The stores strip `managedFields` from the object and share it with their listeners. */
  wrote(kind: KindRef<unknown>, object: KubeObject): void {
    for (const source of this.#of(kind)) source.store.wrote(object)
  }

  /** An own delete that was answered as done, for every store of the kind. Returns the uid of what went from them. */
  deletedByUs(kind: KindRef<unknown>, ref: ObjectRef, uid: string): string | undefined {
    let gone: string | undefined
    for (const source of this.#of(kind)) gone = source.store.deletedByUs(keyOf(ref), uid) ?? gone
    return gone
  }

  /** The uid of what a store has under this name now. */
  uidOf(kind: KindRef<unknown>, ref: ObjectRef): string | undefined {
    for (const source of this.#of(kind)) {
      const meta = source.store.meta(keyOf(ref))
      if (meta) return meta.uid
    }
    return undefined
  }

  start(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'running'
    for (const source of this.#sources.values()) source.start()
  }

  /** Ends all watches. The stores keep their content; nothing is watched any more. */
  stop(): void {
    this.#phase = 'stopped'
    for (const source of this.#sources.values()) source.stop()
  }

  #of(kind: KindRef<unknown>): readonly WatchedSource[] {
    return this.#byKind.get(kindKey(kind)) ?? NONE
  }
}

const NONE: readonly WatchedSource[] = []

function selectionKey(kind: KindRef<unknown>, { namespaces, labels, fields }: Selection): string {
  return JSON.stringify([
    kindKey(kind),
    [...new Set(namespaces)].sort(),
    labels === undefined ? '' : toLabelSelector(labels),
    fields === undefined ? '' : toFieldSelector(fields),
  ])
}

function narrowness({ selective, namespaces }: WatchedSource): number {
  const base = selective ? 2 ** 32 : 0
  return namespaces === undefined ? base : base + 2 ** 31 - namespaces.length
}
