/**
 * Records what a real API server answers to the requests of test/unit/embedded/handler/exchanges.ts. The server may have other
 * objects; the namespace `probe` and the group `probe.example.com` must be free:
 *
 *     node scripts/record-exchanges.ts --server https://127.0.0.1:6443 --token TOKEN
 */
import { writeFileSync } from 'node:fs'
import { request as send } from 'node:https'
import { parseArgs } from 'node:util'
import { DEFINITION, GROUP, type Request, SCENARIOS } from '../test/unit/embedded/handler/exchanges.ts'
import { type Normalized, normalized } from '../test/unit/embedded/handler/normalized.ts'

const { values } = parseArgs({ options: { server: { type: 'string' }, token: { type: 'string' } } })
const { server, token } = values
if (!server || !token) throw new Error('usage: node scripts/record-exchanges.ts --server URL --token TOKEN')

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAMESPACE = '/api/v1/namespaces/probe'
const FILE = new URL('../test/unit/embedded/handler/exchanges.recorded.jsonl', import.meta.url)

await ask({ method: 'POST', path: DEFINITIONS, body: DEFINITION })
// Until a real server serves a new kind in all its parts.
await new Promise((resolve) => setTimeout(resolve, 3000))
const lines: string[] = []
for (const { title, requests } of SCENARIOS) {
  await ask({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'probe' } } })
  await until(`${NAMESPACE}/configmaps/kube-root-ca.crt`, 200)
  await until(`${NAMESPACE}/serviceaccounts/default`, 200)
  for (const request of requests) lines.push(JSON.stringify({ scenario: title, request, answer: await ask(request) }))
  await empty()
}
await ask({ method: 'DELETE', path: `${DEFINITIONS}/widgets.${GROUP}` })
writeFileSync(FILE, `${lines.join('\n')}\n`)

/** Also what finalizers hold. */
async function empty(): Promise<void> {
  for (const collection of [`${NAMESPACE}/configmaps`, `${NAMESPACE}/pods`, `/apis/${GROUP}/v1/namespaces/probe/widgets`]) {
    const { body } = await ask({ method: 'GET', path: collection })
    for (const { metadata } of (body as { items: { metadata: { name: string } }[] }).items) {
      const headers = { 'content-type': 'application/merge-patch+json' }
      await ask({ method: 'PATCH', path: `${collection}/${metadata.name}`, body: { metadata: { finalizers: null } }, headers })
    }
  }
  await ask({ method: 'DELETE', path: NAMESPACE })
  await until(NAMESPACE, 404)
}

async function until(path: string, status: number): Promise<void> {
  while ((await ask({ method: 'GET', path })).status !== status) await new Promise((resolve) => setTimeout(resolve, 200))
}

function ask({ method, path, body, headers = {} }: Request): Promise<Normalized> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const sent = {
    authorization: `Bearer ${token}`,
    'user-agent': 'probe/1',
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const outgoing = send(new URL(path, server), { method, headers: sent, rejectUnauthorized: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () => {
        const warnings = answer.rawHeaders.flatMap((name, i) => (name.toLowerCase() === 'warning' ? [answer.rawHeaders[i + 1] ?? ''] : []))
        resolve(normalized(answer.statusCode ?? 0, answer.headers['content-type'] ?? '', warnings, Buffer.concat(chunks).toString()))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}
