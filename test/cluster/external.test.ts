import { expect } from 'chai'
import { ConfigMap } from 'tsop/kinds'
import { inNamespace } from './cluster.ts'
import { Errand } from './fixtures/errand.ts'
import { Gate } from './fixtures/gate.ts'
import { JobCounter } from './fixtures/job-counter.ts'
import { logLines } from './fixtures/log-lines.ts'
import { conditionOf, isReady, manifest } from './fixtures/objects.ts'

const handlers = 'test/cluster/fixtures/errand.ts'

describe('promise 14: an external effect happens once', () => {
  // Where the process is when it is killed. The job is done from 'after done' on, and goes on before.
  for (const moment of ['before run', 'after run', 'before lookup', 'after lookup', 'after done']) {
    it(
      `starts one job although the process is killed ${moment}`,
      inNamespace(async (t) => {
        await t.install(Errand)
        const jobs = await JobCounter.start(t)
        const gate = await Gate.start(t, moment)
        if (moment === 'after done') jobs.finish()
        const env = { ...jobs.env, ...gate.env }
        const first = await t.startOperator({ handlers, env })
        await t.apply(manifest('Errand', 'bread'))
        await gate.arrival(moment)
        await first.stop('SIGKILL')

        gate.release(moment)
        await t.startOperator({ handlers, env })
        await jobs.hasStarted()
        jobs.finish()
        const errand = (await isReady(t, Errand, 'bread')) as Errand
        expect(jobs.started).to.have.length(1)
        expect(errand.status?.result).to.equal(`result of ${jobs.started[0]}`)
      }),
    )
  }

  it(
    'starts one job although the process is killed before the service answers',
    inNamespace(async (t) => {
      await t.install(Errand)
      const jobs = await JobCounter.start(t)
      jobs.responses = 'withheld'
      const first = await t.startOperator({ handlers, env: jobs.env })
      await t.apply(manifest('Errand', 'bread'))
      await jobs.hasStarted()
      await first.stop('SIGKILL')

      jobs.finish()
      await t.startOperator({ handlers, env: jobs.env })
      await isReady(t, Errand, 'bread')
      expect(jobs.started).to.have.length(1)
    }),
  )

  it(
    'starts one job although the response of the start is lost',
    inNamespace(async (t) => {
      await t.install(Errand)
      const jobs = await JobCounter.start(t)
      jobs.responses = 'cut'
      await t.startOperator({ handlers, env: jobs.env })
      await t.apply(manifest('Errand', 'bread'))
      await t.until(
        async () => (await conditionOf(t, Errand, 'bread', 'Reconciling'))?.reason === 'WaitingForFetchBread',
        'the job to be found',
      )
      jobs.finish()
      await isReady(t, Errand, 'bread')
      expect(jobs.started).to.have.length(1)
    }),
  )

  it(
    'shows the progress in Reconciling, and no error',
    inNamespace(async (t) => {
      await t.install(Errand)
      const jobs = await JobCounter.start(t)
      const operator = await t.startOperator({ handlers, env: jobs.env })
      await t.apply(manifest('Errand', 'bread'))
      const shown = await t.until(() => conditionOf(t, Errand, 'bread', 'Reconciling'), 'the progress')
      expect(shown).to.include({ status: 'True', reason: 'WaitingForFetchBread', message: 'on the way' })
      jobs.finish()
      await isReady(t, Errand, 'bread')
      expect(await conditionOf(t, Errand, 'bread', 'Reconciling')).to.equal(undefined)
      expect(logLines(operator, { level: 'error' })).to.deep.equal([])
    }),
  )

  it(
    'keeps its record in an annotation where the kind has no status, also over a kill',
    inNamespace(async (t) => {
      await t.install(Errand)
      const jobs = await JobCounter.start(t)
      const gate = await Gate.start(t, 'after run')
      const env = { ...jobs.env, ...gate.env }
      const first = await t.startOperator({ handlers, env })
      await t.kubectl('create', 'configmap', 'milk')
      await t.kubectl('label', 'configmap', 'milk', 'errand=true')
      await gate.arrival('after run')
      await first.stop('SIGKILL')

      gate.release('after run')
      jobs.finish()
      const second = await t.startOperator({ handlers, env })
      await t.until(() => logLines(second, { msg: 'result' })[0], 'the result')
      expect(jobs.started).to.have.length(1)
      const { metadata } = await t.client.get(ConfigMap, t.ref('milk'))
      const record = JSON.parse(metadata.annotations?.['tsop.dev/external'] ?? '{}') as Record<string, { state: string }>
      expect(record['fetch-milk']?.state).to.equal('done')
    }),
  )
})
