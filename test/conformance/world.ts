/**
 * What a case speaks to a server with. Everything asked is written down, in order, for the comparison; what is asked through
 * `quiet` is not, and must succeed.
 *
 * Paths that do not begin with a slash are in the case's namespace: `configmaps/a`, `apps/v1/deployments/web/scale`,
 * `${t.group}/v1/widgets?limit=2`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Ask, Stream, Target, WatchEvent } from './target.ts'

/** One line of what is compared. */
export interface Exchange {
  /** `POST /api/v1/…`, or `WATCH …`. */
  readonly ask: string
  readonly status?: number
  /** Absent: application/json. */
  readonly type?: string
  readonly warnings?: readonly string[]
  readonly retryAfter?: string
  readonly body?: unknown
  readonly events?: readonly WatchEvent[]
  /** Of a watch: it ended by itself. */
  readonly ended?: boolean
  /** What was waited for did not happen. */
  readonly late?: boolean
}

export interface Options {
  readonly headers?: Readonly<Record<string, string>>
  /** The part of an answer that is compared. */
  readonly pick?: (body: Body) => unknown
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any kind, read by cases that know them
export type Body = any
export type Reply = Omit<Answer, 'body'> & { readonly body: Body }

/** How long something asynchronous may take on a busy machine. A real server learns of new kinds to collect every 30 s. */
const PATIENCE_MS = 60_000
/** How long nothing may come before a watch counts as silent. */
const SILENCE_MS = 150

export class Requests {
  readonly #target: Target
  readonly #place: Place
  readonly #log: Exchange[] | undefined

  constructor(target: Target, place: Place, log: Exchange[] | undefined) {
    this.#target = target
    this.#place = place
    this.#log = log
  }

  get(path: string, options?: Options): Promise<Reply> {
    return this.ask('GET', path, undefined, options)
  }
  post(path: string, body: unknown, options?: Options): Promise<Reply> {
    return this.ask('POST', path, body, options)
  }
  put(path: string, body: unknown, options?: Options): Promise<Reply> {
    return this.ask('PUT', path, body, options)
  }
  delete(path: string, body?: unknown, options?: Options): Promise<Reply> {
    return this.ask('DELETE', path, body, options)
  }
  merge(path: string, body: unknown, options?: Options): Promise<Reply> {
    return this.#patch('merge-patch+json', path, body, options)
  }
  strategic(path: string, body: unknown, options?: Options): Promise<Reply> {
    return this.#patch('strategic-merge-patch+json', path, body, options)
  }
  json(path: string, body: unknown, options?: Options): Promise<Reply> {
    return this.#patch('json-patch+json', path, body, options)
  }
  /** Server-side apply; `fieldManager` and `force` stand in the path. */
  apply(path: string, body: unknown, options?: Options): Promise<Reply> {
    return this.#patch('apply-patch+yaml', path, body, options)
  }
  #patch(type: string, path: string, body: unknown, options: Options = {}): Promise<Reply> {
    return this.ask('PATCH', path, body, { ...options, headers: { 'content-type': `application/${type}`, ...options.headers } })
  }

