import { expect } from 'chai'
import { Client, type ClientOptions } from '../../../lib/api/client.ts'
import { ConnectionError, StatusError } from '../../../lib/api/status-error.ts'
import { type KubeObject, kind } from '../../../lib/resource/kind.ts'
import { ManualClock } from '../manual-clock.ts'
import { type FakeAnswer, FakeTransport } from './fake-transport.ts'

type ConfigMap = KubeObject & { data?: Record<string, string> }
const ConfigMap = kind<ConfigMap>('v1', 'ConfigMap', { plural: 'configmaps', scope: 'Namespaced' })
const ClusterRole = kind('rbac.authorization.k8s.io/v1', 'ClusterRole', { plural: 'clusterroles', scope: 'Cluster' })
const Widget = kind('example.com/v1', 'Widget')

const at = (name: string) => ({ name, namespace: 'ns' })
const meta = (name: string) => ({ ...at(name), uid: 'u', resourceVersion: '1' })
const refusal = (status: number, reason: string, headers: Record<string, string> = {}): FakeAnswer => ({
  status,
  headers,
  body: { kind: 'Status', reason, message: reason, code: status },
})

describe('the client', () => {
  let clock: ManualClock

  function setUp(
    answer: (request: { method: string; path: string }, count: number) => FakeAnswer | Promise<FakeAnswer>,
    options: Partial<ClientOptions> = {},
  ) {
    const transport = new FakeTransport(answer)
    clock = new ManualClock()
    return { transport, client: new Client({ transport, clock, random: () => 0.5, ...options }) }
  }

  describe('asks for', () => {
    for (const [what, call, line, body] of [
      ['an object', (c: Client) => c.get(ConfigMap, at('a')), 'GET /api/v1/namespaces/ns/configmaps/a'],
      [
        'a subresource',
        (c: Client) => c.get(ConfigMap, at('a'), { subresource: 'status' }),
        'GET /api/v1/namespaces/ns/configmaps/a/status',
      ],
      [
        'a cluster-scoped one',
        (c: Client) => c.get(ClusterRole, { name: 'system:x y' }),
        'GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax%20y',
      ],
      [
        'a new one',
        (c: Client) => c.create(ConfigMap, { metadata: at('a'), data: { x: '1' } }),
        'POST /api/v1/namespaces/ns/configmaps',
        { metadata: at('a'), data: { x: '1' }, apiVersion: 'v1', kind: 'ConfigMap' },
      ],
      [
        'a dry run',
        (c: Client) => c.create(ConfigMap, { metadata: at('a') }, { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' }),
        'POST /api/v1/namespaces/ns/configmaps?dryRun=All&fieldManager=me&fieldValidation=Strict',
      ],
      [
        'a replacement',
        (c: Client) => c.update(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('a') }),
        'PUT /api/v1/namespaces/ns/configmaps/a',
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('a') },
      ],
      [
        'a merge patch',
        (c: Client) => c.patch(ConfigMap, at('a'), { type: 'merge', value: { data: { x: null } } }),
        'PATCH /api/v1/namespaces/ns/configmaps/a',
        { data: { x: null } },
      ],
      [
        'an apply',
        (c: Client) => c.apply(ConfigMap, { metadata: at('a') }, { fieldManager: 'me', force: true }),
        'PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=me&force=true',
        { metadata: at('a'), apiVersion: 'v1', kind: 'ConfigMap' },
      ],
      [
        'an apply of the status',
        (c: Client) => c.apply(ConfigMap, { metadata: at('a') }, { fieldManager: 'me', subresource: 'status' }),
        'PATCH /api/v1/namespaces/ns/configmaps/a/status?fieldManager=me',
      ],
      ['a deletion', (c: Client) => c.delete(ConfigMap, at('a')), 'DELETE /api/v1/namespaces/ns/configmaps/a', undefined],
      [
        'a deletion of this very object',
        (c: Client) =>
          c.delete(ConfigMap, at('a'), {
            uid: 'u',
            resourceVersion: '1',
            propagationPolicy: 'Foreground',
            gracePeriodSeconds: 0,
            dryRun: true,
          }),
        'DELETE /api/v1/namespaces/ns/configmaps/a',
        {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          preconditions: { uid: 'u', resourceVersion: '1' },
          propagationPolicy: 'Foreground',
          gracePeriodSeconds: 0,
          dryRun: ['All'],
        },
      ],
      ['a list', (c: Client) => c.list(ConfigMap), 'GET /api/v1/configmaps?limit=500'],
      [
        'a selection',
        (c: Client) =>
          c.list(ConfigMap, { namespace: 'ns', labels: { a: 'b' }, fields: { 'metadata.name': 'x' }, resourceVersion: '0', limit: 10 }),
        'GET /api/v1/namespaces/ns/configmaps?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=10&resourceVersion=0',
      ],
    ] as [string, (client: Client) => Promise<unknown>, string, object?][]) {
      it(`${what} by ${line}`, async () => {
        const { transport, client } = setUp(() => ({ body: { metadata: {}, items: [] } }))
        await call(client)
        expect(transport.lines).to.deep.equal([line])
        if (body !== undefined) expect(JSON.parse(transport.requests[0]?.body ?? '')).to.deep.equal(body)
        else if (line.startsWith('DELETE')) expect(transport.requests[0]?.body).to.equal(undefined)
      })
    }
  })

  it('says what it sends, what it wants and who it is', async () => {
    const { transport, client } = setUp(() => ({}), { userAgent: 'db-operator' })
    await client.get(ConfigMap, at('a'))
    await client.create(ConfigMap, { metadata: at('a') })
    await client.patch(ConfigMap, at('a'), { type: 'merge', value: {} })
    await client.patch(ConfigMap, at('a'), { type: 'strategic', value: {} })
    await client.patch(ConfigMap, at('a'), { type: 'json', value: [] })
    await client.apply(ConfigMap, { metadata: at('a') }, { fieldManager: 'me' })
    expect(transport.requests.map(({ headers }) => headers?.['content-type'])).to.deep.equal([
      undefined,
      'application/json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/json-patch+json',
      'application/apply-patch+yaml',
    ])
    expect(transport.requests[0]?.headers).to.deep.equal({ accept: 'application/json', 'user-agent': 'db-operator' })
  })

  it('looks up a kind that does not say where it lives, once', async () => {
    const { transport, client } = setUp(({ path }) =>
      path === '/apis/example.com/v1' ? { body: { resources: [{ name: 'widgets', kind: 'Widget', namespaced: false, verbs: [] }] } } : {},
    )
    await client.get(Widget, { name: 'a' })
    await client.get(Widget, { name: 'b' })
    expect(transport.lines).to.deep.equal([
      'GET /apis/example.com/v1',
      'GET /apis/example.com/v1/widgets/a',
      'GET /apis/example.com/v1/widgets/b',
    ])
  })

  it('gives paths for those who make requests of their own', async () => {
    const { client } = setUp(() => ({}))
    expect(await client.pathOf(ConfigMap, {})).to.equal('/api/v1/configmaps')
    expect(await client.pathOf(ConfigMap, { namespace: 'ns' })).to.equal('/api/v1/namespaces/ns/configmaps')
    expect(await client.pathOf(ConfigMap, at('a'), 'status')).to.equal('/api/v1/namespaces/ns/configmaps/a/status')
  })

  for (const [what, call, message] of [
    ['no namespace', (c: Client) => c.get(ConfigMap, { name: 'a' }), 'ConfigMap lives in a namespace: say which one'],
    ['no namespace for a new one', (c: Client) => c.create(ConfigMap, { metadata: { name: 'a' } }), 'ConfigMap lives in a namespace'],
    [
      'a namespace too much',
      (c: Client) => c.list(ClusterRole, { namespace: 'ns' }),
      'ClusterRole is cluster-scoped: leave out the namespace "ns"',
    ],
    ['no name', (c: Client) => c.get(ConfigMap, at('')), 'the name is missing'],
    ['no name for a new one', (c: Client) => c.create(ConfigMap, { metadata: { namespace: 'ns' } }), 'metadata.name is missing'],
    ['no metadata', (c: Client) => c.apply(ConfigMap, {}, { fieldManager: 'me' }), 'ConfigMap lives in a namespace'],
    ['a name with a slash', (c: Client) => c.get(ConfigMap, at('a/b')), '"a/b" cannot be a name'],
    ['a name that leads elsewhere', (c: Client) => c.delete(ConfigMap, at('..')), '".." cannot be a name'],
    ['a namespace that leads elsewhere', (c: Client) => c.list(ConfigMap, { namespace: '../x' }), '"../x" cannot be a namespace'],
    ['an apiVersion that is none', (c: Client) => c.get({ ...ConfigMap, apiVersion: 'a/b/c' }, at('a')), '"a/b/c" is no apiVersion'],
    ['a selector that makes no sense', (c: Client) => c.list(ConfigMap, { labels: 'a b' }), 'label selector'],
  ] as const) {
    it(`refuses ${what} with a TypeError and sends nothing`, async () => {
      const { transport, client } = setUp(() => ({}))
      const error = await failure(call(client))
      expect(error).to.be.instanceOf(TypeError)
      expect((error as Error).message).to.contain(message)
      expect(transport.requests).to.have.length(0)
    })
  }

  it('finds nothing where the server says that this very object is not there', async () => {
    const { client } = setUp(() => ({ status: 404, body: { kind: 'Status', reason: 'NotFound', code: 404, details: { name: 'a' } } }))
    expect(await client.find(ConfigMap, at('a'))).to.equal(undefined)
    expect(await failure(client.get(ConfigMap, at('a'))))
      .to.be.instanceOf(StatusError)
      .and.include({ status: 404, reason: 'NotFound' })
  })

  it('does not take a path that is not served for an object that is not there', async () => {
    const { client } = setUp(() => ({ status: 404, body: '404 page not found' }))
    expect(await failure(client.find(ConfigMap, at('a')))).to.be.instanceOf(StatusError)
  })

  it('passes other failures of find on', async () => {
    const { client } = setUp(() => refusal(403, 'Forbidden'))
    expect(await failure(client.find(ConfigMap, at('a')))).to.include({ status: 403 })
  })

  it('says what answered where it was no API server', async () => {
    const { client } = setUp(() => ({ body: '<html>log in</html>' }))
    expect(((await failure(client.get(ConfigMap, at('a')))) as Error).message).to.contain(
      'no JSON but "<html>log in</html>"; is this an API server?',
    )
  })

  describe('after a deletion', () => {
    for (const [what, body, there] of [
      ['gone, by a Status', { kind: 'Status', status: 'Success' }, false],
      ['gone, by the last state', { kind: 'Service', metadata: meta('a') }, false],
      [
        'gone, by the last state of a Pod',
        { kind: 'Pod', metadata: { ...meta('a'), deletionTimestamp: 'now', deletionGracePeriodSeconds: 0 } },
        false,
      ],
      [
        'waiting for a finalizer',
        { kind: 'ConfigMap', metadata: { ...meta('a'), deletionTimestamp: 'now', deletionGracePeriodSeconds: 0, finalizers: ['x'] } },
        true,
      ],
      [
        'waiting for its grace period',
        { kind: 'Pod', metadata: { ...meta('a'), deletionTimestamp: 'now', deletionGracePeriodSeconds: 30 } },
        true,
      ],
      [
        'a namespace being emptied',
        { kind: 'Namespace', metadata: { ...meta('a'), deletionTimestamp: 'now' }, spec: { finalizers: ['kubernetes'] } },
        true,
      ],
    ] as const) {
      it(`an object is ${what}`, async () => {
        const { client } = setUp(() => ({ body }))
        expect(await client.delete(ConfigMap, at('a'))).to.deep.equal(there ? body : undefined)
      })
    }
  })

  describe('lists', () => {
    const page = (names: string[], next = ''): FakeAnswer => ({
      body: {
        kind: 'ConfigMapList',
        metadata: { resourceVersion: '7', continue: next },
        items: names.map((name) => ({ metadata: meta(name) })),
      },
    })

    it('all pages, and says what each item is', async () => {
      const { transport, client } = setUp((_request, count) => (count === 1 ? page(['a', 'b'], 'next/1') : page(['c'])))
      const { items, resourceVersion } = await client.list(ConfigMap, { labels: 'x', resourceVersion: '0' })
      expect(items.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`)).to.deep.equal([
        'v1 ConfigMap a',
        'v1 ConfigMap b',
        'v1 ConfigMap c',
      ])
      expect(resourceVersion).to.equal('7')
      expect(transport.lines).to.deep.equal([
        'GET /api/v1/configmaps?labelSelector=x&limit=500&resourceVersion=0',
        'GET /api/v1/configmaps?labelSelector=x&limit=500&continue=next%2F1',
      ])
    })

    it('from the start once more when a continue token has expired', async () => {
      const { transport, client } = setUp(
        (_request, count) => [page(['a'], 'n1'), refusal(410, 'Expired'), page(['a'], 'n2'), page(['b'])][count - 1] ?? {},
      )
      expect((await client.list(ConfigMap)).items.map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b'])
      expect(transport.requests).to.have.length(4)
    })

    it('and gives up when it expires again', async () => {
      const { transport, client } = setUp((_request, count) => (count % 2 === 1 ? page(['a'], 'n') : refusal(410, 'Expired')))
      expect(await failure(client.list(ConfigMap)))
        .to.be.instanceOf(StatusError)
        .and.include({ status: 410 })
      expect(transport.requests).to.have.length(4)
    })

    it('no second time when the first page is gone', async () => {
      const { transport, client } = setUp(() => refusal(410, 'Expired'))
      expect(await failure(client.list(ConfigMap, { resourceVersion: '1' }))).to.include({ status: 410 })
      expect(transport.requests).to.have.length(1)
    })

    it('nothing where items are null', async () => {
      const { client } = setUp(() => ({ body: { metadata: { resourceVersion: '1' }, items: null } }))
      expect(await client.list(ConfigMap)).to.deep.equal({ items: [], resourceVersion: '1' })
    })
  })

  describe('repeats', () => {
    const get = (client: Client) => client.get(ConfigMap, at('a'))
    const create = (client: Client) => client.create(ConfigMap, { metadata: at('a') })
    const broken = () => {
      throw new ConnectionError('broken')
    }
    const once = (failed: () => FakeAnswer) => (_request: unknown, count: number) => (count === 1 ? failed() : {})

    for (const [what, failed, call, repeated] of [
      ['a read after a lost connection', broken, get, true],
      ['a read after 429', () => refusal(429, 'TooManyRequests'), get, true],
      ['a read after 503', () => refusal(503, 'ServiceUnavailable'), get, true],
      ['a write after 429', () => refusal(429, 'TooManyRequests'), create, true],
      ['a read after 500', () => refusal(500, 'InternalError'), get, false],
      ['a write after a lost connection', broken, create, false],
      ['a write after 503', () => refusal(503, 'ServiceUnavailable'), create, false],
      ['a write after 409', () => refusal(409, 'Conflict'), create, false],
    ] as const) {
      it(`${repeated ? '' : 'not '}${what}`, async () => {
        const { transport, client } = setUp(once(failed))
        const done = call(client).then(
          () => true,
          () => false,
        )
        await clock.advance(1000)
        expect(await done).to.equal(repeated)
        expect(transport.requests).to.have.length(repeated ? 2 : 1)
      })
    }

    it('after growing pauses, and gives up after four', async () => {
      const { transport, client } = setUp(broken)
      const error = failure(get(client))
      // random() is 0.5: three quarters of 250, 500, 1000, 2000 ms.
      for (const [i, pause] of [187.5, 375, 750, 1500].entries()) {
        await clock.advance(pause - 1)
        expect(transport.requests).to.have.length(i + 1)
        await clock.advance(1)
        expect(transport.requests).to.have.length(i + 2)
      }
      expect(await error).to.be.instanceOf(ConnectionError)
    })

    it('not before the time of Retry-After', async () => {
      const { transport, client } = setUp(once(() => refusal(429, 'TooManyRequests', { 'retry-after': '3' })))
      const done = create(client)
      await clock.advance(3000)
      expect(transport.requests).to.have.length(1)
      await clock.advance(250)
      await done
      expect(transport.requests).to.have.length(2)
    })

    it('not where the server asks for more than 10 s: the caller hears of it', async () => {
      const { client } = setUp(() => refusal(429, 'TooManyRequests', { 'retry-after': '60' }))
      expect(await failure(get(client))).to.include({ status: 429, retryAfterMs: 60_000 })
    })

    it('not where the caller wants none', async () => {
      const { transport, client } = setUp(broken)
      await failure(client.get(ConfigMap, at('a'), { retries: 0 }))
      expect(transport.requests).to.have.length(1)
    })

    it('not after the signal, whose reason it gives', async () => {
      const { transport, client } = setUp(broken)
      const abort = new AbortController()
      const error = failure(client.get(ConfigMap, at('a'), { signal: abort.signal }))
      await clock.advance(10)
      const reason = new Error('no more')
      abort.abort(reason)
      expect(await error).to.equal(reason)
      await clock.advance(10_000)
      expect(transport.requests).to.have.length(1)
    })
  })

  describe('with a write gate', () => {
    const writes: [string, (client: Client) => Promise<unknown>][] = [
      ['create', (c) => c.create(ConfigMap, { metadata: at('a') })],
      ['update', (c) => c.update(ConfigMap, { metadata: meta('a') })],
      ['patch', (c) => c.patch(ConfigMap, at('a'), { type: 'merge', value: {} })],
      ['apply', (c) => c.apply(ConfigMap, { metadata: at('a') }, { fieldManager: 'me' })],
      ['delete', (c) => c.delete(ConfigMap, at('a'))],
    ]

    for (const [name, call] of writes) {
      it(`that is shut, ${name} throws and sends nothing`, async () => {
        const shut = new Error('the lease is lost')
        const gate = {
          check() {
            throw shut
          },
        }
        const { transport, client } = setUp(() => ({}), { gate })
        expect(await failure(call(client))).to.equal(shut)
        expect(transport.requests).to.have.length(0)
      })
    }

    it('has the transport ask it once more before it sends a write, and no read', async () => {
      let asked = 0
      const { transport, client } = setUp(() => ({ body: { metadata: {}, items: [] } }), { gate: { check: () => void asked++ } })
      for (const [, call] of writes) await call(client)
      await client.get(ConfigMap, at('a'))
      asked = 0
      for (const { beforeSend } of transport.requests) beforeSend?.()
      expect(asked).to.equal(writes.length)
    })

    it('does not ask it for reads', async () => {
      let asked = 0
      const { client } = setUp(() => ({ body: { metadata: {}, items: [] } }), { gate: { check: () => void asked++ } })
      await client.get(ConfigMap, at('a'))
      await client.find(ConfigMap, at('a'))
      await client.list(ConfigMap)
      expect(asked).to.equal(0)
    })

    it('asks it again before it repeats a write', async () => {
      const shut = new Error('the lease is lost')
      let open = true
      const gate = {
        check() {
          if (!open) throw shut
        },
      }
      const { transport, client } = setUp(() => refusal(429, 'TooManyRequests'), { gate })
      const error = failure(client.delete(ConfigMap, at('a')))
      await clock.advance(0)
      open = false
      await clock.advance(1000)
      expect(await error).to.equal(shut)
      expect(transport.requests).to.have.length(1)
    })
  })

  it('hands signal and time limit on', async () => {
    const { transport, client } = setUp(() => ({}), { timeoutMs: 7 })
    const { signal } = new AbortController()
    await client.get(ConfigMap, at('a'), { signal })
    await client.delete(ConfigMap, at('a'), { timeoutMs: 5 })
    expect(transport.requests.map(({ signal, timeoutMs }) => [signal, timeoutMs])).to.deep.equal([
      [signal, 7],
      [undefined, 5],
    ])
  })
})

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('expected a failure')
    },
    (error) => error,
  )
}
