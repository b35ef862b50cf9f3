/**
 * One HTTP/2 session. What Node leaves to us: noticing a dead peer (PING), telling which requests a server that goes away
 * never looked at, and not handing over more streams than it takes (what waits inside nghttp2 would pass the write gate too early).
 */

import http2 from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock, Timer } from './clock.ts'
import type { Connection, ConnectionEvents, Outgoing, Receiver, Sent } from './connection.ts'
import { Lanes } from './lanes.ts'

const PING_EVERY_MS = 15_000
const PING_TIMEOUT_MS = 10_000
const SETTINGS_TIMEOUT_MS = 10_000
/** A server ends a session on which nothing is asked for some 90 s (kube-apiserver), whatever goes on beside it. */
const USE_EVERY_MS = 45_000
/** A list of many megabytes, and many watches beside it, without waiting for window updates. */
const STREAM_WINDOW = 8 << 20
const SESSION_WINDOW = 64 << 20
/** Megabytes of buffers above which Node refuses new streams; its default of 10 is less than one window. */
const SESSION_MEMORY = 1024

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants

export interface Http2Options {
  readonly url: URL
  readonly clock: Clock
  /** Makes a socket to the same server that speaks HTTP/1.1; absent where everything is to go over HTTP/2. */
  readonly openLane: (() => Promise<Socket>) | undefined
}

/** Resolves once the server has said how much it takes, which is the first thing it says. */
export function openHttp2(socket: Duplex, options: Http2Options, events: ConnectionEvents): Promise<Connection> {
  const { url, clock } = options
  return new Promise((resolve, reject) => {
    const timer = clock.after(SETTINGS_TIMEOUT_MS, () => {
      session.destroy(new Error(`it takes connections but says nothing within ${SETTINGS_TIMEOUT_MS / 1000} s`))
    })
    const session = http2.connect(url.origin, {
      createConnection: () => socket,
      settings: { initialWindowSize: STREAM_WINDOW, enablePush: false },
      maxSessionMemory: SESSION_MEMORY,
    })
    const failed = (error: Error) => {
      timer.cancel()
      reject(error)
    }
    session.on('error', failed)
    session.once('close', () => failed(new Error('the connection was closed')))
    // With TLS 1.3 a server refuses a client's certificate when this side has done its handshake; the session does not tell.
    socket.once('error', failed)
    session.once('connect', () => session.setLocalWindowSize(SESSION_WINDOW))
    session.once('remoteSettings', () => {
      timer.cancel()
      resolve(new Http2Connection(session, options, events))
    })
  })
}

class Http2Connection implements Connection {
  readonly #session: http2.ClientHttp2Session
  readonly #clock: Clock
  readonly #events: ConnectionEvents
  readonly #lanes: Lanes | undefined
  /** All requests under way, and those of them that last. */
  #open = 0
  #streams = 0
  #limit: number
  #ended = false
  #error: Error | undefined
  /** The last stream that a server which goes away looked at. */
  #lastStream = Number.POSITIVE_INFINITY
  #answered = false
  #used = false
  /** When the last request went over the session itself. */
  #usedAt = 0
  #pinging = false
  #timer: Timer | undefined

