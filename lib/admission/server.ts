/** Serves reviews over TLS. Only the API server has business here: nobody else learns anything but a status. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../api/clock.ts'
import { type Certificate, listen } from '../api/listen.ts'
import type { WebhookObserver } from '../resource/observer.ts'
import { Room } from './room.ts'
import { RequestError, type WebhookService } from './service.ts'

export interface WebhookServer {
  readonly port: number
  /** Takes another certificate for the connections from now on. */
  renew(pair: Certificate): void
  /** Lets what is being answered end, for so long. */
  close(graceMs?: number): Promise<void>
}

/**
 * Of one request. A kube-apiserver takes no object of more than 3 MiB of JSON (`MaxRequestBodyBytes` in server/config.go of k8s.io/apiserver: twice
 * what etcd takes). A review holds two, a conversion of what is stored one.
 */
const MOST_BYTES = 8 * 1024 * 1024
/** Of all requests that have not been answered yet: one of the largest, or hundreds of usual ones. */
const MOST_READ = 10 * 1024 * 1024
/**
 * In the heap, of all reviews that are being answered: enough for two objects of the 1.5 MiB that etcd takes whose values are ten bytes long. Under
 * an attack by 60 connections a process with the heap that V8 takes in 256 MiB, what the Deployment gives it, stayed below 240 MiB.
 */
const MOST_HELD = 40 * 1024 * 1024
/** The API server keeps its connections; one that it just reuses must not be closed under it. */
const LIMITS = { headersMs: 5_000, requestMs: 30_000, idleMs: 120_000, connections: 256 }
const GRACE_MS = 5_000

export interface ServerOptions {
  readonly host?: string | undefined
  readonly port: number
  readonly pair: Certificate
  readonly clock: Clock
  readonly observer?: WebhookObserver | undefined
}

export async function serveWebhooks(service: WebhookService, { host, port, pair, clock, observer }: ServerOptions): Promise<WebhookServer> {
  const memory: Memory = { read: new Room(MOST_READ), held: new Room(MOST_HELD) }
  const answer = (request: IncomingMessage, response: ServerResponse) => void respond(service, memory, request, response)
  const { server, port: at, renew } = await listen({ host, port }, LIMITS, answer, pair)
  observer?.certificate(endOf(pair))
  return {
    port: at,
    renew(next) {
      renew(next)
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
const endOf = ({ cert }: Certificate) => new (process.getBuiltinModule('node:crypto').X509Certificate)(cert).validToDate.getTime()

interface Memory {
  readonly read: Room
  readonly held: Room
}

async function respond(service: WebhookService, memory: Memory, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { code, body } = await answerTo(service, memory, request)
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

interface Answer {
  readonly code: number
  readonly body: string
}

const refuse = (code: number, message: string): Answer => ({ code, body: JSON.stringify({ code, message }) })
const TOO_LARGE = refuse(413, `no review is that large (${MOST_BYTES} bytes), or has so many fields`)

async function answerTo(service: WebhookService, memory: Memory, request: IncomingMessage): Promise<Answer> {
  // Anybody who reaches the port may send anything: `//a:99999` is no URL.
  const url = URL.parse(request.url ?? '/', 'https://operator')
  if (url === null) return refuse(400, 'the request asks for no path')
  if (request.method !== 'POST') return refuse(405, 'only POST is answered')
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) return TOO_LARGE
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      if (size + part.length > MOST_BYTES) return TOO_LARGE
      if (!memory.read.tryTake(part.length)) return refuse(503, 'too much is being read at once')
      size += part.length
      parts.push(part)
    }
    const bytes = parsedBytes(parts, size)
    if (bytes > MOST_HELD) return TOO_LARGE
    // Answers take milliseconds, so that waiting is better than a refusal, which would fail somebody's write.
    return await memory.held.during(bytes, () => answered(service, url.pathname, parts))
  } catch {
    return refuse(400, 'the request was cut off')
  } finally {
    memory.read.give(size)
  }
}

async function answered(service: WebhookService, path: string, parts: Buffer[]): Promise<Answer> {
  let review: unknown
  try {
    review = JSON.parse(Buffer.concat(parts.splice(0)).toString())
  } catch {
    return refuse(400, 'the body is no JSON')
  }
  try {
    return { code: 200, body: JSON.stringify(await service(review, path)) }
  } catch (error) {
    return error instanceof RequestError ? refuse(error.code, error.message) : refuse(500, 'the request could not be answered')
  }
}

/** Of a value in the heap: an object with a key that no other has takes 200, since its brace and its comma count (measured with Node 24). */
const VALUE_BYTES = 100

/**
 * At most what the text takes once it is parsed: its bytes, as text (two bytes for each where there are others than Latin letters), and its values.
 * `[{},{},…` becomes twenty times as large.
 */
function parsedBytes(parts: readonly Buffer[], size: number): number {
  let values = 1
  for (const part of parts)
    for (let i = 0; i < part.length; i++) {
      const byte = part[i]
      if (byte === COMMA || byte === BRACKET || byte === BRACE) values++
    }
  return 3 * size + VALUE_BYTES * values
}

const [COMMA, BRACKET, BRACE] = Buffer.from(',[{') as unknown as [number, number, number]
