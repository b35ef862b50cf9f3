import { expect } from 'chai'
import { Namespace, ResourceQuota, RoleBinding } from 'tsop/kinds'
import { inNamespace, type World } from '../../test/cluster/cluster.ts'
import { Team } from './team.ts'

describe('the example teams on a cluster', () => {
  it(
    'gives a team a namespace that it owns, with a quota and its members',
    inNamespace(async (t) => {
      const { name, namespace } = await start(t)
      await t.apply(team(name, { members: ['ada', 'grace'], pods: 7 }))
      await t.kubectl('wait', '--for=condition=Ready', `team/${name}`, '--timeout=30s')

      const { metadata, status } = await t.client.get(Team, { name })
      expect(status?.namespace).to.equal(namespace)
      const made = await t.client.get(Namespace, { name: namespace })
      expect(made.metadata.ownerReferences).to.have.length(1)
      expect(made.metadata.ownerReferences?.[0]).to.include({ uid: metadata.uid, kind: 'Team', controller: true })
      const quota = await t.client.get(ResourceQuota, { name: 'team', namespace })
      expect(quota.spec?.hard).to.deep.equal({ pods: '7' })
      const binding = await t.client.get(RoleBinding, { name: 'team-members', namespace })
      expect(binding.subjects?.map((subject) => subject.name)).to.deep.equal(['ada', 'grace'])
    }),
  )

  it(
    'takes the rights away with the last member',
    inNamespace(async (t) => {
      const { name, namespace } = await start(t)
      await t.apply(team(name, { members: ['ada'] }))
      const binding = () => t.client.find(RoleBinding, { name: 'team-members', namespace })
      await t.until(binding, 'the binding')
      await t.apply(team(name, { members: [] }))
      await t.until(async () => (await binding()) === undefined, 'the binding to go')
    }),
  )

  it(
    'puts a quota back that somebody changed',
    inNamespace(async (t) => {
      const { name, namespace } = await start(t)
      await t.apply(team(name, { pods: 3 }))
      const pods = async () => (await t.client.find(ResourceQuota, { name: 'team', namespace }))?.spec?.hard?.['pods']
      await t.until(async () => (await pods()) === '3', 'the quota')
      await t.kubectl('patch', 'quota', 'team', '-n', namespace, '--type=merge', '-p', '{"spec":{"hard":{"pods":"1000"}}}')
      await t.until(async () => (await pods()) === '3', 'the quota to be put back')
    }),
  )
})

const team = (name: string, spec: object) => ({ apiVersion: 'org.example.com/v1alpha1', kind: 'Team', metadata: { name }, spec })

async function start(t: World): Promise<{ name: string; namespace: string }> {
  await t.install(Team)
  const name = `t-${t.id}`
  t.onEnd(() => t.kubectl('delete', 'team', name, '--ignore-not-found', '--wait=false'))
  t.onEnd(() => t.kubectl('delete', 'namespace', `team-${name}`, '--ignore-not-found', '--wait=false'))
  await t.startOperator({ handlers: 'examples/teams/team.ts', allNamespaces: true })
  return { name, namespace: `team-${name}` }
}
