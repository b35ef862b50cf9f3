/**
 * HTTP/1.1 on a socket: one request after the other. Node.js' own client makes four objects with events of their own of each request, which
 * is more work than all the rest of it (docs/decisions/0029-http1-sockets.md).
 */

import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
import type { Outgoing, Receiver, Sent } from './connection.ts'
import { type AnswerListener, Http1Answer } from './http1-answer.ts'

/**
 * Servers and balancers close a socket at rest after a minute or more, if they do not say less: one that is used just then would leave it open whether the
 * request was done.
 */
const REST_MS = 20_000
/** How much earlier than the server this side is to think that a socket has rested too long. */
const REST_MARGIN_MS = 1_000
/** So much is handed to the socket at once: what it cannot send it would keep, and send later without asking. */
const PIECE_BYTES = 64 << 10

export interface SocketEvents {
  /** The server answers. */
  answered(): void
  /** A request has ended, and what it used can be used again, or is gone. */
  freed(): void
  /** A socket that was used is gone without having ever got an answer. */
  inVain?(): void
}

/** The sockets of one connection: those at rest, and those in use. */
export class Http1Sockets {
  readonly #host: string
  readonly #clock: Clock
  readonly #events: SocketEvents
  /** The one that was used last is at the end. */
  readonly #resting: { readonly socket: Http1Socket; readonly since: number }[] = []
  readonly #all = new Set<Http1Socket>()
  #retired = false

  constructor(host: string, clock: Clock, events: SocketEvents) {
    this.#host = host
    this.#clock = clock
    this.#events = events
  }

  /** With the request under way, and without. */
  get size(): number {
    return this.#all.size
  }

  /** Requests under way. */
  get busy(): number {
    return this.#all.size - this.#resting.length
  }

  /** One at rest, to be used at once. */
  take(): Http1Socket | undefined {
    for (let last = this.#resting.pop(); last !== undefined; last = this.#resting.pop()) {
      const restedMs = this.#clock.monotonic() - last.since
      if (last.socket.isOpen && restedMs < Math.min(REST_MS, last.socket.restMs)) return last.socket
      last.socket.destroy()
    }
    return undefined
  }

  /** Takes a socket over that has just been opened: to be used at once, or to `rest`. */
  add(socket: Socket): Http1Socket {
    const unused = () => {
      if (this.#retired) added.destroy()
      else this.rest(added)
    }
    const added: Http1Socket = new Http1Socket(socket, this.#host, {
      answered: () => this.#events.answered(),
      unused,
      done: () => {
        unused()
        this.#events.freed()
      },
      closed: (inVain) => {
        this.#all.delete(added)
        if (inVain) this.#events.inVain?.()
        const at = this.#resting.findIndex(({ socket }) => socket === added)
        if (at >= 0) this.#resting.splice(at, 1)
        this.#events.freed()
      },
    })
    this.#all.add(added)
    return added
  }

  rest(socket: Http1Socket): void {
    this.#resting.push({ socket, since: this.#clock.monotonic() })
  }

  /** Those at rest end; those in use do so with their request. */
  retire(): void {
    this.#retired = true
    this.drop()
  }

