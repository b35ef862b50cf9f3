/**
 * One request from the call to its answer: waits for a connection, is sent again where the server did nothing with it or
 * credentials were renewed, and ends at its deadline or its signal whatever else happens.
 */

import type { Clock, Timer } from './clock.ts'
import type { Cluster, Credentials } from './cluster.ts'
import { explain } from './connect.ts'
import type { Connection, Receiver, Sent } from './connection.ts'
import type { ConnectionPool, Waiter } from './connection-pool.ts'
import { ConnectionError, TimeoutError } from './status-error.ts'
import type { TransportRequest, TransportResponse, TransportStream } from './transport.ts'

export interface Way {
  readonly cluster: Cluster
  readonly pool: ConnectionPool
  readonly clock: Clock
  /** The path of the server's URL, which goes before that of each request. */
  readonly prefix: string
}

/** Sends that the server did nothing with; beyond, it is broken. */
const MOST_REFUSALS = 5

export class Exchange implements Receiver, Waiter {
  readonly streaming: boolean
  readonly #way: Way
  readonly #request: TransportRequest
  readonly #settle: (answer: TransportResponse | TransportStream) => void
  readonly #reject: (error: unknown) => void
  readonly #timer: Timer
  readonly #abort: (() => void) | undefined
  #done = false
  #credentials: Credentials | undefined
  #connection: Connection | undefined
  #sent: Sent | undefined
  #renewed = false
  #refusals = 0
  #status = 0
  #headers: Record<string, string> = {}
  #first: Buffer | undefined
  #chunks: Buffer[] | undefined
  /** Once a stream was handed out, everything goes there. */
  #stream: OpenStream | undefined

  constructor(way: Way, request: TransportRequest, streaming: boolean, resolve: (answer: never) => void, reject: (error: unknown) => void) {
    this.#way = way
    this.#request = request
    this.streaming = streaming
    this.#settle = resolve as (answer: TransportResponse | TransportStream) => void
    this.#reject = reject
    this.#timer = way.clock.after(request.timeoutMs, () => this.#timedOut())
    const { signal } = request
    if (signal !== undefined) {
      this.#abort = () => this.#end(signal.reason, true)
      signal.addEventListener('abort', this.#abort)
    }
  }

  start(): void {
    if (this.#done) return
    try {
      this.#request.signal?.throwIfAborted()
      const credentials = this.#way.cluster.credentials()
      if (!(credentials instanceof Promise)) this.#acquire(credentials)
      else
        credentials.then(
          (credentials) => this.#acquire(credentials),
          (error) => this.#end(error),
        )
    } catch (error) {
      this.#end(error)
    }
  }

  #acquire(credentials: Credentials): void {
    if (this.#done) return
    this.#credentials = credentials
    const connection = this.#way.pool.take(this.streaming, credentials.tls)
    if (connection !== undefined) this.ready(connection)
    else this.#way.pool.wait(this)
  }

  ready(connection: Connection): void {
    const { method, path, headers, body, beforeSend } = this.#request
    this.#connection = connection
    try {
      this.#sent = connection.send(
        {
          method,
          path: this.#way.prefix + path,
          headers,
          authentication: this.#credentials?.headers ?? {},
          body,
          beforeSend,
          stream: this.streaming,
        },
        this,
      )
    } catch (error) {
      this.#end(error)
    }
  }

  failed(error: unknown): void {
    this.#end(error)
  }

  response(status: number, headers: Record<string, string>): void {
    this.#status = status
    this.#headers = headers
    if (!this.streaming) return
    if (status === 401 && !this.#renewed) this.#renew()
    else this.#handOut()
  }

  data(chunk: Buffer): void {
    if (this.#stream !== undefined) this.#stream.data(chunk)
    else if (this.#first === undefined) this.#first = chunk
    else {
      this.#chunks ??= [this.#first]
      this.#chunks.push(chunk)
    }
  }

  end(): void {
    if (this.#stream !== undefined) this.#end()
    else if (this.#status === 401 && !this.#renewed) this.#renew()
    else this.#answer()
  }

  fail(error: Error, untouched: boolean): void {
    if (!untouched || this.#stream !== undefined || this.#refusals === MOST_REFUSALS) {
      this.#end(this.#broken(error))
      return
    }
    this.#refusals++
    this.#sent = undefined
    // At once the first time: a server that goes away says so once. Then a server short of places gets some time.
    if (this.#refusals === 1) this.start()
    else this.#way.clock.after(10 * 2 ** this.#refusals, () => this.start())
  }

  #answer(): void {
    const body = this.#chunks !== undefined ? Buffer.concat(this.#chunks) : (this.#first ?? EMPTY)
    this.#finish()
    this.#settle({ status: this.#status, headers: this.#headers, body })
  }

  #handOut(): void {
    this.#timer.cancel()
    this.#stream = new OpenStream(this.#status, this.#headers, {
      flow: () => this.#sent?.flow(),
      close: () => this.#end(undefined, true),
    })
    this.#settle(this.#stream)
  }

  /** 401: with other credentials once more, otherwise the answer stands. */
  #renew(): void {
    this.#renewed = true
    const rejected = this.#credentials as Credentials
    this.#way.cluster.renew(rejected).then(
      (credentials) => {
        if (this.#done) return
        if (credentials === rejected) {
          if (this.streaming) this.#handOut()
          else this.#answer()
          return
        }
        this.#sent?.cancel()
        this.#sent = undefined
        this.#first = undefined
        this.#chunks = undefined
        this.#acquire(credentials)
      },
      (error) => this.#end(error),
    )
  }

  #timedOut(): void {
    const { pool } = this.#way
    const cause = this.#connection === undefined ? pool.lastError : undefined
    const why = cause === undefined ? '' : `: ${cause.message}`
    this.#connection?.check()
    this.#end(new TimeoutError(`${this.#name()}: no answer within ${this.#request.timeoutMs / 1000} s${why}`, { cause }), true)
  }

  #broken(cause: Error): Error {
    if (cause instanceof ConnectionError) return cause
    return new ConnectionError(`${this.#name()}: the connection broke: ${explain(cause)}`, { cause })
  }

