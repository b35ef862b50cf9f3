/**
 * The work of one controller: keys, each worked on once at a time however often it is added. A key that fails comes back: at
 * once after a conflict, later and later after anything else that the server refused.
 */
import { ApiError } from '../status.ts'
import type { Tasks } from '../tasks.ts'

/** Kept, for a test may put fake timers in the places of the real ones. */
const { setImmediate } = globalThis

const FIRST_RETRY_MS = 25
const LONGEST_RETRY_MS = 30_000

export class KeyedQueue {
  readonly #tasks: Tasks
  readonly #work: (key: string) => void | Promise<void>
  readonly #waiting = new Set<string>()
  readonly #failures = new Map<string, number>()
  #running = false

  constructor(tasks: Tasks, work: (key: string) => void | Promise<void>) {
    this.#tasks = tasks
    this.#work = work
  }

  add(key: string): void {
    this.#waiting.add(key)
    if (this.#running) return
    this.#running = true
    this.#tasks.soon(() => this.#drain())
  }

  async #drain(): Promise<void> {
    try {
      for (const key of this.#waiting) {
        this.#waiting.delete(key)
        // A turn a key: whatever wakes whom, requests get theirs in between.
        await turn()
        try {
          await this.#work(key)
          this.#failures.delete(key)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          this.#again(key, error)
        }
      }
    } finally {
      this.#running = false
      // Where a fault ended the round, the rest gets another one.
      const [next] = this.#waiting
      if (next !== undefined) this.add(next)
    }
  }

  #again(key: string, error: ApiError): void {
    if (error.code === 404) return
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    if (error.code === 409 && failures < 10) this.#waiting.add(key)
    else this.#tasks.after(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures), () => this.add(key))
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
