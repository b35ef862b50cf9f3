import { expect } from 'chai'
import { ConfigMap, Deployment, PodDisruptionBudget } from 'tsop/kinds'
import type { KubeObject } from '../../lib/resource/kind.ts'
import { Definition, inNamespace } from './cluster.ts'
import { definitionOf } from './fixtures/foreign.ts'
import { groveOf } from './fixtures/grove.ts'
import { logLines, runsOf } from './fixtures/log-lines.ts'

describe('a cluster-scoped kind', () => {
  it(
    'has children in namespaces, which are repaired, pruned and deleted like others',
    inNamespace(async (t) => {
      const group = `${t.id}.test.tsop.dev`
      const Grove = groveOf(group)
      await t.install(Grove)
      t.onEnd(() => t.kubectl('delete', 'crd', `groves.${group}`, '--wait=false'))
      const operator = await t.startOperator({
        handlers: 'test/cluster/fixtures/grove.ts',
        allNamespaces: true,
        env: { TEST_GROUP: group },
      })
      const grove = (namespaces: string[]) => ({ apiVersion: `${group}/v1`, kind: 'Grove', metadata: { name: t.id }, spec: { namespaces } })
      const tree = () => t.client.find(ConfigMap, t.ref(t.id))

      await t.apply(grove([t.namespace]))
      await t.kubectl('wait', '--for=condition=Ready', `groves.${group}/${t.id}`, '--timeout=30s')
      expect((await t.client.get(Grove, { name: t.id })).status?.trees).to.equal(1)
      await t.kubectl('patch', 'configmap', t.id, '--type=merge', '-p', '{"data":{"kind":"birch"}}')
      await t.until(async () => (await tree())?.data?.['kind'] === 'oak', 'the child to be repaired')
      await t.apply(grove([]))
      await t.until(async () => (await tree()) === undefined, 'the child to be pruned')

      await t.apply(grove([t.namespace]))
      await t.until(tree, 'the child')
      await t.kubectl('delete', `groves.${group}`, t.id, '--timeout=30s')
      await t.until(() => logLines(operator, { name: t.id, msg: 'felled' }).length === 1, 'the clean-up to be told')
      // The garbage collector looks for new kinds, such as the owner's, every 30 s.
      await t.until(async () => (await tree()) === undefined, 'the child to be collected', { withinMs: 90_000 })
    }),
  ).timeout(150_000)
})

describe('a built-in kind', () => {
  it(
    'is reconciled, and its status is left to Kubernetes',
    inNamespace(async (t) => {
      const operator = await t.startOperator({ handlers: 'test/cluster/fixtures/chart.ts', args: ['--name', 'charts'] })
      await t.apply(deployment('web', 2, { chart: 'wanted' }), deployment('api', 2))
      await t.until(async () => (await t.client.find(ConfigMap, t.ref('web')))?.data?.['replicas'] === '2', 'the child')
      await t.kubectl('scale', 'deployment', 'web', '--replicas=3')
      await t.until(async () => (await t.client.get(ConfigMap, t.ref('web'))).data?.['replicas'] === '3', 'the change')
      await t.until(() => runsOf(operator, 'web').length > 1, 'another run')

      const { metadata, status } = JSON.parse(await t.kubectl('get', 'deployment', 'web', '-o', 'json', '--show-managed-fields')) as {
        metadata: { finalizers: string[]; managedFields: { manager: string; subresource?: string }[] }
        status: { conditions?: { type: string }[] }
      }
      const ofStatus = metadata.managedFields.filter(({ subresource }) => subresource === 'status').map(({ manager }) => manager)
      expect(ofStatus.filter((manager) => manager !== 'kube-controller-manager')).to.deep.equal([])
      expect((status.conditions ?? []).map(({ type }) => type)).to.not.include('Ready')
      expect(metadata.finalizers).to.deep.equal(['apps/deployments'])
      expect(runsOf(operator, 'api')).to.deep.equal([])

      await t.kubectl('delete', 'deployment', 'web', '--timeout=30s')
      await t.until(() => logLines(operator, { name: 'web', msg: 'removed' }).length === 1, 'the clean-up to be told')
      expect(await t.client.find(Deployment, t.ref('api'))).to.not.equal(undefined)
    }),
  )

  it(
    'is seen to its end where it has our finalizer, also after it has left the selection',
    inNamespace(async (t) => {
      const operator = await t.startOperator({ handlers: 'test/cluster/fixtures/chart.ts' })
      await t.apply(deployment('web', 2, { chart: 'wanted' }))
      await t.until(() => t.client.find(ConfigMap, t.ref('web')), 'the child')
      await t.kubectl('label', 'deployment', 'web', 'chart-')
      await t.kubectl('delete', 'deployment', 'web', '--timeout=30s')
      await t.until(() => logLines(operator, { name: 'web', msg: 'removed' }).length === 1, 'the clean-up to be told')
    }),
  )
})

describe('a kind that is known by its name only', () => {
  it(
    'is looked up, as a primary kind and as a child',
    inNamespace(async (t) => {
      await t.startOperator({ handlers: 'test/cluster/fixtures/by-name.ts' })
      await t.kubectl('create', 'configmap', 'web')
      await t.kubectl('label', 'configmap', 'web', 'budget=wanted')
      await t.until(() => t.client.find(PodDisruptionBudget, t.ref('web')), 'the child')
      await t.kubectl('delete', 'pdb', 'web')
      await t.until(() => t.client.find(PodDisruptionBudget, t.ref('web')), 'the child to come back')
    }),
  )
})

describe("a kind of somebody else's definition", () => {
  it(
    'is not installed, and gets in its status what its schema keeps',
    inNamespace(async (t) => {
      const definition = definitionOf(`${t.id}.test.tsop.dev`)
      const name = definition.metadata.name
      const operator = await t.startOperator({
        handlers: 'test/cluster/fixtures/foreign.ts',
        args: ['--install-crds'],
        env: { TEST_GROUP: definition.spec.group },
      })
      expect(await t.client.find(Definition, { name })).to.equal(undefined)
      await t.apply(definition)
      t.onEnd(() => t.kubectl('delete', 'crd', name, '--wait=false'))
      await t.kubectl('wait', '--for=condition=Established', `crd/${name}`, '--timeout=30s')
      await t.until(
        () => t.apply({ apiVersion: `${definition.spec.group}/v1`, kind: 'Parcel', metadata: { name: 'a' } }).then(() => true),
        'the kind to be served',
      )
      await t.kubectl('wait', '--for=jsonpath={.status.phase}=Delivered', `${name}/a`, '--timeout=30s')
      const parcel = async () => JSON.parse(await t.kubectl('get', name, 'a', '-o', 'json')) as KubeObject & { status: object }
      expect((await parcel()).status).to.deep.equal({ phase: 'Delivered', observedGeneration: 1 })
      await t.kubectl('annotate', name, 'a', 'look=again')
      const { metadata } = await parcel()
      await t.until(() => runsOf(operator, 'a').length === 2, 'another run')
      expect(await operator.stop()).to.equal(0)
      expect((await parcel()).metadata.resourceVersion).to.equal(metadata.resourceVersion)
    }),
  )
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