  constructor(session: http2.ClientHttp2Session, { url, clock, openLane }: Http2Options, events: ConnectionEvents) {
    this.#session = session
    this.#clock = clock
    this.#events = events
    const own = { answered: () => this.#hasAnswered(), freed: () => this.#freed() }
    this.#lanes = openLane && new Lanes(url.host, clock, openLane, own)
    this.#limit = streamLimit(session.remoteSettings)
    session.on('remoteSettings', (settings) => {
      this.#limit = streamLimit(settings)
      events.freed()
    })
    session.on('goaway', (_code, lastStream) => {
      this.#lastStream = lastStream ?? 0
      this.#end()
    })
    session.on('error', (error) => {
      this.#error ??= error
      this.#end()
    })
    session.on('close', () => this.#end())
  }

  canTake(stream: boolean): boolean {
    return this.#open < this.#limit && this.willTake(stream)
  }

  /** Streams may hold half of the places, so that requests always find one. */
  willTake(stream: boolean): boolean {
    if (this.#ended || this.#session.closed || this.#session.destroyed) return false
    return stream ? this.#streams < Math.max(1, this.#limit >> 1) : this.#streams < this.#limit
  }

  send(outgoing: Outgoing, receiver: Receiver): Sent {
    this.#keepChecking()
    const isDue = this.#open === 0 && this.#clock.monotonic() - this.#usedAt >= USE_EVERY_MS
    const lane = outgoing.stream || isDue ? undefined : this.#lanes?.take()
    return lane === undefined ? this.#sendHere(outgoing, receiver) : lane.send(outgoing, receiver)
  }

  #sendHere(outgoing: Outgoing, receiver: Receiver): Sent {
    const { body } = outgoing
    const headers: http2.OutgoingHttpHeaders = {
      ':method': outgoing.method,
      ':path': outgoing.path,
      ...outgoing.headers,
      ...(outgoing.authentication as Record<string, string>),
    }
    if (body !== undefined) headers['content-length'] = Buffer.byteLength(body)
    outgoing.beforeSend?.()
    const stream = this.#session.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    this.#open++
    if (outgoing.stream) this.#streams++
    this.#usedAt = this.#clock.monotonic()

    let done = false
    let failure: Error | undefined
    stream.on('response', (headers) => {
      this.#hasAnswered()
      if (!done) receiver.response(headers[':status'] ?? 0, plainHeaders(headers))
    })
    stream.on('end', () => {
      // The end of a broken connection looks like the end of an answer, but for this.
      if (done || stream.rstCode !== NGHTTP2_NO_ERROR || stream.aborted || this.#session.destroyed) return
      done = true
      receiver.end()
    })
    stream.on('error', (error) => {
      failure = error
    })
    stream.on('close', () => {
      this.#open--
      if (outgoing.stream) this.#streams--
      if (!done) {
        done = true
        receiver.fail(this.#error ?? failure ?? new Error('the connection was closed'), this.#isUntouched(stream))
      }
      this.#freed()
    })
    const flow = () => {
      stream.on('data', (chunk: Buffer) => {
        if (!done) receiver.data(chunk)
      })
    }
    if (!outgoing.stream) flow()
    return {
      flow,
      cancel() {
        done = true
        stream.close(NGHTTP2_CANCEL)
        // A stream nobody reads would wait for its reader.
        stream.resume()
      },
    }
  }

  /** The server said so (RFC 9113, 8.7), or it went away before it came to this stream. */
  #isUntouched(stream: http2.ClientHttp2Stream): boolean {
    return stream.rstCode === NGHTTP2_REFUSED_STREAM || stream.id === undefined || stream.id > this.#lastStream
  }

  check(): void {
    this.#lanes?.drop()
    if (!this.#ended) this.#ping()
  }

  retire(): void {
    this.#end(true)
    this.#session.close()
  }

  destroy(): void {
    this.#end(true)
    this.#session.destroy()
    this.#lanes?.destroy()
  }

  #hasAnswered(): void {
    this.#answered = true
    this.#events.answered()
  }

  #freed(): void {
    this.#events.freed()
    this.#tellClosed()
  }

  #end(wanted = false): void {
    if (this.#ended) return
    this.#ended = true
    const isBroken = !wanted && !this.#answered
    this.#events.ended(this, isBroken ? (this.#error ?? new Error('the connection was closed')) : undefined)
    this.#lanes?.retire()
    this.#tellClosed()
  }

  #tellClosed(): void {
    // Node closes an idle session by itself then. Its 'close' is not waited for: it comes only when the server closes the socket too.
    if (this.#ended && this.#open === 0 && !this.#lanes?.size) this.#events.closed(this)
  }

  /** As long as something is under way or was lately, also when the session no longer takes anything new. */
  #keepChecking(): void {
    this.#used = true
    this.#timer ??= this.#clock.after(PING_EVERY_MS, () => {
      this.#timer = undefined
      if (this.#session.destroyed || (this.#open === 0 && !this.#lanes?.busy && !this.#used)) return
      this.#ping()
      this.#keepChecking()
      this.#used = false
    })
  }

  #ping(): void {
    if (this.#pinging || this.#session.destroyed) return
    this.#pinging = true
    const giveUp = this.#clock.after(PING_TIMEOUT_MS, () => {
      this.#error ??= new Error(`no answer to a PING within ${PING_TIMEOUT_MS / 1000} s`)
      this.#session.destroy(this.#error)
      this.#lanes?.destroy(this.#error)
    })
    this.#session.ping(() => {
      this.#pinging = false
      giveUp.cancel()
    })
  }
}

/** More than this nobody needs, and a server without a limit says 2³²−1. */
const MOST_STREAMS = 1000

function streamLimit({ maxConcurrentStreams = MOST_STREAMS }: http2.Settings): number {
  return Math.min(MOST_STREAMS, Math.max(1, maxConcurrentStreams))
}

/** Without pseudo-headers; a header that came several times as one text. */
function plainHeaders(headers: http2.IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && name.charCodeAt(0) !== 58) plain[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return plain
}
