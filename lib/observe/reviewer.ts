/**
 * Who asks for metrics, and whether he may: the API server is asked by TokenReview and SubjectAccessReview, as kube-rbac-proxy and
 * controller-runtime's authentication filter do. Answers are remembered for a while, so that a scrape costs the API server next to nothing.
 */

import { createHash } from 'node:crypto'
import type { Clock } from '../api/clock.ts'
import { statusError } from '../api/status-error.ts'
import type { Transport } from '../api/transport.ts'

/** controller-runtime's times. */
const AUTHENTICATED_MS = 60_000
const ALLOWED_MS = 5 * 60_000
const DENIED_MS = 30_000
const CALL_MS = 5_000
const MOST_REMEMBERED = 256

export type Verdict = 'allowed' | 'unauthenticated' | 'forbidden'

interface User {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

interface Review {
  readonly status?: { readonly authenticated?: boolean; readonly user?: User; readonly allowed?: boolean }
}

export class Reviewer {
  readonly #transport: Transport
  readonly #users: Memory<User | undefined>
  readonly #rights: Memory<boolean>

  /** `transport`: without a write gate, for the reviews are no writes and a standby is scraped as well. */
  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport
    this.#users = new Memory(clock, (user) => (user === undefined ? DENIED_MS : AUTHENTICATED_MS))
    this.#rights = new Memory(clock, (allowed) => (allowed ? ALLOWED_MS : DENIED_MS))
  }

  /** Rejects where the API server cannot be asked. `verb`: in lower case, as RBAC has it. */
  async review(authorization: string | undefined, verb: string, path: string): Promise<Verdict> {
    const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '') ?? []
    if (token === undefined) return 'unauthenticated'
    const user = await this.#users.get(hashed(token), () => this.#userOf(token))
    if (user === undefined) return 'unauthenticated'
    const allowed = await this.#rights.get(hashed(JSON.stringify([user, verb, path])), () => this.#may(user, verb, path))
    return allowed ? 'allowed' : 'forbidden'
  }

  async #userOf(token: string): Promise<User | undefined> {
    const { status } = await this.#ask('authentication.k8s.io/v1', 'TokenReview', { token })
    return status?.authenticated === true ? (status.user ?? {}) : undefined
  }

  async #may({ username, uid, groups, extra }: User, verb: string, path: string): Promise<boolean> {
    const spec = { user: username, uid, groups, extra, nonResourceAttributes: { verb, path } }
    const { status } = await this.#ask('authorization.k8s.io/v1', 'SubjectAccessReview', spec)
    return status?.allowed === true
  }

  /** Not by the client: reviews have no name, and one that has is refused. */
  async #ask(apiVersion: string, kind: string, spec: object): Promise<Review> {
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const body = JSON.stringify({ apiVersion, kind, spec })
    const answer = await this.#transport.request({ method: 'POST', path, headers, body, timeoutMs: CALL_MS })
    if (answer.status >= 300) throw statusError('POST', path, answer.status, answer.headers, answer.body)
    return JSON.parse(answer.body.toString()) as Review
  }
}

/** Answers that are good for a while, each asked for once by all who want it at the same time. */
class Memory<T> {
  readonly #clock: Clock
  readonly #lasts: (value: T) => number
  readonly #known = new Map<string, { readonly answer: Promise<T>; until: number }>()

  constructor(clock: Clock, lasts: (value: T) => number) {
    this.#clock = clock
    this.#lasts = lasts
  }

  get(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key)
    if (known !== undefined && this.#clock.monotonic() < known.until) return known.answer
    const entry = { answer: ask(), until: Number.POSITIVE_INFINITY }
    this.#known.delete(key)
    this.#known.set(key, entry)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_REMEMBERED) break
      this.#known.delete(oldest)
    }
    entry.answer.then(
      (value) => {
        entry.until = this.#clock.monotonic() + this.#lasts(value)
      },
      () => {
        if (this.#known.get(key) === entry) this.#known.delete(key)
      },
    )
    return entry.answer
  }
}

/** No token is kept. */
function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