  /** Those at rest end: the next requests open others. */
  drop(): void {
    for (const { socket } of this.#resting.splice(0)) socket.destroy()
  }

  destroy(error?: Error): void {
    this.#retired = true
    for (const socket of [...this.#all]) socket.destroy(error)
  }
}

interface OwnEvents {
  answered(): void
  /** Nothing was sent: another request may use it. */
  unused(): void
  /** The answer is there, and another request may follow. */
  done(): void
  /** `inVain`: it was used, and never got an answer. */
  closed(inVain: boolean): void
}

interface Current {
  readonly receiver: Receiver
  readonly method: string
  /** Not the first on its socket. */
  readonly reused: boolean
  readonly answer: Http1Answer
  /** Of a stream that nobody reads yet. */
  held: Buffer[] | undefined
  answered: boolean
}

export class Http1Socket {
  readonly #socket: Socket
  readonly #host: string
  readonly #events: OwnEvents
  #current: Current | undefined
  #used = false
  /** Part of a request is still to be written. */
  #sending = false
  #answered = false
  #reusable = true
  #error: Error | undefined
  /** How long the server keeps it at rest, as far as it says so. */
  restMs = Number.POSITIVE_INFINITY

  constructor(socket: Socket, host: string, events: OwnEvents) {
    this.#socket = socket
    this.#host = host
    this.#events = events
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('end', () => this.#finish())
    socket.on('error', (error) => {
      this.#error ??= error
    })
    socket.on('close', () => this.#closed())
  }

  /** Neither side has said that it ends. */
  get isOpen(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded
  }

  /** Throws what `beforeSend` throws, or for what no header may hold; then nothing was sent. */
  send(outgoing: Outgoing, receiver: Receiver): Sent {
    const bytes = this.#prepare(outgoing)
    const current: Current = {
      receiver,
      method: outgoing.method,
      reused: this.#used,
      answer: new Http1Answer(this.#listener(receiver, outgoing.stream)),
      held: outgoing.stream ? [] : undefined,
      answered: false,
    }
    this.#used = true
    this.#current = current
    this.#write(bytes, 0)
    return {
      flow: () => this.#flow(current),
      cancel: () => {
        if (this.#current !== current) return
        // What is still to come of this answer cannot be told from the next one but by reading it all.
        this.#current = undefined
        this.#socket.destroy()
      },
    }
  }

  destroy(error?: Error): void {
    if (error !== undefined) this.#error ??= error
    this.#socket.destroy()
  }

  #prepare(outgoing: Outgoing): Buffer {
    try {
      const bytes = requestBytes(outgoing, this.#host)
      outgoing.beforeSend?.()
      return bytes
    } catch (error) {
      this.#events.unused()
      throw error
    }
  }

  #write(bytes: Buffer, from: number): void {
    const to = from + PIECE_BYTES
    this.#sending = to < bytes.length
    if (this.#sending) this.#socket.write(bytes.subarray(from, to), (error) => error || this.#write(bytes, to))
    else this.#socket.write(from === 0 ? bytes : bytes.subarray(from))
  }

  #listener(receiver: Receiver, stream: boolean): AnswerListener {
    return {
      head: (status, headers, reusable) => {
        this.#reusable = reusable && !stream
        const seconds = /(?:^|[ ,])timeout=(\d+)/i.exec(headers['keep-alive'] ?? '')?.[1]
        if (seconds !== undefined) this.restMs = Number(seconds) * 1000 - REST_MARGIN_MS
        if (this.#current !== undefined) this.#current.answered = true
        this.#answered = true
        this.#events.answered()
        receiver.response(status, headers)
        if (this.#current?.held !== undefined) this.#socket.pause()
      },
      body: (chunk) => {
        const held = this.#current?.held
        if (held !== undefined) held.push(chunk)
        else if (this.#current !== undefined) receiver.data(chunk)
      },
    }
  }

  #read(chunk: Buffer): void {
    const current = this.#current
    try {
      if (current === undefined) throw new Error('it says something that nobody asked for')
      const read = current.answer.read(chunk)
      if (read < chunk.length) this.#reusable = false
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    // Only when the whole piece has been read: what else is in it would be taken for the next answer.
    this.#endWhereDone(current)
  }

  /** The other side has ended the connection. */
  #finish(): void {
    const current = this.#current
    if (current === undefined) return
    current.answer.close()
    this.#endWhereDone(current)
  }

  #endWhereDone(current: Current): void {
    if (this.#current !== current || !current.answer.isDone || current.held !== undefined) return
    this.#current = undefined
    current.receiver.end()
    if (this.#reusable && !this.#sending) this.#events.done()
    else this.#socket.destroy()
  }

  #flow(current: Current): void {
    const { held } = current
    if (held === undefined) return
    current.held = undefined
    // A receiver may have had enough before the end.
    for (const chunk of held) if (this.#current === current) current.receiver.data(chunk)
    this.#endWhereDone(current)
    if (this.#current === current) this.#socket.resume()
  }

  #closed(): void {
    const current = this.#current
    this.#current = undefined
    this.#events.closed(this.#used && !this.#answered)
    if (current === undefined) return
    // A server may close a socket at rest just when it is used again: harmless for what changes nothing.
    const untouched = current.reused && current.method === 'GET' && !current.answered
    current.receiver.fail(this.#error ?? new Error('the connection was closed'), untouched)
  }
}

function requestBytes({ method, path, headers, authentication, body }: Outgoing, host: string): Buffer {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  if (!/^[!-~]+$/.test(path)) throw new TypeError(`a path may hold visible ASCII characters only: ${JSON.stringify(path)}`)
  for (const name in headers) head += headerLine(name, headers[name] as string)
  for (const name in authentication) {
    const value = authentication[name] as string | readonly string[]
    if (typeof value === 'string') head += headerLine(name, value)
    else for (const each of value) head += headerLine(name, each)
  }
  const length = body === undefined ? 0 : Buffer.byteLength(body)
  head += body === undefined ? '\r\n' : `content-length: ${length}\r\n\r\n`
  const bytes = Buffer.allocUnsafe(head.length + length)
  bytes.write(head, 'latin1')
  if (body !== undefined) bytes.write(body, head.length)
  return bytes
}

/** A line break in a value would be a header, or a request, of somebody else's making. */
function headerLine(name: string, value: string): string {
  if (!/^[\t -~\x80-\xff]*$/.test(value)) throw new TypeError(`the header ${name} has a character that no header may have`)
  return `${name}: ${value}\r\n`
}
