/**
 * Asks a real API server again what test/unit/embedded/strategies/kinds.recorded.jsonl has asked before, and writes its answers there.
 * Use a fresh control plane without controller manager: controllers would write to the objects.
 *
 *     TOKEN=… NODE_TLS_REJECT_UNAUTHORIZED=0 node scripts/record-kinds.ts https://127.0.0.1:16443 [MORE.json]
 *
 * MORE.json: cases to add, `[{"id": "…", "steps": [{"method": "POST", "path": "/api/v1/namespaces/recorded/configmaps", "body": {…}}]}]`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { masked } from '../test/unit/embedded/strategies/masked.ts'

interface Step {
  method: string
  path: string
  type?: string
  body?: unknown
  answer?: unknown
}

const file = new URL('../test/unit/embedded/strategies/kinds.recorded.jsonl', import.meta.url)
const [server = '', more] = process.argv.slice(2)

async function send({ method, path, type = 'application/json', body }: Step) {
  const headers = { authorization: `Bearer ${process.env['TOKEN']}`, 'content-type': type, 'user-agent': 'recorder' }
  const response = await fetch(server + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const warnings = [...(response.headers.get('warning') ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(
    (match) => match[1]?.replace(/\\(.)/g, '$1') ?? '',
  )
  return masked(response.status, warnings, JSON.parse(await response.text()))
}

const cases: { id: string; steps: Step[] }[] = readOr(file, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
if (more !== undefined) cases.push(...JSON.parse(readFileSync(more, 'utf8')))
await send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'recorded' } } })
await send({ method: 'POST', path: '/api/v1/namespaces/recorded/serviceaccounts', body: { metadata: { name: 'default' } } })
for (const { steps } of cases) for (const step of steps) step.answer = await send(step)
writeFileSync(file, cases.map((each) => `${JSON.stringify(each)}\n`).join(''))

function readOr(path: URL, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
