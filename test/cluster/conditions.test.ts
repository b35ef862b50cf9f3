import { expect } from 'chai'
import type { Condition } from '../../lib/resource/kind.ts'
import { inNamespace, type World } from './cluster.ts'
import { Gate } from './fixtures/gate.ts'
import { logLines, runsOf } from './fixtures/log-lines.ts'
import { conditionOf, isReady, manifest } from './fixtures/objects.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/script.ts'

describe('promise 5: conditions belong to the engine', () => {
  it(
    'lets kubectl wait for Ready, of the generation that was asked for',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a'))
      await t.kubectl('wait', '--for=condition=Ready', 'script/a', '--timeout=30s')
      expect((await t.client.get(Script, t.ref('a'))).status).to.deep.include({ observedGeneration: 1 })
      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"message":"new"}}')
      await t.kubectl('wait', '--for=jsonpath={.status.observedGeneration}=2', 'script/a', '--timeout=30s')
      expect(await conditionOf(t, Script, 'a', 'Ready')).to.include({ status: 'True', observedGeneration: 2 })
    }),
  )

  it(
    'writes the status of a run once, also where it failed',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'terminal', message: 'the oven is cold' }))
      const { status } = await t.until(async () => {
        const script = await t.client.get(Script, t.ref('a'))
        return script.status !== undefined && script
      }, 'a status')
      // All at once: what the handler drafted, the engine's conditions and the generation.
      expect(status?.message).to.equal('the oven is cold')
      expect(status?.observedGeneration).to.equal(1)
      expect(status?.conditions?.map(({ type }) => type).sort()).to.deep.equal(['Ready', 'Stalled'])
    }),
  )

  it(
    'moves lastTransitionTime only when a condition flips',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { message: '1' }))
      await isReady(t, Script, 'a')
      // An hour ago, so that any write of a new time would show.
      const hourAgo = `${new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)}Z`
      const before = (await conditionOf(t, Script, 'a', 'Ready')) as Condition
      await setConditions(t, 'a', [{ ...before, lastTransitionTime: hourAgo }])

      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"message":"2"}}')
      await t.kubectl('wait', '--for=jsonpath={.status.observedGeneration}=2', 'script/a', '--timeout=30s')
      expect(await conditionOf(t, Script, 'a', 'Ready')).to.include({ status: 'True', lastTransitionTime: hourAgo })

      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"outcome":"terminal","message":"3"}}')
      await t.kubectl('wait', '--for=condition=Ready=False', 'script/a', '--timeout=30s')
      expect((await conditionOf(t, Script, 'a', 'Ready'))?.lastTransitionTime).to.not.equal(hourAgo)
    }),
  )

  it(
    'keeps the conditions of others, and what they write to the status during a run',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a')
      const operator = await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Script', 'a', { message: 'ours' }))
      const visit = await gate.arrival('a')
      const theirs = { type: 'Audited', status: 'True', reason: 'Checked', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
      await setConditions(t, 'a', [theirs])
      visit.open()
      gate.release('a')
      const script = (await isReady(t, Script, 'a')) as Script
      expect(script.status?.conditions?.find(({ type }) => type === 'Audited')).to.deep.equal(theirs)
      expect(script.status?.message).to.equal('ours')
      // The conflict was no error, and no reason to do the work again.
      expect(runsOf(operator, 'a')).to.have.length(1)
      expect(logLines(operator).filter(({ level }) => level === 'error' || level === 'warn')).to.deep.equal([])
    }),
  )

  it(
    'does not claim a generation that the run did not see',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a')
      await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Script', 'a'))
      const visit = await gate.arrival('a')
      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"outcome":"terminal"}}')
      visit.open()
      await gate.arrival('a', 2)
      const { status } = await t.client.get(Script, t.ref('a'))
      expect(status?.observedGeneration ?? 1).to.equal(1)
      gate.release('a')
      await t.kubectl('wait', '--for=condition=Stalled', 'script/a', '--timeout=30s')
      expect(await conditionOf(t, Script, 'a', 'Ready')).to.include({ status: 'False', observedGeneration: 2 })
    }),
  )
})

async function setConditions(t: World, name: string, conditions: object[]): Promise<void> {
  await t.client.patch(Script, t.ref(name), { type: 'merge', value: { status: { conditions } } }, { subresource: 'status' })
}
