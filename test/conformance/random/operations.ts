/** Random operations: what one is, and how it is asked of a server. */
import fc from 'fast-check'
import type { Body, Reply, World } from '../world.ts'
import { contents, GROUP_VERSION, KIND_NAME, KINDS, type Kind, NAMES, statuses } from './contents.ts'

/** Which resourceVersion a write carries: the newest that the client saw, the one before, or none. */
type Freshness = 'none' | 'current' | 'stale'

interface On {
  readonly kind: Kind
  readonly name: string
}
export type Operation = On &
  (
    | { op: 'create'; content: Body; query: string }
    | { op: 'update'; content: Body; query: string; version: Freshness }
    | { op: 'merge' | 'strategic'; content: Body; query: string; version: Freshness }
    | { op: 'json'; patch: readonly object[]; query: string }
    | { op: 'apply'; content: Body; query: string }
    | { op: 'status'; how: 'merge' | 'update' | 'apply'; status: Body; query: string }
    | { op: 'scale'; how: 'merge' | 'update'; replicas: number; query: string }
    | { op: 'delete'; body: Body; version: Freshness }
    | { op: 'get' }
    | { op: 'list'; query: string; next: boolean }
  )

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const freshness = pick<Freshness>('none', 'current', 'current', 'stale')
const query = pick('', '', 'fieldManager=one', 'fieldManager=two', 'fieldManager=two&dryRun=All', 'fieldValidation=Strict')
const applied = fc
  .tuple(pick('one', 'two', 'three'), pick('', '', '&force=true', '&dryRun=All'))
  .map(([manager, more]) => `fieldManager=${manager}${more}`)
const listed = pick(
  '',
  'limit=1',
  'limit=1&labelSelector=x',
  'labelSelector=x%3D1',
  'labelSelector=x!%3D1,!y',
  'fieldSelector=metadata.name%3Da',
  'limit=2',
)

const PATHS: Readonly<Record<Kind, readonly string[]>> = {
  configmaps: ['/data/a', '/data', '/immutable'],
  secrets: ['/data/a', '/stringData/b', '/type'],
  services: ['/spec/ports/0/port', '/spec/ports/-', '/spec/selector/x', '/spec/type'],
  deployments: [
    '/spec/replicas',
    '/spec/template/spec/containers/0/image',
    '/spec/template/spec/containers/0/env/0',
    '/spec/template/spec/containers/1',
    '/spec/strategy',
  ],
  things: [
    '/spec/replicas',
    '/spec/set/-',
    '/spec/set/0',
    '/spec/ports/0',
    '/spec/map/k',
    '/spec/whole',
    '/spec/maybe',
    '/spec/free/a/b/-',
    '/spec/nested/deep',
  ],
}
const jsonPatch = (kind: Kind) =>
  fc.array(
    fc.record({
      op: pick('add', 'add', 'replace', 'remove', 'test'),
      path: pick(
        ...PATHS[kind],
        '/metadata/labels/x',
        '/metadata/labels',
        '/metadata/annotations/example.com~1o',
        '/metadata/finalizers/0',
      ),
      // A real server tells no bytes from an empty text, for a moment.
      value: pick<unknown>('1', 'a', 2, {}, [], ...(kind === 'secrets' ? [] : [null]), { x: 1 }, { port: 1 }),
    }),
    { minLength: 1, maxLength: 2 },
  )

const all = (kind: Kind): fc.Arbitrary<Operation> => {
  const on = { kind: fc.constant(kind), name: pick(...NAMES) }
  const of = <O>(weight: number, members: { [K in keyof O]: fc.Arbitrary<O[K]> }) => ({
    weight,
    arbitrary: fc.record({ ...on, ...members }) as unknown as fc.Arbitrary<Operation>,
  })
  const op = <T extends string>(...names: T[]) => pick<T>(...names)
  const whole = contents(kind, false)
  const partial = contents(kind, true)
  const [status, partialStatus] = [statuses(kind, false), statuses(kind, true)]
  const withStatus = kind === 'things' || kind === 'deployments' || kind === 'services'
  const withScale = kind === 'things' || kind === 'deployments'
  return fc.oneof(
    of(4, { op: op('create'), content: whole, query }),
    of(3, { op: op('update'), content: whole, query, version: freshness }),
    of(3, { op: op('merge'), content: partial, query, version: freshness }),
    of(3, { op: op('strategic'), content: partial, query, version: pick<Freshness>('none', 'none', 'stale') }),
    of(2, { op: op('json'), patch: jsonPatch(kind), query }),
    of(6, {
      op: op('apply'),
      content: kind === 'deployments' ? fc.oneof(whole, partial) : fc.oneof({ weight: 3, arbitrary: whole }, partial),
      query: applied,
    }),
    of(2, {
      op: op('delete'),
      body: pick<Body>({}, {}, { propagationPolicy: 'Background' }, { dryRun: ['All'] }, { gracePeriodSeconds: 0 }),
      version: pick<Freshness>('none', 'none', 'current', 'stale'),
    }),
    of(1, { op: op('get') }),
    of(1, { op: op('list'), query: listed, next: fc.boolean() }),
    ...(withStatus
      ? [of(2, { op: op('status'), how: pick('merge', 'update', 'apply'), status: fc.oneof(status, partialStatus), query: applied })]
      : []),
    ...(withScale ? [of(1, { op: op('scale'), how: pick('merge', 'update'), replicas: pick(0, 1, 4, -1, 6), query })] : []),
  )
}

