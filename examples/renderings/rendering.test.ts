import { expect } from 'chai'
import { condition, embedded, ready, type TestCluster } from 'tsop/testing'
import { JobService } from '../../handlers/job-service/job-service.ts'
import { Rendering, RenderingHandler } from './rendering.ts'

describe('the example renderings', () => {
  const ref = { name: 'intro', namespace: 'default' }
  const intro = { apiVersion: 'media.example.com/v1alpha1', kind: 'Rendering', metadata: ref, spec: { scene: 'sunrise' } }
  let farm: JobService
  let cluster: TestCluster
  beforeEach(async () => {
    farm = await JobService.start()
    process.env['RENDER_URL'] = farm.url
    cluster = await embedded({ handlers: [RenderingHandler] })
  })
  afterEach(async () => {
    delete process.env['RENDER_URL']
    await cluster.close()
    await farm.stop()
  })
  const rendering = () => cluster.client.get(Rendering, ref)

  it('starts one job, shows its progress, and ends with its result', async () => {
    await cluster.apply(intro)
    await cluster.settled()
    expect(farm.jobs.map(({ request }) => request)).to.deep.equal([{ scene: 'sunrise', frames: 1 }])
    expect(condition(await rendering(), 'Reconciling')).to.include({ status: 'True', reason: 'Rendering', message: 'in progress' })

    await cluster.clock.advance('1m')
    expect(condition(await rendering(), 'Reconciling')?.status).to.equal('True')
    farm.finish(farm.jobs[0]!.key)
    await cluster.clock.advance('10s')
    expect(ready(await rendering())).to.equal(true)
    expect((await rendering()).status?.location).to.equal(`results/${farm.jobs[0]!.key}`)
    expect(farm.jobs).to.have.length(1)
  })

  it('does not start the job again after a kill, wherever it comes', async () => {
    await cluster.apply(intro)
    // From the first request on, kill it after each.
    for (let requests = 0; farm.jobs.length === 0 || requests < 6; requests++) {
      await cluster.until(() => cluster.writes().length >= requests || farm.jobs.length > 0)
      await cluster.restart()
    }
    await cluster.settled()
    farm.finish(farm.jobs[0]!.key)
    await cluster.until(rendering, ready)
    expect(farm.jobs).to.have.length(1)
  })

  it('stalls where the job failed, and tries anew once the object is touched', async () => {
    await cluster.apply(intro)
    await cluster.settled()
    farm.fail(farm.jobs[0]!.key, 'out of memory')
    const stalled = await cluster.until(async () => condition(await rendering(), 'Stalled'))
    expect(stalled.status).to.equal('True')
    expect(stalled.message).to.include('out of memory')
    await cluster.clock.advance('10h')
    expect(farm.jobs).to.have.length(1)

    await cluster.client.patch(Rendering, ref, { type: 'merge', value: { metadata: { annotations: { try: 'again' } } } })
    await cluster.settled()
    expect(farm.jobs).to.have.length(2)
    farm.finish(farm.jobs[1]!.key)
    await cluster.until(rendering, ready)
  })

  it('is one job: its spec cannot be changed', async () => {
    await cluster.apply(intro)
    const change = cluster.client.patch(Rendering, ref, { type: 'merge', value: { spec: { scene: 'sunset' } } })
    expect(String(await change.catch((error) => error))).to.include('a rendering cannot be changed; make another one')
  })
})
