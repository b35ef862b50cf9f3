/**
 * Keeps the connections to one API server: mostly one. Opens it on the first request, another one when it has gone, when
 * certificates changed, or when watches hold most of its places. Failing attempts back off for everybody together.
 */

import type { Socket } from 'node:net'
import type { Clock, Random, Timer } from './clock.ts'
import type { TlsSettings } from './cluster.ts'
import { connect, explain, type Target } from './connect.ts'
import type { Connection, ConnectionEvents } from './connection.ts'
import { GuardedSocket, guardWrites } from './guarded-socket.ts'
import { openHttp2 } from './http2-connection.ts'
import { ConnectionError } from './status-error.ts'

const FIRST_BACKOFF_MS = 250
const LONGEST_BACKOFF_MS = 5000

type Negotiated = Socket & { readonly alpnProtocol?: string | false | null }

export interface Waiter {
  readonly streaming: boolean
  ready(connection: Connection): void
  failed(error: Error): void
}

export class ConnectionPool implements ConnectionEvents {
  readonly #target: Target
  readonly #clock: Clock
  readonly #random: Random
  #tls: TlsSettings | undefined
  /** Those that new requests may use. */
  #connections: Connection[] = []
  /** Those that have ended but for the requests under way. */
  readonly #retired = new Set<Connection>()
  readonly #waiting = new Set<Waiter>()
  #connecting = false
  #failures = 0
  #retryAt = 0
  #timer: Timer | undefined
  #closed = false
  /** Why the last attempt failed; undefined once the server has answered. */
  lastError: ConnectionError | undefined

  constructor(target: Target, random: Random) {
    this.#target = target
    this.#clock = target.clock
    this.#random = random
  }

  /** A connection to use at once; `undefined` where there is none at the moment: then `wait`. */
  take(streaming: boolean, tls: TlsSettings): Connection | undefined {
    if (tls !== this.#tls) this.#use(tls)
    // Whoever came first is served first.
    return this.#waiting.size > 0 ? undefined : this.#free(streaming)
  }

  /** `waiter` hears once: of a connection, or of the attempt that failed. */
  wait(waiter: Waiter): void {
    if (this.#closed) {
      waiter.failed(closed())
      return
    }
    this.#waiting.add(waiter)
    this.#serve()
  }

  forget(waiter: Waiter): void {
    this.#waiting.delete(waiter)
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const waiter of [...this.#waiting]) this.#fail(waiter, closed())
    for (const connection of [...this.#connections, ...this.#retired]) connection.destroy()
  }

  answered(): void {
    this.#failures = 0
    this.lastError = undefined
  }

  freed(): void {
    if (this.#waiting.size > 0) this.#serve()
  }

  ended(connection: Connection, error?: Error): void {
    const index = this.#connections.indexOf(connection)
    if (index < 0) return
    this.#connections.splice(index, 1)
    this.#retired.add(connection)
    if (error !== undefined) this.#failed(this.#notConnected(error))
    this.freed()
  }

  closed(connection: Connection): void {
    this.#retired.delete(connection)
  }

  #use(tls: TlsSettings): void {
    this.#tls = tls
    for (const connection of [...this.#connections]) connection.retire()
  }

  #free(streaming: boolean): Connection | undefined {
    for (const connection of this.#connections) if (connection.canTake(streaming)) return connection
    return undefined
  }

  #serve(): void {
    let blocked: boolean | undefined
    for (const waiter of this.#waiting) {
      if (waiter.streaming === blocked) continue
      const connection = this.#free(waiter.streaming)
      if (connection !== undefined) {
        this.#waiting.delete(waiter)
        waiter.ready(connection)
        continue
      }
      if (!this.#isServed(waiter)) this.#connect()
      // What one request has to wait for, the ones behind it have to as well; a stream may have to where a request need not.
      if (blocked !== undefined) return
      blocked = waiter.streaming
    }
  }

  /** There is a connection that it only has to wait for. */
  #isServed(waiter: Waiter): boolean {
    return this.#connections.some((connection) => connection.willTake(waiter.streaming))
  }

  #connect(): void {
    if (this.#connecting || this.#closed || this.#timer !== undefined || this.#tls === undefined) return
    const wait = this.#retryAt - this.#clock.monotonic()
    if (this.#failures > 0 && wait > 0) {
      this.#timer = this.#clock.after(wait, () => {
        this.#timer = undefined
        this.#serve()
      })
      return
    }
    this.#connecting = true
    const tls = this.#tls
    this.#open(tls).then(
      (connection) => {
        this.#connecting = false
        this.#connections.push(connection)
        if (this.#closed) connection.destroy()
        else if (tls !== this.#tls) connection.retire()
        this.#serve()
      },
      (cause: Error) => {
        this.#connecting = false
        const error = this.#notConnected(cause)
        this.#failed(error)
        for (const waiter of [...this.#waiting]) if (!this.#isServed(waiter)) this.#fail(waiter, error)
      },
    )
  }

  async #open(tls: TlsSettings): Promise<Connection> {
    const { url, mayWrite, lanes } = this.#target
    const open = (protocols: readonly string[]): Promise<Negotiated> => connect(this.#target, tls, protocols)
    const guarded = (socket: Socket) => (mayWrite === undefined ? socket : guardWrites(socket, mayWrite))
    const openHttp1 = async () => guarded(await open(['http/1.1']))
    const socket = await open(['h2', 'http/1.1'])
    if (socket.alpnProtocol === 'h2') {
      const openLane = async () => {
        const socket = await open(['http/1.1'])
        if (socket.alpnProtocol === 'http/1.1') return guarded(socket)
        socket.destroy()
        throw new Error('it speaks HTTP/2 only')
      }
      const own = mayWrite === undefined ? socket : new GuardedSocket(socket, mayWrite)
      const connection = await openHttp2(own, { url, clock: this.#clock, openLane: lanes ? openLane : undefined }, this)
      if (!connection.willTake(false)) throw new Error('it closed the connection at once')
      return connection
    }
    const { Http1Connection } = await import('./http1-connection.ts')
    return new Http1Connection(url.host, this.#clock, guarded(socket), openHttp1, this)
  }

  #notConnected(cause: Error): ConnectionError {
    return new ConnectionError(`cannot connect to ${this.#target.url.origin}: ${explain(cause)}`, { cause })
  }

  #failed(error: ConnectionError): void {
    this.lastError = error
    const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures)
    this.#failures++
    this.#retryAt = this.#clock.monotonic() + backoff * (0.5 + this.#random() / 2)
  }

  #fail(waiter: Waiter, error: Error): void {
    this.#waiting.delete(waiter)
    waiter.failed(error)
  }
}

function closed(): ConnectionError {
  return new ConnectionError('the transport is closed')
}
