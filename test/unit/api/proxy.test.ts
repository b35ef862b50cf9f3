import http from 'node:http'
import net from 'node:net'
import { expect } from 'chai'
import { systemClock } from '../../../lib/api/clock.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import { proxyOf } from '../../../lib/api/proxy.ts'
import { closeServers, clusterOf, http2Server, httpsServer, type TestServer } from './servers.ts'

describe('the proxy of the environment', () => {
  const proxy = 'http://proxy:3128'

  for (const [what, env, server, expected] of [
    ['none', {}, 'https://api.example.com', undefined],
    ['by scheme', { HTTPS_PROXY: proxy }, 'https://api.example.com', proxy],
    ['by scheme, not that of the other', { HTTP_PROXY: proxy }, 'https://api.example.com', undefined],
    ['for http', { HTTP_PROXY: proxy }, 'http://api.example.com', proxy],
    ['in lower case', { https_proxy: proxy }, 'https://api.example.com', proxy],
    ['without a scheme', { HTTPS_PROXY: 'proxy:3128' }, 'https://api.example.com', proxy],
    ['never for localhost', { HTTPS_PROXY: proxy }, 'https://localhost:6443', undefined],
    ['never for 127.0.0.1', { HTTPS_PROXY: proxy }, 'https://127.0.0.1:6443', undefined],
    ['never for ::1', { HTTPS_PROXY: proxy }, 'https://[::1]:6443', undefined],
    ['not for all', { HTTPS_PROXY: proxy, NO_PROXY: '*' }, 'https://api.example.com', undefined],
    ['not for a name', { HTTPS_PROXY: proxy, NO_PROXY: 'a, api.example.com' }, 'https://api.example.com', undefined],
    ['not for what is below a domain', { HTTPS_PROXY: proxy, NO_PROXY: 'example.com' }, 'https://api.example.com', undefined],
    ['not for what is below .domain', { HTTPS_PROXY: proxy, NO_PROXY: '.example.com' }, 'https://api.example.com', undefined],
    ['but for the domain itself', { HTTPS_PROXY: proxy, NO_PROXY: '.example.com' }, 'https://example.com', proxy],
    ['and for a name that only ends alike', { HTTPS_PROXY: proxy, NO_PROXY: 'example.com' }, 'https://myexample.com', proxy],
    ['not for a range', { HTTPS_PROXY: proxy, no_proxy: '10.0.0.0/8' }, 'https://10.96.0.1', undefined],
    ['but outside of it', { HTTPS_PROXY: proxy, NO_PROXY: '10.0.0.0/8' }, 'https://11.96.0.1', proxy],
    ['not for a range of IPv6', { HTTPS_PROXY: proxy, NO_PROXY: 'fd00::/8' }, 'https://[fd12::1]:6443', undefined],
    ['not for an address', { HTTPS_PROXY: proxy, NO_PROXY: '10.96.0.1' }, 'https://10.96.0.1', undefined],
    ['not for a port', { HTTPS_PROXY: proxy, NO_PROXY: 'api.example.com:6443' }, 'https://api.example.com:6443', undefined],
    ['but for another one', { HTTPS_PROXY: proxy, NO_PROXY: 'api.example.com:6443' }, 'https://api.example.com', proxy],
  ] as const) {
    it(`is taken ${what}: ${JSON.stringify(env)} for ${server}`, () => {
      expect(proxyOf(env, new URL(server))).to.equal(expected)
    })
  }
})

describe('through a proxy', () => {
  const after: (() => void)[] = []
  afterEach(async () => {
    for (const f of after.splice(0)) f()
    await closeServers()
  })

  /** Connects to the server whatever host is asked for, so that the name needs no resolution. */
  async function connectProxy(server: TestServer, answer = 'HTTP/1.1 200 Connection established') {
    const asked: { url: string; auth: string | undefined }[] = []
    const raw = await new Promise<http.Server>((resolve) => {
      const each = http.createServer()
      each.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
        asked.push({ url: request.url ?? '', auth: request.headers['proxy-authorization'] })
        socket.write(`${answer}\r\nServer: test\r\n\r\n`)
        if (!answer.includes(' 200 ')) return socket.end()
        const far = net.connect(server.port, '127.0.0.1')
        far.on('error', () => socket.destroy())
        socket.on('error', () => far.destroy())
        socket.on('close', () => far.destroy())
        far.on('close', () => socket.destroy())
        far.pipe(socket)
        socket.pipe(far)
      })
      each.listen(0, '127.0.0.1', () => resolve(each))
    })
    after.push(() => raw.close())
    return { url: (auth = '') => `http://${auth}127.0.0.1:${(raw.address() as net.AddressInfo).port}`, asked }
  }

  for (const [version, start] of [
    ['HTTP/2', http2Server],
    ['HTTP/1.1', httpsServer],
  ] as const) {
    it(`${version} goes through a tunnel, with the server's own certificate`, async () => {
      const server = await start((request, response) => response.end(request.httpVersion))
      const proxy = await connectProxy(server)
      const cluster = { ...clusterOf({ url: 'https://api.test:6443' }), proxy: proxy.url('user:p%40ss@') }
      const transport = createTransport(cluster, { clock: systemClock, random: Math.random })
      for (let i = 0; i < 3; i++) {
        const { body } = await transport.request({ method: 'GET', path: '/x', timeoutMs: 5000 })
        expect(body.toString()).to.equal(version === 'HTTP/2' ? '2.0' : '1.1')
      }
      expect(proxy.asked).to.deep.equal([{ url: 'api.test:6443', auth: `Basic ${Buffer.from('user:p@ss').toString('base64')}` }])
      await transport.close()
    })
  }

  it('that refuses, the error says what it said', async () => {
    const server = await http2Server((_request, response) => response.end())
    const proxy = await connectProxy(server, 'HTTP/1.1 407 Proxy Authentication Required')
    const cluster = { ...clusterOf({ url: 'https://api.test:6443' }), proxy: proxy.url() }
    const transport = createTransport(cluster, { clock: systemClock, random: Math.random })
    const error = await transport.request({ method: 'GET', path: '/x', timeoutMs: 5000 }).catch((error) => error)
    expect(error.message).to.match(
      /^cannot connect to https:\/\/api.test:6443: the proxy 127.0.0.1:\d+ refused the connection: HTTP\/1.1 407 Proxy Authentication Required$/,
    )
    await transport.close()
  })
})
