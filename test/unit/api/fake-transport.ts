import type { Transport, TransportRequest, TransportResponse } from '../../../lib/api/transport.ts'

export interface FakeAnswer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** Answers each request by `answer`, or with the error it throws, and keeps what was asked. */
export class FakeTransport implements Transport {
  readonly requests: TransportRequest[] = []
  readonly #answer: (request: TransportRequest, count: number) => FakeAnswer | Promise<FakeAnswer>

  constructor(answer: (request: TransportRequest, count: number) => FakeAnswer | Promise<FakeAnswer>) {
    this.#answer = answer
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request)
    const { status = 200, headers = {}, body = {} } = await this.#answer(request, this.requests.length)
    return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
  }

  stream(): never {
    throw new Error('no streams here')
  }

  async close(): Promise<void> {}

  /** `POST /path` of each request. */
  get lines(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`)
  }
}
