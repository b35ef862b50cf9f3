/** What is not about resources: version, health, the list of paths, metrics. */
import type { Core } from './core.ts'
import { recorded } from './data/recorded.ts'
import { methodNotAllowed } from './status.ts'
import type { ApiResponse } from './types.ts'

export interface HealthRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
}

/** The version that the server answers like, as `/version` tells it. */
export function serverVersion(): Readonly<Record<string, string>> {
  return recorded().version
}

/** Undefined: the path is none of these. @throws ApiError 405 */
export function health(core: Core, { method, path, query }: HealthRequest): ApiResponse | undefined {
  const [, root = '', ...rest] = path.split('/')
  if (path === '/version' || path === '/version/') {
    if (method !== 'GET') throw methodNotAllowed()
    return json(serverVersion())
  }
  if (path === '/' || path === '/index.html') return json({ paths: pathsOf(core) })
  if (root === 'metrics' && rest.length === 0) return text(metricsOf(core), 'text/plain; version=0.0.4; charset=utf-8')
  if (root === 'healthz' || root === 'livez' || root === 'readyz') return check(root, rest.join('/'), query, path)
  return undefined
}

function check(endpoint: 'healthz' | 'livez' | 'readyz', one: string, query: URLSearchParams, path: string): ApiResponse | undefined {
  const checks = recorded().checks[endpoint]
  if (one !== '') return checks.includes(one) ? text('ok') : undefined
  if (path.endsWith('/')) return undefined
  if (!query.has('verbose')) return text('ok')
  const excluded = query.getAll('exclude')
  const lines = checks.map((name) => (excluded.includes(name) ? `[+]${name} excluded: ok\n` : `[+]${name} ok\n`))
  return text(`${lines.join('')}${endpoint} check passed\n`)
}

/** The recorded ones, and those of custom groups. */
function pathsOf(core: Core): string[] {
  const custom = [...core.registry.types()].filter((type) => type.custom)
  const groups = custom.flatMap(({ group, version }) => [`/apis/${group}`, `/apis/${group}/${version}`])
  return [...new Set([...recorded().paths, ...groups])].sort()
}

function metricsOf(core: Core): string {
  const lines = [
    ...core.requests.metrics(),
    '# HELP apiserver_resource_objects Objects stored, by resource.',
    '# TYPE apiserver_resource_objects gauge',
    ...[...core.store.buckets()].map(({ key, size }) => {
      const [group = '', resource = ''] = key.split('/')
      return `apiserver_resource_objects{group=${JSON.stringify(group)},resource=${JSON.stringify(resource)}} ${size}`
    }),
    '# HELP tsop_embedded_revision The last revision of the store.',
    '# TYPE tsop_embedded_revision counter',
    `tsop_embedded_revision ${core.store.revision}`,
  ]
  return `${lines.join('\n')}\n`
}

function json(object: object): ApiResponse {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' }
  return { status: 200, headers, body: JSON.stringify(object, undefined, 2) }
}

function text(body: string, type = 'text/plain; charset=utf-8'): ApiResponse {
  return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': 'no-cache, private', 'X-Content-Type-Options': 'nosniff' }, body }
}
