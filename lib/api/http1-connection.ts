/** HTTP/1.1 with keep-alive, where the server offers no HTTP/2: a small set of sockets for requests, and one for each stream. */

import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
import type { Connection, ConnectionEvents, Outgoing, Receiver, Sent } from './connection.ts'
import { type Http1Socket, Http1Sockets } from './http1-socket.ts'

/** Requests at the same time; streams have sockets of their own besides. */
const MOST_REQUESTS = 32

export class Http1Connection implements Connection {
  readonly #open: () => Promise<Socket>
  readonly #events: ConnectionEvents
  readonly #requests: Http1Sockets
  readonly #streams: Http1Sockets
  /** Those for which a socket is being opened. */
  readonly #opening = new Set<Opening>()
  #ended = false

  /** `first`: a socket that is there already. `open`: makes another one. */
  constructor(host: string, clock: Clock, first: Socket, open: () => Promise<Socket>, events: ConnectionEvents) {
    this.#open = open
    this.#events = events
    const own = { answered: () => events.answered(), freed: () => this.#freed() }
    this.#requests = new Http1Sockets(host, clock, own)
    this.#streams = new Http1Sockets(host, clock, own)
    this.#requests.rest(this.#requests.add(first))
  }

  canTake(stream: boolean): boolean {
    // More would wait here, and pass the write gate too early.
    return !this.#ended && (stream || this.#underWay < MOST_REQUESTS)
  }

  willTake(): boolean {
    return !this.#ended
  }

  send(outgoing: Outgoing, receiver: Receiver): Sent {
    const socket = outgoing.stream ? undefined : this.#requests.take()
    return socket === undefined ? this.#sendOnAnother(outgoing, receiver) : socket.send(outgoing, receiver)
  }

  /** There is nothing to ask with. Those at rest may be as dead: the next requests open others. */
  check(): void {
    this.#requests.drop()
  }

  retire(): void {
    this.#end()
  }

  destroy(): void {
    this.#end()
    for (const opening of [...this.#opening]) opening.fail(new Error('the connection was closed'))
    this.#requests.destroy()
    this.#streams.destroy()
  }

  get #underWay(): number {
    let opening = 0
    for (const { outgoing } of this.#opening) if (!outgoing.stream) opening++
    return this.#requests.busy + opening
  }

  #sendOnAnother(outgoing: Outgoing, receiver: Receiver): Sent {
    const opening = new Opening(outgoing, receiver)
    this.#opening.add(opening)
    this.#open().then(
      (socket) => {
        this.#opening.delete(opening)
        opening.opened((outgoing.stream ? this.#streams : this.#requests).add(socket))
      },
      (error) => {
        this.#opening.delete(opening)
        this.#end(error)
        opening.fail(error)
        this.#freed()
      },
    )
    return opening
  }

  #freed(): void {
    this.#events.freed()
    this.#tellClosed()
  }

  #end(error?: Error): void {
    if (this.#ended) return
    this.#ended = true
    this.#requests.retire()
    this.#streams.retire()
    this.#events.ended(this, error)
    this.#tellClosed()
  }

  #tellClosed(): void {
    if (this.#ended && this.#requests.size + this.#streams.size + this.#opening.size === 0) this.#events.closed(this)
  }
}

/** A request that waits for its socket. Nothing of it is sent before. */
class Opening implements Sent {
  readonly outgoing: Outgoing
  readonly #receiver: Receiver
  #sent: Sent | undefined
  #over = false

  constructor(outgoing: Outgoing, receiver: Receiver) {
    this.outgoing = outgoing
    this.#receiver = receiver
  }

  opened(socket: Http1Socket): void {
    try {
      if (this.#over) socket.destroy()
      else this.#sent = socket.send(this.outgoing, this.#receiver)
    } catch (error) {
      // What was allowed before may be forbidden by now.
      this.#receiver.failed(error)
      socket.destroy()
    }
  }

  fail(error: Error): void {
    if (this.#over) return
    this.#over = true
    this.#receiver.fail(error, true)
  }

  cancel(): void {
    this.#over = true
    this.#sent?.cancel()
  }

  flow(): void {
    this.#sent?.flow()
  }
}
