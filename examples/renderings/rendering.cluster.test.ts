import { expect } from 'chai'
import { JobService } from '../../handlers/job-service/job-service.ts'
import type { Condition } from '../../lib/resource/kind.ts'
import { inNamespace, type World } from '../../test/cluster/cluster.ts'
import { Rendering } from './rendering.ts'

describe('the example renderings on a cluster', () => {
  it(
    'starts one job, shows its progress, and ends with its result',
    inNamespace(async (t) => {
      const { farm, start } = await world(t)
      await start()
      await t.apply(intro)

      const [job] = await t.until(() => farm.jobs.length > 0 && farm.jobs, 'the job to be started')
      expect(job?.request).to.deep.equal({ scene: 'sunrise', frames: 1 })
      const waiting = async () => {
        const shown = await condition(t, 'Reconciling')
        return shown?.reason === 'Rendering' && shown.message === 'in progress'
      }
      await t.until(waiting, 'the job to be shown')

      farm.finish(job!.key)
      await t.kubectl('wait', '--for=condition=Ready', 'rendering/intro', '--timeout=30s')
      expect((await t.client.get(Rendering, t.ref('intro'))).status?.location).to.equal(`results/${job!.key}`)
      expect(farm.jobs).to.have.length(1)
    }),
  )

  it(
    'does not start the job again after a kill',
    inNamespace(async (t) => {
      const { farm, start } = await world(t)
      const first = await start()
      await t.apply(intro)
      await t.until(() => farm.jobs.length > 0, 'the job to be started')
      await first.stop('SIGKILL')

      await start()
      farm.finish(farm.jobs[0]!.key)
      await t.kubectl('wait', '--for=condition=Ready', 'rendering/intro', '--timeout=30s')
      expect(farm.jobs).to.have.length(1)
    }),
  )

  it(
    'stalls where the job failed, and tries anew once the object is touched',
    inNamespace(async (t) => {
      const { farm, start } = await world(t)
      await start()
      await t.apply(intro)
      await t.until(() => farm.jobs.length > 0, 'the job to be started')
      farm.fail(farm.jobs[0]!.key, 'out of memory')
      const stalled = await t.until(() => condition(t, 'Stalled'), 'the failure to be shown')
      expect(stalled.status).to.equal('True')
      expect(stalled.message).to.include('out of memory')

      await t.kubectl('annotate', 'rendering', 'intro', 'try=again')
      await t.until(() => farm.jobs.length > 1, 'another job')
      farm.finish(farm.jobs[1]!.key)
      await t.kubectl('wait', '--for=condition=Ready', 'rendering/intro', '--timeout=30s')
    }),
  )
})

const intro = { apiVersion: 'media.example.com/v1alpha1', kind: 'Rendering', metadata: { name: 'intro' }, spec: { scene: 'sunrise' } }

async function world(t: World) {
  await t.install(Rendering)
  const farm = await JobService.start()
  t.onEnd(() => farm.stop())
  const env = { RENDER_URL: farm.url, RENDER_POLL: '200ms' }
  return { farm, start: () => t.startOperator({ handlers: 'examples/renderings/rendering.ts', env }) }
}

async function condition(t: World, type: string): Promise<Condition | undefined> {
  const { status } = await t.client.get(Rendering, t.ref('intro'))
  return status?.conditions?.find((each) => each.type === type)
}
