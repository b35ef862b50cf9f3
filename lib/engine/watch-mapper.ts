/**
 * Calls a `@watches` method for each change of the kind it watches and wakes the keys it returns. What it throws is tried again, so that no change
 * is lost.
 */

import type { Client } from '../api/client.ts'
import type { Clock, Random } from '../api/clock.ts'
import type { Source } from '../cache/cache.ts'
import type { Change } from '../cache/store.ts'
import type { WatchContext, WatchKeys } from '../resource/context.ts'
import { type KindRef, type KubeObject, keyOf } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { backoff } from './backoff.ts'
import { RunClient } from './run-client.ts'
import { sameContent } from './wake.ts'

export interface WatchMapperOptions {
  readonly instance: object
  readonly method: string
  readonly when: ((object: KubeObject) => boolean) | undefined
  readonly primary: KindRef
  readonly primaries: Source
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly signal: AbortSignal
  readonly fieldManager: string
  readonly wake: (key: string) => void
}

export class WatchMapper {
  readonly #o: WatchMapperOptions
  readonly #context: WatchContext<KubeObject>

  constructor(options: WatchMapperOptions) {
    this.#o = options
    const { log, signal, client, fieldManager, primaries } = options
    // Mapping is about reading; what it should write after all goes into no journal and comes back by the watch.
    const journal = { wrote() {}, deleted() {}, sent: () => () => {} }
    this.#context = {
      log,
      signal,
      client: new RunClient({ client, signal, fieldManager, journal, check: () => signal.throwIfAborted() }),
      primaries: (selection) => primaries.store.list(selection),
    }
  }

  /** Maps the object as it is and as it was: a reference that was taken away concerns its former target. */
  map(change: Change): void {
    const { old, object, type } = change
    if (type === 'updated' && old && sameContent(old, object)) return
    const states = type === 'updated' && old ? [object, old] : [object]
    for (const state of states) void this.#call(structuredClone(state), 1)
  }

  async #call(object: KubeObject, attempt: number): Promise<void> {
    const { instance, method, when, log, clock, random, signal, wake } = this.#o
    try {
      if (when !== undefined && !when(object)) return
      const handler = instance as Record<string, (object: KubeObject, context: WatchContext<KubeObject>) => WatchKeys | Promise<WatchKeys>>
      for (const key of this.#keys(await handler[method]?.(object, this.#context))) wake(key)
    } catch (error) {
      if (signal.aborted) return
      log.error({ err: error, method, key: keyOf(object.metadata), attempt }, 'a watch method failed; it is called again')
      clock.after(backoff(attempt, random), () => void this.#call(object, attempt + 1))
    }
  }

  #keys(returned: WatchKeys): string[] {
    if (returned === undefined || returned === null) return []
    const list = Array.isArray(returned) ? returned : [returned]
    return list.map((entry: unknown) => {
      if (typeof entry === 'string') return entry
      if (typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string')
        return keyOf(entry as { name: string })
      throw new TypeError(
        `${this.#o.method}() must return objects with name and namespace, or texts 'namespace/name', not ${JSON.stringify(entry)}`,
      )
    })
  }
}
