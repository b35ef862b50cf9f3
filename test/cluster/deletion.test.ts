import { expect } from 'chai'
import { inNamespace, type World } from './cluster.ts'
import { Basket } from './fixtures/basket.ts'
import { Gate } from './fixtures/gate.ts'
import { logLines, runsOf } from './fixtures/log-lines.ts'
import { conditionOf, isReady, manifest, readyReason } from './fixtures/objects.ts'
import { Rental } from './fixtures/rental.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/rental.ts'
const OURS = 'test.tsop.dev/rentals'
const THEIRS = 'example.com/theirs'

describe('promise 6: finalizers belong to the engine', () => {
  it(
    'adds its finalizer before the first run, and lets the object go after onDelete',
    inNamespace(async (t) => {
      await t.install(Rental)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'a'))
      await isReady(t, Rental, 'a')
      expect(runsOf(operator, 'a').map((run) => run['finalizers'])).to.deep.equal([[OURS]])
      await t.kubectl('delete', 'rental', 'a')
      await gone(t, 'a')
      expect(givenBack(operator, 'a')).to.equal(1)
    }),
  )

  it(
    'keeps the object while onDelete fails, says why, and lets it go once that works',
    inNamespace(async (t) => {
      await t.install(Rental)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'a', { giveBack: 'fails' }))
      await isReady(t, Rental, 'a')
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      expect((await readyReason(t, Rental, 'a', 'DeleteFailed')).message).to.equal('nobody opens the door')
      await t.until(() => givenBack(operator, 'a') >= 3, 'several tries')
      expect((await t.client.get(Rental, t.ref('a'))).metadata.finalizers).to.deep.equal([OURS])
      await t.kubectl('patch', 'rental', 'a', '--type=merge', '-p', '{"spec":{"giveBack":"works"}}')
      await gone(t, 'a')
    }),
  )

  it(
    'keeps the object after a terminal error of onDelete until somebody acts',
    inNamespace(async (t) => {
      await t.install(Rental)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'a', { giveBack: 'isRefused' }))
      await isReady(t, Rental, 'a')
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      await readyReason(t, Rental, 'a', 'Refused')
      expect(await conditionOf(t, Rental, 'a', 'Stalled')).to.include({ status: 'True', message: 'it is broken' })
      await t.apply(manifest('Rental', 'marker'))
      await isReady(t, Rental, 'marker')
      expect(givenBack(operator, 'a')).to.equal(1)
      await t.kubectl('patch', 'rental', 'a', '--type=merge', '-p', '{"spec":{"giveBack":"works"}}')
      await gone(t, 'a')
    }),
  )

  it(
    'cuts the wait of a reconcile short for a deletion, and waits for onDelete in turn',
    inNamespace(async (t) => {
      await t.install(Rental)
      await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'a', { giveBack: 'takesTime' }))
      await isReady(t, Rental, 'a')
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      await readyReason(t, Rental, 'a', 'GivingBack')
      expect(await conditionOf(t, Rental, 'a', 'Reconciling')).to.include({ status: 'True', message: 'on its way' })
      await t.kubectl('patch', 'rental', 'a', '--type=merge', '-p', '{"spec":{"giveBack":"works"}}')
      await gone(t, 'a')
    }),
  )

  it(
    'leaves the finalizers of others alone, and does not run onDelete again while they stay',
    inNamespace(async (t) => {
      await t.install(Rental)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'a', {}, { finalizers: [THEIRS] }))
      await isReady(t, Rental, 'a')
      expect((await t.client.get(Rental, t.ref('a'))).metadata.finalizers).to.have.members([THEIRS, OURS])
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      const left = await t.until(async () => {
        const { metadata } = await t.client.get(Rental, t.ref('a'))
        return !metadata.finalizers?.includes(OURS) && metadata
      }, 'our finalizer to go')
      expect(left.finalizers).to.deep.equal([THEIRS])
      await t.kubectl('annotate', 'rental', 'a', 'look=again')
      await t.apply(manifest('Rental', 'marker'))
      await isReady(t, Rental, 'marker')
      expect(givenBack(operator, 'a')).to.equal(1)
      expect((await t.client.get(Rental, t.ref('a'))).metadata.finalizers).to.deep.equal([THEIRS])
      await t.kubectl('patch', 'rental', 'a', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
      await gone(t, 'a')
    }),
  )

  it(
    'never adds a finalizer to an object that is being deleted',
    inNamespace(async (t) => {
      await t.install(Rental)
      await t.apply(manifest('Rental', 'a', {}, { finalizers: [THEIRS] }))
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'marker'))
      await isReady(t, Rental, 'marker')
      expect((await t.client.get(Rental, t.ref('a'))).metadata.finalizers).to.deep.equal([THEIRS])
      expect(logLines(operator, { name: 'a' })).to.deep.equal([])
    }),
  )

  it(
    'gives back what was deleted while no operator ran',
    inNamespace(async (t) => {
      await t.install(Rental)
      const first = await t.startOperator({ handlers })
      await t.apply(manifest('Rental', 'a'))
      await isReady(t, Rental, 'a')
      await first.stop()
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      const second = await t.startOperator({ handlers })
      await gone(t, 'a')
      expect(givenBack(second, 'a')).to.equal(1)
    }),
  )

  it(
    'lets a namespace go with all that is in it, without an error',
    inNamespace(async (t) => {
      await t.install(Rental, Basket)
      const namespace = `${t.namespace}-b`
      await t.kubectl('create', 'namespace', namespace)
      const operator = await t.startOperator({ handlers: [handlers, 'test/cluster/fixtures/basket.ts'], args: ['-n', namespace] })
      const rental = manifest('Rental', 'a', {}, { namespace })
      const basket = manifest('Basket', 'b', { items: ['apple', 'pear'], secret: 'worm' }, { namespace })
      await t.apply(rental, basket)
      await t.until(async () => (await t.client.get(Basket, { name: 'b', namespace })).status?.items, 'the children')
      await t.until(async () => (await t.client.get(Rental, { name: 'a', namespace })).metadata.finalizers, 'the finalizer')
      await t.kubectl('delete', 'namespace', namespace, '--timeout=40s')
      expect(givenBack(operator, 'a')).to.equal(1)
      expect(logLines(operator, { level: 'error' })).to.deep.equal([])
    }),
  )

  it(
    'waits for the run that goes on before onDelete begins',
    inNamespace(async (t) => {
      await t.install(Rental)
      const gate = await Gate.start(t, 'a', 'marker')
      const operator = await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Rental', 'a'))
      const visit = await gate.arrival('a')
      await t.kubectl('delete', 'rental', 'a', '--wait=false')
      await t.apply(manifest('Rental', 'marker'))
      await gate.arrival('marker')
      expect(givenBack(operator, 'a')).to.equal(0)
      visit.open()
      gate.release('marker')
      await gone(t, 'a')
      expect(givenBack(operator, 'a')).to.equal(1)
    }),
  )

  it(
    'adds none where the class has no onDelete, and removes the one that an earlier version of it left',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.startOperator({ handlers: 'test/cluster/fixtures/script.ts' })
      await t.apply(manifest('Script', 'a'), manifest('Script', 'old', {}, { finalizers: ['test.tsop.dev/scripts'] }))
      await isReady(t, Script, 'a')
      await isReady(t, Script, 'old')
      expect((await t.client.get(Script, t.ref('a'))).metadata.finalizers).to.equal(undefined)
      await t.kubectl('delete', 'script', 'old', '--timeout=30s')
    }),
  )
})

function gone(t: World, name: string): Promise<true> {
  return t.until(async () => (await t.client.find(Rental, t.ref(name))) === undefined, `Rental ${name} to go`)
}

function givenBack(operator: Parameters<typeof logLines>[0], name: string): number {
  return logLines(operator, { name, msg: 'giving back' }).length
}
