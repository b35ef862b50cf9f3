import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { readCertificate } from '../../../lib/observe/certificate-files.ts'
import { type Endpoint, parseAddress, serve } from '../../../lib/observe/endpoint.ts'
import { cert, key, otherCert, otherKey } from '../api/servers.ts'
import { ManualClock } from '../manual-clock.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }

function get(
  url: string,
  options: https.RequestOptions = {},
): Promise<{ status: number; body: string; headers: http.IncomingHttpHeaders; peer: string }> {
  return new Promise((resolve, reject) => {
    const module = url.startsWith('https') ? https : http
    const request = module.request(url, { agent: false, ...options }, (response) => {
      let body = ''
      const socket = response.socket as TLSSocket
      const peer = url.startsWith('https') ? socket.getPeerCertificate().fingerprint256 : ''
      response.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers, peer }))
    })
    request.on('error', reject)
    request.end()
  })
}

describe('an endpoint', () => {
  const opened: Endpoint[] = []
  afterEach(async () => {
    for (const endpoint of opened.splice(0)) await endpoint.close()
  })
  async function open(...args: Parameters<typeof serve>): Promise<Endpoint> {
    const endpoint = await serve(...args)
    opened.push(endpoint)
    return endpoint
  }

  it('serves pages, and 404 where there is none', async () => {
    const { url } = await open(LOOPBACK, (_, { pathname }) => (pathname === '/a' ? { status: 200, body: 'é' } : undefined))
    expect(await get(`${url}/a?x`)).to.deep.include({ status: 200, body: 'é' })
    expect((await get(`${url}/b`)).status).to.equal(404)
    expect((await get(`${url}/a`)).headers).to.include({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  })

  it('lets nobody write, answers HEAD without a body, and hides why a page cannot be made', async () => {
    const { url } = await open(LOOPBACK, (_, { pathname }) => {
      if (pathname === '/broken') throw new Error('secret reason')
      return { status: 200, body: 'page' }
    })
    expect((await get(url, { method: 'POST' })).status).to.equal(405)
    expect(await get(url, { method: 'HEAD' })).to.deep.include({ status: 200, body: '' })
    const broken = await get(`${url}/broken`)
    expect(broken.status).to.equal(500)
    expect(broken.body).to.not.contain('secret')
  })

  it('cuts off who says nothing, in plain or over TLS, within seconds', async function () {
    this.timeout(15_000)
    const page = () => ({ status: 200, body: '' })
    const [plain, secure] = await Promise.all([open(LOOPBACK, page), open(LOOPBACK, page, { cert, key })])
    const silent = [plain, secure].map(({ url }) => net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}))
    await Promise.all(silent.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  })

  it('closes at once, whoever is connected', async () => {
    const { url, close } = await serve(LOOPBACK, () => ({ status: 200, body: '' }))
    const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    await close()
    await closed
  })

  it('rejects where the port is taken', async () => {
    const { url } = await open(LOOPBACK, () => undefined)
    const error = await serve({ host: '127.0.0.1', port: Number(new URL(url).port) }, () => undefined).catch((error) => error)
    expect(error.code).to.equal('EADDRINUSE')
  })

  it('takes a new certificate for new connections', async () => {
    const { url, renew } = await open(LOOPBACK, () => ({ status: 200, body: '' }), { cert, key })
    const before = await get(url, { rejectUnauthorized: false })
    renew({ cert: otherCert, key: otherKey })
    const after = await get(url, { rejectUnauthorized: false })
    expect(before.peer).to.not.equal(after.peer)
  })

  const addresses: [string, ReturnType<typeof parseAddress>][] = [
    [':8080', { host: undefined, port: 8080 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:9', { host: '::1', port: 9 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['0', undefined],
  ]
  for (const [text, address] of addresses) it(`is at ${text}`, () => expect(parseAddress(text)).to.deep.equal(address))
  for (const text of ['8080', '', ':', 'a:b', ':65536', '::1:80', 'a:1:2', 'http://x:1'])
    it(`cannot be at ${JSON.stringify(text)}`, () => expect(() => parseAddress(text)).to.throw(TypeError, 'expected host:port'))
})

describe('a certificate from files', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsop-certificate-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  function write(cert: string, key: string, age = 0) {
    for (const [name, text] of [
      ['tls.crt', cert],
      ['tls.key', key],
    ] as const) {
      writeFileSync(join(folder, name), text)
      utimesSync(join(folder, name), 1000 + age, 1000 + age)
    }
  }

  it('is read, and refused where key and certificate do not belong together', () => {
    write(cert, key)
    expect(String(readCertificate(folder).certificate.cert)).to.equal(cert)
    write(cert, otherKey)
    expect(() => readCertificate(folder)).to.throw()
  })

  it('is read again when it changes, not while it is half there, and again when it is whole', async () => {
    write(cert, key)
    const clock = new ManualClock()
    const taken: string[] = []
    const warned: string[] = []
    const log = { warn: (_: object, text: string) => warned.push(text), info() {} }
    const end = readCertificate(folder).watch(clock, log as never, (certificate) => taken.push(String(certificate.cert)))
    await clock.advance(30_000)
    expect(taken).to.deep.equal([])
    write(otherCert, key, 1)
    await clock.advance(10_000)
    expect(taken).to.deep.equal([])
    expect(warned).to.have.lengthOf(1)
    write(otherCert, otherKey, 2)
    await clock.advance(10_000)
    expect(taken).to.deep.equal([otherCert])
    end()
    write(cert, key, 3)
    await clock.advance(60_000)
    expect(taken).to.have.lengthOf(1)
  })

  it('is read again where it changed between the first reading and the watch', async () => {
    write(cert, key)
    const clock = new ManualClock()
    const taken: string[] = []
    const files = readCertificate(folder)
    write(otherCert, otherKey, 1)
    const end = files.watch(clock, { warn() {}, info() {} } as never, (certificate) => taken.push(String(certificate.cert)))
    await clock.advance(10_000)
    expect(taken).to.deep.equal([otherCert])
    end()
  })
})
