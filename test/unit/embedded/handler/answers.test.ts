import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

describe('an answer of the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  const reported: unknown[] = []

  beforeEach(async () => {
    reported.length = 0
    server = await createServer({ report: (error) => reported.push(error) })
    api = apiOf(server)
  })
  afterEach(() => server.close())

  const raw = async (method: string, url: string, body?: string, headers: Record<string, string> = {}) => {
    const { signal } = new AbortController()
    return server.handle({ method, url, headers: { 'content-type': 'application/json', ...headers }, body, signal })
  }

  it('escapes what HTML must not hold, and ends with a line feed', async () => {
    const { body } = await raw('POST', MAPS, '{"metadata":{"name":"a"},"data":{"x":"<a>&\u2028\u2029"}}')
    expect(body).to.contain('"x":"\\u003ca\\u003e\\u0026\\u2028\\u2029"')
    expect(body).to.match(/}\n$/)
  })

  it('keeps all digits of an integer', async () => {
    await raw('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', JSON.stringify(DEFINITION))
    await server.settled()
    const widget = '{"apiVersion":"x.io/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"i":9223372036854775807,"j":1.0,"k":1e2}}'
    await raw('POST', '/apis/x.io/v1/widgets', widget)
    const patched = await raw('PATCH', '/apis/x.io/v1/widgets/a', '{"spec":{"l":9007199254740993}}', {
      'content-type': 'application/merge-patch+json',
    })
    expect(patched.body).to.contain('"spec":{"i":9223372036854775807,"j":1,"k":100,"l":9007199254740993}')
  })

  it('is compressed where it is large and the client wants that', async () => {
    await api.post(MAPS, { metadata: { name: 'big' }, data: { a: 'x'.repeat(200_000) } })
    await api.post(MAPS, { metadata: { name: 'small' } })
    const big = await raw('GET', `${MAPS}/big`, undefined, { 'accept-encoding': 'gzip, deflate' })
    expect(big.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect(JSON.parse(gunzipSync(big.body as Buffer).toString()).data.a).to.have.length(200_000)
    expect((await raw('GET', `${MAPS}/big`)).headers).not.to.have.property('content-encoding')
    expect((await raw('GET', `${MAPS}/small`, undefined, { 'accept-encoding': 'gzip' })).headers).not.to.have.property('content-encoding')
  })

  it('has an audit id, the one of the request where it brings one', async () => {
    expect((await raw('GET', MAPS)).headers['audit-id']).to.match(/^[0-9a-f-]{36}$/)
    expect((await raw('GET', MAPS, undefined, { 'audit-id': 'mine' })).headers['audit-id']).to.equal('mine')
  })

  it('says that a body is too large', async () => {
    const { status, body } = await api.request('POST', MAPS, `"${'x'.repeat(3 * 1024 * 1024)}"`)
    expect([status, body.reason]).to.deep.equal([413, 'RequestEntityTooLarge'])
  })

  it('is an internal error, and the fault is reported, where the server itself fails', async () => {
    server.core.admission.push({
      name: 'broken',
      mutate() {
        throw new TypeError('oops')
      },
    })
    const { status, body } = await api.post(MAPS, { metadata: { name: 'a' } })
    expect([status, body.reason, body.message]).to.deep.equal([500, 'InternalError', 'Internal error occurred: oops'])
    expect(reported).to.have.length(1)
  })

  it('is of this server alone, whatever another one in the process holds', async () => {
    const other = await createServer()
    await apiOf(other).post(MAPS, { metadata: { name: 'theirs' } })
    expect((await api.get(`${MAPS}/theirs`)).status).to.equal(404)
    await other.close()
  })
})

const DEFINITION = {
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
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
}
