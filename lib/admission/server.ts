/** Serves reviews over TLS. Only the API server has business here: nobody else learns anything but a status. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Clock } from '../api/clock.ts'
import type { WebhookObserver } from '../resource/observer.ts'
import type { KeyPair } from '../tls/certificates.ts'
import { RequestError, type WebhookService } from './service.ts'

export interface WebhookServer {
  readonly port: number
  /** Takes another certificate for the connections from now on. */
  renew(pair: KeyPair): void
  /** Lets what is being answered end, for so long. */
  close(graceMs?: number): Promise<void>
}

/** An object is at most about 3 MiB in the API server, and a review holds two; a conversion holds a page of a list. */
const MOST_BYTES = 64 * 1024 * 1024
const HANDSHAKE_MS = 5_000
const HEADERS_MS = 10_000
const REQUEST_MS = 30_000
/** How often Node looks whose time is over; by itself every half minute. */
const LOOK_MS = 1_000
const MOST_CONNECTIONS = 256
const GRACE_MS = 5_000

export interface ServerOptions {
  readonly host?: string | undefined
  readonly port: number
  readonly pair: KeyPair
  readonly clock: Clock
  readonly observer?: WebhookObserver | undefined
}

export async function serveWebhooks(service: WebhookService, { host, port, pair, clock, observer }: ServerOptions): Promise<WebhookServer> {
  // Not imported: the ES module of node:https evaluates undici, 14 MiB of it.
  const { createServer } = process.getBuiltinModule('node:https')
  const times = {
    handshakeTimeout: HANDSHAKE_MS,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: LOOK_MS,
  }
  const options = { ...secure(pair), ...times, maxHeaderSize: 16_384 }
  const server: Server = createServer(options, (request, response) => void respond(service, request, response))
  server.maxConnections = MOST_CONNECTIONS
  // The API server keeps its connections; one that it just reuses must not be closed under it.
  server.keepAliveTimeout = 120_000
  // It must not keep a process alive that is done.
  server.on('connection', (socket: Socket) => socket.unref())
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.unref()
  observer?.certificate(endOf(pair))
  return {
    port: (server.address() as AddressInfo).port,
    renew(next) {
      server.setSecureContext(secure(next))
      observer?.certificate(endOf(next))
    },
    close: (graceMs = GRACE_MS) =>
      new Promise((resolve) => {
        const timer = clock.after(graceMs, () => server.closeAllConnections())
        server.close(() => {
          timer.cancel()
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Milliseconds since 1970. */
const endOf = ({ cert }: KeyPair) => new (process.getBuiltinModule('node:crypto').X509Certificate)(cert).validToDate.getTime()

const secure = ({ cert, key }: KeyPair) => ({ cert, key, minVersion: 'TLSv1.2' as const })

async function respond(service: WebhookService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { code, body } = await answerTo(service, request)
  if (response.destroyed) return
  response.writeHead(code, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    // What was not read to its end cannot be followed by another request.
    ...(request.complete ? {} : { connection: 'close' }),
  })
  response.end(body)
}

async function answerTo(service: WebhookService, request: IncomingMessage): Promise<{ code: number; body: string }> {
  const refuse = (code: number, message: string) => ({ code, body: JSON.stringify({ code, message }) })
  // Anybody who reaches the port may send anything: `//a:99999` is no URL.
  const url = URL.parse(request.url ?? '/', 'https://operator')
  if (url === null) return refuse(400, 'the request asks for no path')
  if (request.method !== 'POST') return refuse(405, 'only POST is answered')
  const text = await readAll(request).catch(() => undefined)
  if (text === undefined) return refuse(413, `more than ${MOST_BYTES} bytes, or cut off`)
  let review: unknown
  try {
    review = JSON.parse(text)
  } catch {
    return refuse(400, 'the body is no JSON')
  }
  try {
    return { code: 200, body: JSON.stringify(await service(review, url.pathname)) }
  } catch (error) {
    return error instanceof RequestError ? refuse(error.code, error.message) : refuse(500, 'the request could not be answered')
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size > MOST_BYTES) throw new Error('too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
