import { expect } from 'chai'
import { inNamespace } from './cluster.ts'
import { Gate } from './fixtures/gate.ts'
import { logLines, runsOf } from './fixtures/log-lines.ts'
import { conditionOf, isReady, manifest, readyReason, versionOf } from './fixtures/objects.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/script.ts'

describe('promise 4: a run has one outcome', () => {
  it(
    'waits without an error, and says for what',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'wait', message: 'the paint is wet' }))
      const ready = await readyReason(t, Script, 'a', 'Scripted')
      expect(ready).to.include({ status: 'False', message: 'the paint is wet' })
      expect(await conditionOf(t, Script, 'a', 'Reconciling')).to.include({ status: 'True', reason: 'Scripted' })
      // The line comes after the status, and by another way.
      const told = await t.until(() => logLines(operator, { name: 'a', reason: 'Scripted' })[0], 'the line in the log')
      expect(told).to.include({ level: 'info', after: '1h' })
      expect(logLines(operator, { level: 'error' })).to.deep.equal([])
    }),
  )

  it(
    'runs again after a wait, and writes nothing while there is nothing new',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'wait', after: '100ms' }))
      await readyReason(t, Script, 'a', 'Scripted')
      const version = await versionOf(t, Script, 'a')
      const runs = runsOf(operator, 'a').length
      await t.until(() => runsOf(operator, 'a').length >= runs + 3, 'three more runs')
      expect(await versionOf(t, Script, 'a')).to.equal(version)
    }),
  )

  it(
    'keeps an object ready that only wants to be looked at later',
    inNamespace(async (t) => {
      await t.install(Script)
      await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'wait', ready: true }))
      await t.kubectl('wait', '--for=condition=Ready', 'script/a', '--timeout=30s')
      expect(await conditionOf(t, Script, 'a', 'Reconciling')).to.equal(undefined)
    }),
  )

  it(
    'cuts a wait short for a new generation, but not for its status',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'wait', message: 'first' }))
      await readyReason(t, Script, 'a', 'Scripted')
      await t.kubectl('patch', 'script', 'a', '--subresource=status', '--type=merge', '-p', '{"status":{"message":"theirs"}}')
      await t.apply(manifest('Script', 'marker'))
      await isReady(t, Script, 'marker')
      expect(runsOf(operator, 'a')).to.have.length(1)

      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"outcome":"done"}}')
      await isReady(t, Script, 'a')
      expect(runsOf(operator, 'a')).to.have.length(2)
    }),
  )

  it(
    'tries again after an error, with growing pauses, and tells it in the conditions and in one Event',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'error', message: 'no bread today' }))
      await t.until(() => runsOf(operator, 'a').length >= 4, 'four tries')
      expect(
        runsOf(operator, 'a')
          .slice(0, 4)
          .map((run) => run['attempt']),
      ).to.deep.equal([1, 2, 3, 4])
      const times = runsOf(operator, 'a').map((run) => Date.parse(run['time'] as string))
      // 250 ms × 2ⁿ, up to a fifth less.
      for (const [i, least] of [200, 400, 800].entries()) expect(times[i + 1]! - times[i]!).to.be.at.least(least - 5)

      expect(await readyReason(t, Script, 'a', 'ReconcileFailed')).to.include({ status: 'False', message: 'no bread today' })
      expect(await conditionOf(t, Script, 'a', 'Stalled')).to.equal(undefined)
      const events = await t.until(async () => {
        const { items } = JSON.parse(await t.kubectl('get', 'events', '-o', 'json')) as { items: Record<string, unknown>[] }
        return items.length > 0 && items
      }, 'an Event')
      expect(events).to.have.length(1)
      expect(events[0]).to.include({ type: 'Warning', reason: 'ReconcileFailed' })
    }),
  )

  it(
    'lets neither a wait nor a back-off be cut by what the run itself writes',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(
        manifest('Script', 'waits', { outcome: 'wait', touches: true }),
        manifest('Script', 'fails', { outcome: 'error', touches: true }),
      )
      await t.until(() => runsOf(operator, 'fails').length >= 4, 'four tries')
      const times = runsOf(operator, 'fails').map((run) => Date.parse(run['time'] as string))
      for (const [i, least] of [200, 400, 800].entries()) expect(times[i + 1]! - times[i]!).to.be.at.least(least - 5)
      expect(runsOf(operator, 'waits')).to.have.length(1)
      expect((await t.client.get(Script, t.ref('waits'))).metadata.annotations).to.have.property('touched')
    }),
  )

  it(
    'does not try again after a terminal error until a label or an annotation is touched',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(manifest('Script', 'a', { outcome: 'terminal', message: 'the shop is closed' }))
      await readyReason(t, Script, 'a', 'Scripted')
      expect(await conditionOf(t, Script, 'a', 'Stalled')).to.include({ status: 'True', message: 'the shop is closed' })
      expect(await conditionOf(t, Script, 'a', 'Reconciling')).to.equal(undefined)
      // A failing one beside it is tried three times meanwhile.
      await t.apply(manifest('Script', 'marker', { outcome: 'error' }))
      await t.until(() => runsOf(operator, 'marker').length >= 3, 'three tries of another')
      expect(runsOf(operator, 'a')).to.have.length(1)

      await t.kubectl('annotate', 'script', 'a', 'try=again')
      await t.until(() => runsOf(operator, 'a').length === 2, 'another try')
      await t.kubectl('label', 'script', 'a', 'try=again')
      await t.until(() => runsOf(operator, 'a').length === 3, 'another try')
      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"outcome":"done"}}')
      await isReady(t, Script, 'a')
      expect(await conditionOf(t, Script, 'a', 'Stalled')).to.equal(undefined)
    }),
  )

  it(
    'survives a promise that nobody awaits and a callback that throws, as failures of their runs',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(
        manifest('Script', 'promise', { outcome: 'reject', message: 'nobody listens' }),
        manifest('Script', 'callback', { outcome: 'throwLater', message: 'nobody catches' }),
      )
      expect((await readyReason(t, Script, 'promise', 'Unhandled')).message).to.include('nobody listens')
      expect((await readyReason(t, Script, 'callback', 'Unhandled')).message).to.include('nobody catches')
      await t.apply(manifest('Script', 'marker'))
      await isReady(t, Script, 'marker')
      expect(operator.running).to.equal(true)
    }),
  )
})

describe('promise 11: nothing happens unobserved', () => {
  it(
    'cuts a run that hangs when its time is over, and tries again',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers, env: { TIMEOUT: '300ms' } })
      await t.apply(manifest('Script', 'a', { outcome: 'hang' }))
      expect((await readyReason(t, Script, 'a', 'Timeout')).message).to.include('300ms')
      await t.until(() => runsOf(operator, 'a').length >= 2, 'another try')
      await t.kubectl('patch', 'script', 'a', '--type=merge', '-p', '{"spec":{"outcome":"done"}}')
      await isReady(t, Script, 'a')
    }),
  )

  it(
    'aborts what waits for the signal when the time is over',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a')
      await t.startOperator({ handlers, env: { ...gate.env, TIMEOUT: '1s' } })
      await t.apply(manifest('Script', 'a'))
      const visit = await gate.arrival('a')
      await t.until(() => visit.left, 'the request of the cut run to be aborted')
      gate.release('a')
      await isReady(t, Script, 'a')
    }),
  )
})
