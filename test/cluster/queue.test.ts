import { expect } from 'chai'
import { inNamespace, type World } from './cluster.ts'
import { gadgetOf } from './fixtures/gadget.ts'
import { Gate } from './fixtures/gate.ts'
import { runsOf } from './fixtures/log-lines.ts'
import { isReady, manifest, versionOf } from './fixtures/objects.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/script.ts'

describe('promise 1: level-based and idempotent', () => {
  it(
    'writes nothing in a run that finds everything as it should be',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { message: 'hello' }))
      await isReady(t, Script, 'a')
      await t.kubectl('annotate', 'script', 'a', 'look=again')
      const version = await versionOf(t, Script, 'a')
      await t.until(() => runsOf(operator, 'a').length === 2, 'another run')
      await t.apply(manifest('Script', 'marker'))
      await isReady(t, Script, 'marker')
      expect(await versionOf(t, Script, 'a')).to.equal(version)

      await operator.stop()
      const again = await t.startOperator({ handlers })
      await t.until(() => runsOf(again, 'a').length === 1, 'a run after the restart')
      await t.kubectl('annotate', 'script', 'marker', 'look=again')
      await t.until(() => runsOf(again, 'marker').length === 2, 'a run that comes after')
      expect(await versionOf(t, Script, 'a')).to.equal(version)
    }),
  )

  it(
    'asks the API server for one write an object, and for none in a run that finds everything as it should be',
    inNamespace(async (t) => {
      const group = `${t.id}.test.tsop.dev`
      const Gadget = gadgetOf(group)
      await t.install(Gadget)
      t.onEnd(() => t.kubectl('delete', 'crd', `gadgets.${group}`, '--wait=false'))
      const gadgets = ['a', 'b', 'c'].map((name) => ({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name }, spec: {} }))
      const operator = await t.startOperator({ handlers: 'test/cluster/fixtures/gadget.ts', env: { TEST_GROUP: group } })
      await t.apply(...gadgets)
      for (const { metadata } of gadgets) await isReady(t, Gadget, metadata.name)
      expect(await statusWrites(t, group)).to.equal(3)
      await t.kubectl('annotate', `gadgets.${group}`, '--all', 'look=again')
      for (const { metadata } of gadgets) await t.until(() => runsOf(operator, metadata.name).length === 2, 'another run')
      expect(await operator.stop()).to.equal(0)
      expect(await statusWrites(t, group)).to.equal(3)
    }),
  )

  it(
    'shows a run the newest object, not what happened in between',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a')
      const operator = await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Script', 'a', { message: '1' }))
      const first = await gate.arrival('a')
      for (const message of ['2', '3', '4'])
        await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', JSON.stringify({ spec: { message } }))
      first.open()
      gate.release('a')
      await isReady(t, Script, 'a')
      expect(runsOf(operator, 'a').map((run) => run['generation'])).to.deep.equal([1, 4])
    }),
  )
})

describe('promise 3: the same key never runs twice at once', () => {
  it(
    'runs once more after events during a run, whatever their number',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a', 'marker')
      const operator = await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Script', 'a'))
      const first = await gate.arrival('a')
      for (const touch of ['1', '2', '3']) await t.kubectl('annotate', '--overwrite', 'script', 'a', `touch=${touch}`)
      // The watch has brought the three touches once it has brought what came after them.
      await t.apply(manifest('Script', 'marker'))
      await gate.arrival('marker')
      expect(gate.waiting.sort()).to.deep.equal(['a', 'marker'])

      first.open()
      const second = await gate.arrival('a', 2)
      second.open()
      gate.release('marker')
      await isReady(t, Script, 'marker')
      await t.kubectl('annotate', '--overwrite', 'script', 'marker', 'touch=1')
      await gate.arrival('marker', 2)
      expect(runsOf(operator, 'a')).to.have.length(2)
    }),
  )

  it(
    'runs as many objects of a kind at once as its handler says, and no more',
    inNamespace(async (t) => {
      await t.install(Script)
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      const gate = await Gate.start(t, ...names)
      await t.startOperator({ handlers, env: gate.env })
      await t.apply(...names.map((name) => manifest('Script', name)))
      await t.until(() => gate.waiting.length === 4, 'four to run at once')
      gate.visits[0]!.open()
      await t.until(() => gate.visits.length === 5, 'the fifth to come')
      expect(gate.waiting).to.have.length(4)
      for (const name of names) gate.release(name)
      for (const name of names) await isReady(t, Script, name)
      expect(gate.visits).to.have.length(6)
    }),
  )

  it(
    'lets --concurrency go before what the handler says',
    inNamespace(async (t) => {
      await t.install(Script)
      const names = ['a', 'b', 'c']
      const gate = await Gate.start(t, ...names)
      await t.apply(...names.map((name) => manifest('Script', name)))
      await t.startOperator({ handlers, env: gate.env, args: ['--concurrency', 'Script=1'] })
      for (const count of [1, 2, 3]) {
        await t.until(() => gate.visits.length === count, 'the next to come')
        expect(gate.waiting).to.have.length(1)
        gate.visits[count - 1]!.open()
      }
      for (const name of names) await isReady(t, Script, name)
    }),
  )
})

/** Requests, by the API server's own count: one that changes nothing leaves no other trace. */
async function statusWrites(t: World, group: string): Promise<number> {
  const metrics = await t.kubectl('get', '--raw', '/metrics')
  const lines = metrics.split('\n').filter((line) => line.startsWith('apiserver_request_total{') && line.includes(`group="${group}"`))
  const writes = lines.filter((line) => line.includes('subresource="status"') && !line.includes('verb="GET"'))
  return writes.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
