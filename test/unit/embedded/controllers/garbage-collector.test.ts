import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'

const OWNED_BY = (owner: { metadata: { name: string; uid: string } }, blockOwnerDeletion?: boolean) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
})

describe('the garbage collector of the embedded API server', () => {
  let server: EmbeddedServer
  let api: Api
  let faults: unknown[]
  const report = (fault: unknown) => void faults.push(fault)
  const maps = '/api/v1/namespaces/default/configmaps'
  const make = async (name: string, metadata: object = {}) =>
    (await api.post(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } })).body
  const exists = async (name: string) => (await api.get(`${maps}/${name}`)).status === 200

  beforeEach(async () => {
    faults = []
    server = await createServer({ report })
    api = apiOf(server)
  })
  afterEach(async () => {
    await server.close()
    expect(faults).to.deep.equal([])
  })

  it('deletes what an owner leaves behind, and what that leaves behind', async () => {
    const owner = await make('owner')
    const child = await make('child', { ownerReferences: [OWNED_BY(owner)] })
    await make('grandchild', { ownerReferences: [OWNED_BY(child)] })
    await server.settled()
    expect(await exists('grandchild')).to.equal(true)
    await api.delete(`${maps}/owner`)
    expect(await exists('child'), 'not before the answer').to.equal(true)
    await server.settled()
    expect(await exists('child')).to.equal(false)
    expect(await exists('grandchild')).to.equal(false)
  })

  it('takes an owner of another uid, or one that never was, as gone', async () => {
    const owner = await make('owner')
    await make('wrong-uid', { ownerReferences: [{ ...OWNED_BY(owner), uid: 'other' }] })
    await make('never', { ownerReferences: [{ ...OWNED_BY(owner), name: 'never-was' }] })
    await server.settled()
    expect(await exists('wrong-uid')).to.equal(false)
    expect(await exists('never')).to.equal(false)
    expect(await exists('owner')).to.equal(true)
  })

  it('keeps what another owner still holds, without the reference to the one that is gone', async () => {
    const [one, two] = [await make('one'), await make('two')]
    await make('child', { ownerReferences: [OWNED_BY(one), OWNED_BY(two)] })
    await api.delete(`${maps}/one`)
    await server.settled()
    const { body } = await api.get(`${maps}/child`)
    expect(body.metadata.ownerReferences.map(({ name }: { name: string }) => name)).to.deep.equal(['two'])
  })

  it('lets an owner go last in the foreground, as long as its dependents block it', async () => {
    const owner = await make('owner')
    await make('held', { ownerReferences: [OWNED_BY(owner, true)], finalizers: ['x.io/hold'] })
    await make('free', { ownerReferences: [OWNED_BY(owner)], finalizers: ['x.io/hold'] })
    await api.delete(`${maps}/owner?propagationPolicy=Foreground`)
    await server.settled()
    expect((await api.get(`${maps}/owner`)).body.metadata.finalizers).to.deep.equal(['foregroundDeletion'])
    expect((await api.get(`${maps}/held`)).body.metadata.deletionTimestamp).to.be.a('string')
    await api.merge(`${maps}/held`, { metadata: { finalizers: null } })
    await server.settled()
    expect(await exists('held')).to.equal(false)
    expect(await exists('owner'), 'one that does not block is not waited for').to.equal(false)
    expect(await exists('free')).to.equal(true)
  })

  it('lets dependents stay when they are to be orphaned', async () => {
    const owner = await make('owner')
    await make('child', { ownerReferences: [OWNED_BY(owner)] })
    await api.delete(`${maps}/owner?propagationPolicy=Orphan`)
    await server.settled()
    expect(await exists('owner')).to.equal(false)
    const { body } = await api.get(`${maps}/child`)
    expect(body.metadata).to.not.have.property('ownerReferences')
  })

  it('ends a circle of objects that own and block each other', async () => {
    const a = await make('a')
    const b = await make('b', { ownerReferences: [OWNED_BY(a, true)] })
    await api.merge(`${maps}/a`, { metadata: { ownerReferences: [OWNED_BY(b, true)] } })
    await api.delete(`${maps}/a?propagationPolicy=Foreground`)
    await server.settled()
    expect(await exists('a')).to.equal(false)
    expect(await exists('b')).to.equal(false)
  })

  it('leaves a dependent whose owner is of an unknown kind', async () => {
    await make('child', { ownerReferences: [{ apiVersion: 'x.io/v1', kind: 'Nothing', name: 'n', uid: 'u' }] })
    await server.settled()
    expect(await exists('child')).to.equal(true)
  })

  it('deletes a dependent whose owner lives in another namespace, and says so in an Event', async () => {
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
    const owner = await make('owner')
    const others = '/api/v1/namespaces/other/configmaps'
    const metadata = { name: 'child', ownerReferences: [OWNED_BY(owner)] }
    await api.post(others, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await server.settled()
    expect((await api.get(`${others}/child`)).status).to.equal(404)
    const [event] = (await api.get('/api/v1/namespaces/other/events')).body.items
    expect(event.reason).to.equal('OwnerRefInvalidNamespace')
    expect(event.message).to.equal(
      `ownerRef [v1/ConfigMap, namespace: other, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "other"`,
    )
  })
})
