import { expect } from 'chai'
import { Deployment, ReplicaSet } from 'tsop/kinds'
import { inNamespace, type World } from '../../test/cluster/cluster.ts'
import { Site } from './site.ts'

describe('the example secret-rollout on a cluster', () => {
  it(
    'rolls the pods when the contents of their Secret change',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(secret('hello'), site)
      const before = await t.until(() => checksum(t), 'the deployment')

      await t.apply(secret('good morning'))
      await t.until(async () => (await checksum(t)) !== before, 'another checksum')
      const sets = () => t.client.list(ReplicaSet, { namespace: t.namespace })
      await t.until(async () => (await sets()).items.length === 2, 'the second ReplicaSet')
    }),
  )

  it(
    'leaves the pods alone when only a label of the Secret changes, or another Secret',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(secret('hello'), site)
      const before = await t.until(() => checksum(t), 'the deployment')

      await t.kubectl('label', 'secret', 'shop-config', 'colour=green')
      await t.apply({ ...secret('other'), metadata: { name: 'other' } })
      // What a later change brings about is seen after all that the earlier ones could have.
      await t.kubectl('patch', 'site', 'shop', '--type=merge', '-p', '{"spec":{"replicas":3}}')
      await t.until(async () => (await deployment(t))?.spec?.replicas === 3, 'three replicas')
      expect(await checksum(t)).to.equal(before)
    }),
  )

  it(
    'waits for a Secret that is not there, and goes on as soon as it is',
    inNamespace(async (t) => {
      await start(t)
      await t.apply(site)
      const waits = async () => {
        const { status } = await t.client.get(Site, t.ref('shop'))
        return status?.conditions?.some(({ type, reason }) => type === 'Reconciling' && reason === 'SecretMissing')
      }
      await t.until(waits, 'the wait to be shown')
      await t.apply(secret('hello'))
      await t.kubectl('wait', '--for=condition=Ready', 'site/shop', '--timeout=30s')
      expect(await checksum(t)).to.be.a('string')
    }),
  )
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

async function start(t: World): Promise<void> {
  await t.install(Site)
  await t.startOperator({ handlers: 'examples/secret-rollout/site.ts' })
}

function deployment(t: World): Promise<Deployment | undefined> {
  return t.client.find(Deployment, t.ref('shop'))
}

async function checksum(t: World): Promise<string | undefined> {
  return (await deployment(t))?.spec?.template.metadata?.annotations?.['web.example.com/secret-checksum']
}
