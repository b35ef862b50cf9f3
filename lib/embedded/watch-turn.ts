/**
 * The turn in which all watches of a server write what happened since the last: an event is encoded once a turn, however
 * many watch it.
 */
import type { Core } from './core.ts'
import type { StoreEvent } from './types.ts'

/** What was encoded in this turn. */
export class Lines {
  readonly #lines = new Map<StoreEvent, Map<string, string>>()

  of(event: StoreEvent, encoding: string, encode: () => string): string {
    let lines = this.#lines.get(event)
    if (lines === undefined) {
      lines = new Map()
      this.#lines.set(event, lines)
    }
    const known = lines.get(encoding)
    if (known !== undefined) return known
    const line = encode()
    lines.set(encoding, line)
    return line
  }
}

type Writer = (lines: Lines) => void

/** The writers of the turn to come, by server. */
const waiting = new WeakMap<Core, Writer[]>()

export function shareLines(core: Core, write: Writer): void {
  const known = waiting.get(core)
  if (known !== undefined) {
    known.push(write)
    return
  }
  const writers = [write]
  waiting.set(core, writers)
  core.tasks.soon(() => {
    waiting.delete(core)
    const lines = new Lines()
    const errors: unknown[] = []
    for (const each of writers) {
      try {
        each(lines)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  })
}
