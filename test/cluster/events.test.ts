import { expect } from 'chai'
import { Event, type EventObject } from '../../lib/observe/event-object.ts'
import { EventRecorder } from '../../lib/observe/events.ts'
import type { KubeObject } from '../../lib/resource/kind.ts'
import type { Log } from '../../lib/resource/log.ts'
import { ManualClock } from '../unit/manual-clock.ts'
import { inNamespace, type World } from './cluster.ts'

/** What a real API server makes of our Events: its validation refuses one that breaks a single rule. */
describe('Kubernetes Events', () => {
  function recorder({ client, onEnd }: World) {
    const clock = new ManualClock(Date.now())
    const problems: unknown[] = []
    const problem = (...line: unknown[]) => void problems.push(line)
    const log: Log = { trace() {}, debug: problem, info: problem, warn: problem, error: problem, child: () => log }
    const events = new EventRecorder({ client, clock, log, component: '@shop/operator', instance: 'pod-1' })
    onEnd(() => events.stop())
    return { events, clock, problems }
  }

  const object = (name: string, namespace?: string): KubeObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, uid: `uid-of-${name}`.slice(-60), resourceVersion: '1', ...(namespace !== undefined && { namespace }) },
  })

  async function found({ client, until }: World, namespace: string, uid: string, holds: (event: EventObject) => boolean = () => true) {
    return await until(async () => {
      const { items } = await client.list(Event, { namespace })
      return items.find((event) => event.regarding.uid === uid && holds(event))
    }, `an event about ${uid}`)
  }

  it(
    'are accepted, and counted in a series',
    inNamespace(async (t) => {
      const { events, clock, problems } = recorder(t)
      const what = { regarding: object('orders', t.namespace), type: 'Warning', reason: 'Failed', message: 'it does not run' } as const
      events.record(what)
      const first = await found(t, t.namespace, 'uid-of-orders')
      expect(first).to.deep.include({ type: 'Warning', reason: 'Failed', note: 'it does not run', reportingController: 'shop-operator' })
      events.record(what)
      events.record(what)
      await clock.advance(30_000)
      const counted = await found(t, t.namespace, 'uid-of-orders', (event) => event.series !== undefined)
      expect(counted.metadata.name).to.equal(first.metadata.name)
      expect(counted.series?.count).to.equal(3)
      expect(await t.kubectl('get', 'events')).to.match(/Failed.*it does not run/)
      expect(problems).to.deep.equal([])
    }),
  )

  it(
    'are accepted with whatever names, reasons and messages come',
    inNamespace(async (t) => {
      const { events, problems } = recorder(t)
      for (const name of ['system:node', 'a'.repeat(253), 'a.-b', `${'a'.repeat(235)}.b`, 'Upper']) {
        events.record({ regarding: object(name, t.namespace), type: 'Normal', reason: '', message: '' })
      }
      events.record({ regarding: object('long', t.namespace), type: 'Normal', reason: 'R'.repeat(300), message: 'é'.repeat(3000) })
      for (let i = 0; i < 3; i++) events.record({ regarding: object('burst', t.namespace), type: 'Normal', reason: 'Burst', message: 'x' })
      await events.stop()
      const { items } = await t.client.list(Event, { namespace: t.namespace })
      expect(problems).to.deep.equal([])
      expect(items).to.have.lengthOf(7)
      expect(items.find(({ reason }) => reason === 'Burst')?.series?.count).to.equal(3)
    }),
  )

  it(
    'about cluster-scoped objects are in default',
    inNamespace(async (t) => {
      const { events, problems } = recorder(t)
      const regarding = object(`cluster-${t.id}`)
      events.record({ regarding, type: 'Normal', reason: 'Started', message: 'x' })
      await events.stop()
      const event = await found(t, 'default', regarding.metadata.uid)
      await t.client.delete(Event, { name: event.metadata.name, namespace: 'default' })
      expect(problems).to.deep.equal([])
    }),
  )

  it(
    'keep quiet in a namespace that is being deleted',
    inNamespace(async (t) => {
      const { events, problems } = recorder(t)
      await t.kubectl('create', 'configmap', 'keeps', '--from-literal=a=b')
      await t.kubectl('patch', 'configmap', 'keeps', '-p', '{"metadata":{"finalizers":["example.com/keep"]}}')
      await t.kubectl('delete', 'namespace', t.namespace, '--wait=false')
      events.record({ regarding: object('late', t.namespace), type: 'Normal', reason: 'Late', message: 'x' })
      await events.stop()
      await t.kubectl('patch', 'configmap', 'keeps', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
      expect(problems).to.deep.equal([])
    }),
  )
})
