import { expect } from 'chai'
import { inNamespace } from './cluster.ts'
import { Gate } from './fixtures/gate.ts'
import { conditionOf, isReady, manifest } from './fixtures/objects.ts'
import { Script } from './fixtures/script.ts'

const handlers = 'test/cluster/fixtures/script.ts'

describe('promise 13: SIGTERM drains', () => {
  it(
    'lets a run end and its status be written, begins no other, and exits with 0',
    inNamespace(async (t) => {
      await t.install(Script)
      const gate = await Gate.start(t, 'a')
      const operator = await t.startOperator({ handlers, env: gate.env })
      await t.apply(manifest('Script', 'a', { message: 'done in time' }))
      await gate.arrival('a')
      operator.signal('SIGTERM')
      await operator.logged(/stopping/)
      await t.apply(manifest('Script', 'b'))
      gate.release('a')
      expect(await operator.exited).to.equal(0)
      expect(await conditionOf(t, Script, 'a', 'Ready')).to.include({ status: 'True' })
      expect((await t.client.get(Script, t.ref('a'))).status?.message).to.equal('done in time')
      expect((await t.client.get(Script, t.ref('b'))).status).to.equal(undefined)
      expect(gate.visits.map(({ name }) => name)).to.deep.equal(['a'])
    }),
  )

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    it(
      `ends at once at the second ${signal}, with exit code ${code}`,
      inNamespace(async (t) => {
        await t.install(Script)
        const gate = await Gate.start(t, 'a')
        const operator = await t.startOperator({ handlers, env: gate.env })
        await t.apply(manifest('Script', 'a'))
        const visit = await gate.arrival('a')
        operator.signal(signal)
        await operator.logged(/stopping/)
        expect(visit.waits).to.equal(true)
        operator.signal(signal)
        expect(await operator.exited).to.equal(code)
        expect(await conditionOf(t, Script, 'a', 'Ready')).to.equal(undefined)
      }),
    )
  }

  it(
    'exits with 0 at once where nothing runs, also while objects wait or fail',
    inNamespace(async (t) => {
      await t.install(Script)
      const operator = await t.startOperator({ handlers })
      await t.apply(
        manifest('Script', 'waits', { outcome: 'wait' }),
        manifest('Script', 'fails', { outcome: 'error' }),
        manifest('Script', 'a'),
      )
      await isReady(t, Script, 'a')
      const before = performance.now()
      expect(await operator.stop('SIGINT')).to.equal(0)
      expect(performance.now() - before).to.be.below(5_000)
    }),
  )
})
