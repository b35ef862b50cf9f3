import { labelMatcher } from '../api/selectors.ts'
import { type KubeObject, keyOf } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import type { Selector } from '../resource/selector.ts'
import { type Change, type LateText, LazyChange } from './change.ts'
import { Entry, type Meta } from './entry.ts'
import { OwnerIndex } from './owner-index.ts'
import { compareResourceVersions, isNewer } from './resource-version.ts'
import { TextArena } from './text-arena.ts'
import { Tombstones } from './tombstones.ts'

export type { Change, Meta }
export { compareResourceVersions }

interface StoreOptions {
  /** Told when a listener throws. */
  readonly log?: Log
  /** Whether the watch that feeds the store selects an object. Own writes of others are not kept: no event would ever correct them. Default: all. */
  readonly selects?: (object: KubeObject) => boolean
}

/**
 * The newest known version of every object of one kind, fed by watch events, lists and the responses of own writes, in
 * whatever order these arrive.
 *
 * Guarantees: a version is replaced only by a newer one; another uid under the same name is a deletion and an addition; an
 * object that is gone does not come back by something late. Each change is told once, in order, after the store has it.
 *
 * Objects are kept as JSON text and parsed anew for each reader, who may change what he gets
 * (docs/decisions/0004-store-keeps-text.md).
 */
export class Store {
  readonly #entries = new Map<string, Entry>()
  readonly #texts = new TextArena()
  readonly #owned = new OwnerIndex()
  readonly #tombstones = new Tombstones()
  /** Up to which resourceVersion the watch has told everything, by its namespace (`''`: one watch for all). */
  readonly #reached = new Map<string, string>()
  readonly #listeners = new Set<(change: Change) => void>()
  #untold: (LazyChange | undefined)[] = []
  /** Replaced while changes are being told: their texts may still be asked for. */
  #replaced: Entry[] = []
  #telling = false
  readonly #log: Log | undefined
  readonly #selects: ((object: KubeObject) => boolean) | undefined