  #name(): string {
    return `${this.#request.method} ${this.#request.path.split('?', 1)[0]}`
  }

  /** The end by failure, by this side (`cancel`), or, of a stream, by the server. */
  #end(error?: unknown, cancel = false): void {
    if (this.#done) return
    this.#finish()
    if (cancel) this.#sent?.cancel()
    if (this.#stream !== undefined) this.#stream.ended(error as Error | undefined)
    else this.#reject(error)
  }

  #finish(): void {
    this.#done = true
    this.#timer.cancel()
    if (this.#abort !== undefined) this.#request.signal?.removeEventListener('abort', this.#abort)
    if (this.#sent === undefined) this.#way.pool.forget(this)
  }
}

const EMPTY = Buffer.alloc(0)

class OpenStream implements TransportStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly #source: { flow(): void; close(): void }
  #data: ((chunk: Buffer) => void) | undefined
  #end: ((error?: Error) => void) | undefined
  #ended: { readonly error: Error | undefined } | undefined

  constructor(status: number, headers: Record<string, string>, source: { flow(): void; close(): void }) {
    this.status = status
    this.headers = headers
    this.#source = source
  }

  read(data: (chunk: Buffer) => void, end: (error?: Error) => void): void {
    this.#data = data
    this.#end = end
    if (this.#ended !== undefined) this.#tell()
    else this.#source.flow()
  }

  close(): void {
    this.#source.close()
  }

  data(chunk: Buffer): void {
    if (this.#ended === undefined) this.#data?.(chunk)
  }

  ended(error: Error | undefined): void {
    this.#ended = { error }
    if (this.#end !== undefined) this.#tell()
  }

  /** In a turn of its own: whoever closes a stream does not expect to be called back before `close` returns. */
  #tell(): void {
    queueMicrotask(() => {
      if (this.#ended?.error === undefined) this.#end?.()
      else this.#end?.(this.#ended.error)
    })
  }
}
