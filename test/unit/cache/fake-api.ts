import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../../../lib/api/transport.ts'
import { settle } from '../manual-clock.ts'

/** An API server that does what the test says: the test takes each watch as it is asked for, and answers it. */
export class FakeApi implements Transport {
  /** All requests in order, lists and watches. */
  readonly requests: { readonly path: string; readonly query: URLSearchParams }[] = []
  readonly #asked: FakeWatch[] = []
  /** Answers lists. */
  list: (query: URLSearchParams, path: string) => { status: number; body: unknown; headers?: Record<string, string> } = () => ({
    status: 404,
    body: {},
  })

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { path, query } = this.#note(request)
    const { status, body, headers } = this.list(query, path)
    return { status, headers: headers ?? {}, body: Buffer.from(JSON.stringify(body)) }
  }

  stream(request: TransportRequest): Promise<TransportStream> {
    const { path, query } = this.#note(request)
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener('abort', () => reject(request.signal?.reason))
      this.#asked.push(new FakeWatch(path, query, resolve, reject))
    })
  }

  async close(): Promise<void> {}

  /** The watch that was asked for next; fails where none was. */
  async watch(): Promise<FakeWatch> {
    await settle()
    const watch = this.#asked.shift()
    if (watch === undefined) throw new Error('no watch was asked for')
    return watch
  }

  /** Whether a watch waits for an answer. */
  async isAsked(): Promise<boolean> {
    await settle()
    return this.#asked.length > 0
  }

  #note(request: TransportRequest) {
    const [path, query] = request.path.split('?')
    const noted = { path: path as string, query: new URLSearchParams(query) }
    this.requests.push(noted)
    return noted
  }
}

export class FakeWatch {
  readonly path: string
  readonly query: URLSearchParams
  /** Whether the client closed it. */
  closed = false
  readonly #resolve: (stream: TransportStream) => void
  readonly #reject: (error: Error) => void
  #data: (chunk: Buffer) => void = () => {}
  #end: (error?: Error) => void = () => {}

  constructor(path: string, query: URLSearchParams, resolve: (stream: TransportStream) => void, reject: (error: Error) => void) {
    this.path = path
    this.query = query
    this.#resolve = resolve
    this.#reject = reject
  }

  get version(): string | null {
    return this.query.get('resourceVersion')
  }

  get isStreamedList(): boolean {
    return this.query.get('sendInitialEvents') === 'true'
  }

  /** Accepts it. */
  open(status = 200, headers: Record<string, string> = {}): Promise<void> {
    this.#resolve({
      status,
      headers,
      read: (data, end) => {
        this.#data = data
        this.#end = end
      },
      close: () => {
        if (this.closed) return
        this.closed = true
        this.#end()
      },
    })
    return settle()
  }

  /** Answers it with an error as the API server does. */
  async refuse(status: number, more: { reason?: string; message?: string; headers?: Record<string, string> } = {}): Promise<void> {
    await this.open(status, more.headers)
    this.#data(Buffer.from(JSON.stringify({ kind: 'Status', code: status, reason: more.reason ?? '', message: more.message ?? 'no' })))
    this.#end()
    await settle()
  }

  /** No connection. */
  fail(error = new Error('ECONNREFUSED')): Promise<void> {
    this.#reject(error)
    return settle()
  }

  send(...events: { type: string; object: unknown }[]): Promise<void> {
    return this.sendText(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  }

  sendText(text: string): Promise<void> {
    this.#data(Buffer.from(text))
    return settle()
  }

  /** The server ends it; with an error it breaks. */
  end(error?: Error): Promise<void> {
    this.#end(error)
    return settle()
  }
}

export function added(object: unknown) {
  return { type: 'ADDED', object }
}

export function modified(object: unknown) {
  return { type: 'MODIFIED', object }
}

export function deleted(object: unknown) {
  return { type: 'DELETED', object }
}

export function bookmark(resourceVersion: number, annotations?: Record<string, string>) {
  return {
    type: 'BOOKMARK',
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: `${resourceVersion}`, annotations } },
  }
}

/** The end of a streamed list. */
export function listed(resourceVersion: number) {
  return bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' })
}

export function errorEvent(code: number, reason = '') {
  return { type: 'ERROR', object: { kind: 'Status', code, reason, message: 'no' } }
}
