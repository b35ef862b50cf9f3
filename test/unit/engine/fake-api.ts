/**
 * A test double of an API server: just enough of it for the engine, in memory, deterministic, with every fault on demand. Watch events are
 * delivered before the answer to the write that caused them, unless watches are held. It is no reference for how Kubernetes behaves.
 */
import type { Clock } from '../../../lib/api/clock.ts'
import { applyMergePatch, equalJson } from '../../../lib/api/patch.ts'
import { matchesLabels } from '../../../lib/api/selectors.ts'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../../../lib/api/transport.ts'
import { type KindRef, type KubeObject, keyOf, kindKey, type OwnerReference } from '../../../lib/resource/kind.ts'

/** `generation` false: a kind that counts none (ConfigMap). `statusSubresource` false: the status is a field like any other. */
export type FakeKind = KindRef & { readonly generation?: boolean; readonly statusSubresource?: boolean }

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects at will
export type Any = KubeObject & Record<string, any>
type Json = Record<string, unknown>

/** One request as the tests speak of it: `apply configmaps/a`, `patch databases/a/status`, `watch databases`. */
export interface Seen {
  readonly verb: 'get' | 'list' | 'watch' | 'discover' | 'create' | 'update' | 'patch' | 'apply' | 'delete'
  readonly plural: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
  readonly query: URLSearchParams
  readonly body: Any | undefined
  /** `verb plural/name/subresource` */
  readonly text: string
  status?: number
}

type Match = string | RegExp | ((seen: Seen) => boolean)
type Answer = { status: number; body: unknown }
type Intercept = (seen: Seen, perform: () => Answer) => Answer | Promise<Answer>

interface Stored {
  object: Any
  /** What each field manager applied last. */
  readonly applied: Map<string, Json>
}
interface Watcher {
  readonly kind: FakeKind
  readonly wants: (object: Any) => boolean
  position: number
  readonly send: (line: object) => void
  readonly end: (error?: Error) => void
}

const READS = new Set<Seen['verb']>(['get', 'list', 'watch', 'discover'])

export class FakeApi implements Transport {
  readonly requests: Seen[] = []
  readonly #clock: Clock
  readonly #kinds: FakeKind[]
  readonly #objects = new Map<string, Map<string, Stored>>()
  readonly #history: { kind: string; type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Any; version: number }[] = []
  readonly #intercepts: { match: (seen: Seen) => boolean; f: Intercept; times: number }[] = []
  readonly #watchers = new Set<Watcher>()
  readonly #held = new Map<string, number>()
  #version = 100
  #uids = 0

  constructor(clock: Clock, kinds: readonly FakeKind[]) {
    this.#clock = clock
    this.#kinds = [...kinds]
  }

  // ---- what tests look at ----

  /** Mutating requests that were accepted, but for Events: `apply configmaps/a`. */
  get writes(): string[] {
    return this.requests.filter((seen) => !READS.has(seen.verb) && seen.plural !== 'events' && (seen.status ?? 500) < 300).map(text)
  }

  /** Forgets the requests so far. */
  forget(): void {
    this.requests.length = 0
  }

  seen(match: Match): Seen[] {
    return this.requests.filter(matcher(match))
  }

  get(kind: KindRef, name: string, namespace = kind.scope === 'Cluster' ? undefined : 'shop'): Any | undefined {
    const stored = this.#objects.get(kindKey(kind))?.get(keyOf({ name, namespace }))
    return stored && structuredClone(stored.object)
  }

