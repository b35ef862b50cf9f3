/**
 * Entries in the order of their keys, as etcd has them: by bytes. Kept in short sorted runs, so that an insert moves a few
 * hundred pointers at most and a list is a walk: nothing is ever sorted anew.
 */

const RUN = 512

interface Entry {
  readonly sortKey: string
}

export class Ordered<T extends Entry> {
  readonly #runs: T[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  set(entry: T): void {
    const run = this.#runs[this.#runOf(entry.sortKey)]
    if (run === undefined) {
      this.#runs.push([entry])
      this.#size = 1
      return
    }
    const at = lowerBound(run, entry.sortKey)
    if (run[at]?.sortKey === entry.sortKey) {
      run[at] = entry
      return
    }
    // Names often come in order; pushing is cheaper than splicing.
    if (at === run.length) run.push(entry)
    else run.splice(at, 0, entry)
    this.#size++
    if (run.length > RUN) this.#split(run)
  }

  delete(sortKey: string): void {
    const index = this.#runOf(sortKey)
    const run = this.#runs[index]
    if (run === undefined) return
    const at = lowerBound(run, sortKey)
    if (run[at]?.sortKey !== sortKey) return
    run.splice(at, 1)
    this.#size--
    if (run.length === 0) this.#runs.splice(index, 1)
  }

  /** Those with `from <= key < to`; without `to` up to the end. */
  range(from = '', to?: string): T[] {
    const found: T[] = []
    for (let index = this.#runOf(from); index < this.#runs.length; index++) {
      const run = this.#runs[index]!
      for (let i = found.length === 0 ? lowerBound(run, from) : 0; i < run.length; i++) {
        const entry = run[i]!
        if (to !== undefined && entry.sortKey >= to) return found
        found.push(entry)
      }
    }
    return found
  }

  /** The run that has or would have the key: the last one that does not begin after it. */
  #runOf(sortKey: string): number {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#runs[middle]![0]!.sortKey <= sortKey) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  #split(run: T[]): void {
    const index = this.#runs.indexOf(run)
    // Where entries only come at the end, full runs stay full.
    const keep = index === this.#runs.length - 1 ? RUN : RUN / 2
    this.#runs.splice(index + 1, 0, run.splice(keep))
  }
}

/**
 * A string that JavaScript orders as etcd orders the bytes of the key. They differ only beyond the basic plane, but that is
 * reason enough to look at every name that is not ASCII.
 */
export function sortKeyOf(key: string): string {
  return /^[\0-\x7f]*$/.test(key) ? key : Buffer.from(key).toString('latin1')
}

function lowerBound(run: readonly Entry[], sortKey: string): number {
  let low = 0
  let high = run.length
  if (high > 0 && run[high - 1]!.sortKey < sortKey) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if (run[middle]!.sortKey < sortKey) low = middle + 1
    else high = middle
  }
  return low
}
