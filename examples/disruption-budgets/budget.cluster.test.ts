import { expect } from 'chai'
import { Deployment, PodDisruptionBudget } from 'tsop/kinds'
import { inNamespace, type World } from '../../test/cluster/cluster.ts'

describe('the example disruption-budgets on a cluster', () => {
  it(
    'gives a Deployment with several replicas a budget, and nothing else',
    inNamespace(async (t) => {
      await t.startOperator({ handlers: 'examples/disruption-budgets/budget.ts' })
      await t.apply(deployment('web', 3), deployment('single', 1), deployment('careless', 3, { 'example.com/disruption-budget': 'none' }))

      const made = await t.until(() => budget(t, 'web'), 'the budget of web')
      expect(made.spec).to.deep.equal({ maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } })
      expect(made.metadata.ownerReferences?.[0]).to.include({ kind: 'Deployment', name: 'web', controller: true })
      const web = await t.client.get(Deployment, t.ref('web'))
      expect(web.metadata.finalizers).to.equal(undefined)
      expect(await budget(t, 'single')).to.equal(undefined)
      expect(await budget(t, 'careless')).to.equal(undefined)
    }),
  )

  it(
    'takes the budget away when one replica is left, and brings it back',
    inNamespace(async (t) => {
      await t.startOperator({ handlers: 'examples/disruption-budgets/budget.ts' })
      await t.apply(deployment('web', 2))
      await t.until(() => budget(t, 'web'), 'the budget')
      await t.kubectl('scale', 'deployment', 'web', '--replicas=1')
      await t.until(async () => (await budget(t, 'web')) === undefined, 'the budget to go')
      await t.kubectl('scale', 'deployment', 'web', '--replicas=2')
      await t.until(() => budget(t, 'web'), 'the budget to come back')
    }),
  )
})

function budget(t: World, name: string): Promise<PodDisruptionBudget | undefined> {
  return t.client.find(PodDisruptionBudget, t.ref(name))
}

const deployment = (name: string, replicas: number, labels: Record<string, string> = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'nginx:1.29' }] } },
  },
})
