import { expect } from 'chai'
import { RBAC, type Secured, secured } from './secured.ts'

const PODS = { apiGroups: [''], resources: ['pods'] }
const text = ({ status, body }: { status: number; body: { message?: string } }) => `${status} ${body.message ?? ''}`

describe('an embedded server with RBAC', () => {
  let world: Secured

  beforeEach(async () => {
    world = await secured()
  })
  afterEach(() => world.server.close())

  it('says who may not do what, and where', async () => {
    const { as } = world
    expect(text(await as('bob', 'GET', '/api/v1/namespaces/default/configmaps/x'))).to.equal(
      '403 configmaps "x" is forbidden: User "bob" cannot get resource "configmaps" in API group "" in the namespace "default"',
    )
    expect(text(await as('bob', 'GET', '/apis/apps/v1/deployments'))).to.equal(
      '403 deployments.apps is forbidden: User "bob" cannot list resource "deployments" in API group "apps" at the cluster scope',
    )
    expect(text(await as('bob', 'GET', '/metrics'))).to.equal('403 forbidden: User "bob" cannot get path "/metrics"')
    expect(text(await as('<bob>', 'GET', '/metrics'))).to.equal('403 forbidden: User "&lt;bob&gt;" cannot get path "/metrics"')
  })

  it('lets nobody without a token in, but to what everybody may see', async () => {
    expect(text(await world.bearing(undefined, 'GET', '/api'))).to.equal('403 forbidden: User "system:anonymous" cannot get path "/api"')
    expect((await world.bearing(undefined, 'GET', '/healthz')).status).to.equal(200)
    expect(text(await world.bearing('wrong', 'GET', '/healthz'))).to.equal('401 Unauthorized')
  })

  it('grants what a role binding gives, in its namespace alone, from the next request on', async () => {
    const { role, bind, as } = world
    await role('reader', [{ ...PODS, verbs: ['get', 'list'] }], 'default')
    expect((await as('bob', 'GET', '/api/v1/namespaces/default/pods')).status).to.equal(403)
    await bind('reader', 'bob', 'default')
    expect((await as('bob', 'GET', '/api/v1/namespaces/default/pods')).status).to.equal(200)
    expect((await as('bob', 'GET', '/api/v1/namespaces/kube-system/pods')).status).to.equal(403)
    expect((await as('bob', 'DELETE', '/api/v1/namespaces/default/pods')).status).to.equal(403)
    await world.admin('DELETE', `${RBAC}/namespaces/default/rolebindings/reader-bob`)
    expect((await as('bob', 'GET', '/api/v1/namespaces/default/pods')).status).to.equal(403)
  })

  it('asks for the right to create what an apply or a PUT creates', async () => {
    const { role, bind, admin } = world
    await role('patcher', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }], 'default')
    await bind('patcher', 'bob', 'default')
    const url = '/api/v1/namespaces/default/configmaps/a'
    const headers = { 'impersonate-user': 'bob', 'content-type': 'application/apply-patch+yaml' }
    const apply = () => admin('PATCH', `${url}?fieldManager=bob`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, headers)
    expect(text(await apply())).to.equal(
      '403 configmaps "a" is forbidden: User "bob" cannot create resource "configmaps" in API group "" in the namespace "default"',
    )
    await admin('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })
    expect((await apply()).status).to.equal(200)
  })

  it('knows service accounts by their name, groups, and the binding that leaves out the namespace', async () => {
    const { admin, as } = world
    const binding = (name: string, subject: object) =>
      admin('POST', `${RBAC}/namespaces/default/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        subjects: [subject],
      })
    await binding('a', { kind: 'ServiceAccount', name: 'op', namespace: 'default' })
    await binding('b', { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'devs' })
    const pods = '/api/v1/namespaces/default/pods'
    expect((await as('system:serviceaccount:default:op', 'GET', pods)).status).to.equal(200)
    expect((await as('system:serviceaccount:other:op', 'GET', pods)).status).to.equal(403)
    expect((await as('carol', 'GET', pods, undefined, ['devs'])).status).to.equal(200)
    expect((await as('carol', 'GET', pods, undefined, ['ops'])).status).to.equal(403)
  })

  it('tells a missing role as the reason of a refusal', async () => {
    await world.bind('nowhere', 'bob')
    expect(text(await world.as('bob', 'GET', '/api/v1/pods'))).to.match(
      /at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "nowhere" not found$/,
    )
  })

  it('puts the rules of aggregated roles together, and follows them', async () => {
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }
    const rules = [{ apiGroups: ['ex.io'], resources: ['widgets'], verbs: ['get'] }]
    const { body: before } = await world.admin('GET', `${RBAC}/clusterroles/view`)
    await world.admin('POST', `${RBAC}/clusterroles`, { metadata: { name: 'widget-view', labels }, rules })
    await world.server.settled()
    const { body: view } = await world.admin('GET', `${RBAC}/clusterroles/view`)
    expect(view.rules).to.deep.include(rules[0])
    expect(view.rules).to.have.length(before.rules.length + 1)
    const { body: edit } = await world.admin('GET', `${RBAC}/clusterroles/edit`)
    expect(edit.rules).to.deep.include(rules[0])
    await world.admin('DELETE', `${RBAC}/clusterroles/widget-view`)
    await world.server.settled()
    expect((await world.admin('GET', `${RBAC}/clusterroles/view`)).body.rules).to.not.deep.include(rules[0])
  })

  describe('keeps users from granting', () => {
    const roles = `${RBAC}/namespaces/default/roles`
    const bindings = `${RBAC}/namespaces/default/rolebindings`
    const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
    const bindingOf = (name: string) => ({
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' }],
    })

    beforeEach(async () => {
      const own = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: ['*'] }
      await world.role('manager', [{ ...own, verbs: ['create', 'update', 'get'] }], 'default')
      await world.bind('manager', 'bob', 'default')
      await world.role('secrets', secrets, 'default')
    })

    it('roles with more than they have', async () => {
      const { status, body } = await world.as('bob', 'POST', roles, { metadata: { name: 'more' }, rules: secrets })
      expect(status).to.equal(403)
      expect(body.message).to.equal(
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "bob" (groups=["system:authenticated"]) is attempting to grant ' +
          'RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
      )
    })

    it('a change of a role to more than they have', async () => {
      const { body: role } = await world.admin('GET', `${roles}/manager`)
      const answer = await world.as('bob', 'PUT', `${roles}/manager`, { ...role, rules: [...role.rules, ...secrets] })
      expect(answer.status).to.equal(403)
    })

    it('bindings to roles with more than they have, or to roles that there are not', async () => {
      expect((await world.as('bob', 'POST', bindings, bindingOf('secrets'))).status).to.equal(403)
      expect((await world.as('bob', 'POST', bindings, bindingOf('nope'))).status).to.equal(404)
    })

    it('but not what they hold themselves, nor when they may escalate or bind', async () => {
      await world.bind('secrets', 'carol', 'default')
      await world.bind('manager', 'carol', 'default')
      expect((await world.as('carol', 'POST', roles, { metadata: { name: 'mine' }, rules: secrets })).status).to.equal(201)
      const may = [
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['escalate'] },
        { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['bind'], resourceNames: ['secrets'] },
      ]
      await world.role('trusted', may, 'default')
      await world.bind('trusted', 'bob', 'default')
      expect((await world.as('bob', 'POST', roles, { metadata: { name: 'any' }, rules: secrets })).status).to.equal(201)
      expect((await world.as('bob', 'POST', bindings, bindingOf('secrets'))).status).to.equal(201)
    })
  })
})
