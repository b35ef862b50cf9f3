import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

describe('the end of a namespace in the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  let faults: unknown[]
  const report = (fault: unknown) => void faults.push(fault)
  const maps = '/api/v1/namespaces/going/configmaps'
  const map = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata })

  beforeEach(async () => {
    faults = []
    server = await createServer({ report })
    api = apiOf(server)
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } })
    await server.settled()
  })
  afterEach(async () => {
    await server.close()
    expect(faults).to.deep.equal([])
  })

  it('takes all that is in it along', async () => {
    await api.post(maps, map({ name: 'a' }))
    const { body } = await api.delete('/api/v1/namespaces/going')
    expect(body.status.phase).to.equal('Terminating')
    expect((await api.get(`${maps}/a`)).status, 'not before the answer').to.equal(200)
    await server.settled()
    expect((await api.get('/api/v1/namespaces/going')).status).to.equal(404)
    expect((await api.get(maps)).body.items).to.deep.equal([])
    expect((await api.get('/api/v1/namespaces/default')).status).to.equal(200)
  })

  it('waits for finalizers, and says for which', async () => {
    await api.post(maps, map({ name: 'a', finalizers: ['x.io/h'] }))
    await api.delete('/api/v1/namespaces/going')
    await server.settled()
    const { body } = await api.get('/api/v1/namespaces/going')
    const messages = body.status.conditions
      .filter(({ status }: { status: string }) => status === 'True')
      .map(({ message }: { message: string }) => message)
    expect(messages).to.deep.equal([
      'Some resources are remaining: configmaps. has 1 resource instances',
      'Some content in the namespace has finalizers remaining: x.io/h in 1 resource instances',
    ])
    await api.merge(`${maps}/a`, { metadata: { finalizers: null } })
    await server.settled()
    expect((await api.get('/api/v1/namespaces/going')).status).to.equal(404)
  })

  it('can be made anew afterwards, empty but for what every namespace has', async () => {
    await api.post(maps, map({ name: 'a' }))
    await api.delete('/api/v1/namespaces/going')
    await server.settled()
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } })
    await server.settled()
    expect((await api.get(maps)).body.items.map((each: { metadata: { name: string } }) => each.metadata.name)).to.deep.equal([
      'kube-root-ca.crt',
    ])
  })
})
