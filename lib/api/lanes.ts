/**
 * Sockets with HTTP/1.1 beside a connection with HTTP/2: for requests, which cost both sides less there; what lasts stays with HTTP/2. Opened one
 * by one as long as requests find none at rest; until then, and beyond their number, HTTP/2 takes everything.
 */

import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
import { type Http1Socket, Http1Sockets, type SocketEvents } from './http1-socket.ts'

const MOST_LANES = 16
/** After a lane that could not be opened, or never answered; doubled with each in a row. */
const RETRY_MS = 30_000
const LONGEST_RETRY_MS = 3_600_000

export class Lanes {
  readonly #open: () => Promise<Socket>
  readonly #clock: Clock
  readonly #sockets: Http1Sockets
  #opening = false
  #closed = false
  #failures = 0
  #retryAt = 0

  constructor(host: string, clock: Clock, open: () => Promise<Socket>, events: SocketEvents) {
    this.#open = open
    this.#clock = clock
    this.#sockets = new Http1Sockets(host, clock, {
      answered: () => {
        this.#failures = 0
        events.answered()
      },
      freed: () => events.freed(),
      inVain: () => this.#failed(),
    })
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Requests under way. */
  get busy(): number {
    return this.#sockets.busy
  }

  take(): Http1Socket | undefined {
    const socket = this.#sockets.take()
    if (socket === undefined) this.#openAnother()
    return socket
  }

  /** Nothing is known of the peer: those at rest are not used any more. */
  drop(): void {
    this.#sockets.drop()
  }

  retire(): void {
    this.#closed = true
    this.#sockets.retire()
  }

  destroy(error?: Error): void {
    this.#closed = true
    this.#sockets.destroy(error)
  }

  #openAnother(): void {
    if (this.#opening || this.#closed || this.#sockets.size >= MOST_LANES || this.#clock.monotonic() < this.#retryAt) return
    this.#opening = true
    this.#open().then(
      (socket) => {
        this.#opening = false
        if (this.#closed) socket.destroy()
        else this.#sockets.rest(this.#sockets.add(socket))
      },
      () => {
        this.#opening = false
        this.#failed()
      },
    )
  }

  #failed(): void {
    this.#retryAt = this.#clock.monotonic() + Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** this.#failures)
    this.#failures++
  }
}
