/** Requests without sockets: what a client of the engine can be given instead of a connection. */
import type { ServerClock } from '../tasks.ts'
import type { ApiRequest, ApiResponse, ResponseStream } from '../types.ts'
import { BODY_LIMIT, tooLargeBody } from './limits.ts'

/** Kept, for a test may put fake timers in the places of the real ones. */
const { queueMicrotask } = globalThis

/** Fits `TransportRequest` of lib/api. */
export interface InProcessRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path and query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  readonly beforeSend?: (() => void) | undefined
}

export interface InProcessResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface InProcessStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  read(data: (chunk: Buffer) => void, end: (error?: Error) => void): void
  close(): void
}

export interface InProcessTransport {
  request(request: InProcessRequest): Promise<InProcessResponse>
  stream(request: InProcessRequest): Promise<InProcessStream>
  close(): Promise<void>
}

export interface InProcessOptions {
  /** For timeouts. */
  readonly clock: ServerClock
  /** Sent with each request that does not have them: a token, a user agent. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Makes the errors of requests without an answer. Default: an `Error` named `TimeoutError` or `ConnectionError`. */
  readonly errors?: { timeout(message: string): Error; connection(message: string, cause?: unknown): Error }
}

export function inProcess(handle: (request: ApiRequest) => Promise<ApiResponse>, options: InProcessOptions): InProcessTransport {
  const { errors = namedErrors } = options
  const open = new Set<(error: Error) => void>()
  let closed = false
  return {
    async request(request) {
      const { response, done } = await ask(request)
      try {
        return { status: response.status, headers: flat(response.headers), body: await whole(response.body) }
      } finally {
        done()
      }
    },
    async stream(request) {
      const { response, gone, done } = await ask(request)
      return streamOf(response, gone, done)
    },
    async close() {
      closed = true
      for (const end of [...open]) end(errors.connection('the transport was closed'))
    },
  }

  /** Resolves with the answer's head; `gone` tells the server that the client is no longer interested. */
  function ask(request: InProcessRequest): Promise<{ response: ApiResponse; gone: (f: (error: Error) => void) => void; done: () => void }> {
    return new Promise((resolve, reject) => {
      const name = `${request.method} ${request.path.split('?')[0]}`
      request.signal?.throwIfAborted()
      if (closed) throw errors.connection(`${name}: the transport was closed`)
      const served = new ServedRequest(request, options.headers)
      let listener = reject as (error: Error) => void
      const fail = (error: Error) => {
        done()
        served.abort()
        listener(error)
      }
      const onAbort = () => fail(request.signal?.reason as Error)
      const timer = options.clock.after(request.timeoutMs, () =>
        fail(errors.timeout(`${name}: no answer within ${request.timeoutMs / 1000} s`)),
      )
      const done = () => {
        timer.cancel()
        open.delete(fail)
        request.signal?.removeEventListener('abort', onAbort)
      }
      open.add(fail)
      request.signal?.addEventListener('abort', onAbort)
      try {
        request.beforeSend?.()
      } catch (error) {
        done()
        throw error
      }
      const answer = request.body !== undefined && isTooLarge(request.body) ? Promise.resolve(tooLargeBody()) : handle(served)
      answer.then(
        (response) => {
          timer.cancel()
          const gone = (f: (error: Error) => void) => {
            listener = f
          }
          resolve({ response, gone, done })
        },
        (cause) => {
          done()
          reject(errors.connection(`${name}: the connection broke`, cause))
        },
      )
    })
  }

  function streamOf(response: ApiResponse, gone: (f: (error: Error) => void) => void, done: () => void): InProcessStream {
    const { body } = response
    let stop = () => {}
    let finish = (_error?: Error) => {}
    return {
      status: response.status,
      headers: flat(response.headers),
      read(data, end) {
        let over = false
        finish = (error) => {
          if (over) return
          over = true
          done()
          stop()
          end(error)
        }
        gone(finish)
        // As from a socket: nothing comes before the reader has returned.
        queueMicrotask(() => {
          if (over) return
          if (typeof body === 'string' || Buffer.isBuffer(body)) {
            data(typeof body === 'string' ? Buffer.from(body) : body)
            finish()
            return
          }
          const stream = body.start({
            write(chunk) {
              if (!over) data(Buffer.from(chunk))
              return true
            },
            pending: 0,
            drained: (f) => queueMicrotask(f),
            end: () => finish(),
            destroy: () => finish(errors.connection('the connection broke')),
          })
          stop = () => stream.stop()
          if (over) stop()
        })
      },
      close: () => finish(),
    }
  }
}

class ServedRequest implements ApiRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string | undefined
  #abort: AbortController | undefined
  #aborted = false

  constructor({ method, path, headers, body }: InProcessRequest, defaults: Readonly<Record<string, string>> | undefined) {
    this.method = method
    this.url = path
    this.headers = lowerCase(headers, defaults)
    this.body = body
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#aborted) this.#abort.abort()
    return this.#abort.signal
  }

  abort(): void {
    this.#aborted = true
    this.#abort?.abort()
  }
}

function lowerCase(
  headers: Readonly<Record<string, string>> | undefined,
  defaults: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const all: Record<string, string> = { ...defaults }
  for (const name in headers) all[name.toLowerCase()] = headers[name]!
  return all
}

/** Characters are never more than bytes, so most bodies need no counting. */
function isTooLarge(body: string): boolean {
  return body.length > BODY_LIMIT || (body.length * 3 > BODY_LIMIT && Buffer.byteLength(body) > BODY_LIMIT)
}

function flat(headers: ApiResponse['headers']): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]!
    all[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ')
  }
  return all
}

/** A stream that is asked for as a whole is read to its end. */
function whole(body: string | Buffer | ResponseStream): Buffer | Promise<Buffer> {
  if (typeof body === 'string') return Buffer.from(body)
  if (Buffer.isBuffer(body)) return body
  return new Promise((resolve, reject) => {
    let text = ''
    body.start({
      write(chunk) {
        text += chunk
        return true
      },
      pending: 0,
      drained: (f) => queueMicrotask(f),
      end: () => resolve(Buffer.from(text)),
      destroy: () => reject(namedErrors.connection('the connection broke')),
    })
  })
}

const namedErrors = {
  timeout: (message: string) => named('TimeoutError', message),
  connection: (message: string, cause?: unknown) => named('ConnectionError', message, cause),
}

function named(name: string, message: string, cause?: unknown): Error {
  const error = new Error(message, { cause })
  error.name = name
  return error
}
