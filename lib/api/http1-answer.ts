/**
 * Reads one answer of HTTP/1.1 as it comes, in pieces of any size. Strict where RFC 9112 leaves a choice: a length or a chunk size that is not exactly
 * one makes the answer an error, for what is read beyond it or left out would be taken for something else.
 */

/** A head larger than this is no API server's. */
const MOST_HEAD_BYTES = 64 << 10
const MOST_LINE_BYTES = 4 << 10

const VERSION = 'HTTP/1.'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: .*)?$/
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/
const LENGTH = /^\d{1,15}$/
const CHUNK_SIZE = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i

export interface AnswerListener {
  /** Names in lower case; a header that came several times as one text. `reusable`: another request may follow on the socket. */
  head(status: number, headers: Record<string, string>, reusable: boolean): void
  body(chunk: Buffer): void
}

type Part = 'head' | 'sized' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'until-close' | 'done'

export class Http1Answer {
  readonly #listener: AnswerListener
  #part: Part = 'head'
  /** Of what is read line by line: the piece of a line that has come. */
  #begun: Buffer | undefined
  /** Bytes of the body, or of its chunk, that are still to come. */
  #left = 0
  #trailerBytes = 0

  constructor(listener: AnswerListener) {
    this.#listener = listener
  }

  /** It has come to its end: nothing belongs to it any more. */
  get isDone(): boolean {
    return this.#part === 'done'
  }

  /** Throws where it is no HTTP/1.1. @returns how many bytes of the chunk belong to the answer: less than all once it is done */
  read(chunk: Buffer): number {
    let at = 0
    while (at < chunk.length && this.#part !== 'done') at = this.#readFrom(chunk, at)
    return at
  }

  /** The other side has ended the connection. An answer without a length ends with it. */
  close(): void {
    if (this.#part === 'until-close') this.#part = 'done'
  }

  #readFrom(chunk: Buffer, at: number): number {
    switch (this.#part) {
      case 'head': {
        const { text, next } = this.#until(HEAD_END, chunk, at, MOST_HEAD_BYTES)
        if (text !== undefined) this.#readHead(text)
        else this.#checkBeginning()
        return next
      }
      case 'sized':
      case 'chunk': {
        const next = Math.min(chunk.length, at + this.#left)
        this.#left -= next - at
        this.#listener.body(chunk.subarray(at, next))
        if (this.#left === 0) {
          if (this.#part === 'sized') this.#part = 'done'
          else this.#part = 'chunk-end'
        }
        return next
      }
      case 'until-close':
        this.#listener.body(at === 0 ? chunk : chunk.subarray(at))
        return chunk.length
      default: {
        const { text, next } = this.#until(LINE_END, chunk, at, MOST_LINE_BYTES)
        if (text !== undefined) this.#readLine(text)
        return next
      }
    }
  }

  /** The text up to `mark`, which may have begun in a piece before; undefined where it has not come yet. */
  #until(mark: Buffer, chunk: Buffer, at: number, most: number): { text: string | undefined; next: number } {
    const begun = this.#begun
    const all = begun === undefined ? chunk : Buffer.concat([begun, chunk.subarray(at)])
    const from = begun === undefined ? at : 0
    const end = all.indexOf(mark, begun === undefined ? at : Math.max(0, begun.length - mark.length + 1))
    if ((end < 0 ? all.length : end) - from > most) throw new Error(`its answer has a ${this.#part} of more than ${most / 1024} KiB`)
    if (end < 0) {
      // A copy: the piece may be part of a large block of memory.
      this.#begun = begun === undefined ? Buffer.from(all.subarray(from)) : all
      return { text: undefined, next: chunk.length }
    }
    this.#begun = undefined
    return { text: all.toString('latin1', from, end), next: end + mark.length - (begun === undefined ? 0 : begun.length - at) }
  }

  /** What speaks another protocol may never come to the end of a head. */
  #checkBeginning(): void {
    const begun = this.#begun?.toString('latin1', 0, 80) ?? ''
    if (!VERSION.startsWith(begun.slice(0, VERSION.length))) no('beginning', begun)
  }

  #readHead(text: string): void {
    const [first = '', ...lines] = text.split('\r\n')
    const [, minor, code] = STATUS_LINE.exec(first) ?? no('status line', first)
    const status = Number(code)
    const headers: Record<string, string> = Object.create(null)
    for (const line of lines) {
      const [, name = '', value = ''] = FIELD_LINE.exec(line) ?? no('header', line)
      const key = name.toLowerCase()
      headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`
    }
    // 100, 103 and the like: the answer is still to come. Nobody asks for an upgrade.
    if (status === 101) throw new Error('it answers with a protocol that nobody asked for')
    if (status < 200) return
    this.#part = bodyOf(status, headers)
    const says = (headers['connection'] ?? '').toLowerCase().split(/[ \t]*,[ \t]*/)
    const keepsAlive = minor === '1' ? !says.includes('close') : says.includes('keep-alive')
    this.#listener.head(status, headers, keepsAlive && this.#part !== 'until-close')
    if (this.#part === 'sized') this.#left = Number(headers['content-length'])
    if (this.#part === 'done' || (this.#part === 'sized' && this.#left === 0)) this.#part = 'done'
  }

  #readLine(text: string): void {
    switch (this.#part) {
      case 'chunk-size': {
        const [, size = ''] = CHUNK_SIZE.exec(text) ?? no('chunk size', text)
        this.#left = Number.parseInt(size, 16)
        this.#part = this.#left === 0 ? 'trailers' : 'chunk'
        return
      }
      case 'chunk-end':
        if (text !== '') no('end of a chunk', text)
        this.#part = 'chunk-size'
        return
      default:
        // Trailers tell nothing that anybody here asks for.
        this.#trailerBytes += text.length
        if (this.#trailerBytes > MOST_HEAD_BYTES) throw new Error('its answer has too many trailers')
        if (text === '') this.#part = 'done'
    }
  }
}

const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

function bodyOf(status: number, headers: Readonly<Record<string, string>>): Part {
  const length = headers['content-length']
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || length !== undefined)) no('transfer-encoding', encoding)
  if (length !== undefined && !LENGTH.test(length)) no('content-length', length)
  if (status === 204 || status === 304) return 'done'
  if (encoding !== undefined) return 'chunk-size'
  return length === undefined ? 'until-close' : 'sized'
}

function no(what: string, text: string): never {
  throw new Error(`its answer is no HTTP/1.1: ${what} ${JSON.stringify(text.slice(0, 80))}`)
}
