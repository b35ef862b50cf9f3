import { type IncomingMessage, Agent as PlainAgent, request as plain } from 'node:http'
import { Agent as SecureAgent, request as secure } from 'node:https'
import { type Ask, answerOf, headersOf, Lines, type Stream, type Target, textOf } from './target.ts'

/** A server at a URL. Its certificate is not checked: it runs on this machine, for the tests. */
export function overHttp(url: string, token: string | undefined): Target {
  const isSecure = url.startsWith('https:')
  const agent = isSecure ? new SecureAgent({ keepAlive: true, rejectUnauthorized: false }) : new PlainAgent({ keepAlive: true })
  const open = new Set<Stream>()
  return {
    async ask(ask) {
      const { response } = await send(ask)
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      return answerOf(response.statusCode ?? 0, headersIn(response), Buffer.concat(chunks).toString())
    },
    async watch(path, headers) {
      const { response, abort } = await send({ method: 'GET', path, ...(headers && { headers }) })
      const lines = new Lines(response.statusCode ?? 0, response.headers['content-type'] ?? '', abort)
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => lines.take(chunk))
      response.on('end', () => lines.end())
      response.on('error', () => lines.end())
      open.add(lines)
      return lines
    },
    close() {
      for (const stream of open) stream.close()
      agent.destroy()
    },
  }

  function send(ask: Ask): Promise<{ response: IncomingMessage; abort: () => void }> {
    const text = textOf(ask.body)
    const headers: Record<string, string | number> = headersOf(token, ask)
    if (text !== undefined) headers['content-length'] = Buffer.byteLength(text)
    return new Promise((resolve, reject) => {
      const options = { method: ask.method, headers, agent, rejectUnauthorized: false }
      const request = (isSecure ? secure : plain)(`${url}${ask.path}`, options, (response) =>
        resolve({ response, abort: () => response.destroy() }),
      )
      request.on('error', reject)
      request.end(text)
    })
  }
}

/** Repeated headers one by one, as `Warning` needs. */
function headersIn({ headers, rawHeaders }: IncomingMessage): Record<string, string | string[] | undefined> {
  const warnings = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'warning')
  return { ...headers, ...(warnings.length > 0 && { warning: warnings }) }
}