  constructor(options: StoreOptions = {}) {
    this.#log = options.log
    this.#selects = options.selects
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** The fields that are known without parsing: cheap. */
  meta(key: string): Meta | undefined {
    return this.#entries.get(key)
  }

  get(key: string): KubeObject | undefined {
    const entry = this.#entries.get(key)
    return entry && this.#parse(entry)
  }

  /** Parses all it returns; in no order. */
  list(options: { namespace?: string; labels?: Selector } = {}): KubeObject[] {
    const matches = options.labels === undefined ? undefined : labelMatcher(options.labels)
    const objects: KubeObject[] = []
    for (const entry of this.#entries.values()) {
      if (!isIn(entry.key, options.namespace)) continue
      const object = this.#parse(entry)
      if (matches === undefined || matches(object.metadata.labels)) objects.push(object)
    }
    return objects
  }

  /** The objects whose controller is the owner with this uid. */
  ownedBy(uid: string): KubeObject[] {
    return this.ownedKeys(uid).map((key) => this.#parse(this.#entries.get(key) as Entry))
  }

  ownedKeys(uid: string): string[] {
    return this.#owned.keys(uid)
  }

  /** An ADDED or MODIFIED event. Takes the object over (`managedFields` are removed from it, listeners get it). */
  put(object: KubeObject, options: { initial?: boolean } = {}): void {
    const { uid, resourceVersion } = object.metadata
    if (this.#tombstones.has(uid)) return
    const old = this.#entries.get(keyOf(object.metadata))
    // What is not there although the watch has come further was deleted since: this is late.
    const newest = old?.resourceVersion ?? this.#reachedFor(object)
    if (newest !== undefined && !isNewer(resourceVersion, newest)) return
    this.#set(new Entry(object, this.#texts), old, options.initial ?? false, object)
    this.#tell()
  }

  /** A DELETED event. With a selector it may also mean that the object is not selected any more. */
  removed(object: KubeObject): void {
    const { uid, resourceVersion } = object.metadata
    this.#tombstones.delete(uid)
    const entry = this.#entries.get(keyOf(object.metadata))
    if (entry === undefined || entry.uid !== uid || isNewer(entry.resourceVersion, resourceVersion)) return
    this.#drop(entry, false, object)
    this.#tell()
  }

  /** The response of an own write, so that the next run does not see the world older than it. */
  wrote(object: KubeObject): void {
    if (this.#selects === undefined || this.#selects(object)) this.put(object)
    else this.removed(object)
  }

  /**
   * The object with this uid is known to be gone, not just terminating: an own delete was answered as done, or a live read did not find it.
   * The uid is the one that was known when the question was asked: by the time of the answer the name may belong to another object.
   *
   * @returns the uid, where the store had the object
   */
  deletedByUs(key: string, uid: string): string | undefined {
    const entry = this.#entries.get(key)
    const known = entry?.uid === uid ? entry : undefined
    this.#tombstones.add(uid, key, known?.resourceVersion)
    if (known === undefined) return undefined
    this.#drop(known, false)
    this.#tell()
    return known.uid
  }

  /**
   * A bookmark, or the end of an event: the watch has told everything up to this resourceVersion. `namespace` is the one
   * that is watched, absent where one watch sees them all.
   */
  reached(resourceVersion: string, options: { namespace?: string | undefined; bookmark?: boolean } = {}): void {
    this.#reached.set(options.namespace ?? '', resourceVersion)
    if (options.bookmark) this.#tombstones.bookmark()
  }

  /** Whether a list of this resourceVersion is older than what the watch has told already. */
  isBehind(resourceVersion: string, options: { namespace?: string | undefined } = {}): boolean {
    const reached = this.#reached.get(options.namespace ?? '')
    return reached !== undefined && isNewer(reached, resourceVersion)
  }

  /** A relist in one go; see `Draft.commit`. */
  replace(objects: Iterable<KubeObject>, resourceVersion: string, options: { namespace?: string | undefined } = {}): void {
    const draft = this.draft()
    for (const object of objects) draft.add(object)
    draft.commit(resourceVersion, options)
  }

  /** Gathers a relist piece by piece, each object at once in its compact form. End it with `commit` or `discard`. */
  draft(): Draft {
    const listed = new Map<string, Entry>()
    const forget = (key: string) => {
      const entry = listed.get(key)
      if (entry !== undefined && entry !== this.#entries.get(key)) this.#texts.free(entry)
      listed.delete(key)
    }
    return {
      add: (object) => {
        const { uid, resourceVersion } = object.metadata
        const key = keyOf(object.metadata)
        forget(key)
        const there = this.#entries.get(key)
        const same = there !== undefined && there.uid === uid && there.resourceVersion === resourceVersion
        listed.set(key, same ? there : new Entry(object, this.#texts))
      },
      delete: (object) => forget(keyOf(object.metadata)),
      commit: (resourceVersion, options = {}) => this.#replace(listed, resourceVersion, options.namespace),
      discard: () => {
        for (const key of listed.keys()) forget(key)
      },
    }
  }

  /**
   * Calls `listener` synchronously for each change, in order, when the store already has it. What it throws is logged and
   * disturbs nobody else.
   *
   * @returns a function that ends it
   */
  subscribe(listener: (change: Change) => void): () => void {
    // A wrapper of its own, so that the same function may subscribe twice.
    const own = (change: Change) => listener(change)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  #replace(listed: Map<string, Entry>, resourceVersion: string, namespace: string | undefined): void {
    // A list is never older than a watch before it (the reflector sees to it), unless the server's history was rolled back (etcd restored from a
    // backup, another cluster at the same address). Then nothing that is here can be compared with what comes.
    const reached = this.#reached.get(namespace ?? '')
    const rolledBack = this.isBehind(resourceVersion, { namespace })
    if (rolledBack) this.#tombstones.clear()
    for (const entry of this.#entries.values()) {
      if (!isIn(entry.key, namespace) || listed.has(entry.key)) continue
      if (rolledBack || !isNewer(entry.resourceVersion, resourceVersion)) this.#drop(entry, true)
    }
    const uids = new Set<string>()
    for (const entry of listed.values()) {
      uids.add(entry.uid)
      const old = this.#entries.get(entry.key)
      // The store has this very version, or had it when the draft came by it and lost it since.
      if (entry === old || entry.slab === undefined) continue
      const wanted = old === undefined || isNewer(entry.resourceVersion, old.resourceVersion) || rolledBack
      if (wanted && !this.#tombstones.has(entry.uid)) this.#set(entry, old, true, () => this.#texts.read(entry))
      else this.#texts.free(entry)
    }
    this.#tombstones.listed({ covers: (key) => isIn(key, namespace), has: (uid) => uids.has(uid), resourceVersion })
    this.#reached.set(namespace ?? '', resourceVersion)
    if (rolledBack)
      this.#log?.warn({ reached, resourceVersion }, 'The history of the API server went back; its list is taken over as it is')
    this.#tell()
  }

  #set(entry: Entry, there: Entry | undefined, initial: boolean, object: KubeObject | LateText): void {
    let old = there
    if (old !== undefined && old.uid !== entry.uid) {
      // Its last events may still be under way, when an own write told of its successor.
      this.#tombstones.add(old.uid, old.key, old.resourceVersion)
      this.#drop(old, initial)
      old = undefined
    }
    this.#entries.set(entry.key, entry)
    if (old?.controllerUid !== entry.controllerUid) {
      if (old?.controllerUid !== undefined) this.#owned.delete(old.controllerUid, old.key)
      if (entry.controllerUid !== undefined) this.#owned.add(entry.controllerUid, entry.key)
    }
    const type = old === undefined ? 'added' : 'updated'
    this.#untold.push(new LazyChange(type, entry, { object, old: old && this.#take(old), initial }))
  }

  #drop(entry: Entry, initial: boolean, object?: KubeObject): void {
    this.#entries.delete(entry.key)
    if (entry.controllerUid !== undefined) this.#owned.delete(entry.controllerUid, entry.key)
    const text = this.#take(entry)
    const { key, uid } = entry
    const resourceVersion = object?.metadata.resourceVersion ?? entry.resourceVersion
    this.#untold.push(new LazyChange('deleted', { key, uid, resourceVersion }, { object: object ?? text, old: text, initial }))
  }

  /** The text of an entry that leaves the store. */
  #take(entry: Entry): string {
    const text = this.#texts.read(entry)
    if (this.#telling) this.#replaced.push(entry)
    else this.#texts.free(entry)
    return text
  }

  #parse(entry: Entry): KubeObject {
    return JSON.parse(this.#texts.read(entry)) as KubeObject
  }

  /** A listener may write to the store: its change is told after the one it listens to, to everybody in the same order. */
  #tell(): void {
    if (this.#telling) return
    this.#telling = true
    for (let i = 0; i < this.#untold.length; i++) {
      const change = this.#untold[i] as LazyChange
      // Of a big list each change, and what was parsed for it, is free again once it is told.
      this.#untold[i] = undefined
      for (const listener of this.#listeners) this.#call(listener, change)
      change.seal()
    }
    this.#untold = []
    this.#telling = false
    for (const entry of this.#replaced.splice(0)) this.#texts.free(entry)
  }

  #call(listener: (change: Change) => void, change: Change): void {
    try {
      listener(change)
    } catch (error) {
      this.#log?.error({ err: error, key: change.key }, 'A listener of the cache threw')
    }
  }

  #reachedFor(object: KubeObject): string | undefined {
    return this.#reached.get('') ?? this.#reached.get(object.metadata.namespace ?? '')
  }
}

export interface Draft {
  /** Keeps only what the store needs of it. */
  add(object: KubeObject): void
  /** It went while the list was under way. */
  delete(object: KubeObject): void
  /**
   * Makes the list the content of the store (or of one namespace), at once for all readers, then tells the changes. What is
   * missing in the list goes, unless it is newer than the list; what the store has newer, stays.
   */
  commit(resourceVersion: string, options?: { namespace?: string | undefined }): void
  /** The list broke off. */
  discard(): void
}

function isIn(key: string, namespace: string | undefined): boolean {
  return namespace === undefined || (key.startsWith(namespace) && key.charCodeAt(namespace.length) === SLASH)
}

const SLASH = 47
