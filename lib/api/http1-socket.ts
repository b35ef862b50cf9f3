/**
 * HTTP/1.1 on a socket: one request after the other. Node.js' own client makes four objects with events of their own of each request, which
 * is more work than all the rest of it (docs/decisions/0029-http1-sockets.md); what is read is left to a parser from a library.
 */

import type { Socket } from 'node:net'
import { HTTPParser } from 'http-parser-js'
import type { Clock } from './clock.ts'
import type { Outgoing, Receiver, Sent } from './connection.ts'

/** Servers and balancers close a socket at rest after a minute or more: one that is used just then would leave it open whether the request was done. */
const REST_MS = 20_000

export interface SocketEvents {
  /** The server answers. */
  answered(): void
  /** A request has ended, and what it used can be used again, or is gone. */
  freed(): void
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
      if (last.socket.isOpen && this.#clock.monotonic() - last.since < REST_MS) return last.socket
      last.socket.destroy()
    }
    return undefined
  }

  /** Takes a socket over that has just been opened: to be used at once, or to `rest`. */
  add(socket: Socket): Http1Socket {
    const added: Http1Socket = new Http1Socket(socket, this.#host, {
      answered: () => this.#events.answered(),
      done: () => {
        if (this.#retired) added.destroy()
        else this.rest(added)
        this.#events.freed()
      },
      closed: () => {
        this.#all.delete(added)
        const at = this.#resting.findIndex(({ socket }) => socket === added)
        if (at >= 0) this.#resting.splice(at, 1)
        else this.#events.freed()
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
  /** The answer is there, and another request may follow. */
  done(): void
  closed(): void
}

interface Current {
  readonly receiver: Receiver
  readonly method: string
  readonly stream: boolean
  /** Not the first on its socket. */
  readonly reused: boolean
  /** Of a stream that nobody reads yet. */
  held: Buffer[] | undefined
  answered: boolean
  complete: boolean
}

export class Http1Socket {
  readonly #socket: Socket
  readonly #host: string
  readonly #events: OwnEvents
  readonly #parser = new HTTPParser(HTTPParser.RESPONSE)
  #current: Current | undefined
  #used = false
  #keepsAlive = true
  #error: Error | undefined

  constructor(socket: Socket, host: string, events: OwnEvents) {
    this.#socket = socket
    this.#host = host
    this.#events = events
    this.#listen()
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    // Without a length the answer ends with the socket.
    socket.on('end', () => this.#parser.finish())
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
    const { method, stream } = outgoing
    const bytes = requestBytes(outgoing, this.#host)
    outgoing.beforeSend?.()
    const current: Current = {
      receiver,
      method,
      stream,
      reused: this.#used,
      held: stream ? [] : undefined,
      answered: false,
      complete: false,
    }
    this.#used = true
    this.#current = current
    this.#socket.write(bytes)
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

  #listen(): void {
    const parser = this.#parser
    let passing = false
    parser[HTTPParser.kOnHeadersComplete] = ({ statusCode, headers, shouldKeepAlive }) => {
      // 100, 103 and the like: the answer is still to come. Nobody asked for an upgrade (101).
      passing = statusCode < 200
      const current = this.#current
      if (current === undefined || statusCode === 101) this.destroy(new Error('the server said something that nobody asked for'))
      else if (!passing) {
        this.#keepsAlive = shouldKeepAlive && !current.stream
        current.answered = true
        this.#events.answered()
        current.receiver.response(statusCode, plainHeaders(headers))
        if (current.held !== undefined) this.#socket.pause()
      }
    }
    parser[HTTPParser.kOnBody] = (chunk, offset, length) => {
      const data = chunk.subarray(offset, offset + length)
      const current = this.#current
      if (current?.held !== undefined) current.held.push(data)
      else current?.receiver.data(data)
    }
    parser[HTTPParser.kOnMessageComplete] = () => {
      const current = this.#current
      if (passing || current === undefined) return
      current.complete = true
      if (current.held === undefined) this.#end(current)
    }
  }

  #read(chunk: Buffer): void {
    const read = this.#current === undefined ? new Error('the server said something that nobody asked for') : this.#parser.execute(chunk)
    if (read instanceof Error) this.destroy(read)
  }

  #flow(current: Current): void {
    const { held } = current
    if (held === undefined || this.#current !== current) return
    current.held = undefined
    for (const chunk of held) current.receiver.data(chunk)
    // A receiver may have had enough.
    if (this.#current !== current) return
    if (current.complete) this.#end(current)
    else this.#socket.resume()
  }

  #end(current: Current): void {
    this.#current = undefined
    current.receiver.end()
    if (this.#keepsAlive) this.#events.done()
    else this.#socket.destroy()
  }

  #closed(): void {
    const current = this.#current
    this.#current = undefined
    this.#events.closed()
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

/** Names in lower case; a header that came several times as one text. */
function plainHeaders(headers: readonly string[]): Record<string, string> {
  const plain: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase()
    const value = headers[i + 1] as string
    const before = plain[name]
    plain[name] = before === undefined ? value : `${before}, ${value}`
  }
  return plain
}
