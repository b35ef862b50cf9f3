/**
 * Records the objects that a real API server makes when it starts: roles, bindings, priority classes, flow schemas. Writes
 * lib/embedded/bootstrap/recorded.json.br.
 *
 *     node scripts/record-bootstrap.ts --server https://127.0.0.1:6443 --token TOKEN --ca certs/apiserver.crt
 *
 * Against a fresh server; what comes out depends on the server alone.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants } from 'node:zlib'

// biome-ignore lint/suspicious/noExplicitAny: documents of another program
type Json = Record<string, any>

const PATHS = {
  'rbac.authorization.k8s.io/clusterroles': '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  'rbac.authorization.k8s.io/clusterrolebindings': '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  'rbac.authorization.k8s.io/roles': '/apis/rbac.authorization.k8s.io/v1/roles',
  'rbac.authorization.k8s.io/rolebindings': '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  'scheduling.k8s.io/priorityclasses': '/apis/scheduling.k8s.io/v1/priorityclasses',
  'flowcontrol.apiserver.k8s.io/flowschemas': '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
}

const { values } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string' },
    ca: { type: 'string' },
    out: { type: 'string', default: new URL('../lib/embedded/bootstrap/recorded.json.br', import.meta.url).pathname },
  },
})
const { server, token, ca, out } = values
if (!server || !token || !ca) throw new Error('usage: node scripts/record-bootstrap.ts --server URL --token TOKEN --ca FILE [--out FILE]')
const CA = readFileSync(ca)

const recorded: Json = {}
for (const [bucket, path] of Object.entries(PATHS)) recorded[bucket] = (await get(path)).items.map(bare)
const text = Buffer.from(JSON.stringify(recorded))
writeFileSync(
  out,
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }),
)

/** Without what each server says anew. */
function bare({ metadata, ...object }: Json): Json {
  const { uid, resourceVersion, creationTimestamp, managedFields, ...rest } = metadata
  for (const condition of object.status?.conditions ?? []) delete condition.lastTransitionTime
  return { metadata: rest, ...object }
}

function get(path: string): Promise<Json> {
  return new Promise((resolve, reject) => {
    const call = request(`${server}${path}`, { ca: CA, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      let body = ''
      answer.on('data', (part) => (body += part))
      answer.on('end', () => (answer.statusCode === 200 ? resolve(JSON.parse(body)) : reject(new Error(`${path}: ${body}`))))
    })
    call.on('error', reject)
    call.end()
  })
}
