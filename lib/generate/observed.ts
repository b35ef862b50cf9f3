/** What an operator asked an API server for, seen at its transport: what a role must allow, whether it did or not. */

import type { Transport, TransportRequest } from '../api/transport.ts'
import type { Permission } from './permissions.ts'

export interface Observation extends Permission {
  /** The server refused it. */
  readonly refused: boolean
}

/** `note` gets what each request needs, after it was answered. What everybody may do (discovery, questions about oneself) is left out. */
export function observing(transport: Transport, note: (observation: Observation) => void): Transport {
  const told = (request: TransportRequest, status: number) => {
    const permission = permissionFor(request)
    if (permission === undefined) return
    note({ ...permission, refused: status === 403 })
    // An apply that creates needs both.
    if (permission.verb === 'patch' && status === 201) note({ ...permission, verb: 'create', refused: false })
  }
  return {
    async request(request) {
      const response = await transport.request(request)
      told(request, response.status)
      return response
    },
    async stream(request) {
      const stream = await transport.stream(request)
      told(request, stream.status)
      return stream
    },
    close: () => transport.close(),
  }
}

const QUESTIONS = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

/** As the API server reads it (https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb). */
export function permissionFor({ method, path }: Pick<TransportRequest, 'method' | 'path'>): Permission | undefined {
  const [where = '', query = ''] = path.split('?', 2)
  const parts = where.split('/').slice(1).map(decodeURIComponent)
  const [root] = parts
  const group = root === 'apis' ? (parts[1] ?? '') : ''
  let rest = root === 'apis' ? parts.slice(3) : root === 'api' ? parts.slice(2) : []
  let namespace: string | undefined
  // `namespaces/a` and `namespaces/a/status` are the namespace itself.
  if (rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '')) {
    namespace = rest[1]
    rest = rest.slice(2)
  }
  const [resource, name, subresource] = rest
  if (resource === undefined || QUESTIONS.has(group)) return undefined
  const verb = verbOf(method, name, new URLSearchParams(query).get('watch'))
  return {
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    verb,
    ...(namespace === undefined ? {} : { namespace }),
  }
}

function verbOf(method: TransportRequest['method'], name: string | undefined, watch: string | null): string {
  switch (method) {
    case 'GET':
      return name !== undefined ? 'get' : watch === '1' || watch === 'true' ? 'watch' : 'list'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === undefined ? 'deletecollection' : 'delete'
  }
}