  all(kind: KindRef): Any[] {
    return [...(this.#objects.get(kindKey(kind))?.values() ?? [])].map(({ object }) => structuredClone(object))
  }

  // ---- what others do, without a request ----

  create(kind: KindRef, name: string, rest: object = {}): Any {
    const namespace = kind.scope === 'Cluster' ? undefined : 'shop'
    const given = rest as { metadata?: object }
    const object = { ...rest, apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, namespace, ...given.metadata } } as Any
    return this.#create(this.#kind(kind), object)
  }

  /** Somebody else's change of any part of an object, its status included. */
  edit(kind: KindRef, name: string, change: (object: Any) => void): Any {
    const object = this.get(kind, name) as Any
    change(object)
    return this.#store(this.#kind(kind), this.#find(kind, object.metadata) as Stored, object)
  }

  delete(kind: KindRef, name: string): void {
    this.#delete(this.#kind(kind), this.#find(kind, this.get(kind, name)?.metadata as { name: string }) as Stored)
  }

  // ---- faults ----

  /** Answers the next `times` matching requests by `f`, which may `perform` them. */
  intercept(match: Match, f: Intercept, times = 1): void {
    this.#intercepts.push({ match: matcher(match), f, times })
  }

  fail(match: Match, status: number, reason = '', times = 1, more: object = {}): void {
    this.intercept(match, () => refusal(status, reason, reason, more), times)
  }

  /** Does `change` right before the next matching request is answered. */
  before(match: Match, change: () => void): void {
    this.intercept(match, (_, perform) => {
      change()
      return perform()
    })
  }

  /** Performs the request, but the answer does not arrive. */
  loseAnswer(match: Match, times = 1): void {
    this.intercept(
      match,
      (_, perform) => {
        perform()
        throw new ConnectionError('the connection broke before the answer')
      },
      times,
    )
  }

  /** Keeps the next matching request waiting until `release` is called. */
  hold(match: Match): { release: () => void; readonly arrived: boolean } {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const state = { release, arrived: false }
    this.intercept(match, async (_, perform) => {
      state.arrived = true
      await held
      return perform()
    })
    return state
  }

  /** From now on lists and watches of the kind show the world as it is now. */
  holdWatch(kind: KindRef): void {
    this.#held.set(kindKey(kind), this.#version)
  }

  releaseWatch(kind: KindRef): void {
    this.#held.delete(kindKey(kind))
    this.#deliver()
  }

  install(kind: FakeKind): void {
    this.#kinds.push(kind)
  }

  // ---- transport ----

  async request(request: TransportRequest): Promise<TransportResponse> {
    const seen = this.#record(request)
    const { status, body } = await this.#limited(request, () => this.#answer(seen, () => this.#perform(seen)))
    return { status, headers: {}, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
  }

  async stream(request: TransportRequest): Promise<TransportStream> {
    const seen = this.#record(request)
    const kind = this.#served(request.path)
    const { status, body } = await this.#limited(request, () =>
      this.#answer(seen, () => (kind === undefined ? { status: 404, body: '404 page not found' } : { status: 200, body: '' })),
    )
    let watcher: Watcher | undefined
    return {
      status,
      headers: {},
      read: (data, end) => {
        if (status === 200 && kind !== undefined) {
          watcher = this.#watch(kind, seen, (line) => data(Buffer.from(`${JSON.stringify(line)}\n`)), end)
          request.signal?.addEventListener('abort', () => this.#watchers.delete(watcher as Watcher))
        } else {
          data(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
          end()
        }
      },
      close: () => {
        if (watcher) this.#watchers.delete(watcher)
      },
    }
  }

  async close(): Promise<void> {}

  #record({ method, path, body, headers }: TransportRequest): Seen {
    const url = new URL(path, 'http://api')
    const parts = url.pathname.split('/').filter((part) => part !== '')
    const rest = parts.slice(parts[0] === 'api' ? 2 : 3).map(decodeURIComponent)
    const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined
    const [plural = '', name, subresource] = namespace === undefined ? rest : rest.slice(2)
    const apply = headers?.['content-type']?.includes('apply') ?? false
    const read = plural === '' ? 'discover' : name !== undefined ? 'get' : url.searchParams.has('watch') ? 'watch' : 'list'
    const verb = ({ GET: read, POST: 'create', PUT: 'update', PATCH: apply ? 'apply' : 'patch', DELETE: 'delete' } as const)[method]
    const parsed = body === undefined ? undefined : (JSON.parse(body) as Any)
    const target = [plural, name ?? (verb === 'create' ? parsed?.metadata.name : undefined), subresource].filter(
      (part) => part !== undefined,
    )
    const text = `${verb} ${plural === '' ? url.pathname : target.join('/')}`
    const seen = { verb, plural, namespace, name, subresource, query: url.searchParams, body: parsed, text }
    this.requests.push(seen)
    return seen
  }

  async #answer(seen: Seen, perform: () => Answer): Promise<Answer> {
    const hook = this.#intercepts.find(({ match, times }) => times > 0 && match(seen))
    if (hook) hook.times--
    // Not in the turn of the caller: the network is elsewhere.
    await undefined
    const answer = await (hook ? hook.f(seen, perform) : perform())
    ;(seen as { status: number }).status = answer.status
    return answer
  }

  /** Ends the wait with the signal or the time limit, as a real transport does. */
  #limited<T>(request: TransportRequest, work: () => Promise<T>): Promise<T> {
    request.beforeSend?.()
    return new Promise((resolve, reject) => {
      const { signal } = request
      const timer = this.#clock.after(request.timeoutMs, () => finish(() => reject(new TimeoutError('no answer'))))
      const abort = () => finish(() => reject(signal?.reason))
      const finish = (f: () => void) => {
        timer.cancel()
        signal?.removeEventListener('abort', abort)
        f()
      }
      if (signal?.aborted) return abort()
      signal?.addEventListener('abort', abort)
      work().then(
        (value) => finish(() => resolve(value)),
        (error) => finish(() => reject(error)),
      )
    })
  }

