/** One request of a socket: its body up to the limit, the handler's answer, and what happens when the client goes. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from '../status.ts'
import type { ApiRequest, ApiResponse, ResponseStream, StreamSink } from '../types.ts'
import { BODY_LIMIT, statusResponse, tooLargeBody } from './limits.ts'
import { serveWebSocket } from './websocket.ts'

/** Those of HTTP/2 are alike in all that is used here. */
export type Incoming = IncomingMessage
export type Outgoing = ServerResponse

export interface Service {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  readonly open: OpenStreams
  /** Gets faults of the handler: it is not meant to reject, but for faults that were asked for. */
  readonly report: (error: unknown) => void
  /** Set: the answer, whatever is asked. */
  readonly refused: ApiError | undefined
}

/** The answers that are still being written. */
export class OpenStreams {
  readonly #ends = new Set<() => void>()

  add(end: () => void): () => void {
    this.#ends.add(end)
    return () => this.#ends.delete(end)
  }

  endAll(): void {
    for (const end of [...this.#ends]) end()
  }
}

export function serve(service: Service, incoming: Incoming, outgoing: Outgoing): void {
  const request = new SocketRequest(incoming)
  // Errors of a connection end in `close`, which is what is acted upon.
  incoming.on('error', () => {})
  outgoing.on('error', () => {})
  outgoing.once('close', () => {
    if (!outgoing.writableEnded) request.gone()
  })
  if (service.refused !== undefined) {
    incoming.resume()
    send(service, outgoing, statusResponse(service.refused))
    return
  }
  readBody(incoming, (body) => {
    if (request.isGone) return
    if (body === 'too large') {
      send(service, outgoing, tooLargeBody())
      return
    }
    request.body = body
    service.handle(request).then(
      (response) => {
        if (!request.isGone) send(service, outgoing, response)
      },
      (error) => {
        if ((error as Error | undefined)?.name !== 'LostConnection') service.report(error)
        destroy(outgoing)
      },
    )
  })
}

/** A request for a WebSocket, which watches have. Any other answer ends the connection. */
export function webSocket(service: Service, incoming: Incoming, socket: Socket, head: Buffer): void {
  const { handle, open, report, refused } = service
  const outgoing = new (process.getBuiltinModule('node:http').ServerResponse)(incoming)
  outgoing.shouldKeepAlive = false
  outgoing.assignSocket(socket)
  outgoing.once('finish', () => socket.end())
  socket.on('error', () => socket.destroy())
  if (refused !== undefined) {
    send(service, outgoing, statusResponse(refused))
    return
  }
  const request = new SocketRequest(incoming)
  socket.once('close', () => request.gone())
  handle(request).then(
    (response) => {
      if (request.isGone) return
      const { body } = response
      if (typeof body === 'string' || Buffer.isBuffer(body)) {
        send(service, outgoing, response)
        return
      }
      outgoing.detachSocket(socket)
      const forget = open.add(serveWebSocket(incoming, socket, head, body))
      socket.once('close', forget)
    },
    (error) => {
      if ((error as Error | undefined)?.name !== 'LostConnection') report(error)
      socket.destroy()
    },
  )
}

class SocketRequest implements ApiRequest {
  readonly method: string
  readonly url: string
  readonly headers: ApiRequest['headers']
  body: Buffer | undefined
  isGone = false
  #abort: AbortController | undefined

  constructor(incoming: Incoming) {
    this.method = incoming.method ?? 'GET'
    this.url = pathOf(incoming.url ?? '/')
    this.headers = namesOf(incoming.headers)
  }

  /** Made when asked for: most requests never look. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.isGone) this.#abort.abort()
    return this.#abort.signal
  }

  gone(): void {
    this.isGone = true
    this.#abort?.abort()
  }
}

/** A proxy's client may send the whole URL. */
function pathOf(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '').replace(/^(?!\/)/, '/')
}

function namesOf(headers: IncomingHttpHeaders): ApiRequest['headers'] {
  // Of HTTP/2, where `host` has another name.
  const authority = headers[':authority']
  return (authority === undefined || headers.host !== undefined ? headers : { ...headers, host: authority }) as ApiRequest['headers']
}

function readBody(incoming: Incoming, done: (body: Buffer | undefined | 'too large') => void): void {
  const { method, headers } = incoming
  if (method === 'GET' && headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    incoming.resume()
    done(undefined)
    return
  }
  const chunks: Buffer[] = []
  let size = 0
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    // The rest is read and forgotten: a client that still writes could not read an answer.
    if (size <= BODY_LIMIT) chunks.push(chunk)
    else chunks.length = 0
  })
  incoming.once('end', () => {
    if (size > BODY_LIMIT) done('too large')
    else done(chunks.length === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  })
}

function send(service: Service, outgoing: Outgoing, { status, headers, body }: ApiResponse): void {
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    outgoing.writeHead(status, {
      ...(headers as Record<string, string | string[]>),
      ...(status === 304 ? {} : { 'content-length': length }),
    })
    outgoing.end(body as string)
  } else {
    outgoing.writeHead(status, headers as Record<string, string | string[]>)
    outgoing.flushHeaders()
    pump(service, outgoing, body)
  }
}

function pump({ open, report }: Service, outgoing: Outgoing, body: ResponseStream): void {
  let stop = () => {}
  let closed = false
  const forget = open.add(() => {
    stop()
    outgoing.end()
  })
  outgoing.once('close', () => {
    closed = true
    forget()
    stop()
  })
  try {
    const stream = body.start(sinkOf(outgoing))
    stop = () => stream.stop()
    if (closed) stop()
  } catch (error) {
    report(error)
    destroy(outgoing)
  }
}

function sinkOf(outgoing: Outgoing): StreamSink {
  return {
    write: (chunk) => outgoing.write(chunk),
    get pending() {
      return outgoing.writableLength
    },
    drained: (f) => void outgoing.once('drain', f),
    end: () => void outgoing.end(),
    destroy: () => destroy(outgoing),
  }
}

/** Breaks the connection; of HTTP/2 only this stream. */
function destroy(outgoing: Outgoing): void {
  const { stream } = outgoing as { stream?: { close(code: number): void } }
  if (stream === undefined) outgoing.socket?.destroy()
  else stream.close(INTERNAL_ERROR)
}

const INTERNAL_ERROR = 2
