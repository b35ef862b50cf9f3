import { expect } from 'chai'
import { inNamespace, type World } from './cluster.ts'
import { Basket } from './fixtures/basket.ts'
import { gadgetOf } from './fixtures/gadget.ts'
import { logLines } from './fixtures/log-lines.ts'
import { isReady, manifest, readyReason } from './fixtures/objects.ts'
import { primaryRules, restrictedTo } from './fixtures/restricted.ts'
import { Script } from './fixtures/script.ts'

const script = 'test/cluster/fixtures/script.ts'
const gadget = 'test/cluster/fixtures/gadget.ts'
const basket = 'test/cluster/fixtures/basket.ts'

const EVENTS = { apiGroups: ['events.k8s.io', ''], resources: ['events'], verbs: ['create', 'patch'] }
const CHILDREN = { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] }

describe("promise 10: one kind's trouble stays there", () => {
  it(
    'starts without a definition that is missing, says so, and begins as soon as it is there',
    inNamespace(async (t) => {
      await t.install(Script)
      const { group, Gadget, object } = ownGroup(t)
      const operator = await t.startOperator({ handlers: [script, gadget], env: { TEST_GROUP: group } })
      await t.apply(manifest('Script', 'a'))
      await isReady(t, Script, 'a')
      expect(warnings(operator).join('\n')).to.include(`Gadget.${group}`)

      await t.install(Gadget)
      await t.apply(object)
      await isReady(t, Gadget, 'a')
    }),
  )

  it(
    'goes on with the others when a definition is deleted, and with that kind when it is back',
    inNamespace(async (t) => {
      await t.install(Script)
      const { group, Gadget, object } = ownGroup(t)
      await t.install(Gadget)
      const operator = await t.startOperator({ handlers: [script, gadget], env: { TEST_GROUP: group } })
      await t.apply(object)
      await isReady(t, Gadget, 'a')
      await t.kubectl('delete', 'crd', `gadgets.${group}`)
      await t.until(() => warnings(operator).some((text) => text.includes(`Gadget.${group}`)), 'the loss to be told')
      await t.apply(manifest('Script', 'a'))
      await isReady(t, Script, 'a')

      await t.install(Gadget)
      await t.apply(object)
      await isReady(t, Gadget, 'a')
    }),
  )

  it(
    'goes on with the others where a kind is forbidden, names kind and verb, and begins once it is allowed',
    inNamespace(async (t) => {
      await t.install(Script, Basket)
      const { kubeconfig, allow } = await restrictedTo(t, [...primaryRules('scripts'), EVENTS])
      const operator = await t.startOperator({ handlers: [script, basket], env: { KUBECONFIG: kubeconfig } })
      await t.apply(manifest('Script', 'a'), manifest('Basket', 'a', { items: ['apple'] }))
      await isReady(t, Script, 'a')
      const told = () => logLines(operator, { level: 'warn', kind: 'Basket.test.tsop.dev' })[0]
      expect(await t.until(told, 'the trouble to be told')).to.include({ missing: 'watch', namespace: t.namespace })

      await allow([...primaryRules('scripts'), ...primaryRules('baskets'), CHILDREN, EVENTS])
      await isReady(t, Basket, 'a')
    }),
  )

  it(
    'says on the object which write is forbidden, and does it once it is allowed',
    inNamespace(async (t) => {
      await t.install(Script, Basket)
      const reading = { ...CHILDREN, verbs: ['get', 'list', 'watch'] }
      const { kubeconfig, allow } = await restrictedTo(t, [...primaryRules('baskets'), reading, EVENTS])
      await t.startOperator({ handlers: basket, env: { KUBECONFIG: kubeconfig } })
      await t.apply(manifest('Basket', 'full', { items: ['apple'] }), manifest('Basket', 'empty'))
      await isReady(t, Basket, 'empty')
      expect((await readyReason(t, Basket, 'full', 'ReconcileFailed')).message).to.match(
        /forbidden.*cannot (patch|create) resource "configmaps"/,
      )
      await allow([...primaryRules('baskets'), CHILDREN, EVENTS])
      await isReady(t, Basket, 'full')
    }),
  )
})

describe('promise 9: no hidden watch', () => {
  it(
    'reads a kind that the class does not declare live, which needs no right but get',
    inNamespace(async (t) => {
      await t.install(Script)
      const get = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }
      const { kubeconfig } = await restrictedTo(t, [...primaryRules('scripts'), get, EVENTS])
      await t.kubectl('create', 'configmap', 'text', '--from-literal=text=first')
      await t.startOperator({ handlers: script, env: { KUBECONFIG: kubeconfig } })
      await t.apply(manifest('Script', 'a', { reads: 'text' }))
      await isReady(t, Script, 'a')
      expect((await t.client.get(Script, t.ref('a'))).status?.message).to.equal('first')
      // No old copy is kept: the next run sees what is there then.
      await t.kubectl('patch', 'configmap', 'text', '--type=merge', '-p', '{"data":{"text":"second"}}')
      await t.kubectl('annotate', 'script', 'a', 'look=again')
      await t.until(async () => (await t.client.get(Script, t.ref('a'))).status?.message === 'second', 'the new text')
    }),
  )
})

function warnings(operator: Parameters<typeof logLines>[0]): string[] {
  return logLines(operator)
    .filter(({ level }) => level === 'warn' || level === 'error')
    .map((line) => JSON.stringify(line))
}

function ownGroup(t: World) {
  const group = `${t.id}.test.tsop.dev`
  t.onEnd(() => t.kubectl('delete', 'crd', `gadgets.${group}`, '--ignore-not-found', '--wait=false'))
  return { group, Gadget: gadgetOf(group), object: { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'a' }, spec: {} } }
}
