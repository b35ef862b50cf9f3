import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Api, apiOf } from '../api.ts'
import { recordedCases } from '../recorded.ts'
import { type MaskedAnswer, masked } from './masked.ts'

interface Step {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: unknown
  readonly answer: MaskedAnswer
}

/** Asked of a real API server by scripts/record-kinds.ts. `id`: the kind, and what is sent. */
const cases = recordedCases<{ id: string; steps: Step[] }>(new URL('kinds.recorded.jsonl', import.meta.url))

describe('an object of a built-in kind', () => {
  let server: EmbeddedServer
  let api: Api

  before(async () => {
    server = await createServer()
    api = apiOf(server)
    await api.post('/api/v1/namespaces', { metadata: { name: 'recorded' } })
    await server.settled()
  })
  after(() => server.close())

  for (const { id, steps } of cases) {
    it(`is answered as by a real server: ${id}`, async () => {
      for (const [i, { method, path, type, body, answer }] of steps.entries()) {
        const got = await api.request(method, path, body, type === undefined ? {} : { 'content-type': type })
        expect(masked(got.status, warnings(got.headers['warning']), got.body), `step ${i + 1}: ${method} ${path}`).to.deep.equal(answer)
      }
    })
  }
})

function warnings(header: string | readonly string[] | undefined): string[] {
  const all = header === undefined ? [] : typeof header === 'string' ? [header] : header
  return all.flatMap((text) => [...text.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1')))
}
