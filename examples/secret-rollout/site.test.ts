import { expect } from 'chai'
import { Deployment, ReplicaSet, Secret } from 'tsop/kinds'
import { condition, embedded, ready, type TestCluster } from 'tsop/testing'
import { Site, SiteHandler } from './site.ts'

describe('the example secret-rollout', () => {
  const ref = { name: 'shop', namespace: 'default' }
  let cluster: TestCluster
  beforeEach(async () => {
    cluster = await embedded({ handlers: [SiteHandler], simulate: true })
  })
  afterEach(() => cluster.close())

  const checksum = async () => {
    const deployment = await cluster.client.find(Deployment, ref)
    return deployment?.spec?.template.metadata?.annotations?.['web.example.com/secret-checksum']
  }

  it('rolls the pods when the contents of their Secret change', async () => {
    await cluster.apply(secret('hello'), site)
    await cluster.settled()
    const before = await checksum()
    expect(before).to.be.a('string')

    await cluster.apply(secret('good morning'))
    await cluster.settled()
    expect(await checksum()).to.not.equal(before)
    const sets = (await cluster.client.list(ReplicaSet)).items
    expect(sets.map(({ status }) => status?.readyReplicas ?? 0).sort()).to.deep.equal([0, 1])
  })

  it('leaves the pods alone when only a label of the Secret changes, or another Secret', async () => {
    await cluster.apply(secret('hello'), site)
    await cluster.settled()
    cluster.resetRequests()
    const label = { metadata: { labels: { colour: 'green' } } }
    await cluster.client.patch(Secret, { name: 'shop-config', namespace: 'default' }, { type: 'merge', value: label })
    await cluster.apply({ ...secret('other'), metadata: { name: 'other' } })
    await cluster.settled()
    expect(cluster.writes()).to.deep.equal([])
  })

  it('waits for a Secret that is not there, and goes on as soon as it is', async () => {
    await cluster.apply(site)
    await cluster.settled()
    expect(condition(await cluster.client.get(Site, ref), 'Reconciling')?.reason).to.equal('SecretMissing')
    await cluster.apply(secret('hello'))
    await cluster.settled()
    expect(ready(await cluster.client.get(Site, ref))).to.equal(true)
    expect(await checksum()).to.be.a('string')
  })
})

const site = {
  apiVersion: 'web.example.com/v1alpha1',
  kind: 'Site',
  metadata: { name: 'shop' },
  spec: { image: 'nginx:1.29', secretName: 'shop-config' },
}
const secret = (greeting: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'shop-config' },
  stringData: { GREETING: greeting },
})
