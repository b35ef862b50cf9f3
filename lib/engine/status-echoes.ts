/**
 * Status patches that the server accepted without changing anything: fields that its schema prunes. The same patch is not sent again.
 */
import { canonicalJson } from './diff.ts'

export class StatusEchoes {
  readonly #ineffective = new Map<string, string>()

  remember(uid: string, patch: object, ineffective: boolean): void {
    if (ineffective) this.#ineffective.set(uid, comparable(patch))
    else this.#ineffective.delete(uid)
  }

  isKnown(uid: string, patch: object): boolean {
    return this.#ineffective.size > 0 && this.#ineffective.get(uid) === comparable(patch)
  }

  forget(uid: string): void {
    this.#ineffective.delete(uid)
  }
}

/** Without the time at which a condition would flip: it is another one in each run. */
function comparable(patch: object): string {
  return canonicalJson(patch).replace(/"lastTransitionTime":"[^"]*",?/g, '')
}
