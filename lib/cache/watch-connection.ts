import type { Clock, Timer } from '../api/clock.ts'
import { statusError, statusErrorOf } from '../api/status-error.ts'
import type { Transport, TransportStream } from '../api/transport.ts'
import { Lines } from './lines.ts'
import { type ObjectEvent, parseEvent, WatchProtocolError } from './watch-event.ts'

/** How long the server may take until it begins to answer. */
const HEADERS_MS = 30_000
/** How long the body of a refusal may take; what came until then is enough. */
const REFUSAL_MS = 5_000
const REFUSAL_BYTES = 64 * 1024

/** Nothing came for so long that the connection must be taken for dead. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError'
}

/** How a connection ended. */
export interface WatchEnd {
  /** Undefined where the server ended it in the regular way. */
  readonly error?: Error | undefined
  /** Milliseconds since the server began to answer; 0 where it refused or was not reached. */
  readonly livedMs: number
}

interface WatchConnectionOptions {
  readonly transport: Transport
  readonly path: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** After so many milliseconds without a byte the connection is given up. */
  readonly silenceMs: number
  /** The server accepted the watch. */
  readonly onOpen: () => void
  /** Gets all but ERROR events, which end the connection. What it throws ends it as well. */
  readonly onEvent: (event: ObjectEvent) => void
}

/** One watch request from begin to end. Never rejects. */
export async function watchOnce(options: WatchConnectionOptions): Promise<WatchEnd> {
  const { transport, path, signal } = options
  try {
    const stream = await transport.stream({ method: 'GET', path, headers: { accept: 'application/json' }, timeoutMs: HEADERS_MS, signal })
    return await (stream.status === 200 ? follow(stream, options) : refusal(stream, options))
  } catch (error) {
    return { error: error as Error, livedMs: 0 }
  }
}

function follow(stream: TransportStream, { clock, path, signal, silenceMs, onOpen, onEvent }: WatchConnectionOptions): Promise<WatchEnd> {
  return new Promise((resolve) => {
    const opened = clock.monotonic()
    let heard = opened
    let over = false
    let timer: Timer

    const finish = (error?: Error) => {
      if (over) return
      over = true
      timer.cancel()
      signal.removeEventListener('abort', abort)
      stream.close()
      resolve({ error, livedMs: clock.monotonic() - opened })
    }
    const abort = () => finish()
    const listen = () => {
      const left = heard + silenceMs - clock.monotonic()
      if (left > 0) timer = clock.after(left, listen)
      else finish(new SilenceError(`the watch was silent for ${Math.round(silenceMs / 1000)} s`))
    }
    const take = (line: string) => {
      // What follows the end in the same chunk is not ours any more.
      if (over || line.trim() === '') return
      try {
        const event = parseEvent(line)
        if (event.type === 'ERROR') finish(statusErrorOf(event.object, 'GET', path))
        else onEvent(event)
      } catch (error) {
        finish(error as Error)
      }
    }

    listen()
    signal.addEventListener('abort', abort)
    onOpen()
    const lines = new Lines(take)
    stream.read(
      (chunk) => {
        heard = clock.monotonic()
        if (!over) lines.push(chunk)
      },
      (error) => {
        // Some servers leave out the last newline; a line cut short is no JSON.
        if (error === undefined) take(lines.rest())
        finish(error)
      },
    )
    if (signal.aborted) abort()
  })
}

function refusal(stream: TransportStream, { clock, path }: WatchConnectionOptions): Promise<WatchEnd> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const timer = clock.after(REFUSAL_MS, () => stream.close())
    stream.read(
      (chunk) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > REFUSAL_BYTES) stream.close()
      },
      () => {
        timer.cancel()
        const { status, headers } = stream
        const error =
          status < 400
            ? new WatchProtocolError(`a watch was answered with status ${status}`)
            : statusError('GET', path, status, headers, Buffer.concat(chunks))
        resolve({ error, livedMs: 0 })
      },
    )
  })
}