  // ---- the server ----

  #served(path: string): FakeKind | undefined {
    return this.#kinds.find((kind) => {
      const prefix = `${kind.apiVersion.includes('/') ? '/apis' : '/api'}/${kind.apiVersion}/`
      const rest = new URL(path, 'http://api').pathname
      return (
        rest.startsWith(prefix) &&
        rest
          .slice(prefix.length)
          .replace(/^namespaces\/[^/]+\/(?=.)/, '')
          .split('/')[0] === kind.plural
      )
    })
  }

  #kind(kind: KindRef): FakeKind {
    return this.#kinds.find((known) => kindKey(known) === kindKey(kind)) as FakeKind
  }

  #find(kind: KindRef, ref: { name: string; namespace?: string | undefined }): Stored | undefined {
    return this.#objects.get(kindKey(kind))?.get(keyOf(ref))
  }

  #perform(seen: Seen): Answer {
    const { verb, name = '', namespace, subresource, body } = seen
    if (verb === 'discover') return this.#discover(seen.text.slice('discover '.length))
    const kind = this.#kinds.find(({ plural }) => plural === seen.plural)
    if (kind === undefined) return { status: 404, body: '404 page not found' }
    if (verb === 'list') return this.#list(kind, seen)
    const stored = this.#find(kind, { name: verb === 'create' ? (body as Any).metadata.name : name, namespace })
    const old = stored?.object
    if (verb === 'create') {
      if (stored) return refusal(409, 'AlreadyExists')
      return { status: 201, body: this.#create(kind, withNamespace(body as Any, namespace)) }
    }
    const wanted = verb === 'delete' ? (body?.preconditions as Partial<Any['metadata']> | undefined) : body?.metadata
    if (stored === undefined || old === undefined) {
      if (verb !== 'apply' || subresource !== undefined)
        return refusal(404, 'NotFound', `${seen.plural} "${seen.name}" not found`, { details: { name: seen.name } })
      if (wanted?.uid !== undefined) return refusal(409, 'Conflict', 'uid mismatch: the object does not exist')
      return { status: 201, body: this.#create(kind, withNamespace(body as Any, namespace), manager(seen)) }
    }
    if (verb === 'get') return { status: 200, body: old }
    if (wanted?.uid !== undefined && wanted.uid !== old.metadata.uid) return refusal(409, 'Conflict', 'uid mismatch')
    if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== old.metadata.resourceVersion) {
      return refusal(409, 'Conflict', 'the object has been modified')
    }
    if (verb === 'delete') return this.#delete(kind, stored)
    let next = structuredClone(body) as Any
    if (verb === 'patch') next = applyMergePatch(structuredClone(old), next) as Any
    if (verb === 'apply') next = this.#apply(stored, manager(seen), next)
    if (subresource === 'status') next = { ...old, status: next.status }
    else if (kind.statusSubresource !== false) next = { ...next, status: old.status }
    const invalid = refused(old, next)
    if (invalid !== undefined) return refusal(422, 'Invalid', invalid)
    return { status: 200, body: this.#store(kind, stored, next) }
  }

  #discover(path: string): Answer {
    const [, api, ...parts] = path.split('/')
    const kinds = this.#kinds.filter(({ apiVersion }) => apiVersion === parts.join('/') && (api === 'api') === !apiVersion.includes('/'))
    if (kinds.length === 0) return { status: 404, body: '404 page not found' }
    const resources = kinds.map(({ plural, kind, scope }) => ({
      name: plural,
      kind,
      namespaced: scope !== 'Cluster',
      verbs: ['list', 'watch'],
    }))
    return { status: 200, body: { kind: 'APIResourceList', resources } }
  }

  #create(kind: FakeKind, object: Any, fieldManager?: string): Any {
    const { namespace, ...metadata } = object.metadata
    const stored: Stored = { object, applied: new Map(fieldManager === undefined ? [] : [[fieldManager, structuredClone(object)]]) }
    const creationTimestamp = new Date(this.#clock.now()).toISOString()
    const made = {
      ...structuredClone(object),
      metadata: {
        ...structuredClone(metadata),
        ...(namespace === undefined ? {} : { namespace }),
        uid: `uid-${++this.#uids}`,
        creationTimestamp,
        ...(kind.generation === false ? {} : { generation: 1 }),
      },
    } as unknown as Any
    const objects = this.#objects.get(kindKey(kind)) ?? new Map<string, Stored>()
    this.#objects.set(kindKey(kind), objects.set(keyOf(made.metadata), stored))
    return this.#tell(kind, 'ADDED', stored, made)
  }

  /** Takes over the new state: counts the generation, drops what a server drops, removes it where nothing holds it any more. */
  #store(kind: FakeKind, stored: Stored, next: Any): Any {
    const old = stored.object
    const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = old.metadata
    const fixed = { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp }
    const made = JSON.parse(JSON.stringify({ ...next, metadata: dropEmpty({ ...next.metadata, ...fixed }) })) as Any
    if (equalJson(made, old)) return structuredClone(old)
    const { metadata: _a, status: _b, ...before } = old
    const { metadata: _c, status: _d, ...after } = made
    if (generation !== undefined && !equalJson(before, after)) made.metadata.generation = generation + 1
    if (deletionTimestamp !== undefined && made.metadata.finalizers === undefined) return this.#remove(kind, stored, made)
    return this.#tell(kind, 'MODIFIED', stored, made)
  }

  #delete(kind: FakeKind, stored: Stored): Answer {
    const object = structuredClone(stored.object)
    if ((object.metadata.finalizers ?? []).length === 0) {
      this.#remove(kind, stored, object)
      return { status: 200, body: { kind: 'Status', status: 'Success' } }
    }
    if (object.metadata.deletionTimestamp !== undefined) return { status: 200, body: object }
    object.metadata.deletionTimestamp = new Date(this.#clock.now()).toISOString()
    if (object.metadata.generation !== undefined) object.metadata.generation++
    return { status: 200, body: this.#tell(kind, 'MODIFIED', stored, object) }
  }

  #remove(kind: FakeKind, stored: Stored, object: Any): Any {
    this.#objects.get(kindKey(kind))?.delete(keyOf(object.metadata))
    return this.#tell(kind, 'DELETED', stored, object)
  }

  #tell(kind: FakeKind, type: 'ADDED' | 'MODIFIED' | 'DELETED', stored: Stored, object: Any): Any {
    object.metadata.resourceVersion = String(++this.#version)
    stored.object = object
    this.#history.push({ kind: kindKey(kind), type, object: structuredClone(object), version: this.#version })
    this.#deliver()
    return structuredClone(object)
  }

  /** Server-side apply: what this manager sends, without what it sent before and sends no more. Its finalizers are its own. */
  #apply({ object, applied }: Stored, fieldManager: string, body: Any): Any {
    const before = applied.get(fieldManager)
    applied.set(fieldManager, structuredClone(body))
    const others = [...applied].filter(([name]) => name !== fieldManager).map(([, sent]) => sent)
    const next = structuredClone(object)
    if (before !== undefined) removeUnsent(next, before, body as unknown as Json, others)
    const finalizersOf = (sent: Json | undefined) =>
      (sent as { metadata?: { finalizers?: string[] } } | undefined)?.metadata?.finalizers ?? []
    const kept = new Set(others.flatMap(finalizersOf))
    const mine = finalizersOf(before).filter((entry) => !finalizersOf(body as unknown as Json).includes(entry) && !kept.has(entry))
    const finalizers = (object.metadata.finalizers ?? []).filter((entry) => !mine.includes(entry))
    const references = [...(object.metadata.ownerReferences ?? [])]
    for (const owner of body.metadata.ownerReferences ?? []) {
      const i = references.findIndex(({ uid }) => uid === owner.uid)
      references.splice(i < 0 ? references.length : i, i < 0 ? 0 : 1, owner)
    }
    merge(next, body as unknown as Json)
    next.metadata.finalizers = [...new Set([...finalizers, ...finalizersOf(body as unknown as Json)])]
    next.metadata.ownerReferences = references
    return next
  }

  // ---- lists and watches ----

  #list(kind: FakeKind, seen: Seen): Answer {
    const version = this.#visible(kind)
    const items = this.#at(kind, version).filter(wanted(seen))
    return { status: 200, body: { kind: `${kind.kind}List`, metadata: { resourceVersion: String(version) }, items } }
  }

  #watch(kind: FakeKind, seen: Seen, send: (line: object) => void, end: Watcher['end']): Watcher {
    const version = this.#visible(kind)
    const from = seen.query.get('resourceVersion')
    const watcher: Watcher = { kind, wants: wanted(seen), position: from === null ? version : Number(from), send, end }
    if (from === null) {
      for (const object of this.#at(kind, version).filter(watcher.wants)) send({ type: 'ADDED', object })
      const annotations = { 'k8s.io/initial-events-end': 'true' }
      send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version), annotations } } })
    }
    this.#watchers.add(watcher)
    this.#deliver()
    return watcher
  }

  #visible(kind: FakeKind): number {
    return this.#held.get(kindKey(kind)) ?? this.#version
  }

  /** The objects of a kind as they were at a version. */
  #at(kind: FakeKind, version: number): Any[] {
    const objects = new Map<string, Any>()
    for (const change of this.#history) {
      if (change.kind !== kindKey(kind) || change.version > version) continue
      if (change.type === 'DELETED') objects.delete(keyOf(change.object.metadata))
      else objects.set(keyOf(change.object.metadata), change.object)
    }
    return [...objects.values()]
  }

  #deliver(): void {
    for (const watcher of this.#watchers) {
      const visible = this.#visible(watcher.kind)
      for (const { kind, type, object, version } of this.#history) {
        if (version <= watcher.position || version > visible || kind !== kindKey(watcher.kind)) continue
        watcher.position = version
        const before = this.#at(watcher.kind, version - 1).find(({ metadata }) => metadata.uid === object.metadata.uid)
        const was = before !== undefined && watcher.wants(before)
        const is = type !== 'DELETED' && watcher.wants(object)
        if (was || is) watcher.send({ type: is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', object })
      }
    }
  }
}

