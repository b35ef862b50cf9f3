/**
 * Calls a `@watches` method for the changes of the kind it watches and wakes the keys it returns. What it throws is tried again, so that no
 * change is lost.
 *
 * However much changes, there is one entry for each object that has unmapped changes, with three states of it at most, and few calls at a time:
 * a method that lists live must not do so for every object of a relist at once.
 */

import type { Client } from '../api/client.ts'
import type { Clock, Random } from '../api/clock.ts'
import type { Source } from '../cache/cache.ts'
import { copyJson } from '../cache/copy-json.ts'
import type { Change } from '../cache/store.ts'
import type { WatchContext, WatchKeys } from '../resource/context.ts'
import { formatDuration } from '../resource/duration.ts'
import { type KindRef, type KubeObject, keyOf, type ObjectRef, refOf } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { backoff } from './backoff.ts'
import { StaleError } from './errors.ts'
import { currentRun } from './run.ts'
import { RunClient } from './run-client.ts'
import { sameContent } from './wake.ts'
import { WorkQueue } from './work-queue.ts'

const CONCURRENCY = 10
/** A call that does not end would hold its place for ever. */
const CALL_TIMEOUT_MS = 60_000
/** A change that comes during a back-off may be what mends it; an object that changes all the time must not undo the back-off. */
const CHANGED_AGAIN_MS = 1_000

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

interface Unmapped {
  /** Oldest first. Empty while they are being mapped and nothing has changed since. */
  states: KubeObject[]
  /** In a row. */
  failures: number
  deleted: boolean
}

export class WatchMapper {
  readonly #o: WatchMapperOptions
  readonly #queue: WorkQueue
  readonly #unmapped = new Map<string, Unmapped>()
  readonly #calls = new Set<AbortController>()
  #stopped = false

  constructor(options: WatchMapperOptions) {
    this.#o = options
    this.#queue = new WorkQueue(options.clock, () => this.#pump())
    options.signal.addEventListener('abort', () => this.stop(), { once: true })
  }

  /** Has the object mapped as it is and as it was: a reference that was taken away concerns its former target. */
  map({ key, type, object, old, initial }: Change): void {
    if (this.#stopped || (type === 'updated' && old && sameContent(old, object))) return
    const entry = this.#unmapped.get(key) ?? { states: [], failures: 0, deleted: false }
    this.#unmapped.set(key, entry)
    entry.states = merged([...entry.states, ...(old ? [old] : []), object])
    entry.deleted = type === 'deleted'
    // Of no run, although it may be the answer to a run's own write that brought the change.
    currentRun.exit(() => this.#queue.add(key, initial ? 'background' : 'change', entry.failures > 0 ? CHANGED_AGAIN_MS : 0))
  }

  /** Calls under way, and changes whose turn it is. */
  get busy(): number {
    return this.#stopped ? 0 : this.#queue.running + this.#queue.depth
  }

  /** Nothing is called any more, and nothing kept. Calls that are under way are aborted, and what they return is passed over. */
  stop(): void {
    this.#stopped = true
    this.#queue.close()
    this.#unmapped.clear()
    for (const call of this.#calls) call.abort(new StaleError('the operator is stopping'))
  }

  #pump(): void {
    while (this.#queue.running < CONCURRENCY) {
      const key = this.#queue.take()
      if (key === undefined) return
      void this.#mapUnmapped(key)
    }
  }

  async #mapUnmapped(key: string): Promise<void> {
    const { log, random, wake, method } = this.#o
    const entry = this.#unmapped.get(key)
    if (entry === undefined) return this.#queue.done(key)
    const states = entry.states
    entry.states = []
    const found = new Set<string>()
    const failed = new Map<KubeObject, unknown>()
    for (const state of states) {
      try {
        for (const primary of await this.#call(state, key)) found.add(primary)
      } catch (error) {
        failed.set(state, error)
      }
      if (this.#stopped) return
    }
    // All at once and each once: a run that had begun for the first would have to be repeated for the second.
    for (const primary of found) wake(primary)

    const changedAgain = entry.states.length > 0
    // Who used an object that is gone has been found; what it once was cannot be mended any more, and would be tried for ever.
    const over = entry.deleted && !changedAgain && !failed.has(states.at(-1) as KubeObject)
    if (failed.size > 0) {
      const [err] = failed.values()
      entry.failures++
      log.error({ err, method, key, attempt: entry.failures }, over ? 'a watch method failed' : 'a watch method failed; it is called again')
    } else entry.failures = 0
    if (failed.size > 0 && !over) {
      entry.states = merged([...failed.keys(), ...entry.states])
      this.#queue.add(key, 'background', backoff(entry.failures, random))
    } else if (!changedAgain) this.#unmapped.delete(key)
    this.#queue.done(key)
    this.#pump()
  }

  async #call(state: KubeObject, key: string): Promise<string[]> {
    const { instance, method, clock } = this.#o
    const object = copyJson(state)
    if (!this.#isWanted(object, key)) return []
    const handler = instance as Record<string, (object: KubeObject, context: WatchContext<KubeObject>) => WatchKeys | Promise<WatchKeys>>
    const call = new AbortController()
    const aborted = new Promise<never>((_, reject) => call.signal.addEventListener('abort', () => reject(call.signal.reason)))
    const timer = clock.after(CALL_TIMEOUT_MS, () =>
      call.abort(new Error(`${method}() took longer than ${formatDuration(CALL_TIMEOUT_MS)}`)),
    )
    this.#calls.add(call)
    try {
      return this.#keys(await Promise.race([handler[method]?.(object, this.#context(call.signal)), aborted]), state.metadata.namespace)
    } finally {
      this.#calls.delete(call)
      timer.cancel()
    }
  }

  #isWanted(object: KubeObject, key: string): boolean {
    const { when, log, method } = this.#o
    try {
      return when === undefined || when(object)
    } catch (error) {
      log.error({ err: error, method, key }, '`when` threw; the object is mapped as if it had returned true')
      return true
    }
  }

  #context(signal: AbortSignal): WatchContext<KubeObject> {
    const { log, client, fieldManager, primaries } = this.#o
    // Mapping is about reading; what it should write after all goes into no journal and comes back by the watch.
    const journal = { wrote() {}, deleted() {}, uidOf: () => undefined, sent: () => () => {} }
    return {
      log,
      signal,
      client: new RunClient({ client, signal, fieldManager, journal, check: () => signal.throwIfAborted() }),
      primaries: (selection) => primaries.store.list(selection),
    }
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

/** The oldest state, and the last change as it was and as it is; each once. */
function merged(states: readonly KubeObject[]): KubeObject[] {
  const distinct = states.filter((state, i) => i === 0 || !sameContent(states[i - 1] as KubeObject, state))
  return distinct.length <= 3 ? distinct : [distinct[0] as KubeObject, ...distinct.slice(-2)]
}
