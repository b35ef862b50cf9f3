/** The log of requests, as tests look at it. */
import type { Core } from '../embedded/core.ts'
import { parseResourcePath } from '../embedded/request-path.ts'
import type { ServedRequest } from '../embedded/requests.ts'
import type { ApiRequest } from '../embedded/types.ts'

/** `apply`: a server-side apply. */
export type RequestVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection'

export interface LoggedRequest {
  readonly verb: RequestVerb
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly group: string
  /** `''` for what the server does not serve. */
  readonly kind: string
  /** `''` for all, and for kinds that have none. */
  readonly namespace: string
  /** `''` for a collection; of an object that is created, what its `metadata` says. */
  readonly name: string
  /** `''` for the object itself. */
  readonly subresource: string
  /** Of the answer. The client of a request whose response was lost never saw it. */
  readonly status: number
  /** The operator's is `system:serviceaccount:default:operator`; the test's own client is `kubernetes-admin`. */
  readonly user: string
  readonly dryRun: boolean
  /** As it was sent; undefined where nothing was, or no JSON. */
  readonly body: unknown
  /** `apply ConfigMap default/orders`, `patch Database default/orders/status 409`: the status where it is an error. */
  toString(): string
}

export const OPERATOR = 'system:serviceaccount:default:operator'

export function loggedRequest(core: Core, { request, attributes, status }: ServedRequest): LoggedRequest | undefined {
  const { method, url, headers } = request
  const [path = '', query = ''] = url.split('?', 2)
  const target = parseResourcePath(path)
  if (target === undefined) return undefined
  const body = jsonOf(request)
  const type = core.registry.find(target.group, target.version, target.resource)
  const verb = verbOf(request, target.name, new URLSearchParams(query))
  const logged = {
    verb,
    method,
    path,
    group: target.group,
    kind: type?.kind ?? '',
    namespace: target.namespace ?? '',
    name: target.name || (verb === 'create' ? ((body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? '') : ''),
    subresource: target.subresource,
    status,
    user: attributes?.user.name ?? headers['impersonate-user'] ?? '',
    dryRun: query.includes('dryRun=All'),
    body,
  }
  return Object.defineProperty(logged, 'toString', { value: () => textOf(logged) })
}

/** Whether it asks for a change of something other than Events, which tell what happens but are nothing that an operator is about. */
export function isWrite({ method, dryRun, kind, group }: LoggedRequest): boolean {
  return method !== 'GET' && !dryRun && kind !== 'Event' && !REVIEWS.has(group)
}

/** What is created there is a question. */
const REVIEWS = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

const VERBS: Readonly<Record<string, RequestVerb | undefined>> = { POST: 'create', PUT: 'update' }

function verbOf({ method, headers }: ApiRequest, name: string, query: URLSearchParams): RequestVerb {
  switch (method) {
    case 'PATCH':
      return headers['content-type']?.startsWith('application/apply-patch') === true ? 'apply' : 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    case 'GET':
      return name !== '' ? 'get' : /^(?:1|true)$/.test(query.get('watch') ?? '') ? 'watch' : 'list'
    default:
      return VERBS[method] ?? 'get'
  }
}

function textOf({ verb, kind, path, namespace, name, subresource, status }: LoggedRequest): string {
  const place = [namespace, name, subresource].filter((part) => part !== '').join('/')
  return [verb, kind === '' ? path : kind, kind === '' ? '' : place, status < 400 ? '' : status].filter((part) => part !== '').join(' ')
}

function jsonOf({ body }: ApiRequest): unknown {
  if (body === undefined || body.length === 0) return undefined
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}
