/** Until http/listener.ts is there. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ApiRequest, ApiResponse } from '../types.ts'

export async function listen(
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  options: { host: string; port: number },
): Promise<{ port: number; close(): Promise<void> }> {
  const http = process.getBuiltinModule('node:http')
  const server = http.createServer((incoming, outgoing) => void serve(handle, incoming, outgoing))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serve(handle: (request: ApiRequest) => Promise<ApiResponse>, incoming: IncomingMessage, outgoing: ServerResponse) {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const response = await handle({
    method: incoming.method ?? 'GET',
    url: incoming.url ?? '/',
    headers: incoming.headers as Record<string, string>,
    body: chunks.length === 0 ? undefined : Buffer.concat(chunks),
    signal: gone.signal,
  })
  const { body } = response
  outgoing.writeHead(response.status, response.headers as Record<string, string | string[]>)
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    outgoing.end(body)
    return
  }
  outgoing.flushHeaders()
  const stream = body.start({
    write: (chunk) => outgoing.write(chunk),
    get pending() {
      return outgoing.writableLength
    },
    drained: (f) => void outgoing.once('drain', f),
    end: () => outgoing.end(),
    destroy: () => outgoing.destroy(),
  })
  outgoing.on('close', () => stream.stop())
}
