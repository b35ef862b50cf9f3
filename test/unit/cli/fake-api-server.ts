/** Just enough of an API server for an operator to start on: no objects, watches that stay open. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

export class FakeApiServer {
  readonly requests: FakeRequest[] = []
  /** Answers instead of the fake, where it returns a status. */
  override: (request: FakeRequest) => { status: number; body?: object; headers?: Record<string, string> } | undefined = () => undefined
  /** By the path of its collection, the objects that are there. */
  readonly objects = new Map<string, Record<string, unknown>[]>()
  readonly #server: Server = createServer((request, response) => void this.#serve(request, response))
  url = ''

  /** On a free port; after a stop on the one it had. */
  async start(): Promise<this> {
    const port = this.url === '' ? 0 : Number(new URL(this.url).port)
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://localhost')
    const request = { method: incoming.method ?? '', path, query, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
    this.requests.push(request)
    const special = this.override(request)
    if (special !== undefined) return send(response, special.status, special.body ?? failure(special.status), special.headers)
    if (path === '/version') return send(response, 200, { major: '1', minor: '36' })
    if (query.get('watch') === 'true' || query.get('watch') === '1') return this.#watch(path, query, response)
    if (request.method !== 'GET') return send(response, 200, { ...(request.body as object) })
    const items = this.objects.get(path) ?? []
    send(response, 200, { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '10' }, items })
  }

  #watch(path: string, query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (query.get('sendInitialEvents') !== 'true') return
    const event = (type: string, object: object) => response.write(`${JSON.stringify({ type, object })}\n`)
    for (const object of this.objects.get(path) ?? []) event('ADDED', object)
    event('BOOKMARK', { metadata: { resourceVersion: '10', annotations: { 'k8s.io/initial-events-end': 'true' } } })
  }
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function failure(code: number): object {
  return { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason: '', message: `answered ${code} on purpose` }
}
