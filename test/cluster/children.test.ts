import { expect } from 'chai'
import { ConfigMap, Secret } from 'tsop/kinds'
import { inNamespace, type World } from './cluster.ts'
import { Basket } from './fixtures/basket.ts'
import { Gate } from './fixtures/gate.ts'
import { logLines, runsOf } from './fixtures/log-lines.ts'
import { API, isReady, manifest, readyReason, versionOf } from './fixtures/objects.ts'

const handlers = 'test/cluster/fixtures/basket.ts'

describe('promise 2: children map to their owner', () => {
  it(
    'makes what the builders return, owned by the object',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple', 'pear'], note: 'ripe', secret: 'worm' }))
      const { metadata } = await isReady(t, Basket, 'a')
      const apple = await t.client.get(ConfigMap, t.ref('a-apple'))
      expect(apple.data).to.deep.equal({ item: 'apple', note: 'ripe' })
      expect(apple.metadata.ownerReferences).to.deep.equal([
        { apiVersion: 'test.tsop.dev/v1', kind: 'Basket', name: 'a', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
      ])
      await t.client.get(ConfigMap, t.ref('a-pear'))
      // The only one of its builder has its owner's name.
      expect((await t.client.get(Secret, t.ref('a'))).data).to.deep.equal({ secret: Buffer.from('worm').toString('base64') })
    }),
  )

  it(
    'repairs a child that was edited, leaves what others added, and makes a deleted one anew',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple'], note: 'ripe' }))
      await isReady(t, Basket, 'a')
      await t.kubectl('patch', 'configmap', 'a-apple', '--type=merge', '-p', '{"data":{"note":"rotten","colour":"red"}}')
      await t.until(async () => (await apple(t))?.data?.['note'] === 'ripe', 'the child to be repaired')
      expect((await apple(t))?.data).to.deep.equal({ item: 'apple', note: 'ripe', colour: 'red' })

      const { uid } = (await apple(t))!.metadata
      await t.kubectl('delete', 'configmap', 'a-apple')
      const again = await t.until(() => apple(t), 'the child to come back')
      expect(again.metadata.uid).to.not.equal(uid)
    }),
  )

  it(
    'prunes what the builders no longer return, and nothing else',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple', 'pear'], secret: 'worm' }), manifest('Basket', 'b', { items: ['apple'] }))
      const { metadata } = await isReady(t, Basket, 'a')
      await isReady(t, Basket, 'b')
      await t.kubectl('create', 'configmap', 'a-plum')
      // Of this owner, but made by nobody of its builders.
      const owner = { apiVersion: API, kind: 'Basket', name: 'a', uid: metadata.uid, controller: true }
      await t.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a-cherry', ownerReferences: [owner] } })
      await t.apply(manifest('Basket', 'a', { items: ['pear'] }))
      await t.until(async () => !(await apple(t)) && !(await t.client.find(Secret, t.ref('a'))), 'apple and secret to go')
      await isReady(t, Basket, 'a')
      const { items } = await t.client.list(ConfigMap, { namespace: t.namespace })
      const names = items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt')
      expect(names.sort()).to.deep.equal(['a-cherry', 'a-pear', 'a-plum', 'b-apple'])
    }),
  )

  it(
    'removes a field from a child that the builder no longer sets',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple'], note: 'ripe' }))
      await isReady(t, Basket, 'a')
      const { uid } = (await apple(t))!.metadata
      await t.kubectl('patch', 'basket', 'a', '--type=merge', '-p', '{"spec":{"note":null}}')
      await t.until(async () => (await apple(t))?.data?.['note'] === undefined, 'the field to go')
      expect((await apple(t))?.data).to.deep.equal({ item: 'apple' })
      expect((await apple(t))?.metadata.uid).to.equal(uid)
    }),
  )

  it(
    'prunes after a restart what was given up while no operator ran',
    inNamespace(async (t) => {
      await t.install(Basket)
      const first = await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple', 'pear'] }))
      await isReady(t, Basket, 'a')
      await first.stop()
      await t.apply(manifest('Basket', 'a', { items: ['pear'] }))
      await t.startOperator({ handlers })
      await t.until(async () => !(await apple(t)), 'the child to go')
      await t.client.get(ConfigMap, t.ref('a-pear'))
    }),
  )

  it(
    'lets the garbage collector take the children of an object that is deleted',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple'] }))
      await isReady(t, Basket, 'a')
      await t.kubectl('delete', 'basket', 'a')
      await t.until(async () => !(await apple(t)), 'the child to go', { withinMs: 90_000 })
    }),
  ).timeout(150_000)
})

describe('promise 7: own writes are read back', () => {
  it(
    'shows a run the children that were made a moment before',
    inNamespace(async (t) => {
      await t.install(Basket)
      const operator = await t.startOperator({ handlers })
      const items = ['a', 'b', 'c', 'd', 'e']
      await t.apply(manifest('Basket', 'a', { items }))
      const { status } = (await isReady(t, Basket, 'a')) as Basket
      expect(status?.items).to.deep.equal(items)
      await t.apply(manifest('Basket', 'marker'))
      await isReady(t, Basket, 'marker')
      expect(runsOf(operator, 'a')).to.have.length(1)
    }),
  )
})

