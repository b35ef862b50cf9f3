import type { EmbeddedServer } from '../../lib/embedded/server.ts'
import type { ApiRequest } from '../../lib/embedded/types.ts'
import { type Ask, answerOf, headersOf, Lines, type Stream, type Target, textOf } from './target.ts'

/** The embedded server without a socket between. */
export function inProcess(server: EmbeddedServer): Target {
  const open = new Set<Stream>()
  return {
    async ask(ask) {
      const { status, headers, body } = await server.handle(requestOf(ask))
      const whole = typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : await all((f, end) => body.start(sink(f, end)))
      return answerOf(status, lowerCase(headers), whole)
    },
    async watch(path, given) {
      const { status, headers, body } = await server.handle(requestOf({ method: 'GET', path, ...(given && { headers: given }) }))
      let stop = () => {}
      const lines = new Lines(status, String(lowerCase(headers)['content-type'] ?? ''), () => stop())
      open.add(lines)
      if (typeof body === 'string' || Buffer.isBuffer(body)) {
        lines.take(String(body))
        lines.end()
      } else {
        const started = body.start(
          sink(
            (chunk) => lines.take(chunk),
            () => lines.end(),
          ),
        )
        stop = () => started.stop()
      }
      return lines
    },
    close() {
      for (const stream of open) stream.close()
    },
  }

  function requestOf(ask: Ask): ApiRequest {
    return {
      method: ask.method,
      url: ask.path,
      headers: headersOf(server.token, ask),
      body: textOf(ask.body),
      signal: new AbortController().signal,
    }
  }
}

function all(start: (take: (chunk: string) => void, end: () => void) => void): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    start(
      (chunk) => {
        text += chunk
      },
      () => resolve(text),
    )
  })
}

const sink = (take: (chunk: string) => void, end: () => void) => ({
  write(chunk: string) {
    take(chunk)
    return true
  },
  pending: 0,
  drained: (f: () => void) => setImmediate(f),
  end,
  destroy: end,
})

const lowerCase = <V>(headers: Readonly<Record<string, V>>): Record<string, V> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
