import { expect } from 'chai'
import { systemClock } from '../../../lib/api/clock.ts'
import type { Cluster, Credentials } from '../../../lib/api/cluster.ts'
import { createTransport } from '../../../lib/api/http-transport.ts'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import type { Transport, TransportRequest } from '../../../lib/api/transport.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  type Answer,
  cert,
  closedPort,
  closeServers,
  clusterOf,
  http2Server,
  httpServer,
  httpsServer,
  key,
  relayTo,
  tcpServer,
  until,
} from './servers.ts'

const random = () => 0.5

describe('the HTTP transport', () => {
  const transports: Transport[] = []

  function transportTo(cluster: Cluster, clock = systemClock): Transport {
    const transport = createTransport(cluster, { clock, random })
    transports.push(transport)
    return transport
  }

  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close()
    await closeServers()
  })

  const echo: Answer = (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk))
    request.on('end', () => response.end(JSON.stringify({ url: request.url, method: request.method, headers: request.headers, body })))
  }

  for (const [version, start] of [
    ['HTTP/2', http2Server],
    ['HTTP/1.1 over TLS', httpsServer],
    ['HTTP/1.1 without TLS', httpServer],
  ] as const) {
    describe(`over ${version}`, () => {
      it('sends method, path, headers and body, and gives the answer back', async () => {
        const server = await start(echo)
        const transport = transportTo(
          clusterOf(server, {
            headers: { authorization: 'Bearer t', 'impersonate-group': ['a', 'b'] },
            tls: { ca: [cert], rejectUnauthorized: true },
          }),
        )
        const response = await transport.request(post('/api/v1/x?y=1', 'grüße'))
        const got = JSON.parse(response.body.toString())
        expect(response.status).to.equal(200)
        expect(got).to.include({ url: '/api/v1/x?y=1', method: 'POST', body: 'grüße' })
        expect(got.headers).to.include({
          authorization: 'Bearer t',
          'content-type': 'application/json',
          'content-length': '7',
          'impersonate-group': 'a, b',
        })
      })

      it('puts the path of the server before that of a request', async () => {
        const server = await start(echo)
        const transport = transportTo(clusterOf({ url: `${server.url}/k8s/clusters/c-1/` }))
        expect(JSON.parse((await transport.request(get('/api/v1'))).body.toString()).url).to.equal('/k8s/clusters/c-1/api/v1')
      })

      it('sends a body with DELETE', async () => {
        const server = await start(echo)
        const response = await transportTo(clusterOf(server)).request({ ...post('/x', '{}'), method: 'DELETE' })
        expect(JSON.parse(response.body.toString())).to.include({ method: 'DELETE', body: '{}' })
      })

      it('uses one connection for 1,000 requests one after the other', async () => {
        const server = await start((_request, response) => response.end('ok'))
        const transport = transportTo(clusterOf(server))
        for (let i = 0; i < 1000; i++) await transport.request(get('/x'))
        expect(server.accepted).to.equal(1)
      })

      it('gives a large answer whole', async () => {
        const body = Buffer.alloc(12 << 20, 'abc')
        const server = await start((_request, response) => response.end(body))
        const response = await transportTo(clusterOf(server)).request(get('/x'))
        expect(response.body.equals(body)).to.equal(true)
      })

      it('gives up a request after its time, without closing the connection', async () => {
        const server = await start((request, response) => void (request.url === '/hang' || response.end('ok')))
        const clock = new ManualClock()
        const transport = transportTo(clusterOf(server), clock)
        await transport.request(get('/x'))
        const late = failure(transport.request({ ...get('/hang?token=secret'), timeoutMs: 3000 }))
        await clock.advance(2999)
        await clock.advance(1)
        expect(await late)
          .to.be.instanceOf(TimeoutError)
          .with.property('message', 'GET /hang: no answer within 3 s')
        expect((await transport.request(get('/x'))).status).to.equal(200)
      })

      it('does not send what is aborted before, with the reason of the signal', async () => {
        const server = await start((_request, response) => response.end('ok'))
        const reason = new Error('no more')
        expect(await failure(transportTo(clusterOf(server)).request({ ...get('/x'), signal: AbortSignal.abort(reason) }))).to.equal(reason)
        expect(server.accepted).to.equal(0)
      })

      it('cancels what is aborted under way, with the reason of the signal', async () => {
        const cancelled = promise<void>()
        const arrived = promise<void>()
        const server = await start((_request, response) => {
          response.on('close', cancelled.resolve)
          arrived.resolve()
        })
        const abort = new AbortController()
        const late = failure(transportTo(clusterOf(server)).request({ ...get('/x'), signal: abort.signal }))
        await arrived
        const reason = new Error('no more')
        abort.abort(reason)
        expect(await late).to.equal(reason)
        await cancelled
      })

      it('rejects with a ConnectionError where the connection is lost within the answer', async () => {
        const server = await start((_request, response) => {
          response.writeHead(200)
          response.write('{"half":')
          setImmediate(() => {
            for (const socket of server.sockets) socket.resetAndDestroy()
          })
        })
        const error = await failure(transportTo(clusterOf(server)).request(get('/x')))
        expect(error).to.be.instanceOf(ConnectionError)
        expect((error as Error).message).to.match(/^GET \/x: the connection broke: /)
      })

      it('rejects where the server closes cleanly within the answer', async () => {
        const server = await start((_request, response) => {
          response.writeHead(200, version === 'HTTP/2' ? {} : { 'content-length': '100' })
          response.write('{"half":')
          setImmediate(() => {
            for (const socket of server.sockets) socket.end()
          })
        })
        expect(await failure(transportTo(clusterOf(server)).request(get('/x')))).to.be.instanceOf(ConnectionError)
      })

      it('connects anew after the connection was lost', async () => {
        const server = await start((_request, response) => response.end('ok'))
        const transport = transportTo(clusterOf(server))
        await transport.request(get('/x'))
        for (const socket of server.sockets) socket.destroy()
        // The first may still meet the old connection.
        await transport.request(get('/x')).catch((error) => expect(error).to.be.instanceOf(ConnectionError))
        expect((await transport.request(get('/x'))).status).to.equal(200)
        expect(server.accepted).to.equal(2)
      })

      it('asks beforeSend right before sending, and sends nothing where it throws', async () => {
        let requests = 0
        const server = await start((_request, response) => {
          requests++
          response.end('ok')
        })
        const transport = transportTo(clusterOf(server))
        const shut = new Error('the lease is lost')
        expect(
          await failure(
            transport.request({
              ...post('/x', '{}'),
              beforeSend: () => {
                throw shut
              },
            }),
          ),
        ).to.equal(shut)
        let asked = 0
        await transport.request({ ...post('/x', '{}'), beforeSend: () => void asked++ })
        expect([requests, asked > 0]).to.deep.equal([1, true])
      })

      describe('a stream', () => {
        it('hands over chunks as they come, and ends without an error where the server ends it', async () => {
          const next = promise<() => void>()
          const server = await start((_request, response) => {
            response.writeHead(200)
            response.write('one\n')
            next.resolve(() => response.end('two\n'))
          })
          const stream = await transportTo(clusterOf(server)).stream(get('/x?watch=1'))
          expect(stream.status).to.equal(200)
          const reader = read(stream)
          await until(() => reader.text() === 'one\n')
          ;(await next)()
          expect(await reader.ended).to.equal(undefined)
          expect(reader.text()).to.equal('one\ntwo\n')
        })

        it('ends with an error where it breaks', async () => {
          const server = await start((_request, response) => {
            response.writeHead(200)
            response.write('one\n')
          })
          const stream = await transportTo(clusterOf(server)).stream(get('/x?watch=1'))
          const reader = read(stream)
          await until(() => reader.text() === 'one\n')
          for (const socket of server.sockets) socket.destroy()
          expect(await reader.ended).to.be.instanceOf(ConnectionError)
        })

        it('ends without an error when it is closed from this side, and hands over nothing more', async () => {
          const closed = promise<void>()
          const server = await start((_request, response) => {
            response.on('close', closed.resolve)
            response.writeHead(200)
            response.write('one\n')
          })
          const stream = await transportTo(clusterOf(server)).stream(get('/x?watch=1'))
          const reader = read(stream)
          await until(() => reader.text() === 'one\n')
          stream.close()
          stream.close()
          expect(await reader.ended).to.equal(undefined)
          await closed
          expect(reader.ends).to.equal(1)
        })

        it('ends with the reason of its signal', async () => {
          const server = await start((_request, response) => {
            response.writeHead(200)
            response.write('one\n')
          })
          const abort = new AbortController()
          const stream = await transportTo(clusterOf(server)).stream({ ...get('/x?watch=1'), signal: abort.signal })
          const reader = read(stream)
          const reason = new Error('no more')
          abort.abort(reason)
          expect(await reader.ended).to.equal(reason)
        })

        it('has a deadline for its headers only', async () => {
          const server = await start((request, response) => {
            if (request.url === '/hang') return
            response.writeHead(200)
            response.write('one\n')
          })
          const clock = new ManualClock()
          const transport = transportTo(clusterOf(server), clock)
          const stream = await transport.stream({ ...get('/x'), timeoutMs: 1000 })
          const reader = read(stream)
          await until(() => reader.text() === 'one\n')
          await clock.advance(5000)
          expect(reader.ends).to.equal(0)
          const late = failure(transport.stream({ ...get('/hang'), timeoutMs: 1000 }))
          await clock.advance(1000)
          expect(await late).to.be.instanceOf(TimeoutError)
        })

        it('gives an answer that is an error as it is', async () => {
          const server = await start((_request, response) => {
            response.writeHead(410)
            response.end('gone')
          })
          const stream = await transportTo(clusterOf(server)).stream(get('/x?watch=1'))
          expect(stream.status).to.equal(410)
          const reader = read(stream)
          await reader.ended
          expect(reader.text()).to.equal('gone')
        })
      })

      describe('after a 401', () => {
        it('renews the credentials once for 20 callers and repeats each request once', async () => {
          const seen: string[] = []
          const server = await start((request, response) => {
            seen.push(String(request.headers.authorization))
            response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401)
            response.end()
          })
          const cluster = rotating(server, ['old', 'new'])
          const transport = transportTo(cluster)
          const responses = await Promise.all(Array.from({ length: 20 }, () => transport.request(get('/x'))))
          expect(responses.every(({ status }) => status === 200)).to.equal(true)
          expect(cluster.renewals).to.equal(1)
          expect(seen.filter((each) => each === 'Bearer old').length).to.be.at.most(20)
          expect(seen.filter((each) => each === 'Bearer new')).to.have.length(20)
        })

        it('gives the 401 back where there are no other credentials', async () => {
          let requests = 0
          const server = await start((_request, response) => {
            requests++
            response.writeHead(401)
            response.end('who are you?')
          })
          const response = await transportTo(clusterOf(server)).request(get('/x'))
          expect([response.status, response.body.toString(), requests]).to.deep.equal([401, 'who are you?', 1])
        })

        it('gives the 401 back where the new credentials are refused as well', async () => {
          let requests = 0
          const server = await start((_request, response) => {
            requests++
            response.writeHead(401)
            response.end()
          })
          const response = await transportTo(rotating(server, ['old', 'new', 'newer'])).request(get('/x'))
          expect([response.status, requests]).to.deep.equal([401, 2])
        })

        it('opens a stream with the new credentials', async () => {
          const server = await start((request, response) => {
            response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401)
            response.end(String(request.headers.authorization))
          })
          const stream = await transportTo(rotating(server, ['old', 'new'])).stream(get('/x'))
          expect(stream.status).to.equal(200)
          const reader = read(stream)
          await reader.ended
          expect(reader.text()).to.equal('Bearer new')
        })

        it('asks beforeSend again before it repeats a write', async () => {
          let requests = 0
          const server = await start((_request, response) => {
            requests++
            response.writeHead(401)
            response.end()
          })
          const shut = new Error('the lease is lost')
          const cluster = rotating(server, ['old', 'new'])
          const beforeSend = () => {
            if (cluster.renewals > 0) throw shut
          }
          expect(await failure(transportTo(cluster).request({ ...post('/x', '{}'), beforeSend }))).to.equal(shut)
          expect(requests).to.equal(1)
        })
      })

      it('opens a new connection when certificates change, and lets the old one end with its streams', async () => {
        if (version === 'HTTP/1.1 without TLS') return
        const server = await start((_request, response) => {
          response.writeHead(200)
          response.write('one\n')
          if (_request.url !== '/watch') response.end()
        })
        let credentials: Credentials = { headers: {}, tls: { ca: [cert], rejectUnauthorized: true } }
        const transport = transportTo({ ...clusterOf(server), credentials: () => credentials })
        const reader = read(await transport.stream(get('/watch')))
        await transport.request(get('/x'))
        const before = server.accepted
        credentials = { headers: {}, tls: { ca: [cert], cert, key, rejectUnauthorized: true } }
        await transport.request(get('/x'))
        await transport.request(get('/x'))
        expect(server.accepted).to.equal(before + 1)
        expect(reader.ends).to.equal(0)
      })

      it('rejects everything once it is closed', async () => {
        let answering = false
        const server = await start((_request, response) => {
          response.writeHead(200)
          response.write('{"half":', () => {
            answering = true
          })
        })
        const transport = transportTo(clusterOf(server))
        const pending = failure(transport.request(get('/x')))
        await until(() => answering)
        await transport.close()
        expect(await pending).to.be.instanceOf(ConnectionError)
        expect(await failure(transport.request(get('/x'))))
          .to.be.instanceOf(ConnectionError)
          .with.property('message', 'the transport is closed')
        await until(() => server.sockets.size === 0)
      })
    })
  }

  describe('with HTTP/2', () => {
    it('finds a dead peer by PING and opens a new connection', async () => {
      const server = await http2Server((request, response) => {
        response.writeHead(200)
        if (request.url === '/watch') response.write('one\n')
        else response.end('ok')
      })
      const relay = await relayTo(server.port)
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(relay), clock)
      const reader = read(await transport.stream(get('/watch')))
      await until(() => reader.text() === 'one\n')
      relay.swallow()
      await clock.advance(24_999)
      expect(reader.ends).to.equal(0)
      await clock.advance(1)
      const error = (await reader.ended) as Error
      expect(error).to.be.instanceOf(ConnectionError)
      expect(error.message).to.equal('GET /watch: the connection broke: no answer to a PING within 10 s')
    })

    it('keeps a quiet connection whose peer answers PINGs', async () => {
      let pings = 0
      const server = await http2Server((_request, response) => {
        response.writeHead(200)
        response.write('one\n')
      })
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(server), clock)
      const reader = read(await transport.stream(get('/watch')))
      await until(() => reader.text() === 'one\n')
      server.sessions[0]?.on('ping', () => pings++)
      for (let i = 1; i <= 4; i++) {
        await clock.advance(15_000)
        await until(() => pings === i && clock.pending === 1)
      }
      expect(reader.ends).to.equal(0)
    })

    it('asks nobody on a connection at rest', async () => {
      let pings = 0
      const server = await http2Server((_request, response) => response.end('ok'))
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(server), clock)
      await transport.request(get('/x'))
      server.sessions[0]?.on('ping', () => pings++)
      await clock.advance(15_000)
      await until(() => pings === 1 && clock.pending === 1)
      await clock.advance(60_000)
      expect([pings, clock.pending]).to.deep.equal([1, 0])
    })

    it('looks for the peer at once when a request gets no answer in time', async () => {
      let pings = 0
      const server = await http2Server((_request, response) => void (_request.url === '/hang' || response.end('ok')))
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(server), clock)
      await transport.request(get('/x'))
      server.sessions[0]?.on('ping', () => pings++)
      const late = failure(transport.request({ ...get('/hang'), timeoutMs: 1000 }))
      await clock.advance(1000)
      await late
      await until(() => pings === 1)
    })

    it('takes a new connection after GOAWAY, while streams go on over the old one', async () => {
      const more = promise<() => void>()
      const server = await http2Server((request, response) => {
        response.writeHead(200)
        if (request.url !== '/watch') return response.end('ok')
        response.write('one\n')
        more.resolve(() => response.end('two\n'))
      })
      const transport = transportTo(clusterOf(server))
      const reader = read(await transport.stream(get('/watch')))
      await until(() => reader.text() === 'one\n')
      server.sessions[0]?.goaway(0)
      await transport.request(get('/x'))
      await until(() => server.accepted === 2 || server.sessions.length === 2)
      ;(await more)()
      expect(await reader.ended).to.equal(undefined)
      expect(reader.text()).to.equal('one\ntwo\n')
    })

    it('sends a write again that a server going away never looked at', async () => {
      const server = await http2Server((_request, response) => response.end('ok'))
      const transport = transportTo(clusterOf(server))
      await transport.request(get('/x'))
      // The server's word that it looked at nothing after the first request crosses the second one on its way.
      server.sessions[0]?.goaway(0, 1)
      const sent = [transport.request(post('/y', '{}')), transport.request(post('/z', '{}'))]
      expect((await Promise.all(sent)).map(({ status }) => status)).to.deep.equal([200, 200])
    })

    it('sends a write again after REFUSED_STREAM, for the server did nothing', async () => {
      let requests = 0
      const server = await http2Server((_request, response) => {
        if (++requests <= 2) response.stream.close(7)
        else response.end('ok')
      })
      expect((await transportTo(clusterOf(server)).request(post('/x', '{}'))).status).to.equal(200)
      expect(requests).to.equal(3)
    })

    it('gives up on a server that refuses every stream', async () => {
      let requests = 0
      const server = await http2Server((_request, response) => {
        requests++
        response.stream.close(7)
      })
      expect(await failure(transportTo(clusterOf(server)).request(post('/x', '{}')))).to.be.instanceOf(ConnectionError)
      expect(requests).to.equal(6)
    })

    it('rejects where the server cancels the stream within the answer', async () => {
      const server = await http2Server((_request, response) => {
        response.writeHead(200)
        response.write('{"half":', () => response.stream.close(8))
      })
      expect(await failure(transportTo(clusterOf(server)).request(get('/x')))).to.be.instanceOf(ConnectionError)
    })

    it('sends a write again that came after the last one looked at, when the server goes away with an error', async () => {
      const server = await http2Server((request, response) => {
        if (request.url === '/y' && server.sessions.length === 1) server.sessions[0]?.goaway(11, 1)
        else response.end('ok')
      })
      const transport = transportTo(clusterOf(server))
      await transport.request(get('/x'))
      expect((await transport.request(post('/y', '{}'))).status).to.equal(200)
      expect(server.accepted).to.equal(2)
    })

    it('asks beforeSend only when there is a place for the request', async () => {
      const answers: (() => void)[] = []
      const server = await http2Server((_request, response) => void answers.push(() => response.end('ok')), {
        settings: { maxConcurrentStreams: 2 },
      })
      const transport = transportTo(clusterOf(server))
      const asked: string[] = []
      const send = (path: string) => transport.request({ ...post(path, '{}'), beforeSend: () => void asked.push(path) })
      const sent = [send('/1'), send('/2'), send('/3')]
      await until(() => answers.length === 2)
      expect(asked).to.deep.equal(['/1', '/2'])
      answers[0]?.()
      await until(() => answers.length === 3)
      expect(asked).to.deep.equal(['/1', '/2', '/3'])
      answers[1]?.()
      answers[2]?.()
      await Promise.all(sent)
    })

    it('does not send a write again that the server reset for another reason', async () => {
      let requests = 0
      const server = await http2Server((_request, response) => {
        requests++
        response.stream.close(2)
      })
      expect(await failure(transportTo(clusterOf(server)).request(post('/x', '{}')))).to.be.instanceOf(ConnectionError)
      expect(requests).to.equal(1)
    })

    it('keeps room for requests beside more watches than the server allows streams', async () => {
      const server = await http2Server(
        (request, response) => {
          response.writeHead(200)
          if (request.url === '/watch') response.write('one\n')
          else response.end('ok')
        },
        { settings: { maxConcurrentStreams: 4 } },
      )
      const transport = transportTo(clusterOf(server))
      await transport.request(get('/x'))
      const readers = await Promise.all(Array.from({ length: 10 }, async () => read(await transport.stream(get('/watch')))))
      await until(() => readers.every((reader) => reader.text() === 'one\n'))
      expect((await transport.request(get('/x'))).status).to.equal(200)
      expect(server.accepted).to.equal(5)
    })

    it('has no more requests under way than the server allows, on one connection', async () => {
      let underWay = 0
      let most = 0
      const server = await http2Server(
        (_request, response) => {
          most = Math.max(most, ++underWay)
          setImmediate(() => response.end('ok', () => underWay--))
        },
        { settings: { maxConcurrentStreams: 5 } },
      )
      const transport = transportTo(clusterOf(server))
      await transport.request(get('/x'))
      const order: number[] = []
      await Promise.all(Array.from({ length: 50 }, (_, i) => transport.request(get('/x')).then(() => order.push(i))))
      expect(server.accepted).to.equal(1)
      expect(most).to.be.at.most(5)
      expect(order.slice(0, 5).every((i) => i < 10)).to.equal(true)
    })
  })

  describe('with HTTP/1.1', () => {
    it('does not count streams against the sockets for requests', async () => {
      const server = await httpsServer((request, response) => {
        response.writeHead(200)
        if (request.url === '/watch') response.write('one\n')
        else response.end('ok')
      })
      const transport = transportTo(clusterOf(server))
      const readers = await Promise.all(Array.from({ length: 40 }, async () => read(await transport.stream(get('/watch')))))
      await until(() => readers.every((reader) => reader.text() === 'one\n'))
      expect((await transport.request(get('/x'))).status).to.equal(200)
    })

    it('has room for requests after more than 32 that beforeSend refused, and for those that waited behind them', async () => {
      const server = await httpsServer((_request, response) => response.end('ok'))
      const transport = transportTo(clusterOf(server))
      const refused = {
        ...post('/x', '{}'),
        beforeSend: () => {
          throw new Error('the lease is lost')
        },
      }
      for (let i = 0; i < 40; i++) await failure(transport.request(refused))
      expect(server.accepted).to.be.at.most(2)
      const together = Array.from({ length: 40 }, () => failure(transport.request(refused)))
      const behind = Array.from({ length: 40 }, () => transport.request(get('/x')))
      await Promise.all(together)
      expect((await Promise.all(behind)).every(({ status }) => status === 200)).to.equal(true)
    })

    it('has no more than 32 requests under way', async () => {
      const answers: (() => void)[] = []
      const server = await httpsServer((_request, response) => void answers.push(() => response.end('ok')))
      const transport = transportTo(clusterOf(server))
      let asked = 0
      const beforeSend = () => {
        asked++
      }
      const sent = Array.from({ length: 100 }, () => transport.request({ ...get('/x'), beforeSend }))
      for (let answered = 0; answered < 100; answered++) {
        await until(() => answers.length === Math.min(100, answered + 32))
        expect([asked, server.accepted]).to.deep.equal([answers.length, 32])
        answers[answered]?.()
      }
      await Promise.all(sent)
    })

    it('does not use a socket at rest again after a request that got no answer in time', async () => {
      const server = await httpsServer((request, response) => void (request.url === '/hang' || response.end('ok')))
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(server), clock)
      const late = failure(transport.request({ ...get('/hang'), timeoutMs: 1000 }))
      await transport.request(get('/x'))
      await transport.request(get('/x'))
      expect(server.accepted).to.equal(2)
      await clock.advance(1000)
      expect(await late).to.be.instanceOf(TimeoutError)
      await until(() => server.sockets.size === 0)
      await transport.request(get('/x'))
      expect(server.accepted).to.equal(3)
    })

    it('ends the socket that was opened for a stream which beforeSend refused', async () => {
      const server = await httpsServer((_request, response) => response.end('ok'))
      const transport = transportTo(clusterOf(server))
      await transport.request(get('/x'))
      const shut = new Error('the lease is lost')
      const beforeSend = () => {
        throw shut
      }
      expect(await failure(transport.stream({ ...get('/watch'), beforeSend }))).to.equal(shut)
      expect(server.accepted).to.equal(2)
      await until(() => server.sockets.size === 1)
    })
  })

  describe('where the server cannot be reached', () => {
    it('says so in one line', async () => {
      const port = await closedPort()
      const error = await failure(transportTo(clusterOf({ url: `https://127.0.0.1:${port}` })).request(get('/x')))
      expect(error)
        .to.be.instanceOf(ConnectionError)
        .with.property('message', `cannot connect to https://127.0.0.1:${port}: connection refused`)
    })

    it('says that the certificate is not signed by the CA', async () => {
      const server = await http2Server((_request, response) => response.end('ok'))
      const error = await failure(transportTo(clusterOf(server, { tls: { ca: [], rejectUnauthorized: true } })).request(get('/x')))
      expect((error as Error).message).to.contain('its certificate is not signed by the CA of the kubeconfig')
    })

    it('says at once that the server wants a certificate of the client', async () => {
      const server = await http2Server((_request, response) => response.end('ok'), {
        requestCert: true,
        rejectUnauthorized: true,
        ca: [cert],
      })
      const clock = new ManualClock()
      const error = await failure(transportTo(clusterOf(server), clock).request(get('/x')))
      expect((error as Error).message).to.equal(`cannot connect to ${server.url}: it wants a client certificate`)
      expect(clock.pending).to.equal(0)
    })

    it('verifies the certificate also where Node.js is told by its environment not to', async () => {
      const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      const { emitWarning } = process
      process.emitWarning = () => {}
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
      try {
        const server = await http2Server((_request, response) => response.end('ok'))
        const error = await failure(transportTo(clusterOf(server, { tls: { ca: [], rejectUnauthorized: true } })).request(get('/x')))
        expect(error).to.be.instanceOf(ConnectionError)
        const proxied = { ...clusterOf(server), proxy: server.url }
        const refused = await failure(transportTo(proxied).request(get('/x')))
        expect((refused as Error).message).to.contain('certificate')
      } finally {
        process.emitWarning = emitWarning
        if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
        else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
      }
    })

    it('verifies that the certificate is for the host', async () => {
      const server = await http2Server((_request, response) => response.end('ok'))
      const tls = { ca: [cert], servername: 'other.test', rejectUnauthorized: true }
      const error = await failure(transportTo(clusterOf(server, { tls })).request(get('/x')))
      expect((error as Error).message).to.contain('other.test')
    })

    it('verifies nothing where the kubeconfig says so', async () => {
      const server = await http2Server((_request, response) => response.end('ok'))
      const { status } = await transportTo(clusterOf(server, { tls: { rejectUnauthorized: false } })).request(get('/x'))
      expect(status).to.equal(200)
    })

    it('says that the server does not speak TLS', async () => {
      const server = await httpServer((_request, response) => response.end('ok'))
      const error = await failure(transportTo(clusterOf({ url: server.url.replace('http:', 'https:') })).request(get('/x')))
      expect((error as Error).message).to.contain('it does not speak TLS')
    })

    it('gives up connecting after 10 s', async () => {
      const server = await tcpServer(() => {})
      const clock = new ManualClock()
      const late = failure(transportTo(clusterOf(server), clock).request({ ...get('/x'), timeoutMs: 60_000 }))
      await until(() => server.accepted === 1)
      await clock.advance(10_000)
      expect(((await late) as Error).message).to.equal(`cannot connect to ${server.url}: no connection within 10 s`)
    })

    it('makes one attempt for all who wait, and backs off for all from 250 ms to 5 s', async () => {
      const server = await tcpServer((socket) => socket.destroy())
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(server), clock)
      const first = await Promise.all(Array.from({ length: 20 }, () => failure(transport.request(get('/x')))))
      expect(first.every((error) => error instanceof ConnectionError)).to.equal(true)
      expect(server.accepted).to.equal(1)
      // random() is 0.5: three quarters of 250, 500, 1000, … ms.
      for (const [i, wait] of [187.5, 375, 750, 1500, 3000, 3750, 3750].entries()) {
        const next = failure(transport.request(get('/x')))
        await clock.advance(wait - 1)
        expect(server.accepted).to.equal(i + 1)
        await clock.advance(1)
        await next
        expect(server.accepted).to.equal(i + 2)
      }
    })

    it('lets a request wait for the next attempt within its own time, and says why it had to', async () => {
      const port = await closedPort()
      const clock = new ManualClock()
      const transport = transportTo(clusterOf({ url: `https://127.0.0.1:${port}` }), clock)
      await failure(transport.request(get('/x')))
      const late = failure(transport.request({ ...get('/x'), timeoutMs: 100 }))
      await clock.advance(100)
      expect(await late)
        .to.be.instanceOf(TimeoutError)
        .with.property('message', `GET /x: no answer within 0.1 s: cannot connect to https://127.0.0.1:${port}: connection refused`)
    })

    it('backs off as well where connections are made but die before any answer', async () => {
      const server = await http2Server(() => server.sessions[0]?.destroy())
      const clock = new ManualClock()
      const transport = transportTo(clusterOf(server), clock)
      await failure(transport.request(get('/x')))
      const next = failure(transport.request({ ...get('/x'), timeoutMs: 100 }))
      await clock.advance(100)
      expect(await next).to.be.instanceOf(TimeoutError)
      expect(server.accepted).to.equal(1)
    })
  })
})

