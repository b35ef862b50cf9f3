import { expect } from 'chai'
import type { AdmissionPlugin } from '../../../../lib/embedded/core.ts'
import { SYSTEM } from '../../../../lib/embedded/core.ts'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { ApiError } from '../../../../lib/embedded/status.ts'
import type { ApiObject, ResourceType, StoreEvent } from '../../../../lib/embedded/types.ts'
import { type Api, apiOf } from '../api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const map = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...more })

describe('a write of the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  let maps: ResourceType
  /** As a script of random numbers; then always the last one. */
  let numbers: number[]

  beforeEach(async () => {
    numbers = []
    const random = () => (numbers.length > 1 ? (numbers.shift() ?? 0) : (numbers[0] ?? Math.random()))
    server = await createServer({ random })
    api = apiOf(server)
    maps = server.core.registry.find('', 'v1', 'configmaps') as ResourceType
    await server.settled()
  })
  afterEach(() => server.close())

  const events = () => {
    const seen: StoreEvent[] = []
    server.core.store.bucket('/configmaps').watch(server.core.store.revision, (event) => void seen.push(event))
    return seen
  }

  it('leaves the object of a caller within the server as it was', async () => {
    const object = map('a') as ApiObject
    await server.core.operations.create(maps, 'default', object, { user: SYSTEM })
    expect(object).to.deep.equal(map('a'))
    const change = { ...map('a'), data: { a: '2' } } as ApiObject
    await server.core.operations.update(maps, 'default', 'a', '', change, { user: SYSTEM })
    expect(change.metadata).to.deep.equal({ name: 'a' })
  })

  it('of the same again changes nothing, and nobody hears of it', async () => {
    const { body: made } = await api.post(MAPS, map('a'))
    const seen = events()
    const { resourceVersion } = made.metadata
    expect((await api.put(`${MAPS}/a`, map('a'))).body.metadata.resourceVersion).to.equal(resourceVersion)
    expect((await api.merge(`${MAPS}/a`, { data: { a: '1' } })).body.metadata.resourceVersion).to.equal(resourceVersion)
    const applied = await api.apply(`${MAPS}/b?fieldManager=m`, map('b'))
    const again = await api.apply(`${MAPS}/b?fieldManager=m`, map('b'))
    expect(applied.status).to.equal(201)
    expect(again.body.metadata.resourceVersion).to.equal(applied.body.metadata.resourceVersion)
    expect(seen.map(({ type, name }) => `${type} ${name}`)).to.deep.equal(['ADDED b'])
  })

  it('that is a dry run answers as if it had been, and stores nothing', async () => {
    await api.post(MAPS, map('a'))
    const seen = events()
    const created = await api.post(`${MAPS}?dryRun=All`, map('b'))
    expect(created.status).to.equal(201)
    expect(created.body.metadata).to.have.property('uid')
    expect(created.body.metadata).not.to.have.property('resourceVersion')
    expect((await api.merge(`${MAPS}/a?dryRun=All`, { data: { a: '2' } })).body.data).to.deep.equal({ a: '2' })
    expect((await api.delete(`${MAPS}/a?dryRun=All`)).body.status).to.equal('Success')
    expect((await api.put(`${MAPS}/a?dryRun=All`, map('a', { metadata: { name: 'a', resourceVersion: '1' } }))).status).to.equal(409)
    expect(seen).to.deep.equal([])
  })

  it('tries other generated names while the first are taken', async () => {
    numbers = [0.5]
    const first = await api.post(MAPS, { metadata: { generateName: 'g-' } })
    // A uid takes nine numbers, a name five; then the name comes out differently.
    numbers = [...Array(14).fill(0.5), ...Array(5).fill(0.1), 0.9]
    const second = await api.post(MAPS, { metadata: { generateName: 'g-' } })
    expect(first.body.metadata.name).to.match(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(second.status).to.equal(201)
    expect(second.body.metadata.name).not.to.equal(first.body.metadata.name)
  })

  it('gives up after eight generated names, and says when to come back', async () => {
    numbers = [0.5]
    await api.post(MAPS, { metadata: { generateName: 'g-' } })
    const { status, headers, body } = await api.post(MAPS, { metadata: { generateName: 'g-' } })
    expect([status, headers['retry-after']]).to.deep.equal([409, '1'])
    expect(body.message).to.match(/already exists, the server was not able to generate a unique name for the object$/)
    expect(body.details).to.include({ kind: 'configmaps', retryAfterSeconds: 1 })
  })

  it('cuts a generateName to 58 characters', async () => {
    const { body } = await api.post(MAPS, { metadata: { generateName: 'a'.repeat(70) } })
    expect(body.metadata.name).to.match(/^a{58}[a-z0-9]{5}$/)
  })

  it('says who it is by the User-Agent, where no fieldManager does', async () => {
    const manager = async (name: string, query: string, agent: string) =>
      (await api.request('POST', `${MAPS}${query}`, map(name), { 'user-agent': agent })).body.metadata.managedFields[0].manager
    expect(await manager('a', '', 'kubectl/v1.36 (linux)')).to.equal('kubectl')
    expect(await manager('b', '?fieldManager=me', 'kubectl/v1.36')).to.equal('me')
  })

  describe('during which somebody else writes', () => {
    /** Writes to the object while it is admitted, as often as wanted. */
    function meddler(times: number): AdmissionPlugin {
      let left = times
      return {
        name: 'meddler',
        async mutate({ operation, name }) {
          if (operation !== 'UPDATE' || left-- <= 0) return
          const bucket = server.core.store.bucket('/configmaps')
          const stored = bucket.get('default', name)
          if (stored === undefined) return
          bucket.put(
            'default',
            name,
            { ...stored.object, metadata: { ...stored.object.metadata }, data: { ...stored.object.data, other: String(left) } },
            stored.revision,
          )
        },
      }
    }

    it('is done again on what is there now, where it is a patch', async () => {
      await api.post(MAPS, map('a'))
      server.core.admission.push(meddler(3))
      const { status, body } = await api.merge(`${MAPS}/a`, { data: { a: '2' } })
      expect(status).to.equal(200)
      expect(body.data).to.deep.equal({ a: '2', other: '0' })
    })

    it('is done again where it is a PUT without a resourceVersion', async () => {
      await api.post(MAPS, map('a'))
      server.core.admission.push(meddler(1))
      expect((await api.put(`${MAPS}/a`, map('a', { data: { a: '2' } }))).body.data).to.deep.equal({ a: '2' })
    })

    it('conflicts where it names the resourceVersion that it was made from', async () => {
      const { body } = await api.post(MAPS, map('a'))
      server.core.admission.push(meddler(1))
      const { resourceVersion } = body.metadata
      const answer = await api.put(`${MAPS}/a`, map('a', { metadata: { name: 'a', resourceVersion }, data: { a: '2' } }))
      expect([answer.status, answer.body.reason]).to.deep.equal([409, 'Conflict'])
    })
  })

  it('goes through admission: changed on its way in, or refused', async () => {
    server.core.admission.push({
      name: 'test',
      mutate({ object, operation }) {
        if (operation === 'CREATE' && object?.kind === 'ConfigMap') object.metadata.labels = { admitted: 'yes' }
      },
      validate({ operation, old, warn }) {
        warn('careful')
        if (operation === 'DELETE' && old?.metadata.name === 'keep') throw new ApiError(403, 'Forbidden', 'no')
      },
    })
    const { body, headers } = await api.post(MAPS, map('keep'))
    expect(body.metadata.labels).to.deep.equal({ admitted: 'yes' })
    expect(headers['warning']).to.deep.equal(['299 - "careful"'])
    expect((await api.delete(`${MAPS}/keep`)).status).to.equal(403)
    expect((await api.get(`${MAPS}/keep`)).status).to.equal(200)
  })

  it('keeps members of any name', async () => {
    const odd = '{"metadata":{"name":"p","labels":{"constructor":"x"}},"data":{"__proto__":"1","toString":"2","hasOwnProperty":"3"}}'
    expect((await api.request('POST', MAPS, odd)).status).to.equal(201)
    const { body } = await api.merge(`${MAPS}/p`, '{"data":{"__proto__":"4","constructor":"5"}}')
    expect(Object.entries(body.data).toSorted()).to.deep.equal([
      ['__proto__', '4'],
      ['constructor', '5'],
      ['hasOwnProperty', '3'],
      ['toString', '2'],
    ])
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
  })

  it('is of a definition that is going away refused', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.x.io' },
      spec: {
        group: 'x.io',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    }
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await api.post(definitions, definition)
    await server.settled()
    const widget = (name: string, finalizers: string[] = []) => ({ apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name, finalizers } })
    expect((await api.post('/apis/x.io/v1/widgets', widget('a', ['x.io/f']))).status).to.equal(201)
    await api.delete(`${definitions}/widgets.x.io`)
    await server.settled()
    expect((await api.post('/apis/x.io/v1/widgets', widget('b'))).status).to.be.oneOf([403, 405])
  })
})

describe('generations of the embedded API server', () => {
  const kind = (status: boolean) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          ...(status ? { subresources: { status: {} } } : {}),
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })

  for (const [title, status, expected] of [
    ['count all but metadata and status, where status has its own subresource', true, [1, 1, 2, 2, 2]],
    ['count the status too, where it has none', false, [1, 1, 2, 3, 3]],
  ] as const) {
    it(title, async () => {
      const server = await createServer()
      const api = apiOf(server)
      await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', kind(status))
      await server.settled()
      const url = '/apis/x.io/v1/widgets/a'
      const seen = [
        await api.post('/apis/x.io/v1/widgets', { apiVersion: 'x.io/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { n: 1 } }),
      ]
      seen.push(await api.merge(url, { metadata: { labels: { a: 'b' } } }))
      seen.push(await api.merge(url, { spec: { n: 2 } }))
      seen.push(await api.merge(status ? `${url}/status` : url, { status: { n: 3 } }))
      seen.push(await api.merge(url, { metadata: { generation: 9 } }))
      expect(seen.map(({ body }) => body.metadata.generation)).to.deep.equal(expected)
      await server.close()
    })
  }
})
