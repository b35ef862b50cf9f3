import { expect } from 'chai'
import { Deployment, PodDisruptionBudget } from 'tsop/kinds'
import { embedded, type TestCluster } from 'tsop/testing'
import { BudgetHandler } from './budget.ts'

describe('the example disruption-budgets', () => {
  let cluster: TestCluster
  beforeEach(async () => {
    cluster = await embedded({ handlers: [BudgetHandler] })
  })
  afterEach(() => cluster.close())

  it('gives a Deployment with several replicas a budget, and nothing else', async () => {
    await cluster.apply(
      deployment('web', 3),
      deployment('single', 1),
      deployment('careless', 3, { 'example.com/disruption-budget': 'none' }),
    )
    await cluster.settled()
    const { items } = await cluster.client.list(PodDisruptionBudget)
    expect(items.map(({ metadata, spec }) => [metadata.name, spec])).to.deep.equal([
      ['web', { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } }],
    ])
    expect(cluster.writes().map(String)).to.deep.equal(['apply PodDisruptionBudget default/web'])
  })

  it('takes the budget away when one replica is left, and brings it back', async () => {
    const budgets = async () => (await cluster.client.list(PodDisruptionBudget)).items.length
    const scale = (replicas: number) =>
      cluster.client.patch(Deployment, { name: 'web', namespace: 'default' }, { type: 'merge', value: { spec: { replicas } } })
    await cluster.apply(deployment('web', 2))
    await cluster.settled()
    expect(await budgets()).to.equal(1)
    await scale(1)
    await cluster.settled()
    expect(await budgets()).to.equal(0)
    await scale(2)
    await cluster.settled()
    expect(await budgets()).to.equal(1)
  })

  it('goes with its Deployment', async () => {
    await cluster.apply(deployment('web', 2))
    await cluster.settled()
    await cluster.client.delete(Deployment, { name: 'web', namespace: 'default' })
    await cluster.settled()
    expect((await cluster.client.list(PodDisruptionBudget)).items).to.deep.equal([])
  })
})

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