function get(path: string): TransportRequest {
  return { method: 'GET', path, headers: { accept: 'application/json' }, timeoutMs: 30_000 }
}

function post(path: string, body: string): TransportRequest {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body, timeoutMs: 30_000 }
}

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('expected a failure')
    },
    (error) => error,
  )
}

function read(stream: { read(data: (chunk: Buffer) => void, end: (error?: Error) => void): void }) {
  const chunks: Buffer[] = []
  const ended = promise<Error | undefined>()
  const reader = { text: () => Buffer.concat(chunks).toString(), ended, ends: 0 }
  stream.read(
    (chunk) => chunks.push(chunk),
    (error) => {
      reader.ends++
      ended.resolve(error)
    },
  )
  return reader
}

function promise<T>(): Promise<T> & { resolve(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>()
  return Object.assign(promise, { resolve })
}

/** Credentials whose token is the next of `tokens` after each renewal. */
function rotating(server: { url: string }, tokens: string[]): Cluster & { renewals: number } {
  const tls = { ca: [cert], rejectUnauthorized: true }
  const of = (i: number): Credentials => ({ headers: { authorization: `Bearer ${tokens[i]}` }, tls })
  let current = of(0)
  let renewing: Promise<Credentials> | undefined
  const cluster = {
    ...clusterOf(server),
    renewals: 0,
    credentials: () => current,
    renew(rejected: Credentials) {
      if (rejected !== current) return Promise.resolve(current)
      renewing ??= Promise.resolve().then(() => {
        renewing = undefined
        current = of(++cluster.renewals)
        return current
      })
      return renewing
    },
  }
  return cluster
}
