const SLAB_BYTES = 256 * 1024
/** A text longer than this has a slab of its own. */
const LARGE_BYTES = SLAB_BYTES / 4
/** A slab of which less than this part is alive is given up: what lives in it moves. */
const ALIVE = 0.6
/** Slabs kept for the next use. */
const SPARE = 2

/** Where a text lies. Whoever wants a text kept extends this; the arena alone changes the fields. */
export class Block {
  slab: Slab | undefined
  start = 0
  length = 0
  /** Its place in `slab.blocks`. */
  index = 0
}

interface Slab {
  readonly bytes: Buffer
  /** Up to here it is written. */
  end: number
  /** How many bytes belong to texts that are still wanted. */
  alive: number
  readonly blocks: (Block | undefined)[]
}

/**
 * Many texts in few big pieces of memory outside of V8's heap. Kept as strings, texts that come and go make the old
 * generation grow to several times of what is alive, and as buffers of their own they fragment the C heap
 * (docs/decisions/0004-store-keeps-text.md has the figures).
 *
 * Texts are appended to a slab. A slab that has become sparse is emptied into the newest one, so that memory stays below
 * 1 / 0.6 of what is alive and one change never costs more than the copy of one slab.
 */
export class TextArena {
  readonly #slabs = new Set<Slab>()
  readonly #spare: Slab[] = []
  #newest: Slab | undefined

  /** The bytes it takes from the system. */
  get capacity(): number {
    let sum = 0
    for (const slab of this.#slabs) sum += slab.bytes.length
    return sum + this.#spare.length * SLAB_BYTES
  }

  write(block: Block, text: string): void {
    const length = Buffer.byteLength(text)
    const slab = this.#place(block, length)
    slab.bytes.write(text, block.start, length)
  }

  read(block: Block): string {
    const { slab, start, length } = block
    if (slab === undefined) throw new Error('this text is gone')
    return slab.bytes.toString('utf8', start, start + length)
  }

  free(block: Block): void {
    const { slab } = block
    if (slab === undefined) return
    block.slab = undefined
    slab.blocks[block.index] = undefined
    slab.alive -= block.length
    if (slab !== this.#newest) this.#tidy(slab)
  }

  #place(block: Block, length: number): Slab {
    const slab = length > LARGE_BYTES ? this.#open(length) : this.#roomFor(length)
    block.slab = slab
    block.start = slab.end
    block.length = length
    block.index = slab.blocks.push(block) - 1
    slab.end += length
    slab.alive += length
    return slab
  }

  #roomFor(length: number): Slab {
    let slab = this.#newest
    while (slab === undefined || slab.end + length > SLAB_BYTES) {
      const full = slab
      slab = this.#newest = this.#open(SLAB_BYTES)
      // What moves from there fits: it is less than a slab.
      if (full !== undefined) this.#tidy(full)
    }
    return slab
  }

  #open(bytes: number): Slab {
    const spare = bytes === SLAB_BYTES ? this.#spare.pop() : undefined
    // Not from Node's pool, and not cleared: pages that were never written take no memory.
    const slab = { bytes: spare?.bytes ?? Buffer.allocUnsafeSlow(bytes), end: 0, alive: 0, blocks: [] }
    this.#slabs.add(slab)
    return slab
  }

  #tidy(slab: Slab): void {
    if (slab.alive >= ALIVE * slab.bytes.length || !this.#slabs.delete(slab)) return
    for (const block of slab.blocks) {
      if (block === undefined) continue
      const { start, length } = block
      const { bytes } = this.#place(block, length)
      slab.bytes.copy(bytes, block.start, start, start + length)
    }
    if (slab.bytes.length === SLAB_BYTES && this.#spare.length < SPARE) this.#spare.push(slab)
  }
}
