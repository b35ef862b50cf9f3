/** HTTP servers that the operator itself is asked by: who is slow or silent is cut off, never many are let in, and none keeps the process alive. */

import type { RequestListener, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Certificate {
  /** PEM */
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

export interface Limits {
  /** For the headers, and before them for the handshake. */
  readonly headersMs: number
  readonly requestMs: number
  /** How long a connection may wait for its next request. */
  readonly idleMs: number
  readonly connections: number
}

export interface Listening {
  readonly server: Server
  readonly port: number
  /** Takes another certificate for the connections from now on. */
  renew(certificate: Certificate): void
}

/** How often Node looks whose time is over; by itself every half minute. */
const LOOK_MS = 1_000

/** Without a certificate it speaks plain HTTP. `host` undefined: all interfaces; `port` 0: any that is free. Rejects where they cannot be had. */
export async function listen(
  { host, port }: { readonly host?: string | undefined; readonly port: number },
  { headersMs, requestMs, idleMs, connections }: Limits,
  answer: RequestListener,
  certificate?: Certificate,
): Promise<Listening> {
  const times = { headersTimeout: headersMs, requestTimeout: requestMs, keepAliveTimeout: idleMs, connectionsCheckingInterval: LOOK_MS }
  const options = { ...times, maxHeaderSize: 16_384 }
  // Not imported: the ES modules of node:http and node:https evaluate undici, 14 MiB of it.
  const https =
    certificate &&
    process.getBuiltinModule('node:https').createServer({ ...options, ...secure(certificate), handshakeTimeout: headersMs }, answer)
  const server: Server = https ?? process.getBuiltinModule('node:http').createServer(options, answer)
  server.maxConnections = connections
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
  return { server, port: (server.address() as AddressInfo).port, renew: (next) => https?.setSecureContext(secure(next)) }
}

const secure = ({ cert, key }: Certificate) => ({ cert, key, minVersion: 'TLSv1.2' as const })
