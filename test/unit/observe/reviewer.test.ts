import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import type { Transport, TransportRequest } from '../../../lib/api/transport.ts'
import { Metrics } from '../../../lib/observe/metrics.ts'
import { metricsPage } from '../../../lib/observe/metrics-page.ts'
import { Reviewer } from '../../../lib/observe/reviewer.ts'
import { ManualClock } from '../manual-clock.ts'

class Reviews implements Transport {
  readonly asked: string[] = []
  broken = false
  async request({ path, body }: TransportRequest) {
    this.asked.push(path)
    if (this.broken) return { status: 500, headers: {}, body: Buffer.from('') }
    const { metadata, spec } = JSON.parse(body ?? '')
    expect(metadata).to.equal(undefined)
    const status = path.endsWith('tokenreviews')
      ? { authenticated: spec.token !== 'bad', user: { username: spec.token, groups: ['g'], extra: { pod: ['x'] } } }
      : {
          allowed:
            spec.user === 'prometheus' &&
            spec.groups[0] === 'g' &&
            spec.extra.pod[0] === 'x' &&
            spec.nonResourceAttributes.path === '/metrics' &&
            spec.nonResourceAttributes.verb === 'get',
        }
    return { status: 201, headers: {}, body: Buffer.from(JSON.stringify({ status })) }
  }
  stream(): never {
    throw new Error('not here')
  }
  async close() {}
}

describe('who may read metrics', () => {
  let reviews: Reviews
  let clock: ManualClock
  let reviewer: Reviewer
  const ask = (token?: string) => reviewer.review(token && `Bearer ${token}`, 'get', '/metrics')
  beforeEach(() => {
    reviews = new Reviews()
    clock = new ManualClock()
    reviewer = new Reviewer(reviews, clock)
  })

  it('is who has a token that the API server knows, and the right', async () => {
    expect(await ask('prometheus')).to.equal('allowed')
    expect(await ask('somebody')).to.equal('forbidden')
    expect(await ask('bad')).to.equal('unauthenticated')
  })

  it('is nobody without a bearer token, and the API server is not bothered', async () => {
    for (const header of [undefined, '', 'Bearer', 'Basic YTpi', 'Bearer a b'])
      expect(await reviewer.review(header, 'get', '/metrics')).to.equal('unauthenticated')
    expect(reviews.asked).to.deep.equal([])
  })

  it('is asked once by many at the same time, and remembered for a while', async () => {
    await Promise.all(Array.from({ length: 10 }, () => ask('prometheus')))
    expect(reviews.asked).to.have.lengthOf(2)
    await clock.advance(59_000)
    await ask('prometheus')
    expect(reviews.asked).to.have.lengthOf(2)
    await clock.advance(2000)
    await ask('prometheus')
    expect(reviews.asked).to.have.lengthOf(3)
  })

  it('is asked again soon where the answer was no', async () => {
    await ask('somebody')
    await clock.advance(31_000)
    await ask('somebody')
    expect(reviews.asked.filter((path) => path.endsWith('subjectaccessreviews'))).to.have.lengthOf(2)
  })

  it('is not remembered where the API server could not be asked', async () => {
    reviews.broken = true
    expect(await ask('prometheus').catch((error) => error.status)).to.equal(500)
    reviews.broken = false
    expect(await ask('prometheus')).to.equal('allowed')
  })

  it('does not fill memory with tokens', async () => {
    for (let i = 0; i < 1000; i++) await ask(`token-${i}`)
    reviews.asked.length = 0
    await ask('token-999')
    expect(reviews.asked).to.have.lengthOf(0)
    await ask('token-1')
    expect(reviews.asked).to.have.lengthOf(2)
  })

  it('gets the page, and others say why not', async () => {
    const metrics = new Metrics({ clock, name: 'shop', version: '1' })
    const page = (token: string | undefined, path = '/metrics') =>
      metricsPage(
        metrics,
        reviewer,
        { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } } as IncomingMessage,
        new URL(path, 'http://x'),
      )
    expect(await page('prometheus')).to.deep.include({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    })
    expect(await page(undefined)).to.deep.include({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
    expect((await page('somebody'))?.status).to.equal(403)
    expect(await page('prometheus', '/')).to.equal(undefined)
    reviews.broken = true
    expect((await page('new'))?.status).to.equal(503)
  })
})
