import { request } from 'node:https'
import { connect } from 'node:net'
import { expect } from 'chai'
import { serveWebhooks, type WebhookServer } from '../../../lib/admission/server.ts'
import { RequestError } from '../../../lib/admission/service.ts'
import { systemClock } from '../../../lib/api/clock.ts'
import { createAuthority, createServerCertificate } from '../../../lib/tls/certificates.ts'

const DAY = 86_400_000
const now = Date.now()
const validity = { from: now - DAY, to: now + DAY }
const authority = createAuthority('test', validity)
const pair = (commonName: string) => createServerCertificate(authority, { ...validity, commonName, hosts: ['127.0.0.1'] })

describe('the webhook server', () => {
  let server: WebhookServer
  const until: number[] = []
  let release: () => void = () => {}
  before(async () => {
    server = await serveWebhooks(
      async (review, path) => {
        if (path === '/missing') throw new RequestError(404, 'nothing answers at /missing')
        if (path === '/broken') throw new Error('hunter2')
        if (path === '/slow') await new Promise<void>((resolve) => (release = resolve))
        return { review, path }
      },
      {
        host: '127.0.0.1',
        port: 0,
        pair: pair('first'),
        clock: systemClock,
        observer: { asked: () => () => {}, certificate: (ms) => void until.push(ms) },
      },
    )
  })
  after(() => server.close(0))

  function send(path: string, body: string | Buffer, method = 'POST'): Promise<{ status: number; text: string; subject: string }> {
    return new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: server.port, path, method, ca: authority.cert, agent: false }, (response) => {
        const { subject } = (response.socket as import('node:tls').TLSSocket).getPeerCertificate()
        let text = ''
        response.setEncoding('utf8').on('data', (part) => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text, subject: String(subject.CN) }))
      })
      call.on('error', reject)
      call.end(body)
    })
  }

  it('hands reviews to the service, whatever the query says', async () => {
    const { status, text } = await send('/validate/a?timeout=10s', '{"a":1}')
    expect(status).to.equal(200)
    expect(JSON.parse(text)).to.deep.equal({ review: { a: 1 }, path: '/validate/a' })
  })

  it('answers what is no review by a status, and tells nothing else', async () => {
    expect(await send('/missing', '{}')).to.include({ status: 404, text: '{"code":404,"message":"nothing answers at /missing"}' })
    expect(await send('/broken', '{}')).to.include({ status: 500, text: '{"code":500,"message":"the request could not be answered"}' })
    expect(await send('/a', 'no json')).to.include({ status: 400 })
    expect(await send('/a', '', 'GET')).to.include({ status: 405 })
    expect(await send('//a:99999/', '{}')).to.include({ status: 400, text: '{"code":400,"message":"the request asks for no path"}' })
  })

  it('takes a new certificate without a restart', async () => {
    expect(await send('/a', '{}')).to.include({ subject: 'first' })
    server.renew(pair('second'))
    expect(await send('/a', '{}')).to.include({ subject: 'second' })
    // To the second, as certificates count.
    expect(until, 'told of both').to.deep.equal(Array(2).fill(Math.floor(validity.to / 1000) * 1000))
  })

  const MIB = 1024 * 1024
  const text = (bytes: number) => Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(bytes, 'x'), Buffer.from('"}')])

  it('reads the largest review that there is, and nothing larger, whether or not its length is told', async () => {
    expect(await send('/a', text(7 * MIB))).to.include({ status: 200 })
    expect(await send('/convert', text(8 * MIB))).to.include({ status: 413 })
    const { call, status } = begin()
    call.on('error', () => {})
    call.write(text(5 * MIB))
    call.write(text(5 * MIB))
    expect(await status).to.equal(413)
    call.destroy()
  })

  it('parses nothing that would take more memory than there is', async () => {
    expect(await send('/a', `[${'{},'.repeat(MIB)}{}]`)).to.include({ status: 413 })
    expect(await send('/a', `{"a":[${'"some text",'.repeat(MIB / 4)}1]}`)).to.include({ status: 200 })
  })

  it('holds only so much of all requests at once, and answers again when they are gone', async () => {
    const calls = Array.from({ length: 12 }, () => {
      const { call, status } = begin()
      call.on('error', () => {})
      call.write(text(2 * MIB))
      return { call, status: status.catch(() => 0) }
    })
    expect(await Promise.race(calls.map(({ status }) => status))).to.equal(503)
    for (const { call } of calls) call.destroy()
    let last = 0
    while (last !== 200) last = (await send('/a', text(7 * MIB)).catch(() => ({ status: 0 }))).status
  })

  it('answers one after the other what it cannot hold at once', async () => {
    const dense = `[${'1,'.repeat(MIB / 4)}1]`
    const all = await Promise.all(Array.from({ length: 12 }, () => send('/a', dense)))
    expect(all.map(({ status }) => status)).to.deep.equal(Array(12).fill(200))
  })

  /** A request that does not say how long it is. */
  function begin() {
    const call = request({ host: '127.0.0.1', port: server.port, path: '/a', method: 'POST', ca: authority.cert, agent: false })
    const status = new Promise<number>((resolve, reject) => {
      call.on('response', (response) => resolve(response.statusCode ?? 0)).on('error', reject)
    })
    return { call, status }
  }

  it('cuts off who says nothing within seconds', async function () {
    this.timeout(15_000)
    const silent = connect(server.port, '127.0.0.1').on('error', () => {})
    await new Promise((resolve) => silent.once('close', resolve))
  })

  it('lets what is being answered end before it closes', async () => {
    const slow = send('/slow', '{}')
    await send('/a', '{}')
    const closed = server.close()
    release()
    expect(await slow).to.include({ status: 200 })
    await closed
    expect(await send('/a', '{}').catch((error) => error.code)).to.equal('ECONNREFUSED')
  })
})
