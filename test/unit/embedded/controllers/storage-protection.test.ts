import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

describe('the protection of storage in use, in the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  const core = '/api/v1/namespaces/default'
  const claim = { metadata: { name: 'disk' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
  const pod = (nodeName?: string) => ({
    metadata: { name: 'user' },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [{ name: 'c', image: 'img:1' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'disk' } }],
    },
  })
  const status = async (path: string) => (await api.get(path)).status

  beforeEach(async () => {
    server = await createServer()
    api = apiOf(server)
    await api.post(`${core}/persistentvolumeclaims`, claim)
    await server.settled()
  })
  afterEach(() => server.close())

  it('lets a claim go that no pod uses', async () => {
    const { body } = await api.get(`${core}/persistentvolumeclaims/disk`)
    expect(body.metadata.finalizers).to.deep.equal(['kubernetes.io/pvc-protection'])
    await api.delete(`${core}/persistentvolumeclaims/disk`)
    await server.settled()
    expect(await status(`${core}/persistentvolumeclaims/disk`)).to.equal(404)
  })

  it('keeps the claim of a pod that has a node until the pod goes', async () => {
    await api.post(`${core}/pods`, pod('machine'))
    await api.delete(`${core}/persistentvolumeclaims/disk`)
    await server.settled()
    expect(await status(`${core}/persistentvolumeclaims/disk`)).to.equal(200)
    await api.delete(`${core}/pods/user?gracePeriodSeconds=0`)
    await server.settled()
    expect(await status(`${core}/persistentvolumeclaims/disk`)).to.equal(404)
  })

  it('does not count a pod without a node', async () => {
    await api.post(`${core}/pods`, pod())
    await api.delete(`${core}/persistentvolumeclaims/disk`)
    await server.settled()
    expect(await status(`${core}/persistentvolumeclaims/disk`)).to.equal(404)
  })

  it('keeps a volume while it is bound', async () => {
    const volumes = '/api/v1/persistentvolumes'
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } }
    for (const name of ['free', 'bound']) await api.post(volumes, { metadata: { name }, spec })
    await api.merge(`${volumes}/bound/status`, { status: { phase: 'Bound' } })
    for (const name of ['free', 'bound']) await api.delete(`${volumes}/${name}`)
    await server.settled()
    expect(await status(`${volumes}/free`)).to.equal(404)
    expect(await status(`${volumes}/bound`)).to.equal(200)
    await api.merge(`${volumes}/bound/status`, { status: { phase: 'Released' } })
    await server.settled()
    expect(await status(`${volumes}/bound`)).to.equal(404)
  })

  it('does not keep a namespace from ending', async () => {
    await api.post('/api/v1/namespaces', { metadata: { name: 'going' } })
    await api.post('/api/v1/namespaces/going/persistentvolumeclaims', claim)
    await api.delete('/api/v1/namespaces/going')
    await server.settled()
    expect(await status('/api/v1/namespaces/going')).to.equal(404)
  })
})
