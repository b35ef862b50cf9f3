/** A server with RBAC, and requests to it as anybody. */
import { createServer, type EmbeddedServer } from '../../../../lib/embedded/server.ts'
import { type Answer, apiOf } from '../api.ts'

export interface Secured {
  readonly server: EmbeddedServer
  /** As the admin. */
  admin(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** As somebody who authenticated, by impersonation. */
  as(user: string, method: string, url: string, body?: unknown, groups?: readonly string[]): Promise<Answer>
  /** With a bearer token; undefined: without any. */
  bearing(token: string | undefined, method: string, url: string, body?: unknown): Promise<Answer>
  role(name: string, rules: readonly object[], namespace?: string): Promise<void>
  bind(role: string, user: string, namespace?: string, kind?: string): Promise<void>
}

export const RBAC = '/apis/rbac.authorization.k8s.io/v1'

export async function secured(): Promise<Secured> {
  const server = await createServer({ rbac: true, token: 'admin-token' })
  const { request } = apiOf(server)
  const bearing: Secured['bearing'] = (token, method, url, body) =>
    request(method, url, body, token === undefined ? {} : { authorization: `Bearer ${token}` })
  const admin: Secured['admin'] = (method, url, body, headers = {}) =>
    request(method, url, body, { authorization: 'Bearer admin-token', ...headers })
  const scoped = (namespace: string | undefined, resource: string) =>
    namespace === undefined ? `${RBAC}/cluster${resource}` : `${RBAC}/namespaces/${namespace}/${resource}`
  const made = async (answer: Promise<Answer>) => {
    const { status, body } = await answer
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  return {
    server,
    admin,
    bearing,
    as: (user, method, url, body, groups = []) =>
      admin(method, url, body, { 'impersonate-user': user, ...(groups.length === 0 ? {} : { 'impersonate-group': groups.join(', ') }) }),
    role: (name, rules, namespace) => made(admin('POST', scoped(namespace, 'roles'), { metadata: { name }, rules })),
    bind: (role, user, namespace, kind = namespace === undefined ? 'ClusterRole' : 'Role') =>
      made(
        admin('POST', scoped(namespace, 'rolebindings'), {
          metadata: { name: `${role}-${user}`.replaceAll(':', '-') },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
        }),
      ),
  }
}
