import { expect } from 'chai'
import { type Check, Checks } from '../../../lib/observe/checks.ts'
import { probe } from '../../../lib/observe/probes.ts'

const good: Check = () => ({ ok: true })
const bad: Check = () => ({ ok: false, note: 'no lease' })

describe('the probes', () => {
  let checks: Checks
  const ask = (path: string) => probe(checks, new URL(path, 'http://operator'))
  beforeEach(() => {
    checks = new Checks()
  })

  for (const path of ['/healthz', '/livez', '/readyz'])
    it(`answer ${path} with ok where nothing is wrong`, () => expect(ask(path)).to.deep.equal({ status: 200, body: 'ok' }))

  it('ask for readiness what is needed to live, and not the other way round', () => {
    checks.register('lease', 'live', good)
    checks.register('kinds', 'ready', bad)
    expect(ask('/livez')?.status).to.equal(200)
    expect(ask('/healthz')?.status).to.equal(200)
    expect(ask('/readyz')?.status).to.equal(500)
    checks.register('kinds', 'ready', good)
    checks.register('lease', 'live', bad)
    expect([ask('/livez')?.status, ask('/readyz')?.status]).to.deep.equal([500, 500])
  })

  it('say what is wrong, and with ?verbose what is not', () => {
    checks.register('a', 'ready', () => ({ ok: true, note: 'degraded:\nverb watch is missing' }))
    expect(ask('/readyz?verbose')).to.deep.equal({
      status: 200,
      body: '[+]ping ok\n[+]a ok: degraded: verb watch is missing\nreadyz check passed\n',
    })
    checks.register('b', 'ready', bad)
    expect(ask('/readyz')).to.deep.equal({
      status: 500,
      body: '[+]ping ok\n[+]a ok: degraded: verb watch is missing\n[-]b failed: no lease\nreadyz check failed\n',
    })
  })

  it('leave out what is excluded, and say what cannot be', () => {
    checks.register('a', 'ready', bad)
    checks.register('b', 'ready', bad)
    expect(ask('/readyz?exclude=a')?.status).to.equal(500)
    expect(ask('/readyz?exclude=a&exclude=b')).to.deep.equal({ status: 200, body: 'ok' })
    expect(ask('/readyz?verbose&exclude=a,b,c')?.body).to.equal(
      '[+]ping ok\n[+]a excluded: ok\n[+]b excluded: ok\nwarn: some health checks cannot be excluded: no matches for "c"\nreadyz check passed\n',
    )
  })

  it('answer for one check alone by its path', () => {
    checks.register('kind/Database.db.example.com', 'ready', bad)
    checks.register('lease', 'live', good)
    expect(ask('/readyz/kind/Database.db.example.com')?.status).to.equal(500)
    expect(ask('/readyz/lease')).to.deep.equal({ status: 200, body: 'ok' })
    expect(ask('/livez/ping')).to.deep.equal({ status: 200, body: 'ok' })
  })

  it('know no other pages', () => {
    for (const path of ['/', '/metrics', '/livez/nope', '/livez/kind', '/constructor', '/healthzz', '/livez/%zz'])
      expect(ask(path), path).to.equal(undefined)
  })

  it('count a check that throws as failed', () => {
    checks.register('a', 'live', () => {
      throw new Error('boom')
    })
    expect(ask('/livez')?.body).to.contain('[-]a failed: the check itself failed: boom')
  })

  it('forget a check that is taken away, but not the one that took its place', () => {
    const end = checks.register('a', 'live', bad)
    checks.register('a', 'live', bad)
    end()
    expect(ask('/livez')?.status).to.equal(500)
    checks.register('a', 'live', good)()
    expect(ask('/livez/a')).to.equal(undefined)
  })
})
