import { expect } from 'chai'
import { Namespace, ResourceQuota, RoleBinding } from 'tsop/kinds'
import { embedded, ready, type TestCluster } from 'tsop/testing'
import { Team, TeamHandler } from './team.ts'

describe('the example teams', () => {
  const namespace = 'team-harbour'
  let cluster: TestCluster
  beforeEach(async () => {
    cluster = await embedded({ handlers: [TeamHandler] })
  })
  afterEach(() => cluster.close())

  const quota = async () => (await cluster.client.get(ResourceQuota, { name: 'team', namespace })).spec?.hard
  const binding = () => cluster.client.find(RoleBinding, { name: 'team-members', namespace })

  it('gives a team a namespace that it owns, with a quota and its members', async () => {
    await cluster.apply(harbour({ members: ['ada', 'grace'], pods: 7 }))
    await cluster.settled()
    const team = await cluster.client.get(Team, { name: 'harbour' })
    expect(ready(team)).to.equal(true)
    expect(team.status?.namespace).to.equal(namespace)
    const { metadata } = await cluster.client.get(Namespace, { name: namespace })
    expect(metadata.ownerReferences?.map(({ uid }) => uid)).to.deep.equal([team.metadata.uid])
    expect(await quota()).to.deep.equal({ pods: '7' })
    expect((await binding())?.subjects?.map(({ name }) => name)).to.deep.equal(['ada', 'grace'])
  })

  it('takes the rights away with the last member', async () => {
    await cluster.apply(harbour({ members: ['ada'] }))
    await cluster.settled()
    expect(await binding()).to.be.an('object')
    await cluster.apply(harbour({ members: [] }))
    await cluster.settled()
    expect(await binding()).to.equal(undefined)
  })

  it('puts a quota back that somebody changed', async () => {
    await cluster.apply(harbour({ pods: 3 }))
    await cluster.settled()
    const value = { spec: { hard: { pods: '1000' } } }
    await cluster.client.patch(ResourceQuota, { name: 'team', namespace }, { type: 'merge', value })
    await cluster.settled()
    expect(await quota()).to.deep.equal({ pods: '3' })
  })

  it('takes the namespace along when it goes', async () => {
    await cluster.apply(harbour({}))
    await cluster.settled()
    await cluster.client.delete(Team, { name: 'harbour' })
    await cluster.settled()
    expect(await cluster.client.find(Namespace, { name: namespace })).to.equal(undefined)
  })
})

const harbour = (spec: object) => ({ apiVersion: 'org.example.com/v1alpha1', kind: 'Team', metadata: { name: 'harbour' }, spec })