function text(seen: Seen): string {
  return seen.text
}

function matcher(match: Match): (seen: Seen) => boolean {
  if (typeof match === 'function') return match
  return typeof match === 'string' ? (seen) => seen.text === match : (seen) => match.test(seen.text)
}

function wanted({ namespace, query }: Seen): (object: Any) => boolean {
  const labels = query.get('labelSelector')
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) && (labels === null || matchesLabels(labels, metadata.labels ?? {}))
}

function refusal(code: number, reason: string, message = reason, more: object = {}): Answer {
  return { status: code, body: { kind: 'Status', status: 'Failure', code, reason, message, ...more } }
}

function refused(old: Any, next: Any): string | undefined {
  const before = old.metadata.finalizers ?? []
  const added = (next.metadata.finalizers ?? []).some((entry) => !before.includes(entry))
  if (old.metadata.deletionTimestamp !== undefined && added)
    return 'metadata.finalizers: no new finalizers while the object is being deleted'
  const controllers = (next.metadata.ownerReferences ?? []).filter((owner: OwnerReference) => owner.controller)
  return controllers.length > 1 ? 'metadata.ownerReferences: only one reference can have controller set to true' : undefined
}

function manager({ query }: Seen): string {
  return query.get('fieldManager') ?? 'unknown'
}

function withNamespace(object: Any, namespace: string | undefined): Any {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }) } } as Any
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function merge(target: object, source: Json): void {
  const into = target as Json
  for (const [key, value] of Object.entries(source)) {
    if (isObject(value) && isObject(into[key])) merge(into[key], value)
    else into[key] = structuredClone(value)
  }
}

function removeUnsent(target: object, before: Json, now: Json, others: readonly Json[]): void {
  const from = target as Json
  for (const [key, value] of Object.entries(before)) {
    const below = others.map((other) => other[key]).filter(isObject)
    if (isObject(value) && isObject(from[key])) removeUnsent(from[key], value, isObject(now[key]) ? now[key] : {}, below)
    else if (!(key in now) && !others.some((other) => key in other)) delete from[key]
  }
}

/** A server keeps no empty lists and maps in `metadata`. */
function dropEmpty(metadata: Json): Json {
  return Object.fromEntries(
    Object.entries(metadata).filter(([, value]) => !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)),
  )
}
