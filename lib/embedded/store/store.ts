/**
 * The server's memory: one revision counter for all kinds, as etcd has it, and a bucket a kind. Everything is synchronous:
 * what was checked is still true when it is written.
 */
import type { Store } from '../core.ts'
import type { ApiObject, Bucket } from '../types.ts'
import { MemoryBucket, type Revisions } from './bucket.ts'

export interface StoreOptions {
  /** Events that each kind remembers, for watches that resume and lists of the past. Default: 10 000. */
  readonly historySize?: number
  /** Gets what a listener of `Bucket.watch` threw. Default: it is thrown outside of the write, as an uncaught exception. */
  readonly report?: (error: unknown) => void
  /** What a former server saved. Its history is forgotten. */
  readonly restore?: {
    readonly revision: number
    readonly objects: Iterable<{ readonly bucket: string; readonly namespace: string; readonly name: string; readonly object: ApiObject }>
  }
}

export function createStore(options: StoreOptions = {}): Store {
  const { historySize = 10_000, restore } = options
  const revisions: Revisions = {
    current: Math.max(1, restore?.revision ?? 1),
    next: () => ++revisions.current,
    report: options.report ?? throwLater,
    observers: new Set(),
  }
  const buckets = new Map<string, MemoryBucket>()
  let compacted = restore === undefined ? 0 : revisions.current
  const bucketOf = (key: string): MemoryBucket => {
    const known = buckets.get(key)
    if (known !== undefined) return known
    const bucket = new MemoryBucket(key, revisions, historySize, compacted)
    buckets.set(key, bucket)
    return bucket
  }
  for (const { bucket, namespace, name, object } of restore?.objects ?? []) bucketOf(bucket).restore(namespace, name, object)
  return {
    get revision() {
      return revisions.current
    },
    bucket: bucketOf,
    buckets: (): Iterable<Bucket> => buckets.values(),
    observe(f) {
      revisions.observers.add(f)
      return () => void revisions.observers.delete(f)
    },
    compact() {
      compacted = revisions.current
      for (const bucket of buckets.values()) bucket.compact()
    },
  }
}

function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
