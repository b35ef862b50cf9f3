/** A small HTTP server for pages that are made at once: metrics and probes. Slow or silent clients are cut off, and never many. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Certificate, listen } from '../api/listen.ts'

export interface Page {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Address {
  /** Undefined: all interfaces. */
  readonly host: string | undefined
  /** 0: any that is free. */
  readonly port: number
}

export interface Endpoint {
  /** `http://127.0.0.1:8081`; of all interfaces the loopback address stands for them. */
  readonly url: string
  /** Takes another certificate for the connections from now on. */
  renew(tls: Certificate): void
  close(): Promise<void>
}

const LIMITS = { headersMs: 5_000, requestMs: 10_000, idleMs: 60_000, connections: 64 }

/**
 * `:8080`, `127.0.0.1:8080`, `[::1]:8080`; undefined for `0`, which is controller-runtime's word for none.
 *
 * @throws TypeError where it is something else
 */
export function parseAddress(text: string): Address | undefined {
  if (text === '0') return undefined
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*):(\d{1,5})$/.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) throw new TypeError(`expected host:port, such as :8080 or 127.0.0.1:8080, or 0 for none`)
  return { host: host === '' ? undefined : host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** `page` gets `undefined` answered as 404. What it throws is answered with 500 and without a word. */
export async function serve(
  { host, port }: Address,
  page: (request: IncomingMessage, url: URL) => Page | undefined | Promise<Page | undefined>,
  tls?: Certificate,
): Promise<Endpoint> {
  const answer = (request: IncomingMessage, response: ServerResponse) => void respond(request, response, page)
  const { server, port: at, renew } = await listen({ host, port }, LIMITS, answer, tls)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const shown = host === undefined ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${shown}:${at}`,
    renew,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

async function respond(request: IncomingMessage, response: ServerResponse, page: Parameters<typeof serve>[1]): Promise<void> {
  // What it sends is of no interest.
  request.resume()
  const { status, body, headers } = await answerTo(request, page)
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

async function answerTo(request: IncomingMessage, page: Parameters<typeof serve>[1]): Promise<Page> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { status: 405, body: 'method not allowed\n', headers: { allow: 'GET, HEAD' } }
  try {
    return (await page(request, new URL(request.url ?? '/', 'http://operator'))) ?? { status: 404, body: 'not found\n' }
  } catch {
    return { status: 500, body: 'this page could not be made\n' }
  }
}
