/** So much of something at a time, such as bytes in memory. */
export class Room {
  #left: number
  #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#left = size
  }

  tryTake(amount: number): boolean {
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }

  give(amount: number): void {
    this.#left += amount
    for (const look of this.#waiting.splice(0)) look()
  }

  /** Waits until there is room for `amount`, which is never where it is more than the whole. */
  async during<T>(amount: number, f: () => Promise<T>): Promise<T> {
    while (!this.tryTake(amount)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await f()
    } finally {
      this.give(amount)
    }
  }
}
