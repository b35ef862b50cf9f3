/**
 * The server's sockets: HTTP/1.1 and HTTP/2, the latter by ALPN over TLS and by its preface without. The libraries are loaded
 * when somebody needs them: `node:http2` costs a process that only speaks HTTP/1.1 nothing.
 */
import type { Server as Http1Server } from 'node:http'
import type { Http2Server } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { ApiRequest, ApiResponse } from '../types.ts'
import { HEADER_LIMIT } from './limits.ts'
import { isLoopback, refusal } from './loopback.ts'
import { type Incoming, OpenStreams, type Outgoing, type Service, serve, webSocket } from './serve.ts'
import { wantsWebSocket, withoutUpgrade } from './websocket.ts'

export type Handle = (request: ApiRequest) => Promise<ApiResponse>

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0: any free one. */
  readonly port: number
  /** PEM. Without it the connection is plain, and everybody who reaches it is admin. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer; readonly ca?: string | Buffer | undefined } | undefined
  /** Without TLS: also for other machines, and for any name of this one. Default: loopback only. */
  readonly allowRemote?: boolean
  /** Gets faults of the handler, which then breaks the connection. */
  readonly report?: (error: unknown) => void
}

export interface Listening {
  readonly port: number
  /** Ends all watches and connections. Resolves when nothing is open any more. */
  close(): Promise<void>
}

/** @throws Error where the host is not this machine and neither TLS nor `allowRemote` is set; and as `net.Server.listen` */
export async function listen(handle: Handle, options: ListenOptions): Promise<Listening> {
  const { host = '127.0.0.1', port, tls, allowRemote = false } = options
  const guarded = tls === undefined && !allowRemote
  if (guarded && !isLoopback(host)) {
    throw new Error(
      `will not listen on ${host}: without TLS everybody who reaches it is admin; use a loopback address, TLS, or allowRemote`,
    )
  }
  const report = options.report ?? (() => {})
  const open = new OpenStreams()
  const serviceFor = (incoming: Incoming): Service => {
    const refused = guarded ? refusal(hostOf(incoming), single(incoming.headers.origin)) : undefined
    return { handle, open, report, refused }
  }
  const protocols = new Protocols(
    (incoming, outgoing) => serve(serviceFor(incoming), incoming, outgoing),
    (incoming, socket, head) => webSocket(serviceFor(incoming), incoming, socket, head),
  )
  const front = tls === undefined ? plainFront(protocols) : tlsFront(protocols, tls)
  const sockets = new Set<Socket>()
  front.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    front.once('error', reject)
    front.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => {
      front.off('error', reject)
      resolve()
    })
  })
  return {
    port: (front.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => front.close(() => resolve()))
      open.endAll()
      // One turn, so that the ends just written leave before the connections break.
      await new Promise((resolve) => setImmediate(resolve))
      for (const socket of sockets) socket.destroy()
      protocols.close()
      await closed
    },
  }
}

type Answer = (incoming: Incoming, outgoing: Outgoing) => void
type WebSocketAnswer = (incoming: Incoming, socket: Socket, head: Buffer) => void

/** The two servers, which only ever get sockets that are already connected. */
class Protocols {
  readonly #answer: Answer
  readonly #webSocket: WebSocketAnswer
  #http1: Http1Server | undefined
  #http2: Http2Server | undefined

  constructor(answer: Answer, webSocket: WebSocketAnswer) {
    this.#answer = answer
    this.#webSocket = webSocket
  }

  http1(socket: Socket): void {
    if (this.#http1 === undefined) {
      const server = process.getBuiltinModule('node:http').createServer({ maxHeaderSize: HEADER_LIMIT, noDelay: true })
      // Clients keep connections for long; a server that closes first makes them lose a request now and then.
      server.keepAliveTimeout = 120_000
      server.on('request', this.#answer)
      server.on('upgrade', (incoming: Incoming, socket: Socket, head: Buffer) => {
        if (wantsWebSocket(incoming)) this.#webSocket(incoming, socket, head)
        else {
          socket.unshift(Buffer.concat([withoutUpgrade(incoming), head]))
          server.emit('connection', socket)
        }
      })
      this.#http1 = server
    }
    this.#http1.emit('connection', socket)
  }

  http2(socket: Socket): void {
    if (this.#http2 === undefined) {
      const server = process.getBuiltinModule('node:http2').createServer({
        maxSendHeaderBlockLength: HEADER_LIMIT,
        settings: { maxConcurrentStreams: 1000, initialWindowSize: 1024 * 1024, maxHeaderListSize: HEADER_LIMIT },
      })
      server.on('request', (incoming, outgoing) => this.#answer(incoming as unknown as Incoming, outgoing as unknown as Outgoing))
      // A broken connection is the client's matter; its streams hear of it themselves.
      server.on('sessionError', () => {})
      this.#http2 = server
    }
    this.#http2.emit('connection', socket)
  }

  close(): void {
    this.#http1?.close()
    this.#http2?.close()
  }
}

/** `PRI * HTTP/2.0`: no method of HTTP/1.1 begins so. */
const PREFACE = 'PRI'

function plainFront(protocols: Protocols): Server {
  return process.getBuiltinModule('node:net').createServer({ noDelay: true }, (socket) => {
    const gone = () => socket.destroy()
    socket.once('error', gone)
    socket.once('data', (first) => {
      socket.off('error', gone)
      socket.pause()
      socket.unshift(first)
      if (first.toString('latin1', 0, PREFACE.length) === PREFACE) protocols.http2(socket)
      else protocols.http1(socket)
      process.nextTick(() => socket.resume())
    })
  })
}

function tlsFront(protocols: Protocols, { cert, key }: { readonly cert: string | Buffer; readonly key: string | Buffer }): Server {
  const server = process.getBuiltinModule('node:tls').createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    if (socket.alpnProtocol === 'h2') protocols.http2(socket)
    else protocols.http1(socket)
  })
  server.on('tlsClientError', () => {})
  return server
}

function hostOf({ headers }: Incoming): string | undefined {
  return single(headers[':authority']) ?? headers.host
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0]
}