/** Most of a sequence is about one kind, so that its operations meet. */
export const sequence: fc.Arbitrary<readonly Operation[]> = pick<Kind>(...KINDS).chain((kind) =>
  fc.array(fc.oneof({ weight: 9, arbitrary: all(kind) }, { weight: 1, arbitrary: all('configmaps') }), { minLength: 3, maxLength: 14 }),
)

/** What a client of one server remembers from step to step. */
export class Client {
  readonly #t: World
  readonly #group: string
  /** resourceVersions by object, as they were seen. */
  readonly #seen = new Map<string, string[]>()
  readonly #tokens = new Map<string, string>()

  constructor(t: World, group: string) {
    this.#t = t
    this.#group = group
  }

  collection(kind: Kind): string {
    const version = GROUP_VERSION[kind](this.#group)
    return version === 'v1' ? kind : `${version}/${kind}`
  }

  async run(operation: Operation): Promise<void> {
    const { kind, name } = operation
    const key = `${kind}/${name}`
    const { body, status } = await this.#ask(operation)
    if (operation.op === 'list' || status >= 400 || body?.metadata?.resourceVersion === undefined || body.kind === 'Scale') return
    const seen = this.#seen.get(key) ?? []
    if (seen.at(-1) !== body.metadata.resourceVersion) this.#seen.set(key, [...seen, body.metadata.resourceVersion])
  }

  #ask(operation: Operation): Promise<Reply> {
    const t = this.#t
    const { kind, name, op } = operation
    const all = this.collection(kind)
    const one = `${all}/${name}`
    const to = (path: string, query: string) => (query === '' ? path : `${path}?${query}`)
    switch (op) {
      case 'create':
        return t.post(to(all, operation.query), this.#object(operation, operation.content))
      case 'update':
        return t.put(to(one, operation.query), this.#object(operation, operation.content, dry(operation) ? 'none' : operation.version))
      case 'merge':
      case 'strategic':
        return t[op](to(one, operation.query), this.#versioned(operation, operation.content, operation.version))
      case 'json':
        return t.json(to(one, operation.query), operation.patch)
      case 'apply':
        return t.apply(to(one, operation.query), this.#object(operation, operation.content))
      case 'status':
        if (operation.how === 'merge')
          return t.merge(to(`${one}/status`, operation.query.replace('&force=true', '')), { status: operation.status })
        if (operation.how === 'update')
          return t.put(
            to(`${one}/status`, operation.query.replace('&force=true', '')),
            this.#object(operation, { status: operation.status }, 'current'),
          )
        return t.apply(to(`${one}/status`, operation.query), this.#object(operation, { status: operation.status }))
      case 'scale': {
        const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas: operation.replicas } }
        return operation.how === 'merge'
          ? t.merge(to(`${one}/scale`, operation.query), { spec: scale.spec })
          : t.put(to(`${one}/scale`, operation.query), scale)
      }
      case 'delete': {
        const resourceVersion = this.#version(operation, operation.version)
        return t.delete(one, resourceVersion === undefined ? operation.body : { ...operation.body, preconditions: { resourceVersion } })
      }
      case 'get':
        return t.get(one)
      case 'list':
        return this.#list(kind, operation.query, operation.next)
    }
  }

  async #list(kind: Kind, query: string, next: boolean): Promise<Reply> {
    const token = this.#tokens.get(kind)
    const parts = [
      query,
      kind === 'configmaps' && !query.includes('fieldSelector') ? OWN : '',
      next && token ? `continue=${encodeURIComponent(token)}` : '',
    ]
    const reply = await this.#t.get(`${this.collection(kind)}?${parts.filter((part) => part !== '').join('&')}`)
    this.#tokens.set(kind, reply.body?.metadata?.continue ?? '')
    return reply
  }

  #object({ kind, name }: On, content: Body, version: Freshness = 'none'): Body {
    const { metadata, ...rest } = this.#versioned({ kind, name }, content, version)
    return { apiVersion: GROUP_VERSION[kind](this.#group), kind: KIND_NAME[kind], metadata: { name, ...metadata }, ...rest }
  }

  #versioned(on: On, content: Body, version: Freshness): Body {
    const resourceVersion = this.#version(on, version)
    return resourceVersion === undefined ? content : { ...content, metadata: { ...content.metadata, resourceVersion } }
  }

  #version({ kind, name }: On, version: Freshness): string | undefined {
    const seen = this.#seen.get(`${kind}/${name}`) ?? []
    return version === 'none' ? undefined : seen.at(version === 'current' ? -1 : -2)
  }
}

/** A PUT that creates, in a dry run, repeats the version that it was given, whatever that was. */
const dry = ({ query }: { query: string }) => query.includes('dryRun')

/** Every namespace gets this one of its own, some time. */
export const OWN = 'fieldSelector=metadata.name!%3Dkube-root-ca.crt'
