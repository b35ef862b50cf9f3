/**
 * Which keys are controlled by an owner, by the owner's uid. Most owners have one child of a kind, and a `Set` for one
 * entry weighs some 200 bytes, so a single key is kept bare.
 */
export class OwnerIndex {
  readonly #keys = new Map<string, string | Set<string>>()

  add(uid: string, key: string): void {
    const there = this.#keys.get(uid)
    if (there === undefined) this.#keys.set(uid, key)
    else if (typeof there !== 'string') there.add(key)
    else if (there !== key) this.#keys.set(uid, new Set([there, key]))
  }

  delete(uid: string, key: string): void {
    const there = this.#keys.get(uid)
    if (there === key) this.#keys.delete(uid)
    else if (there instanceof Set && there.delete(key) && there.size === 0) this.#keys.delete(uid)
  }

  keys(uid: string): string[] {
    const there = this.#keys.get(uid)
    return there === undefined ? [] : typeof there === 'string' ? [there] : [...there]
  }

  /** How many owners have children here. */
  get size(): number {
    return this.#keys.size
  }
}