  async ask(method: string, path: string, body?: unknown, { headers, pick }: Options = {}): Promise<Reply> {
    const full = this.#place.at(path)
    const ask: Ask = { method, path: full, body, ...(headers && { headers }) }
    const answer = (await this.#target.ask(ask)) as Reply
    this.#place.remember(ask)
    if (this.#log === undefined && answer.status >= 400) throw new Error(`${method} ${full}: ${JSON.stringify(answer.body)}`)
    this.#log?.push(exchangeOf(labelOf(method, full, headers), answer, pick))
    return answer
  }

  /** Asks again until the answer is right, and writes that one down. */
  async until(path: string, isRight: (answer: Reply) => boolean, options: Options = {}): Promise<Reply> {
    const full = this.#place.at(path)
    const end = performance.now() + PATIENCE_MS
    for (let wait = 10; ; wait = Math.min(wait * 1.5, 300)) {
      const answer = (await this.#target.ask({ method: 'GET', path: full, ...(options.headers && { headers: options.headers }) })) as Reply
      const right = isRight(answer)
      if (!right && performance.now() < end) {
        await pause(wait)
        continue
      }
      if (!right && this.#log === undefined) throw new Error(`GET ${full} never was as it should: ${JSON.stringify(answer.body)}`)
      this.#log?.push({ ...exchangeOf(labelOf('GET', full), answer, options.pick), ...(!right && { late: true }) })
      return answer
    }
  }

  gone(path: string): Promise<Reply> {
    return this.until(path, ({ status }) => status === 404)
  }

  async watch(path: string, headers?: Record<string, string>): Promise<Watch> {
    const full = this.#place.at(path)
    const stream = await this.#target.watch(full, headers)
    this.#place.streams.push(stream)
    return new Watch(labelOf('WATCH', full, headers), stream, this.#log)
  }
}

/** Where a case is, and what it has done there. */
class Place {
  readonly id: string
  readonly namespace: string
  readonly group: string
  readonly streams: Stream[] = []
  /** Paths of what was made outside the namespace. */
  readonly made: string[] = []
  sent = ''

  constructor(id: string) {
    this.id = id
    this.namespace = `ns-${id}`
    this.group = `${id}.example.com`
  }

  at(path: string): string {
    if (path.startsWith('/')) return path
    const match = /^([a-z][a-z0-9.-]*)\/(v\d[a-z0-9]*)\/(.*)$/.exec(path)
    if (match === null) return `/api/v1/namespaces/${this.namespace}/${path}`
    return `/apis/${match[1]}/${match[2]}/namespaces/${this.namespace}/${match[3]}`
  }

  remember({ method, path, body }: Ask): void {
    this.sent += ` ${typeof body === 'string' ? body : JSON.stringify(body)}`
    const made = /^\/apis?\/(?:v1|[^/]+\/[^/]+)\/([^/?]+)/.exec(path)
    if (method !== 'POST' || made === null || made[1] === 'namespaces') return
    const name = (body as { metadata?: { name?: string } } | undefined)?.metadata?.name
    if (name !== undefined && !path.includes('dryRun')) this.made.push(`${path.split('?')[0]}/${name}`)
  }
}

/** A case's view of a server: a namespace of its own, and an API group for definitions. */
export class World extends Requests {
  /** A word of ten letters that nothing else on the server has. */
  readonly id: string
  readonly namespace: string
  readonly group: string
  readonly quiet: Requests
  readonly log: Exchange[]
  readonly #target: Target
  readonly #place: Place

  constructor(target: Target, id: string) {
    const place = new Place(id)
    const log: Exchange[] = []
    super(target, place, log)
    this.id = id
    this.namespace = place.namespace
    this.group = place.group
    this.log = log
    this.quiet = new Requests(target, place, undefined)
    this.#target = target
    this.#place = place
  }

  at(path: string): string {
    return this.#place.at(path)
  }

  /** All that was sent, so that it is not taken for something the server chose. */
  get sent(): string {
    return this.#place.sent
  }

  /** With the objects that the server puts into every namespace. */
  async open(): Promise<void> {
    await this.quiet.post('/api/v1/namespaces', { metadata: { name: this.namespace } })
    await this.quiet.until('serviceaccounts/default', ({ status }) => status === 200)
    await this.quiet.until('configmaps/kube-root-ca.crt', ({ status }) => status === 200)
  }

  /** Makes a kind, and returns when the server serves it in all its parts. */
  async define(definition: Definition): Promise<void> {
    const { plural, kind, scope = 'Namespaced', versions, names, ...more } = definition
    const name = `${plural}.${this.group}`
    const spec = { group: this.group, scope, names: { plural, kind, ...names }, versions, ...more }
    await this.quiet.post(DEFINITIONS, { metadata: { name }, spec })
    await this.served(plural)
  }

  async served(plural: string): Promise<void> {
    const { body } = await this.quiet.until(`${DEFINITIONS}/${plural}.${this.group}`, ({ body }) =>
      body.status?.conditions?.some((each: Body) => each.type === 'Established' && each.status === 'True'),
    )
    for (const { name, served } of body.spec.versions)
      if (served) await this.quiet.until(`/apis/${this.group}/${name}/${plural}`, ({ status }) => status === 200)
  }

  /** Takes away what the case made. */
  async close(): Promise<void> {
    for (const stream of this.#place.streams) stream.close()
    for (const path of [...this.#place.made.reverse(), `/api/v1/namespaces/${this.namespace}`])
      await this.#target.ask({ method: 'DELETE', path })
  }
}

export interface Definition {
  readonly plural: string
  readonly kind: string
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly names?: object
  readonly versions: readonly object[]
  readonly conversion?: object
}

/** A version with this schema of `spec` and `status`. */
export function version(name: string, properties: object, more: object = {}): object {
  const openAPIV3Schema = { type: 'object', properties }
  return { name, served: true, storage: true, schema: { openAPIV3Schema }, ...more }
}

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export class Watch {
  readonly stream: Stream
  readonly #label: string
  readonly #log: Exchange[] | undefined

  constructor(label: string, stream: Stream, log: Exchange[] | undefined) {
    this.#label = label
    this.stream = stream
    this.#log = log
  }

  /** Waits for so many events, and a moment longer for one too many; writes down what came. */
  async events(count: number): Promise<readonly WatchEvent[]> {
    const came = await this.#wait(() => this.#told().length >= count || this.stream.ended)
    await pause(SILENCE_MS)
    return this.#write(!came)
  }

  /** Waits for an event of an object of this name. */
  async untilNamed(name: string): Promise<readonly WatchEvent[]> {
    const came = await this.#wait(
      () => this.stream.ended || this.#told().some((each) => typeof each !== 'string' && (each.object as Body).metadata?.name === name),
    )
    return this.#write(!came)
  }

  async end(): Promise<readonly WatchEvent[]> {
    const came = await this.#wait(() => this.stream.ended)
    return this.#write(!came)
  }

  /** Without bookmarks, which may come at any time, but for the one that ends the state. */
  #told(): WatchEvent[] {
    return this.stream.events.filter((each) => typeof each === 'string' || each.type !== 'BOOKMARK' || endsState(each.object))
  }

  #write(late: boolean): readonly WatchEvent[] {
    const { status, type, ended } = this.stream
    const events = this.#told()
    this.#log?.push({ ask: this.#label, status, ...typed(type), events, ended, ...(late && { late }) })
    return events
  }

  #wait(isDone: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), PATIENCE_MS)
      const look = () => {
        if (!isDone()) return
        clearTimeout(timer)
        resolve(true)
      }
      this.stream.changed(look)
      look()
    })
  }
}

const endsState = (object: Body) => object.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true' || object.kind === 'Table'

function exchangeOf(ask: string, { status, type, warnings, retryAfter, body }: Answer, pick?: (body: Body) => unknown): Exchange {
  return {
    ask,
    status,
    ...typed(type),
    ...(warnings.length > 0 && { warnings }),
    ...(retryAfter !== undefined && { retryAfter }),
    body: pick === undefined ? body : pick(body),
  }
}

const typed = (type: string) => (type === 'application/json' ? {} : { type })

function labelOf(method: string, path: string, headers: Readonly<Record<string, string>> = {}): string {
  const { accept, 'content-type': type, 'impersonate-user': user } = headers
  const sort = type === undefined ? '' : ` (${type.replace(/^application\//, '').replace(/-patch\+(json|yaml)$/, '')})`
  return `${method}${sort} ${path}${accept === undefined ? '' : ` as ${accept}`}${user === undefined ? '' : ` by ${user}`}`
}
