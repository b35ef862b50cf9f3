/** A store, a registry and two kinds: what lists and watches need of a server. */
import type { Core } from '../../../../lib/embedded/core.ts'
import { createRegistry } from '../../../../lib/embedded/registry.ts'
import { createStore } from '../../../../lib/embedded/store/store.ts'
import { Tasks } from '../../../../lib/embedded/tasks.ts'
import type { ApiObject, ResourceType, StreamSink } from '../../../../lib/embedded/types.ts'
import { type WatchEncoder, watch } from '../../../../lib/embedded/watch.ts'
import { ManualClock } from '../../manual-clock.ts'

const type = (over: Partial<ResourceType>): ResourceType => ({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  singular: 'configmap',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  shortNames: [],
  categories: [],
  namespaced: true,
  custom: false,
  verbs: [],
  subresources: [],
  bucket: '/configmaps',
  storageVersion: 'v1',
  schema: { root: {}, resolve: (schema) => schema },
  strategy: {},
  ...over,
})

export const configMaps = type({})
export const widgets = type({
  group: 'x.io',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: false,
  custom: true,
  bucket: 'x.io/widgets',
  storageVersion: 'x.io/v1',
  strategy: { selectableFields: { 'spec.color': (object) => object['spec']?.color ?? '' } },
})

export class World {
  readonly clock = new ManualClock()
  readonly core: Core
  readonly faults: unknown[] = []

  constructor(historySize = 10_000) {
    const registry = createRegistry()
    registry.set('', 'configmaps', [configMaps])
    registry.set('x.io', 'widgets', [widgets])
    const report = (error: unknown) => void this.faults.push(error)
    this.core = {
      clock: this.clock,
      random: () => 0.5,
      tasks: new Tasks(this.clock, report),
      store: createStore({ historySize, report }),
      registry,
      admission: [],
      authorizer: undefined,
    } as unknown as Core
  }

  /** Creates or changes; gives the revision. */
  put(namespace: string, name: string, more: Partial<ApiObject> & { labels?: Record<string, string> } = {}, of = configMaps): number {
    const { labels, ...rest } = more
    const metadata = { name, ...(namespace === '' ? {} : { namespace }), ...(labels === undefined ? {} : { labels }) }
    const bucket = this.core.store.bucket(of.bucket)
    const object: ApiObject = { apiVersion: of.storageVersion, kind: of.kind, metadata, ...rest }
    return bucket.put(namespace, name, object, bucket.get(namespace, name)?.revision ?? 0)!.revision
  }

  delete(namespace: string, name: string, of = configMaps): number {
    const bucket = this.core.store.bucket(of.bucket)
    return bucket.delete(namespace, name, bucket.get(namespace, name)!.revision)!.revision
  }

  watch(query: string, { namespace, of = configMaps, encode = json, sink = new Reader() }: WatchOptions = {}): Reader {
    const stream = watch(this.core, of, namespace, new URLSearchParams(query), encode)
    sink.stop = stream.start(sink).stop
    return sink
  }

  settled(): Promise<void> {
    return this.core.tasks.settled()
  }
}

interface WatchOptions {
  readonly namespace?: string
  readonly of?: ResourceType
  readonly encode?: WatchEncoder
  readonly sink?: Reader
}

const json: WatchEncoder = (event) => `${JSON.stringify(event)}\n`

/** A client's end: takes what is written, unless told to be slow. */
export class Reader implements StreamSink {
  text = ''
  writes = 0
  end_: 'ended' | 'broken' | undefined
  slow = false
  stop = () => {}
  #drained: (() => void)[] = []

  get pending(): number {
    return this.slow ? 1 : 0
  }

  write(chunk: string): boolean {
    this.text += chunk
    this.writes++
    return !this.slow
  }

  drained(f: () => void): void {
    this.#drained.push(f)
  }

  /** Takes what was written; what was held up may come. */
  read(slow = false): void {
    this.slow = slow
    for (const f of this.#drained.splice(0)) f()
  }

  end(): void {
    this.end_ = 'ended'
  }

  destroy(): void {
    this.end_ = 'broken'
  }

  // biome-ignore lint/suspicious/noExplicitAny: whatever was written
  get events(): { type: string; object: any }[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  /** `ADDED a 5`, and `BOOKMARK 7!` for the one that ends the initial events. */
  get lines(): string[] {
    return this.events.map(({ type, object }) => {
      if (type === 'ERROR') return `ERROR ${object.code} ${object.message}`
      const { name, resourceVersion, annotations } = object.metadata
      return `${type}${name === undefined ? '' : ` ${name}`} ${resourceVersion}${annotations?.['k8s.io/initial-events-end'] === 'true' ? '!' : ''}`
    })
  }
}
