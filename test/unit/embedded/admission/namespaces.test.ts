import { expect } from 'chai'
import { startWorld, text, type World } from './world.ts'

const NAMESPACES = '/api/v1/namespaces'

describe('namespaces of an embedded server', () => {
  let world: World

  beforeEach(async () => {
    world = await startWorld()
  })
  afterEach(() => world.server.close())

  it('must be there for what is made in them', async () => {
    const { body } = await world.post(`${NAMESPACES}/nope/configmaps`, { metadata: { name: 'a' } })
    expect(body).to.deep.include({ code: 404, message: 'namespaces "nope" not found', details: { name: 'nope', kind: 'namespaces' } })
    expect((await world.get(`${NAMESPACES}/nope/configmaps`)).body.items).to.deep.equal([])
  })

  it('take nothing new once they are on their way out, but let go', async () => {
    await world.post(NAMESPACES, { metadata: { name: 'going' } })
    await world.post(`${NAMESPACES}/going/configmaps`, { metadata: { name: 'held', finalizers: ['x.io/hold'] } })
    await world.delete(`${NAMESPACES}/going`)
    const { body } = await world.post(`${NAMESPACES}/going/configmaps`, { metadata: { generateName: 'a-' } })
    expect(body).to.deep.include({
      code: 403,
      message: 'configmaps "a-" is forbidden: unable to create new content in namespace going because it is being terminated',
    })
    expect(body.details.causes).to.deep.equal([
      { reason: 'NamespaceTerminating', message: 'namespace going is being terminated', field: 'metadata.namespace' },
    ])
    expect((await world.merge(`${NAMESPACES}/going/configmaps/held`, { data: { a: '1' } })).status).to.equal(200)
  })

  it('that the cluster needs stay', async () => {
    for (const name of ['default', 'kube-system', 'kube-public']) {
      expect(text(await world.delete(`${NAMESPACES}/${name}`))).to.equal(
        `403 namespaces "${name}" is forbidden: this namespace may not be deleted`,
      )
    }
    expect((await world.delete(`${NAMESPACES}/kube-node-lease`)).status).to.equal(200)
  })

  it('have a default account and the certificates, which come back', async () => {
    await world.post(NAMESPACES, { metadata: { name: 'fresh' } })
    await world.server.settled()
    const paths = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'].map((path) => `${NAMESPACES}/fresh/${path}`)
    for (const path of paths) {
      const first = await world.get(path)
      expect(first.status, path).to.equal(200)
      await world.delete(path)
      await world.server.settled()
      const second = await world.get(path)
      expect(second.status, path).to.equal(200)
      expect(second.body.metadata.uid).to.not.equal(first.body.metadata.uid)
    }
  })

  it('are followed by nothing when they go', async () => {
    await world.post(NAMESPACES, { metadata: { name: 'fresh' } })
    await world.server.settled()
    await world.delete(`${NAMESPACES}/fresh`)
    await world.server.settled()
    expect((await world.get(`${NAMESPACES}/fresh`)).status).to.equal(404)
    expect((await world.get(`${NAMESPACES}/fresh/serviceaccounts`)).body.items).to.deep.equal([])
    expect((await world.get(`${NAMESPACES}/fresh/configmaps`)).body.items).to.deep.equal([])
  })

  it('come with all that a cluster has from the start', async () => {
    const count = async (url: string) => (await world.get(url)).body.items.length
    expect(await count('/apis/rbac.authorization.k8s.io/v1/clusterroles')).to.equal(69)
    expect(await count('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings')).to.equal(50)
    expect(await count('/apis/scheduling.k8s.io/v1/priorityclasses')).to.equal(2)
    expect((await world.get(`${NAMESPACES}/default/services/kubernetes`)).body.spec.clusterIP).to.equal('10.0.0.1')
    expect((await world.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes')).status).to.equal(200)
  })
})
