/**
 * A binary heap that can also take out any of its items, in logarithmic time.
 */
export class Heap<T extends object> {
  readonly #items: T[] = []
  readonly #index = new Map<T, number>()
  readonly #compare: (a: T, b: T) => number

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    this.#items.push(item)
    this.#index.set(item, this.#items.length - 1)
    this.#up(this.#items.length - 1)
  }

  pop(): T | undefined {
    const first = this.#items[0]
    if (first !== undefined) this.remove(first)
    return first
  }

  remove(item: T): void {
    const i = this.#index.get(item)
    if (i === undefined) return
    this.#index.delete(item)
    const last = this.#items.pop() as T
    if (last === item) return
    this.#place(last, i)
    this.#up(i)
    this.#down(this.#index.get(last) as number)
  }

  #place(item: T, i: number): void {
    this.#items[i] = item
    this.#index.set(item, i)
  }

  #up(start: number): void {
    let i = start
    const item = this.#items[i] as T
    while (i > 0) {
      const parent = (i - 1) >> 1
      const above = this.#items[parent] as T
      if (this.#compare(item, above) >= 0) break
      this.#place(above, i)
      i = parent
    }
    this.#place(item, i)
  }

  #down(start: number): void {
    let i = start
    const item = this.#items[i] as T
    for (;;) {
      let child = 2 * i + 1
      if (child >= this.#items.length) break
      if (child + 1 < this.#items.length && this.#compare(this.#items[child + 1] as T, this.#items[child] as T) < 0) child++
      const below = this.#items[child] as T
      if (this.#compare(below, item) >= 0) break
      this.#place(below, i)
      i = child
    }
    this.#place(item, i)
  }
}
