/** A server that cases are run against, whatever lies between. */

export interface Ask {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case. Those that every request needs are added. */
  readonly headers?: Readonly<Record<string, string>>
  /** A string is sent as it is, everything else as JSON. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  /** Media type, without its charset. */
  readonly type: string
  /** Values of the `Warning` headers. */
  readonly warnings: readonly string[]
  readonly retryAfter: string | undefined
  /** JSON is read, with `<number …>` for those that JavaScript does not hold; everything else is text. */
  readonly body: unknown
}

/** One `{type, object}` of a watch; text where the server sent something else. */
export type WatchEvent = { type: string; object: unknown } | string

export interface Stream {
  readonly status: number
  readonly type: string
  /** All that came so far; grows. */
  readonly events: readonly WatchEvent[]
  readonly ended: boolean
  /** Calls back on each change of the above. */
  changed(f: () => void): void
  close(): void
}

export interface Target {
  ask(ask: Ask): Promise<Answer>
  /** A refusal is a stream as well: one with text, at its end. */
  watch(path: string, headers?: Readonly<Record<string, string>>): Promise<Stream>
  close(): void | Promise<void>
}

/** What stands in the headers of each request. */
export function headersOf(token: string | undefined, ask: Ask): Record<string, string> {
  const all: Record<string, string> = { accept: 'application/json', 'user-agent': 'conformance/1.0' }
  if (token !== undefined) all['authorization'] = `Bearer ${token}`
  if (ask.body !== undefined) all['content-type'] = 'application/json'
  return { ...all, ...ask.headers }
}

export function textOf(body: unknown): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
}

export function answerOf(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>, text: string): Answer {
  const type = one(headers['content-type']) ?? ''
  const warnings = headers['warning']
  return {
    status,
    type: type.replace(/;\s*charset=[^;]*/i, ''),
    warnings: warnings === undefined ? [] : typeof warnings === 'string' ? [warnings] : [...warnings],
    retryAfter: one(headers['retry-after']),
    body: read(text),
  }
}

/** Puts chunks of a stream together to lines, and reads each. */
export class Lines implements Stream {
  readonly status: number
  readonly type: string
  readonly events: WatchEvent[] = []
  ended = false
  readonly #stop: () => void
  #rest = ''
  #listeners: (() => void)[] = []

  constructor(status: number, type: string, stop: () => void) {
    this.status = status
    this.type = type.replace(/;\s*charset=[^;]*/i, '')
    this.#stop = stop
  }

  changed(f: () => void): void {
    this.#listeners.push(f)
  }

  take(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') this.events.push(read(line) as WatchEvent)
    this.#tell()
  }

  end(): void {
    if (this.ended) return
    if (this.#rest !== '') this.events.push(read(this.#rest) as WatchEvent)
    this.#rest = ''
    this.ended = true
    this.#tell()
  }

  close(): void {
    this.#stop()
    this.ended = true
  }

  #tell(): void {
    for (const f of this.#listeners) f()
  }
}

const one = (value: string | readonly string[] | undefined) => (typeof value === 'string' ? value : value?.[0])

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

function read(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return parse(text, (_, value, { source }) => (typeof value === 'number' && !holds(value, source) ? `<number ${source}>` : value))
  } catch {
    return text
  }
}

const holds = (value: number, source: string | undefined) =>
  Number.isSafeInteger(value) || !Number.isInteger(value) || String(value) === source
