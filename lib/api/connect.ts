/** One socket to the API server: TCP, through a proxy where there is one, and TLS on top where the URL says so. */

import net from 'node:net'
import tls from 'node:tls'
import type { Clock } from './clock.ts'
import type { TlsSettings } from './cluster.ts'
import type { MayWrite } from './guarded-socket.ts'
import { tunnel } from './proxy.ts'

/** Until TCP, proxy and TLS together must be done. */
const CONNECT_TIMEOUT_MS = 10_000
/** TCP probes find a peer that vanished while a connection is at rest. */
const KEEP_ALIVE_MS = 30_000

export interface Target {
  readonly url: URL
  readonly proxy: URL | undefined
  readonly clock: Clock
  /** Asked before bytes leave. */
  readonly mayWrite?: MayWrite | undefined
  /** Whether requests get sockets of their own beside HTTP/2. */
  readonly lanes?: boolean | undefined
}

/** Resolves with a socket on which a request can be sent. `protocols`: what to offer by ALPN. Rejects with the reason; `explain` puts it in words. */
export function connect(target: Target, settings: TlsSettings, protocols: readonly string[]): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const context = target.url.protocol === 'https:' ? contextOf(settings) : undefined
    let current: net.Socket | undefined
    const timer = target.clock.after(CONNECT_TIMEOUT_MS, () => fail(new Error(`no connection within ${CONNECT_TIMEOUT_MS / 1000} s`)))
    const fail = (cause: Error) => {
      timer.cancel()
      current?.removeListener('error', fail)
      // What else goes wrong with a socket that was given up is of no interest.
      current?.on('error', () => {})
      current?.destroy()
      reject(cause)
    }
    /** Listens for the failure of this socket instead of the one before, which it is built on. */
    const watch = (socket: net.Socket) => {
      current?.removeListener('error', fail)
      current = socket
      socket.once('error', fail)
      return socket
    }
    const done = (socket: net.Socket) => {
      timer.cancel()
      socket.removeListener('error', fail)
      // Whoever takes the socket listens for its end; until then an error must not be one that nobody handles.
      socket.on('error', () => {})
      socket.setNoDelay(true)
      resolve(socket)
    }
    const secure = (socket: net.Socket) => {
      if (context === undefined) return done(socket)
      const secured = watch(tls.connect(tlsOptions(target.url, settings, protocols, socket, context)))
      secured.once('secureConnect', () => done(secured))
    }
    const socket = watch(net.connect({ ...endpoint(target.proxy ?? target.url), keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }))
    const { proxy } = target
    socket.once('connect', () => {
      if (proxy === undefined) secure(socket)
      else tunnel(proxy, endpoint(target.url), socket, watch, secure, fail)
    })
  })
}

/** Host and port of a URL, IPv6 addresses without their brackets. */
export function endpoint(url: URL): { host: string; port: number } {
  const port = url.port !== '' ? Number(url.port) : url.protocol === 'https:' ? 443 : 80
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
}

const contexts = new WeakMap<TlsSettings, tls.SecureContext>()

/** Made once of the same settings: reading certificates takes longer than a handshake. Throws where they cannot be read. */
function contextOf(settings: TlsSettings): tls.SecureContext {
  const there = contexts.get(settings)
  if (there !== undefined) return there
  const { ca = trusted(), servername: _s, rejectUnauthorized: _r, ...rest } = settings
  const context = tls.createSecureContext({ ...rest, ca: [...ca] })
  contexts.set(settings, context)
  return context
}

function tlsOptions(
  url: URL,
  { servername, rejectUnauthorized }: TlsSettings,
  protocols: readonly string[],
  socket: net.Socket,
  secureContext: tls.SecureContext,
): tls.ConnectionOptions {
  const { host } = endpoint(url)
  return {
    socket,
    host,
    secureContext,
    rejectUnauthorized,
    ALPNProtocols: [...protocols],
    // A server's name is sent only where it is one: RFC 6066 allows no addresses.
    ...(servername !== undefined ? { servername } : net.isIP(host) === 0 && { servername: host }),
  }
}

let trustedByAll: string[] | undefined

/** Without a CA of the cluster's own: those of Node and, as kubectl does, those of the system. */
function trusted(): string[] {
  trustedByAll ??= [...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])]
  return trustedByAll
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be resolved at present',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no answer to the attempt to connect',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by the CA of the kubeconfig',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by the CA of the kubeconfig',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by the CA of the kubeconfig',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is not signed by the CA of the kubeconfig',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by the CA of the kubeconfig',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet (is the clock right?)',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'it wants a client certificate',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS (http:// instead of https://?)',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS (http:// instead of https://?)',
}

/** One line for the user. Trying several addresses of a host ends in an AggregateError without a message of its own. */
export function explain(error: Error): string {
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  const { code } = first as NodeJS.ErrnoException
  return (code !== undefined && REASONS[code]) || first.message || code || 'unknown error'
}
