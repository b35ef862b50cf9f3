/**
 * A socket that asks before bytes go to the operating system. A request that has passed the write gate still waits in this process: for the end of
 * the turn of the event loop, in which Node's HTTP/2 sends what has gathered. A process that is stopped there would send it when it goes on, however
 * late that is. Between this question and the system call nothing waits any more.
 */

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

export type MayWrite = () => boolean

/** For HTTP/2, which hands bytes to a stream of its own through JavaScript, and to a plain socket past it. */
export class GuardedSocket extends Duplex {
  readonly #socket: Socket
  readonly #mayWrite: MayWrite

  constructor(socket: Socket, mayWrite: MayWrite) {
    super()
    this.#socket = socket
    this.#mayWrite = mayWrite
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#mayWrite()) this.#socket.write(chunk, done)
    else done(refused())
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    if (this.#mayWrite()) this.#socket.write(chunks.length === 1 ? chunks[0]!.chunk : Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
    else done(refused())
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/** For HTTP/1.1, which calls `write` of the socket. */
export function guardWrites(socket: Socket, mayWrite: MayWrite): Socket {
  const write = socket.write
  socket.write = function (this: Socket, ...args: Parameters<Socket['write']>): boolean {
    if (mayWrite()) return write.apply(this, args)
    socket.destroy(refused())
    return false
  } as Socket['write']
  return socket
}

function refused(): Error {
  return new Error('nothing may be written any more')
}
