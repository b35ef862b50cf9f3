/** Real servers on 127.0.0.1 for the transport's tests, and what counts their connections. */

import { readFileSync } from 'node:fs'
import type http from 'node:http'
import http1 from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { type Cluster, type Credentials, clusterAt } from '../../../lib/api/cluster.ts'
import type { Outgoing } from '../../../lib/api/connection.ts'

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
export const cert = fixture('test-only.crt')
export const key = fixture('test-only.key')
export const otherCert = fixture('test-only-other.crt')
export const otherKey = fixture('test-only-other.key')

/** A request as a connection gets it. */
export const plainRequest: Outgoing = {
  method: 'GET',
  path: '/x',
  headers: undefined,
  authentication: {},
  body: undefined,
  beforeSend: undefined,
  stream: false,
}

export type Answer = (
  request: http.IncomingMessage | http2.Http2ServerRequest,
  response: http.ServerResponse & http2.Http2ServerResponse,
) => unknown

export interface TestServer {
  readonly url: string
  readonly port: number
  /** Sockets accepted so far, and those that are open now. */
  readonly accepted: number
  readonly sockets: ReadonlySet<net.Socket>
  readonly sessions: readonly http2.ServerHttp2Session[]
  readonly handshakes: readonly Handshake[]
  close(): Promise<void>
}

/** One of TLS that has succeeded. */
export interface Handshake {
  readonly protocol: 'h2' | 'http/1.1'
  readonly socket: tls.TLSSocket
}

const opened = new Set<{ close(): Promise<void> }>()

/** Closes everything that a test opened here. */
export async function closeServers(): Promise<void> {
  for (const each of opened) await each.close()
  opened.clear()
}

export function http2Server(answer: Answer, options: http2.SecureServerOptions = {}): Promise<TestServer> {
  return listen(http2.createSecureServer({ cert, key, ...options }, answer as never), 'https')
}

/** HTTP/2 and HTTP/1.1 as the client likes, as an API server offers them: without Node's word on how long a socket may rest. */
export function bothServer(answer: Answer, options: http2.SecureServerOptions = {}): Promise<TestServer> {
  const server = http2.createSecureServer({ cert, key, allowHTTP1: true, ...options }, answer as never)
  return listen(Object.assign(server, { keepAliveTimeout: 0 }), 'https')
}

export function httpsServer(answer: Answer, options: https.ServerOptions = {}): Promise<TestServer> {
  return listen(https.createServer({ cert, key, ...options }, answer as never), 'https')
}

export function httpServer(answer: Answer): Promise<TestServer> {
  return listen(http1.createServer(answer as never), 'http')
}

export function tcpServer(answer: (socket: net.Socket) => void): Promise<TestServer> {
  return listen(net.createServer(answer), 'https')
}

/** Takes connections whatever protocol they offer, and agrees on none. */
export function tlsServer(answer: (socket: tls.TLSSocket) => void): Promise<TestServer> {
  return listen(tls.createServer({ cert, key }, answer), 'https')
}

/**
 * Passes bytes on to `port` until it is told to stop, and from then on swallows them: a dead peer that does not say so. New connections can be led to
 * another port: a server that was started anew at the same address.
 */
export async function relayTo(port: number): Promise<TestServer & { swallow(): void; leadTo(port: number): void }> {
  let swallowing = false
  let to = port
  const server = await tcpServer((socket) => {
    const far = net.connect(to, '127.0.0.1')
    for (const [from, to] of [
      [socket, far],
      [far, socket],
    ] as const) {
      from.on('data', (chunk) => void (swallowing || to.write(chunk)))
      from.on('close', () => void (swallowing || to.destroy()))
      from.on('error', () => {})
    }
    opened.add({ close: async () => void far.destroy() })
  })
  return Object.assign(Object.create(server), {
    swallow() {
      swallowing = true
    },
    leadTo(port: number) {
      to = port
    },
  })
}

/** A cluster at this server whose certificate is trusted. */
export function clusterOf(server: { readonly url: string }, credentials: Partial<Credentials> = {}): Cluster {
  return clusterAt(server.url, { tls: { ca: [cert], rejectUnauthorized: true }, ...credentials })
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = await tcpServer(() => {})
  await server.close()
  return server.port
}

async function listen(server: net.Server, protocol: string): Promise<TestServer> {
  const sockets = new Set<net.Socket>()
  const sessions: http2.ServerHttp2Session[] = []
  const handshakes: Handshake[] = []
  let accepted = 0
  server.on('connection', (socket: net.Socket) => {
    accepted++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  server.on('session', (session: http2.ServerHttp2Session) => {
    sessions.push(session)
    session.on('error', () => {})
    session.on('stream', (stream) => stream.on('error', () => {}))
  })
  server.on('secureConnection', (socket: tls.TLSSocket) => {
    handshakes.push({ protocol: socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1', socket })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  const test: TestServer = {
    url: `${protocol}://127.0.0.1:${port}`,
    port,
    get accepted() {
      return accepted
    },
    sockets,
    sessions,
    handshakes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  opened.add(test)
  return test
}

/** Looks again in every turn of the event loop until it is so: mocha's time limit ends it otherwise. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}
