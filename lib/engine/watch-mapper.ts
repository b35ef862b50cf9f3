/**
 * Calls a `@watches` method for each change of the kind it watches and wakes the keys it returns. What it throws is tried again, so that no change
 * is lost.
 */

import type { Client } from '../api/client.ts'
import type { Clock, Random } from '../api/clock.ts'
import type { Source } from '../cache/cache.ts'
import type { Change } from '../cache/store.ts'
import type { WatchContext, WatchKeys } from '../resource/context.ts'
import { type KindRef, type KubeObject, keyOf, type ObjectRef, refOf } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { backoff } from './backoff.ts'
import { currentRun } from './run.ts'
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
    // Of no run, although it may be the answer to a run's own write that brought the change.
    currentRun.exit(() => void this.#map(type === 'updated' && old ? [object, old] : [object], change.key, 1))
  }

  async #map(states: readonly KubeObject[], key: string, attempt: number): Promise<void> {
    const { log, clock, random, signal, wake, method } = this.#o
    if (signal.aborted) return
    try {
      const found = await Promise.all(states.map((state) => this.#call(structuredClone(state))))
      // All at once and each once: a run that had begun for the first would have to be repeated for the second.
      for (const key of new Set(found.flat())) wake(key)
    } catch (error) {
      if (signal.aborted) return
      log.error({ err: error, method, key, attempt }, 'a watch method failed; it is called again')
      clock.after(backoff(attempt, random), () => void this.#map(states, key, attempt + 1))
    }
  }

  async #call(object: KubeObject): Promise<string[]> {
    const { instance, method, when } = this.#o
    if (when !== undefined && !when(object)) return []
    const handler = instance as Record<string, (object: KubeObject, context: WatchContext<KubeObject>) => WatchKeys | Promise<WatchKeys>>
    return this.#keys(await handler[method]?.(object, this.#context), object.metadata.namespace)
  }

  /** Keys of the primary kind. A name alone means the namespace of the object that changed. */
  #keys(returned: WatchKeys, namespace: string | undefined): string[] {
    if (returned === undefined || returned === null) return []
    const list = Array.isArray(returned) ? returned : [returned]
    return list.map((entry: unknown) => {
      const ref = typeof entry === 'string' ? refOf(entry) : (entry as ObjectRef | null)
      if (typeof ref === 'object' && ref !== null && typeof ref.name === 'string') {
        return this.#o.primary.scope === 'Cluster' ? ref.name : keyOf({ name: ref.name, namespace: ref.namespace ?? namespace })
      }
      throw new TypeError(
        `${this.#o.method}() must return objects with name and namespace, or texts 'namespace/name', not ${JSON.stringify(entry)}`,
      )
    })
  }
}
