import { isNewer } from './resource-version.ts'

/** How many bookmarks a tombstone outlives whose object the store did not know. */
const BOOKMARKS = 2

interface Tombstone {
  readonly key: string
  /** The last resourceVersion known of the object; undefined where the store never had it. */
  readonly resourceVersion: string | undefined
  bookmarks: number
}

/**
 * The uids of objects this process deleted, until the watch has caught up with it. Without them a MODIFIED event that was
 * under way during the delete would bring the object back for a moment.
 */
export class Tombstones {
  readonly #byUid = new Map<string, Tombstone>()

  get size(): number {
    return this.#byUid.size
  }

  has(uid: string): boolean {
    return this.#byUid.size > 0 && this.#byUid.has(uid)
  }

  add(uid: string, key: string, resourceVersion: string | undefined): void {
    this.#byUid.set(uid, { key, resourceVersion, bookmarks: 0 })
  }

  /** Its DELETED event came. */
  delete(uid: string): void {
    this.#byUid.delete(uid)
  }

  clear(): void {
    this.#byUid.clear()
  }

  /** A list that has the object was made before the delete, one that is older than the object before both: the events are still to come. */
  listed(list: { covers(key: string): boolean; has(uid: string): boolean; readonly resourceVersion: string }): void {
    for (const [uid, { key, resourceVersion }] of this.#byUid) {
      if (!list.covers(key) || list.has(uid)) continue
      if (resourceVersion === undefined || !isNewer(resourceVersion, list.resourceVersion)) this.#byUid.delete(uid)
    }
  }

  /**
   * Of an object that the store did not know, the DELETED event may have come before the answer to the delete, and nothing
   * would ever take the tombstone away. Two bookmarks (about a minute apart) later nothing is under way any more.
   */
  bookmark(): void {
    for (const [uid, tombstone] of this.#byUid) {
      if (tombstone.resourceVersion === undefined && ++tombstone.bookmarks >= BOOKMARKS) this.#byUid.delete(uid)
    }
  }
}
