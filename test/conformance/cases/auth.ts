/** Who may do what: roles, bindings, impersonation, reviews, service accounts. */
import type { Case } from '../case.ts'
import { configMap } from '../objects.ts'
import type { World } from '../world.ts'

const RBAC = 'rbac.authorization.k8s.io/v1'
const as = (user: string, more: Record<string, string> = {}) => ({ headers: { 'impersonate-user': user, ...more } })

async function allow(t: World, user: string, rules: object[], name = 'r'): Promise<void> {
  await t.quiet.post(`${RBAC}/roles`, { metadata: { name }, rules })
  await t.quiet.post(`${RBAC}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'User', name: user }],
  })
}

/** Of a real server, which reads roles from a cache. */
async function may(t: World, user: string, verb: string, resource: string): Promise<void> {
  for (;;) {
    const { body } = await t.quiet.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user, resourceAttributes: { verb, resource, namespace: t.namespace } },
    })
    if (body.status.allowed) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export const cases: readonly Case[] = [
  {
    id: 'narrow-role',
    title: 'A role for one name and a few verbs: what goes through and what each refusal says',
    async run(t) {
      const user = as(`user-${t.id}`)
      await t.quiet.post('configmaps', configMap('mine', { a: '1' }))
      await allow(t, `user-${t.id}`, [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get', 'patch', 'watch'] },
        { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['*'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'list'] },
      ])
      await may(t, `user-${t.id}`, 'list', 'secrets')
      await t.get('configmaps/mine', user)
      await t.get('configmaps/other', user)
      await t.get('configmaps', user)
      await t.get('configmaps?fieldSelector=metadata.name%3Dmine', user)
      await t.merge('configmaps/mine', { data: { b: '2' } }, user)
      await t.apply('configmaps/other?fieldManager=m', configMap('other'), user)
      await t.apply('secrets/new?fieldManager=m', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'new' } }, user)
      await t.post('secrets', { metadata: { name: 's' } }, user)
      await t.put('secrets/s', { metadata: { name: 's' } }, user)
      await t.get('secrets', { ...user, pick: ({ items }) => items?.length })
      await t.delete('secrets', undefined, user)
      await t.get('apps/v1/deployments/none/scale', user)
      await t.get('apps/v1/deployments/none', user)
      await t.get('/api/v1/nodes', user)
      await t.get('/metrics', user)
      await t.get('/version', { ...user, pick: ({ major }) => major })
      await t.get(`/apis/example.com/v1/namespaces/${t.namespace}/nothings`, user)
    },
  },
  {
    id: 'no-escalation',
    title: 'Nobody grants more than he has: roles, bindings, the verbs bind and escalate',
    async run(t) {
      const user = as(`user-${t.id}`)
      await allow(t, `user-${t.id}`, [
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['create', 'update', 'patch', 'get'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
      ])
      await may(t, `user-${t.id}`, 'list', 'configmaps')
      const role = (name: string, rules: object[]) => t.post(`${RBAC}/roles`, { metadata: { name }, rules }, user)
      await role('same', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }])
      await role('more', [{ apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'delete'] }])
      await role('all', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
      const bind = (name: string, kind: string, to: string) =>
        t.post(
          `${RBAC}/rolebindings`,
          {
            metadata: { name },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: to },
            subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: t.namespace }],
          },
          user,
        )
      await bind('a', 'Role', 'same')
      await bind('b', 'ClusterRole', 'cluster-admin')
      await bind('c', 'Role', 'none')
      await t.merge(`${RBAC}/rolebindings/a`, { roleRef: { name: 'r' } }, user)
    },
  },
  {
    id: 'roles-refused',
    title: 'Roles and bindings that are not valid',
    async run(t) {
      const post = (path: string, body: object) => t.post(path, body)
      await post(`${RBAC}/roles`, {
        metadata: { name: 'a' },
        rules: [
          { verbs: [], resources: ['x'] },
          { verbs: ['get'], apiGroups: [''] },
          { verbs: ['get'], nonResourceURLs: ['/x'] },
        ],
      })
      await post(`${RBAC}/roles`, { metadata: { name: 'a:b/c' }, rules: [] })
      await post(`${RBAC}/rolebindings`, {
        metadata: { name: 'a' },
        roleRef: { kind: 'Thing', name: '' },
        subjects: [{ kind: 'User' }, { kind: 'ServiceAccount', name: 'UPPER' }, { kind: 'Robot', name: 'r' }],
      })
      await post(`${RBAC}/rolebindings`, {
        metadata: { name: 'a' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
        subjects: [
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', name: 's' },
        ],
      })
    },
  },
  {
    id: 'service-account-of-an-operator',
    title: 'An operator under its service account: what its roles let it do in its namespace and in others',
    async run(t) {
      const account = `system:serviceaccount:${t.namespace}:op`
      const user = as(account, { 'impersonate-group': 'system:serviceaccounts' })
      await t.quiet.post('serviceaccounts', { metadata: { name: 'op' } })
      await t.quiet.post(`${RBAC}/rolebindings`, {
        metadata: { name: 'edit' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        subjects: [{ kind: 'ServiceAccount', name: 'op', namespace: t.namespace }],
      })
      await may(t, account, 'create', 'configmaps')
      await t.post('configmaps', configMap('a'), user)
      await t.post(`${RBAC}/roles`, { metadata: { name: 'x' }, rules: [] }, user)
      await t.post('/api/v1/namespaces/default/configmaps', configMap(`x-${t.id}`), user)
      await t.get('/api/v1/configmaps', user)
      await t.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, user)
      await t.post(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
          spec: {
            resourceAttributes: { verb: 'patch', group: 'apps', resource: 'deployments', subresource: 'status', namespace: t.namespace },
          },
        },
        user,
      )
      await t.post(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { spec: { resourceAttributes: { verb: 'patch', group: 'apps', resource: 'deployments', namespace: t.namespace } } },
        { ...user, pick: ({ status }) => status?.allowed },
      )
      await t.post(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { spec: { nonResourceAttributes: { verb: 'get', path: '/logs' } } },
        user,
      )
    },
  },
  {
    id: 'impersonation-odd',
    title: 'Impersonation: groups without a user, extras, users that may not be impersonated by others',
    async run(t) {
      const whoami = (headers: Record<string, string>) => t.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { headers })
      await whoami({ 'impersonate-user': 'jane', 'impersonate-group': 'devs', 'impersonate-extra-scopes': 'view' })
      await whoami({ 'impersonate-user': 'jane', 'impersonate-uid': '77' })
      await whoami({ 'impersonate-user': 'system:serviceaccount:default:x' })
      await whoami({ 'impersonate-user': 'system:anonymous' })
      await whoami({ 'impersonate-group': 'devs' })
      await whoami({ 'impersonate-extra-a': 'b' })
      await whoami({ authorization: 'Bearer nonsense' })
      await whoami({ authorization: 'Basic YTpi' })
    },
  },
  {
    id: 'reviews-of-others',
    title: 'Reviews: of other users, with odd attributes, and of tokens',
    async run(t) {
      const review = (spec: object) => t.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })
      await review({ user: 'nobody-special', resourceAttributes: { verb: 'get', resource: 'pods' } })
      await review({
        user: 'x',
        groups: ['system:masters'],
        resourceAttributes: { verb: 'invent', group: 'no.such', resource: 'things', name: 'n' },
      })
      await review({ user: 'x', resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/x', verb: 'get' } })
      await review({ resourceAttributes: { verb: 'get', resource: 'pods' } })
      await review({ user: 'x' })
      await t.post('authorization.k8s.io/v1/localsubjectaccessreviews', {
        spec: { user: 'x', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'other' } },
      })
      await t.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'nonsense' } })
      await t.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} })
    },
  },
]
