import type { EmbeddedServer } from '../../../lib/embedded/server.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says; the test knows what it expects
  readonly body: any
}

/** Short words for requests to a server in the same process. A body that is no JSON stays text. */
export interface Api {
  request(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  get(url: string, headers?: Record<string, string>): Promise<Answer>
  post(url: string, body: unknown): Promise<Answer>
  put(url: string, body: unknown): Promise<Answer>
  merge(url: string, body: unknown): Promise<Answer>
  apply(url: string, body: unknown): Promise<Answer>
  delete(url: string, body?: unknown): Promise<Answer>
}

export function apiOf(server: Pick<EmbeddedServer, 'handle'>): Api {
  const request: Api['request'] = async (method, url, body, headers = {}) => {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const type = text === undefined ? {} : { 'content-type': 'application/json' }
    const { signal } = new AbortController()
    const answer = await server.handle({ method, url, headers: { 'user-agent': 'test', ...type, ...headers }, body: text, signal })
    const content = typeof answer.body === 'string' || answer.body instanceof Buffer ? answer.body.toString() : ''
    return { status: answer.status, headers: answer.headers, body: parsed(content) }
  }
  return {
    request,
    get: (url, headers) => request('GET', url, undefined, headers),
    post: (url, body) => request('POST', url, body),
    put: (url, body) => request('PUT', url, body),
    merge: (url, body) => request('PATCH', url, body, { 'content-type': 'application/merge-patch+json' }),
    apply: (url, body) => request('PATCH', url, body, { 'content-type': 'application/apply-patch+yaml' }),
    delete: (url, body) => request('DELETE', url, body),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
