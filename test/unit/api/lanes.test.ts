import type http2 from 'node:http2'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { expect } from 'chai'
import { systemClock } from '../../../lib/api/clock.ts'
import type { Cluster, Credentials } from '../../../lib/api/cluster.ts'
import type { Receiver } from '../../../lib/api/connection.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import { Lanes } from '../../../lib/api/lanes.ts'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import type { Transport, TransportRequest } from '../../../lib/api/transport.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import {
  type Answer,
  bothServer,
  cert,
  closeServers,
  clusterOf,
  http2Server,
  key,
  otherCert,
  otherKey,
  plainRequest,
  relayTo,
  type TestServer,
  tlsServer,
  until,
} from './servers.ts'

/** Longer than any test moves its clock. */
const NO_DEADLINE = 1_000_000

const put: Partial<TransportRequest> = { method: 'PUT', body: '{}' }

describe('HTTP/1.1 sockets beside HTTP/2', () => {
  const transports: Transport[] = []

  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close()
    await closeServers()
  })

  interface Arrival {
    readonly path: string
    readonly version: string
    readonly body: string
    /** The client's port, which tells sockets apart. */
    readonly port: number
    answer(): void
  }

  interface Options {
    readonly answers?: Readonly<Record<string, Answer>>
    readonly server?: http2.SecureServerOptions
    readonly clock?: ManualClock
    readonly cluster?: (server: TestServer) => Cluster | Promise<Cluster>
    /** With all requests. */
    readonly request?: Partial<TransportRequest>
  }

  /**
   * A server that answers `{ path, version, body, port }`; to `/held…` only when a test says so; to what `answers` has, by that. `transport` sends its requests
   * over lanes.
   */
  async function world({ answers = {}, server: options, clock, cluster = clusterOf, request = {} }: Options = {}) {
    const arrivals: Arrival[] = []
    const server = await bothServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk))
      request.on('end', () => {
        const { url: path = '', httpVersion: version } = request
        const port = request.socket.remotePort ?? 0
        const arrival: Arrival = { path, version, body, port, answer: () => response.end(JSON.stringify({ path, version, body, port })) }
        arrivals.push(arrival)
        if (answers[path] !== undefined) answers[path](request, response)
        else if (!path.startsWith('/held')) arrival.answer()
      })
    }, options)
    const transport = createTransport(await cluster(server), { clock: clock ?? systemClock, random: () => 0.5, lanes: true })
    transports.push(transport)

    const send = (path: string, rest: Partial<TransportRequest> = {}) =>
      transport.request({ method: 'GET', path, timeoutMs: NO_DEADLINE, ...request, ...rest })
    const ask = async (path = '/x', rest: Partial<TransportRequest> = {}): Promise<Omit<Arrival, 'answer'>> =>
      JSON.parse(String((await send(path, rest)).body))
    /** Sends a request that gets no answer before `arrival.answer()`. */
    const hold = async (path = '/held', rest: Partial<TransportRequest> = {}) => {
      const before = arrivals.length
      const answer = ask(path, rest)
      answer.catch(() => {})
      await until(() => arrivals.length > before)
      return { arrival: arrivals.at(-1) as Arrival, answer }
    }
    const lanes = () => server.handshakes.filter(({ protocol }) => protocol === 'http/1.1').map(({ socket }) => socket)
    const openLanes = () => lanes().filter((socket) => !socket.destroyed)
    /** Has this many lanes open and at rest. */
    const rest = async (count: number) => {
      const held = []
      while (openLanes().length < count) {
        const before = lanes().length
        const each = await hold()
        held.push(each)
        // One that found none at rest makes another one open.
        if (each.arrival.version === '2.0') await until(() => lanes().length > before)
      }
      for (const { arrival } of held) arrival.answer()
      await Promise.all(held.map(({ answer }) => answer))
    }
    return { server, transport, arrivals, send, ask, hold, lanes, openLanes, rest }
  }

  describe('where the server speaks both', () => {
    it('send the first request over HTTP/2 while one opens, and the next ones over HTTP/1.1', async () => {
      const { ask, lanes } = await world()
      expect(await ask('/first')).to.include({ path: '/first', version: '2.0' })
      await until(() => lanes().length === 1)
      const next = [await ask('/next'), await ask('/again', { method: 'PUT', body: 'grüße' })]
      expect(next).to.deep.equal([
        { path: '/next', version: '1.1', body: '', port: lanes()[0]?.remotePort },
        { path: '/again', version: '1.1', body: 'grüße', port: lanes()[0]?.remotePort },
      ])
    })

    it('leave streams to HTTP/2', async () => {
      const { transport, ask, rest, lanes, arrivals, server } = await world({
        answers: { '/watch': (_request, response) => void response.writeHead(200) },
      })
      await rest(1)
      const streams = await Promise.all([1, 2, 3].map(() => transport.stream({ method: 'GET', path: '/watch', timeoutMs: NO_DEADLINE })))
      expect(arrivals.filter(({ path }) => path === '/watch').map(({ version }) => version)).to.deep.equal(['2.0', '2.0', '2.0'])
      expect((await ask()).version).to.equal('1.1')
      expect([lanes().length, server.accepted]).to.deep.equal([1, 2])
      for (const stream of streams) stream.close()
    })

    it('are not there unless they are asked for', async () => {
      const { server, arrivals } = await world()
      const transport = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5 })
      transports.push(transport)
      for (let i = 0; i < 5; i++) await transport.request({ method: 'GET', path: '/x', timeoutMs: NO_DEADLINE })
      expect([server.accepted, arrivals.every(({ version }) => version === '2.0')]).to.deep.equal([1, true])
    })

    it('are 16 at the most for 200 requests at the same time, and each request gets its own answer', async () => {
      const { ask, lanes, arrivals, rest } = await world()
      const round = async () => {
        const sent = Array.from({ length: 200 }, (_, i) => ({ path: `/${i}`, body: `${i} `.repeat(i) }))
        const got = await Promise.all(sent.map(({ path, body }) => ask(path, { method: 'POST', body })))
        expect(got.map(({ path, body }) => ({ path, body }))).to.deep.equal(sent)
      }
      await round()
      await rest(16)
      arrivals.length = 0
      await round()
      await round()
      expect(lanes()).to.have.length(16)
      expect(new Set(arrivals.filter(({ version }) => version === '1.1').map(({ port }) => port)).size).to.equal(16)
    })

    it('let a request go over HTTP/2 while all 16 are busy', async () => {
      const { ask, hold, rest, lanes } = await world()
      await rest(16)
      const held = []
      for (let i = 0; i < 16; i++) held.push(await hold())
      expect(held.every(({ arrival }) => arrival.version === '1.1')).to.equal(true)
      expect([(await ask('/17th')).version, (await ask('/18th')).version]).to.deep.equal(['2.0', '2.0'])
      held[3]?.arrival.answer()
      await held[3]?.answer
      expect(await ask()).to.include({ version: '1.1', port: held[3]?.arrival.port })
      expect(lanes()).to.have.length(16)
    })

    it('do not send a write again whose socket breaks before the answer', async () => {
      const { ask, send, rest, arrivals } = await world({ answers: { '/break': (request) => request.socket.destroy() } })
      await rest(1)
      await ask()
      const error = await failure(send('/break', put))
      expect(error).to.be.instanceOf(ConnectionError)
      expect(error.message).to.match(/^PUT \/break: the connection broke: /)
      expect(arrivals.filter(({ path }) => path === '/break').map(({ version }) => version)).to.deep.equal(['1.1'])
      expect((await ask()).version).to.equal('2.0')
    })

    it('send a GET again where the server closes a socket that was used before', async () => {
      let times = 0
      const { ask, send, rest, arrivals } = await world({
        answers: { '/break': (request, response) => void (++times === 1 ? request.socket.destroy() : response.end('ok')) },
      })
      await rest(1)
      await ask()
      expect(String((await send('/break')).body)).to.equal('ok')
      expect(arrivals.filter(({ path }) => path === '/break').map(({ version }) => version)).to.deep.equal(['1.1', '2.0'])
    })

    it('do not use a socket again whose answer said connection: close', async () => {
      const { ask, rest, lanes, openLanes, send } = await world({
        answers: { '/close': (_request, response) => void response.writeHead(200, { connection: 'close' }).end('ok') },
      })
      await rest(1)
      expect(String((await send('/close')).body)).to.equal('ok')
      expect((await ask()).version).to.equal('2.0')
      await until(() => lanes().length === 2 && openLanes().length === 1)
      expect(await ask()).to.include({ version: '1.1', port: lanes()[1]?.remotePort })
    })

    it('end alone with a request that is given up', async () => {
      const { ask, hold, rest, openLanes, lanes } = await world()
      await rest(2)
      const abort = new AbortController()
      const given = await hold('/held/given-up', { signal: abort.signal })
      const other = await hold('/held/other')
      const reason = new Error('no more')
      abort.abort(reason)
      expect(await failure(given.answer)).to.equal(reason)
      await until(() => openLanes().length === 1)
      other.arrival.answer()
      expect(await other.answer).to.include({ path: '/held/other', version: '1.1' })
      expect(await ask()).to.include({ version: '1.1', port: other.arrival.port })
      expect(lanes()).to.have.length(2)
    })

    it('pass over 100 and 103 before an answer', async () => {
      const { send, rest, arrivals } = await world({
        answers: {
          '/hints': (_request, response) => {
            response.writeContinue()
            response.writeEarlyHints({ link: '</a>; rel=preload' })
            response.end('ok')
          },
        },
      })
      await rest(1)
      const { status, body } = await send('/hints')
      expect([status, String(body), arrivals.at(-1)?.version]).to.deep.equal([200, 'ok', '1.1'])
    })

    it('end where the server says something unasked, and the next request gets its own answer', async () => {
      const { ask, rest, lanes, openLanes, server } = await world()
      await rest(1)
      lanes()[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong')
      await until(() => openLanes().length === 0 && server.sockets.size === 1)
      expect(await ask('/right')).to.include({ path: '/right', version: '2.0' })
    })

    it('end where more comes than the answer, and the requests behind it get their own', async () => {
      const { ask, rest, send, openLanes, server } = await world({
        answers: {
          '/more': (request) => {
            const wrong = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno'
            request.socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok${wrong}${wrong}`)
          },
        },
      })
      await rest(1)
      expect(String((await send('/more')).body)).to.equal('ok')
      expect(await ask('/right')).to.include({ path: '/right', version: '2.0' })
      await until(() => openLanes().length <= 1 && server.sockets.size <= 2)
    })

    it('ask beforeSend right before they send, send nothing where it throws, and are as good as before', async () => {
      const { ask, send, rest, arrivals, lanes } = await world()
      await rest(1)
      const before = arrivals.length
      const shut = new Error('the lease is lost')
      const beforeSend = () => {
        throw shut
      }
      for (let i = 0; i < 20; i++) expect(await failure(send('/refused', { ...put, beforeSend }))).to.equal(shut)
      let asked: number | undefined
      const allow = () => {
        asked = arrivals.length
      }
      expect(await ask('/allowed', { ...put, beforeSend: allow })).to.include({ path: '/allowed', version: '1.1' })
      expect([asked, arrivals.length, lanes().length]).to.deep.equal([before, before + 1, 1])
    })

    it('let nothing leave once it may not be written, in the turn in which it was to be sent', async () => {
      const gate = { open: true }
      const mayWrite = () => gate.open
      const { ask, send, rest, arrivals } = await world({ request: { mayWrite } })
      await rest(1)
      expect((await ask('/before', put)).version).to.equal('1.1')
      const error = await failure(
        send('/after', {
          ...put,
          beforeSend: () => {
            gate.open = false
          },
        }),
      )
      expect(error).to.be.instanceOf(ConnectionError)
      gate.open = true
      await ask('/again', put)
      expect(arrivals.map(({ path }) => path).filter((path) => !path.startsWith('/held'))).to.deep.equal(['/before', '/again'])
    })

    for (const [what, request, headers] of [
      ['a path', { path: '/x HTTP/1.1\r\nhost: other\r\n\r\n' }, {}],
      ['a header', { headers: { accept: 'a\r\nauthorization: Bearer other' } }, {}],
      ['a header of the credentials', {}, { authorization: 'Bearer t\r\nimpersonate-user: other' }],
    ] as const) {
      it(`refuse ${what} with a line break, and send nothing`, async () => {
        const good: Credentials = { headers: {}, tls: { ca: [cert], rejectUnauthorized: true } }
        let credentials = good
        const { ask, send, rest, arrivals } = await world({
          cluster: (server) => ({ ...clusterOf(server), credentials: () => credentials }),
        })
        await rest(1)
        const before = arrivals.length
        credentials = { ...good, headers }
        expect(await failure(send('/x', request))).to.be.instanceOf(TypeError)
        credentials = good
        expect(await ask('/good')).to.include({ path: '/good', version: '1.1' })
        expect(arrivals).to.have.length(before + 1)
      })
    }

    it('retire with their connection where certificates change, and what is under way gets its answer', async () => {
      let credentials: Credentials = { headers: {}, tls: { ca: [cert], rejectUnauthorized: true } }
      const { ask, hold, rest, lanes, openLanes, server } = await world({
        cluster: (server) => ({ ...clusterOf(server), credentials: () => credentials }),
      })
      await rest(3)
      const held = await hold()
      const old = lanes()
      credentials = { headers: {}, tls: { ca: [cert], cert, key, rejectUnauthorized: true } }
      expect((await ask()).version).to.equal('2.0')
      await until(() => old.filter((socket) => !socket.destroyed).length === 1)
      held.arrival.answer()
      expect(await held.answer).to.include({ version: '1.1', port: held.arrival.port })
      await until(() => old.every((socket) => socket.destroyed) && lanes().length === 4)
      expect(await ask()).to.include({ version: '1.1', port: lanes()[3]?.remotePort })
      // The old session has ended too.
      await until(() => openLanes().length === 1 && server.sockets.size === 2)
    })

    it('speak for the connection that broke before it answered anything itself: no pause before the next one', async () => {
      const { ask, hold, lanes, server } = await world({ clock: new ManualClock() })
      const held = await hold('/held', put)
      await until(() => lanes().length === 1)
      expect((await ask()).version).to.equal('1.1')
      server.sessions[0]?.destroy()
      expect(await failure(held.answer)).to.be.instanceOf(ConnectionError)
      expect((await ask()).version).to.equal('2.0')
    })

    it('end when the transport is closed, and what is under way on them fails', async () => {
      const { transport, hold, rest, openLanes, server } = await world()
      await rest(2)
      const held = await hold()
      expect([held.arrival.version, openLanes().length]).to.deep.equal(['1.1', 2])
      await transport.close()
      expect(await failure(held.answer)).to.be.instanceOf(ConnectionError)
      await until(() => server.sockets.size === 0)
    })

    it('end when the transport is closed, also where their connection has retired', async () => {
      let credentials: Credentials = { headers: {}, tls: { ca: [cert], rejectUnauthorized: true } }
      const { transport, ask, hold, rest, server } = await world({
        cluster: (server) => ({ ...clusterOf(server), credentials: () => credentials }),
      })
      await rest(1)
      const held = await hold()
      credentials = { headers: {}, tls: { ca: [cert], rejectUnauthorized: true } }
      await ask()
      await transport.close()
      expect(await failure(held.answer)).to.be.instanceOf(ConnectionError)
      await until(() => server.sockets.size === 0)
    })

    it('at rest are dropped when a request gets no answer in time, those in use are not', async () => {
      const clock = new ManualClock()
      const { ask, hold, rest, openLanes } = await world({ clock })
      await rest(4)
      const late = await hold('/held/late', { timeoutMs: 1000 })
      const slow = await hold('/held/slow')
      expect([late.arrival.version, slow.arrival.version]).to.deep.equal(['1.1', '1.1'])
      await clock.advance(1000)
      expect(await failure(late.answer)).to.be.instanceOf(TimeoutError)
      await until(() => openLanes().length === 1)
      expect((await ask()).version).to.equal('2.0')
      slow.arrival.answer()
      expect(await slow.answer).to.include({ version: '1.1', port: slow.arrival.port })
    })

    it('leave a request to HTTP/2 once in 45 s, lest the server ends a session on which nothing is asked for', async () => {
      const clock = new ManualClock()
      const { ask, rest } = await world({ clock })
      await rest(1)
      const versions: string[] = []
      for (const ms of [15_000, 15_000, 14_999, 1, 0, 15_000]) {
        await clock.advance(ms)
        // The PING of the connection, and its answer.
        await until(() => clock.pending <= 1)
        versions.push((await ask()).version)
      }
      expect(versions).to.deep.equal(['1.1', '1.1', '1.1', '2.0', '1.1', '1.1'])
    })

    it('take every request while a stream keeps the session in use', async () => {
      const clock = new ManualClock()
      const { transport, ask, rest } = await world({
        clock,
        answers: { '/watch': (_request, response) => void response.write('one\n') },
      })
      const stream = await transport.stream({ method: 'GET', path: '/watch', timeoutMs: NO_DEADLINE })
      stream.read(
        () => {},
        () => {},
      )
      await rest(1)
      const versions: string[] = []
      for (let i = 0; i < 5; i++) {
        await clock.advance(15_000)
        await until(() => clock.pending === 1)
        versions.push((await ask()).version)
      }
      expect(versions).to.deep.equal(Array(5).fill('1.1'))
    })

    it('that were at rest for 20 s are not used again', async () => {
      const clock = new ManualClock()
      const { ask, rest, lanes, openLanes } = await world({ clock })
      await rest(1)
      const port = lanes()[0]?.remotePort
      // The PING of the connection, and its answer.
      const advance = async (ms: number) => {
        await clock.advance(ms)
        await until(() => clock.pending <= 1)
      }
      await advance(15_000)
      await advance(4_999)
      expect(await ask()).to.include({ version: '1.1', port })
      await advance(10_001)
      await advance(9_999)
      expect((await ask()).version).to.equal('2.0')
      await until(() => lanes().length === 2 && openLanes().length === 1)
      expect(await ask()).to.include({ version: '1.1', port: lanes()[1]?.remotePort })
    })

    it('fail with the connection whose peer is found dead by PING', async () => {
      const clock = new ManualClock()
      let relay: Awaited<ReturnType<typeof relayTo>> | undefined
      const { transport, hold, rest } = await world({
        clock,
        cluster: async (server) => {
          relay = await relayTo(server.port)
          return clusterOf(relay)
        },
        answers: { '/watch': (_request, response) => void response.write('one\n') },
      })
      const stream = await transport.stream({ method: 'GET', path: '/watch', timeoutMs: NO_DEADLINE })
      const broken: unknown[] = []
      stream.read(
        () => {},
        (error) => broken.push(error),
      )
      await rest(2)
      const held = [await hold('/held/1', put), await hold('/held/2', put)]
      expect(held.map(({ arrival }) => arrival.version)).to.deep.equal(['1.1', '1.1'])
      for (const { answer } of held) answer.catch((error) => broken.push(error))
      relay?.swallow()
      await clock.advance(24_999)
      expect(broken).to.deep.equal([])
      await clock.advance(1)
      await until(() => broken.length === 3)
      for (const error of broken) {
        expect(error)
          .to.be.instanceOf(ConnectionError)
          .with.property('message')
          .that.matches(/: the connection broke: no answer to a PING within 10 s$/)
      }
    })

    it('have the peer looked for as long as a request is under way on one of them', async () => {
      const clock = new ManualClock()
      let relay: Awaited<ReturnType<typeof relayTo>> | undefined
      const { hold, rest } = await world({
        clock,
        cluster: async (server) => {
          relay = await relayTo(server.port)
          return clusterOf(relay)
        },
      })
      await rest(1)
      const held = await hold('/held', put)
      expect(held.arrival.version).to.equal('1.1')
      // Left are its deadline and the timer of the next PING.
      for (let i = 0; i < 4; i++) {
        await clock.advance(15_000)
        await until(() => clock.pending === 2)
      }
      relay?.swallow()
      await clock.advance(25_000)
      expect((await failure(held.answer)).message).to.equal('PUT /held: the connection broke: no answer to a PING within 10 s')
    })
  })

  describe('where the server speaks HTTP/2 only', () => {
    it('are given up where the other side does not say that it speaks HTTP/1.1', async () => {
      const heard: Buffer[] = []
      const silent = await tlsServer((socket) => void socket.on('data', (chunk) => heard.push(chunk)))
      let relay: Awaited<ReturnType<typeof relayTo>> | undefined
      const { ask } = await world({
        cluster: async (server) => {
          relay = await relayTo(server.port)
          return clusterOf(relay)
        },
      })
      // The connection is there by then, the first lane is not.
      expect((await ask('/first', { beforeSend: () => relay?.leadTo(silent.port) })).version).to.equal('2.0')
      await until(() => silent.accepted === 1 && silent.sockets.size === 0)
      expect([(await ask()).version, (await ask()).version, heard.length, silent.accepted]).to.deep.equal(['2.0', '2.0', 0, 1])
    })

    it('are tried once in 30 s, and everything goes over HTTP/2', async () => {
      const clock = new ManualClock()
      const versions = new Set<string>()
      const server = await http2Server((request, response) => {
        versions.add(request.httpVersion)
        response.end(request.url)
      })
      const transport = createTransport(clusterOf(server), { clock, random: () => 0.5, lanes: true })
      transports.push(transport)
      const ask = async (times: number) => {
        const paths = Array.from({ length: times }, (_, i) => `/${i}`)
        for (const path of paths) {
          expect(String((await transport.request({ method: 'GET', path, timeoutMs: NO_DEADLINE })).body)).to.equal(path)
        }
      }
      // Left is the timer of the next PING: no attempt is being made.
      const attempted = (accepted: number) => until(() => server.accepted === accepted && clock.pending === 1)
      await ask(1)
      await attempted(2)
      await ask(5)
      await clock.advance(15_000)
      await attempted(2)
      await ask(5)
      await clock.advance(14_999)
      await ask(5)
      expect([server.accepted, clock.pending]).to.deep.equal([2, 1])
      await clock.advance(1)
      await ask(5)
      await attempted(3)
      await ask(5)
      expect([server.accepted, [...versions]]).to.deep.equal([3, ['2.0']])
    })
  })

  describe('with TLS', () => {
    it('prove who they are by the certificate of their cluster', async () => {
      const tls = { ca: [cert], cert: otherCert, key: otherKey, rejectUnauthorized: true }
      const { ask, rest, server } = await world({
        server: { requestCert: true, rejectUnauthorized: true, ca: [otherCert] },
        cluster: (server) => clusterOf(server, { tls }),
      })
      await rest(2)
      expect((await ask()).version).to.equal('1.1')
      expect(server.handshakes.map(({ socket }) => socket.authorized)).to.deep.equal([true, true, true])
      const nobody = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5, lanes: true })
      transports.push(nobody)
      const error = await failure(nobody.request({ method: 'GET', path: '/x', timeoutMs: NO_DEADLINE }))
      expect(error.message).to.contain('it wants a client certificate')
    })

    it('refuse a server with another certificate at the same address', async () => {
      const clock = new ManualClock()
      let relay: Awaited<ReturnType<typeof relayTo>> | undefined
      const { ask, send, rest, server } = await world({
        clock,
        cluster: async (server) => {
          relay = await relayTo(server.port)
          return clusterOf(relay)
        },
      })
      await rest(1)
      let requests = 0
      const other = await bothServer(
        (_request, response) => {
          requests++
          response.end('{}')
        },
        { cert: otherCert, key: otherKey },
      )
      relay?.leadTo(other.port)
      for (const socket of server.sockets) socket.destroy()
      await until(() => relay?.sockets.size === 0)
      const error = await failure(send('/x'))
      expect(error).to.be.instanceOf(ConnectionError)
      expect(error.message).to.contain('its certificate is not signed by the CA of the kubeconfig')
      expect([requests, other.accepted]).to.deep.equal([0, 1])
      relay?.leadTo(server.port)
      const back = ask()
      // The pause after an attempt that failed.
      await clock.advance(250)
      expect((await back).version).to.equal('2.0')
    })

    for (const [what, tls] of [
      ['verifies nothing', { rejectUnauthorized: false }],
      ['trusts another CA', { ca: [otherCert], rejectUnauthorized: true }],
    ] as const) {
      it(`refuse what their own cluster does not trust, also after one that ${what}`, async () => {
        const { rest, server } = await world({
          server: { cert: otherCert, key: otherKey },
          cluster: (server) => clusterOf(server, { tls }),
        })
        await rest(1)
        const strict = createTransport(clusterOf(server), { clock: systemClock, random: () => 0.5, lanes: true })
        transports.push(strict)
        const error = await failure(strict.request({ method: 'GET', path: '/strict', timeoutMs: NO_DEADLINE }))
        expect(error.message).to.contain('its certificate is not signed by the CA of the kubeconfig')
      })
    }
  })
})

describe('Lanes', () => {
  /** Sockets open when a test says so. */
  function world() {
    const clock = new ManualClock()
    const attempts: { opened(): Duplex; failed(): void }[] = []
    let freed = 0
    const lanes = new Lanes(
      'api.test',
      clock,
      () =>
        new Promise((resolve, reject) => {
          attempts.push({
            opened() {
              const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
              resolve(socket as unknown as Socket)
              return socket
            },
            failed: () => reject(new Error('no')),
          })
        }),
      { answered() {}, freed: () => void freed++ },
    )
    /** Has the first one opened, and at rest. */
    const openFirst = async () => {
      lanes.take()
      const socket = attempts[0]?.opened()
      await settle()
      return socket
    }
    return { clock, lanes, attempts, openFirst, freed: () => freed }
  }

  it('opens one at a time, while requests find none at rest', async () => {
    const { lanes, attempts } = world()
    expect([lanes.take(), lanes.take(), attempts.length]).to.deep.equal([undefined, undefined, 1])
    attempts[0]?.opened()
    await settle()
    expect([lanes.take() === undefined, attempts.length, lanes.size, lanes.busy]).to.deep.equal([false, 1, 1, 1])
    expect([lanes.take(), attempts.length]).to.deep.equal([undefined, 2])
  })

  it('opens no more than 16, and others for those that have gone', async () => {
    const { lanes, attempts } = world()
    const sockets: Duplex[] = []
    for (let i = 0; i < 16; i++) {
      lanes.take()
      sockets.push(attempts[i]?.opened() as Duplex)
      await settle()
      lanes.take()
    }
    lanes.take()
    expect([attempts.length, lanes.size, lanes.busy]).to.deep.equal([16, 16, 16])
    sockets[0]?.destroy()
    await settle()
    lanes.take()
    expect([attempts.length, lanes.size]).to.deep.equal([17, 15])
  })

  it('does not open another one for 30 s after an attempt that failed', async () => {
    const { lanes, attempts, clock } = world()
    await clock.advance(100_000)
    lanes.take()
    await clock.advance(5_000)
    attempts[0]?.failed()
    await settle()
    lanes.take()
    await clock.advance(29_999)
    lanes.take()
    expect(attempts).to.have.length(1)
    await clock.advance(1)
    lanes.take()
    expect(attempts).to.have.length(2)
    attempts[1]?.opened()
    await settle()
    lanes.take()
    lanes.take()
    expect(attempts).to.have.length(3)
  })

  it('waits twice as long after each failure in a row, an hour at most, and 30 s again after an answer', async () => {
    const { lanes, attempts, clock } = world()
    for (const seconds of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      const before = attempts.length
      lanes.take()
      expect(attempts).to.have.length(before + 1)
      attempts[before]?.failed()
      await settle()
      await clock.advance(seconds * 1000 - 1)
      lanes.take()
      expect(attempts).to.have.length(before + 1)
      await clock.advance(1)
    }
    lanes.take()
    const socket = attempts.at(-1)?.opened()
    await settle()
    lanes.take()?.send(plainRequest, receiver)
    socket?.push('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    await settle()
    lanes.take()
    attempts.at(-1)?.failed()
    await settle()
    const before = attempts.length
    await clock.advance(29_999)
    lanes.take()
    expect(attempts).to.have.length(before)
    await clock.advance(1)
    lanes.take()
    expect(attempts).to.have.length(before + 1)
  })

  it('counts one that never answered as an attempt that failed', async () => {
    const { lanes, attempts, clock, openFirst } = world()
    const socket = await openFirst()
    lanes.take()?.send(plainRequest, receiver)
    socket?.destroy()
    await settle()
    await clock.advance(29_999)
    lanes.take()
    expect(attempts).to.have.length(1)
    await clock.advance(1)
    lanes.take()
    expect(attempts).to.have.length(2)
  })

  it('opens another one at once for one that was closed after it had answered, whatever it was doing', async () => {
    const { lanes, attempts, openFirst } = world()
    const socket = await openFirst()
    lanes.take()?.send(plainRequest, receiver)
    socket?.push('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    await settle()
    lanes.take()?.send(plainRequest, receiver)
    socket?.destroy()
    await settle()
    lanes.take()
    expect(attempts).to.have.length(2)
  })

  it('opens another one at once for one that was closed before it was used', async () => {
    const { lanes, attempts, openFirst } = world()
    const socket = await openFirst()
    socket?.destroy()
    await settle()
    lanes.take()
    expect(attempts).to.have.length(2)
  })

  for (const end of ['retire', 'destroy'] as const) {
    it(`${end}: opens none any more, and ends the one that was being opened`, async () => {
      const { lanes, attempts } = world()
      lanes.take()
      lanes[end]()
      const late = attempts[0]?.opened()
      await settle()
      lanes.take()
      expect([late?.destroyed, lanes.size, attempts.length]).to.deep.equal([true, 0, 1])
    })
  }
})

const receiver: Receiver = { response() {}, data() {}, end() {}, fail() {}, failed() {} }

function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('expected a failure')
    },
    (error) => error,
  )
}
