/** Writes protobuf's wire format. */

export const VARINT = 0
export const FIXED64 = 1
export const DELIMITED = 2

export const tag = (to: Writer, field: number, type: number) => to.varint(field * 8 + type)

/** A field of text, also where it is empty. */
export function textField(to: Writer, field: number, value: string): void {
  tag(to, field, DELIMITED)
  to.text(value)
}

export function messageField(to: Writer, field: number, write: (to: Writer) => void): void {
  tag(to, field, DELIMITED)
  to.delimited(write)
}

export function integerField(to: Writer, field: number, value: number): void {
  tag(to, field, VARINT)
  to.varint(value)
}

export class Writer {
  #bytes = Buffer.allocUnsafe(1024)
  #length = 0

  /** Of a whole number that is not negative. */
  varint(value: number): void {
    this.#room(10)
    let rest = value
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#length++] = rest
  }

  double(value: number): void {
    this.#room(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  text(value: string): void {
    const size = Buffer.byteLength(value)
    this.varint(size)
    this.#room(size)
    this.#length += this.#bytes.write(value, this.#length)
  }

  /** What `write` appends, after its length. */
  delimited(write: (to: Writer) => void): void {
    const inner = new Writer()
    write(inner)
    const data = inner.done()
    this.varint(data.length)
    this.#room(data.length)
    data.copy(this.#bytes, this.#length)
    this.#length += data.length
  }

  done(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #room(size: number): void {
    if (this.#length + size <= this.#bytes.length) return
    const more = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + size))
    this.#bytes.copy(more, 0, 0, this.#length)
    this.#bytes = more
  }
}
