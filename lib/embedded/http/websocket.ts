/**
 * Watches over WebSocket, as the API server offers them beside plain HTTP: one text message an event (RFC 6455). Java clients
 * ask for them first. Whatever else asks for an upgrade gets an ordinary answer.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ResponseStream, StreamSink } from '../types.ts'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const TEXT = 0x1
const CLOSE = 0x8
const PING = 0x9
const PONG = 0xa
const NORMAL = 1000
/** Clients of a watch have nothing to say; what is longer is not meant for one. */
const LONGEST_MESSAGE = 64 * 1024

export function wantsWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-key'] !== undefined
}

/**
 * The head of the request as if no other protocol had been asked for, which servers may do: Java's own client asks for HTTP/2
 * with whatever it sends first.
 */
export function withoutUpgrade({ method, url, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/1.1`]
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2)
    if (/^(upgrade|http2-settings)$/i.test(name)) continue
    const options = value.split(',').filter((each) => !/^\s*(upgrade|http2-settings)\s*$/i.test(each))
    if (!/^connection$/i.test(name)) lines.push(`${name}: ${value}`)
    else if (options.length > 0) lines.push(`${name}: ${options.join(',')}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Takes the socket over and writes the stream to it. @returns what ends it in order */
export function serveWebSocket(request: IncomingMessage, socket: Socket, head: Buffer, stream: ResponseStream): () => void {
  socket.write(handshake(request))
  let open = true
  const close = () => {
    if (open) socket.end(frame(CLOSE, Buffer.of(NORMAL >> 8, NORMAL & 0xff)))
    open = false
  }
  let running: { stop(): void } | undefined
  const stop = () => {
    open = false
    running?.stop()
    running = undefined
  }
  socket.once('close', stop)
  socket.on('error', () => socket.destroy())
  const read = reader({
    ping: (payload) => void (open && socket.write(frame(PONG, payload))),
    close: () => {
      close()
      stop()
    },
    broken: () => socket.destroy(),
  })
  if (head.length > 0) read(head)
  socket.on('data', read)
  running = stream.start(sinkOf(socket, () => open, close))
  if (!open) stop()
  return close
}

function sinkOf(socket: Socket, isOpen: () => boolean, close: () => void): StreamSink {
  return {
    // A chunk holds whole lines, each an event.
    write: (chunk) => !isOpen() || socket.write(Buffer.concat(lines(chunk).map((line) => frame(TEXT, Buffer.from(line))))),
    get pending() {
      return socket.writableLength
    },
    drained: (f) => void socket.once('drain', f),
    end: close,
    destroy: () => void socket.destroy(),
  }
}

const lines = (chunk: string) => chunk.split(/(?<=\n)/)

function handshake({ headers }: IncomingMessage): string {
  const { createHash } = process.getBuiltinModule('node:crypto')
  const key = createHash('sha1').update(`${headers['sec-websocket-key']}${GUID}`).digest('base64')
  // One protocol is confirmed; a token that was sent in place of one is not repeated.
  const protocol = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .find((each) => each !== '' && !each.startsWith('base64url.bearer.authorization.k8s.io.'))
  const confirmed = protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n${confirmed}\r\n`
}

/** A whole message, unmasked, as servers send them. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  header[0] = 0x80 | opcode
  if (length < 126) header[1] = length
  else if (length < 65_536) {
    header[1] = 126
    header.writeUInt16BE(length, 2)
  } else {
    header[1] = 127
    header.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([header, payload])
}

interface Heard {
  ping(payload: Buffer): void
  close(): void
  broken(): void
}

/** Reads a client's frames. Data is read and forgotten. */
function reader(heard: Heard): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const header = headerOf(rest)
      if (header === undefined) return
      if (header.length > LONGEST_MESSAGE || !header.masked) {
        heard.broken()
        return
      }
      const end = header.start + header.length
      if (rest.length < end) return
      const mask = rest.subarray(header.start - 4, header.start)
      const payload = Buffer.from(rest.subarray(header.start, end).map((byte, i) => byte ^ (mask[i % 4] as number)))
      rest = rest.subarray(end)
      if (header.opcode === PING) heard.ping(payload)
      else if (header.opcode === CLOSE) heard.close()
    }
  }
}

/** Undefined: not all of it is there yet. `start`: of the payload, after the mask. */
function headerOf(bytes: Buffer): { opcode: number; masked: boolean; start: number; length: number } | undefined {
  if (bytes.length < 2) return undefined
  const [first = 0, second = 0] = bytes
  const short = second & 0x7f
  const size = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < size) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  return { opcode: first & 0x0f, masked: (second & 0x80) !== 0, start: size + 4, length }
}