describe('promise 8: no write from a stale view', () => {
  it(
    'adopts an object that nobody controls, and keeps what is in it',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.kubectl('create', 'configmap', 'a-apple', '--from-literal=colour=red')
      const { uid } = (await apple(t))!.metadata
      await t.apply(manifest('Basket', 'a', { items: ['apple'], note: 'ripe' }))
      const owner = await isReady(t, Basket, 'a')
      const adopted = (await apple(t))!
      expect(adopted.metadata.uid).to.equal(uid)
      expect(adopted.metadata.ownerReferences?.map((reference) => reference.uid)).to.deep.equal([owner.metadata.uid])
      expect(adopted.data).to.deep.equal({ item: 'apple', note: 'ripe', colour: 'red' })
    }),
  )

  it(
    'refuses a child that somebody else controls, and takes the name once it is free',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.kubectl('create', 'configmap', 'stranger')
      const { metadata } = await t.client.get(ConfigMap, t.ref('stranger'))
      await t.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'a-apple',
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'stranger', uid: metadata.uid, controller: true }],
        },
      })
      const version = await versionOf(t, ConfigMap, 'a-apple')
      await t.apply(manifest('Basket', 'a', { items: ['apple'] }))
      const ready = await readyReason(t, Basket, 'a', 'ChildNotOwned')
      expect(ready.message).to.include('ConfigMap').and.to.include('stranger')
      expect(await versionOf(t, ConfigMap, 'a-apple')).to.equal(version)

      await t.kubectl('delete', 'configmap', 'a-apple')
      await isReady(t, Basket, 'a')
      expect((await apple(t))?.data?.['item']).to.equal('apple')
    }),
  )

  it(
    'waits until the child of a former owner of the same name is gone, and makes its own',
    inNamespace(async (t) => {
      await t.install(Basket)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple'] }))
      const { metadata } = await isReady(t, Basket, 'a')
      // It stays a while after its owner has gone.
      await t.kubectl('patch', 'configmap', 'a-apple', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/slow"]}}')
      await t.kubectl('delete', 'basket', 'a')
      await t.apply(manifest('Basket', 'a', { items: ['apple'] }))
      await readyReason(t, Basket, 'a', 'WaitingForChild')
      expect((await apple(t))?.metadata.ownerReferences?.[0]?.uid).to.equal(metadata.uid)

      await t.kubectl('patch', 'configmap', 'a-apple', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
      const next = await isReady(t, Basket, 'a')
      expect(next.metadata.uid).to.not.equal(metadata.uid)
      expect((await apple(t))?.metadata.ownerReferences?.[0]?.uid).to.equal(next.metadata.uid)
      // It was waited for: that is no error.
      expect(logLines(operator, { level: 'error' })).to.deep.equal([])
    }),
  )

  it(
    'refuses a child in another namespace than its owner, and says what to do instead',
    inNamespace(async (t) => {
      await t.install(Basket)
      await t.startOperator({ handlers })
      await t.apply(manifest('Basket', 'a', { items: ['apple'], elsewhere: 'default' }))
      const ready = await readyReason(t, Basket, 'a', 'InvalidChild')
      expect(ready.message).to.include('another namespace').and.to.include('@onDelete')
      expect(await t.client.find(ConfigMap, { name: 'a-apple', namespace: 'default' })).to.equal(undefined)
    }),
  )

  it(
    'may be applied without field validation: an apply refuses what the kind does not have all the same',
    inNamespace(async (t) => {
      const child = { metadata: t.ref('a-apple'), data: { item: 'apple' }, colour: 'red' }
      const options = { fieldManager: 'test', force: true, fieldValidation: 'Ignore' } as const
      const refusal = await t.client.apply(ConfigMap, child, options).then(
        () => undefined,
        (error: Error) => error.message,
      )
      expect(refusal).to.include('.colour: field not declared in schema')
    }),
  )

  it(
    'writes nothing to an object that took the name of the one it ran for',
    inNamespace(async (t) => {
      await t.install(Basket)
      const gate = await Gate.start(t, 'a')
      const operator = await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Basket', 'a'))
      const visit = await gate.arrival('a')
      const first = await t.client.get(Basket, t.ref('a'))
      await t.kubectl('delete', 'basket', 'a')
      await t.apply(manifest('Basket', 'a', { note: 'another' }))
      visit.open()
      await gate.arrival('a', 2)
      const second = await t.client.get(Basket, t.ref('a'))
      expect(second.metadata.uid).to.not.equal(first.metadata.uid)
      expect(second.status).to.equal(undefined)
      gate.release('a')
      await isReady(t, Basket, 'a')
      expect(logLines(operator, { level: 'error' })).to.deep.equal([])
    }),
  )
})

function apple(t: World): Promise<ConfigMap | undefined> {
  return t.client.find(ConfigMap, t.ref('a-apple'))
}
