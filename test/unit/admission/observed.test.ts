/** What is counted of the questions of the API server. */
import { expect } from 'chai'
import { pathsOf, RequestError, webhookService } from '../../../lib/admission/service.ts'
import { collect } from '../../../lib/decorators/collect.ts'
import { Invalid, onReconcile, validates } from '../../../lib/index.ts'
import { METRICS, type MetricName } from '../../../lib/observe/metric-table.ts'
import { Metrics } from '../../../lib/observe/metrics.ts'
import { ManualClock } from '../manual-clock.ts'
import { samplesOf, sampleValue } from '../observe/exposition.ts'
import { Box, box, logTo } from './fixtures.ts'

const VALIDATE = '/validate/shop.example.com/boxes/validate'
const IGNORE = '/validate/shop.example.com/boxes/ignore'

class BoxHandler {
  @onReconcile(Box) reconcile() {}
  @validates(Box) async validate({ spec }: Box) {
    if (spec.size === 1) return new Invalid('too small')
    if (spec.size === 2) throw new Error('no')
    if (spec.size === 3) await new Promise(() => {})
  }
  @validates(Box, { failurePolicy: 'Ignore' }) ignore() {
    throw new Error('no')
  }
}

describe('the metrics of webhooks', () => {
  let clock: ManualClock
  let metrics: Metrics
  let service: ReturnType<typeof webhookService>

  beforeEach(() => {
    clock = new ManualClock()
    metrics = new Metrics({ clock, name: 'shop', version: '1' })
    const spec = collect(BoxHandler)
    const observer = metrics.webhooks(pathsOf([spec]))
    service = webhookService([{ spec, instance: new BoxHandler() }], { clock, log: logTo([]), observer })
  })

  const ask = (size: number, path = VALIDATE) =>
    service(
      {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        request: {
          uid: 'u',
          operation: 'CREATE',
          resource: { group: 'shop.example.com', version: 'v1', resource: 'boxes' },
          object: box({ size }),
        },
      },
      path,
    )
  const convert = (objects: unknown) =>
    service(
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        request: { uid: 'u', desiredAPIVersion: 'shop.example.com/v1alpha1', objects },
      },
      '/convert',
    )
  const read = async (name: MetricName | `${MetricName}_${'count' | 'sum'}`, labels: Record<string, string>) =>
    sampleValue(await metrics.text(), name, labels)
  const answers = async (webhook: string) =>
    Object.fromEntries(
      await Promise.all(
        ['allowed', 'refused', 'failed'].map(async (answer) => [answer, await read('tsop_webhook_answers_total', { webhook, answer })]),
      ),
    ) as Record<string, number>

  it('begin at zero, for each path that is answered', async () => {
    for (const webhook of [VALIDATE, IGNORE, '/convert']) {
      expect(await answers(webhook)).to.deep.equal({ allowed: 0, refused: 0, failed: 0 })
      expect(await read('controller_runtime_webhook_requests_total', { webhook, code: '200' })).to.equal(0)
    }
  })

  it('tell what was allowed, refused and failed, whatever the API server does after a failure', async () => {
    await ask(0)
    await ask(1)
    await ask(2)
    await ask(0, IGNORE)
    expect(await answers(VALIDATE)).to.deep.equal({ allowed: 1, refused: 1, failed: 1 })
    expect(await answers(IGNORE)).to.deep.equal({ allowed: 0, refused: 0, failed: 1 })
    expect(await read('controller_runtime_webhook_requests_total', { webhook: VALIDATE, code: '200' })).to.equal(3)
  })

  it('tell of conversions as well', async () => {
    await convert([box({ size: 1 })])
    await convert([{ apiVersion: 'shop.example.com/v1', kind: 'Other', metadata: { name: 'a' } }])
    expect(await answers('/convert')).to.deep.equal({ allowed: 1, refused: 0, failed: 1 })
  })

  it('tell what is under way, and how long it took', async () => {
    const late = ask(3)
    expect(await read('controller_runtime_webhook_requests_in_flight', { webhook: VALIDATE })).to.equal(1)
    await clock.advance(9_000)
    await late
    expect(await read('controller_runtime_webhook_requests_in_flight', { webhook: VALIDATE })).to.equal(0)
    expect(await read('controller_runtime_webhook_latency_seconds_sum', { webhook: VALIDATE })).to.equal(9)
    expect(await answers(VALIDATE)).to.include({ failed: 1 })
  })

  it('count what is no review by its code, and nothing of paths where nobody answers', async () => {
    const before = samplesOf(await metrics.text()).length
    expect(await service({}, VALIDATE).catch((error) => error)).to.be.instanceOf(RequestError)
    expect(await convert('nothing').catch((error) => error)).to.be.instanceOf(RequestError)
    expect(await read('controller_runtime_webhook_requests_total', { webhook: VALIDATE, code: '400' })).to.equal(1)
    expect(await read('controller_runtime_webhook_requests_total', { webhook: '/convert', code: '400' })).to.equal(1)
    for (let i = 0; i < 10; i++) await service({}, `/guess/${i}`).catch(() => {})
    expect(samplesOf(await metrics.text()).length).to.equal(before + 2)
  })

  it('have no certificate where none is served', async () => {
    const name = 'tsop_webhook_certificate_expiration_timestamp_seconds'
    expect(samplesOf(await metrics.text()).filter(({ metric }) => metric === name)).to.deep.equal([])
    metrics.webhooks([]).certificate(1_700_000_000_000)
    expect(await read(name, {})).to.equal(1_700_000_000)
    expect(METRICS[name].labels).to.deep.equal([])
  })
})
