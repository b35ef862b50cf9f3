/** HTTP/1.1 with keep-alive, where the server offers no HTTP/2: a small set of sockets for requests, and one for each stream. */

import type http from 'node:http'
import type { Socket } from 'node:net'
import type { Connection, ConnectionEvents, Outgoing, Receiver, Sent } from './connection.ts'

// `import` of this module evaluates all its exports, and with them undici: 5 MB and 30 ms for nothing.
const { Agent, request: httpRequest } = process.getBuiltinModule('node:http')

/** Requests at the same time; streams have sockets of their own besides. */
const MOST_SOCKETS = 32

export class Http1Connection implements Connection {
  readonly #url: URL
  readonly #events: ConnectionEvents
  readonly #requests: SocketAgent
  readonly #streams: SocketAgent
  readonly #active = new Set<http.ClientRequest>()
  #open = 0
  #ended = false

  /** `first`: a socket that is there already. `open`: makes another one. */
  constructor(url: URL, first: Socket, open: () => Promise<Socket>, events: ConnectionEvents) {
    this.#url = url
    this.#events = events
    const opened = () =>
      open().catch((error) => {
        this.#end(error)
        throw error
      })
    this.#requests = new SocketAgent(opened, { keepAlive: true, maxSockets: MOST_SOCKETS, maxFreeSockets: MOST_SOCKETS }, first)
    this.#streams = new SocketAgent(opened, { keepAlive: false })
  }

  canTake(stream: boolean): boolean {
    // More would wait inside the agent and pass the write gate too early.
    return !this.#ended && (stream || this.#open < MOST_SOCKETS)
  }

  willTake(): boolean {
    return !this.#ended
  }

  send(outgoing: Outgoing, receiver: Receiver): Sent {
    const { body, stream } = outgoing
    const bytes = body === undefined ? undefined : Buffer.from(body)
    const headers: http.OutgoingHttpHeaders = {
      ...outgoing.headers,
      ...(outgoing.authentication as Record<string, string>),
      host: this.#url.host,
    }
    if (bytes !== undefined) headers['content-length'] = bytes.length
    // The agent's sockets speak TLS by themselves where there is any.
    const request = httpRequest({ method: outgoing.method, path: outgoing.path, headers, agent: stream ? this.#streams : this.#requests })
    this.#active.add(request)
    if (!stream) this.#open++

    let done = false
    let assigned = false
    let answer: http.IncomingMessage | undefined
    const fail = (error: Error) => {
      if (done) return
      done = true
      // Without a socket nothing was sent. And a server may close a socket at rest just when it is used again: harmless for
      // what changes nothing.
      receiver.fail(error, !assigned || (request.reusedSocket && outgoing.method === 'GET' && answer === undefined))
    }
    const flow = () => {
      answer?.on('data', (chunk: Buffer) => {
        if (!done) receiver.data(chunk)
      })
    }
    request.on('response', (response) => {
      this.#events.answered()
      answer = response
      response.on('end', () => {
        if (done || !response.complete) return
        done = true
        receiver.end()
      })
      response.on('error', fail)
      if (done) return
      receiver.response(response.statusCode ?? 0, plainHeaders(response.headers))
      if (!stream) flow()
    })
    request.on('error', fail)
    request.on('close', () => {
      this.#active.delete(request)
      if (!stream) this.#open--
      fail(new Error('the connection was closed'))
      this.#events.freed()
      if (this.#ended && this.#active.size === 0) this.#events.closed(this)
    })
    // A socket may have to be opened first, and what was allowed before may be forbidden by then.
    request.once('socket', () => {
      assigned = true
      try {
        if (!done) outgoing.beforeSend?.()
      } catch (error) {
        done = true
        receiver.failed(error)
        request.destroy()
        return
      }
      request.end(bytes)
    })
    return {
      flow,
      cancel() {
        done = true
        request.destroy()
      },
    }
  }

  /** Nothing to ask with; sockets have TCP's own probes. */
  check(): void {}

  retire(): void {
    this.#end()
  }

  destroy(): void {
    this.#end()
    for (const request of this.#active) request.destroy()
    this.#requests.destroy()
    this.#streams.destroy()
  }

  #end(error?: Error): void {
    if (this.#ended) return
    this.#ended = true
    // Sockets at rest go, those in use stay until their answer is there.
    this.#requests.closeFree()
    this.#events.ended(this, error)
    if (this.#active.size === 0) this.#events.closed(this)
  }
}

class SocketAgent extends Agent {
  readonly #open: () => Promise<Socket>
  #first: Socket | undefined

  constructor(open: () => Promise<Socket>, options: http.AgentOptions, first?: Socket) {
    super(options)
    this.#open = open
    this.#first = first
  }

  override createConnection(_options: object, callback?: (error: Error | null, socket: Socket) => void): undefined {
    const first = this.#first
    this.#first = undefined
    const socket = first !== undefined && !first.destroyed && first.readable ? Promise.resolve(first) : this.#open()
    socket.then(
      (socket) => callback?.(null, socket),
      (error) => callback?.(error, undefined as never),
    )
  }

  closeFree(): void {
    this.maxFreeSockets = 0
    this.#first?.destroy()
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}

function plainHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) plain[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return plain
}
