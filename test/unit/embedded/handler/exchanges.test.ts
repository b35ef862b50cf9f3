import { expect } from 'chai'
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { recordedCases } from '../recorded.ts'
import { DEFINITION, type Request, SCENARIOS } from './exchanges.ts'
import { type Normalized, normalized } from './normalized.ts'

interface Exchange {
  readonly scenario: string
  readonly request: Request
  readonly answer: Normalized
}

describe('the answers of a real API server', () => {
  const recorded = Map.groupBy(recordedCases<Exchange>(new URL('exchanges.recorded.jsonl', import.meta.url)), (each) => each.scenario)

  for (const { title, requests } of SCENARIOS) {
    it(title, async () => {
      const exchanges = recorded.get(title) ?? []
      expect(
        exchanges.map(({ request }) => request),
        'recorded anew after a change',
      ).to.deep.equal(JSON.parse(JSON.stringify(requests)))
      const server = await createServer()
      await begin(server)
      for (const { request, answer } of exchanges) {
        expect(await ask(server, request), `${request.method} ${request.path} ${shown(request.body)}`).to.deep.equal(answer)
      }
      await server.close()
    })
  }
})

const shown = (body: unknown) => (typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))

async function begin(server: EmbeddedServer): Promise<void> {
  await ask(server, { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'probe' } } })
  await ask(server, { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: DEFINITION })
  await server.settled()
  await ask(server, { method: 'DELETE', path: '/api/v1/namespaces/probe/configmaps/kube-root-ca.crt' })
}

async function ask(server: EmbeddedServer, { method, path, body, headers = {} }: Request): Promise<Normalized> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const type = text === undefined ? {} : { 'content-type': 'application/json' }
  const { signal } = new AbortController()
  const sent = { 'user-agent': 'probe/1', ...type, ...headers }
  const answer = await server.handle({ method, url: path, headers: sent, body: text === '' ? undefined : text, signal })
  const content = typeof answer.body === 'string' || answer.body instanceof Buffer ? answer.body.toString() : ''
  const { warning = [] } = answer.headers
  const bytes = method === 'HEAD' ? '' : content
  return normalized(answer.status, String(answer.headers['content-type'] ?? ''), typeof warning === 'string' ? [warning] : warning, bytes)
}
