const NEWLINE = 10
/** A buffer that grew beyond this for one line is let go after it. */
const KEPT_BYTES = 64 * 1024

/**
 * Cuts a stream of bytes into lines at the byte 10, which in UTF-8 is part of no other character: chunks may split lines and
 * characters anywhere. Each byte is copied a bounded number of times, whatever the size of lines and chunks.
 */
export class Lines {
  readonly #onLine: (line: string) => void
  /** The begun line, of which only the first `#length` bytes count. */
  #begun = Buffer.alloc(0)
  #length = 0

  /** `onLine` gets each line without its newline, empty ones too. */
  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#length === 0 ? chunk.toString('utf8', start, end) : this.#finish(chunk, start, end)
      start = end + 1
      this.#onLine(line)
    }
    if (start < chunk.length) this.#keep(chunk, start, chunk.length)
  }

  /** What came after the last newline; `''` where there is nothing. */
  rest(): string {
    return this.#begun.toString('utf8', 0, this.#length)
  }

  #finish(chunk: Buffer, start: number, end: number): string {
    this.#keep(chunk, start, end)
    const line = this.rest()
    this.#length = 0
    if (this.#begun.length > KEPT_BYTES) this.#begun = Buffer.alloc(0)
    return line
  }

  #keep(chunk: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#begun.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#begun.length, 4096))
      this.#begun.copy(grown, 0, 0, this.#length)
      this.#begun = grown
    }
    chunk.copy(this.#begun, this.#length, start, end)
    this.#length = length
  }
}
