import { expect } from 'chai'
import { type Secured, secured } from './secured.ts'

const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

describe('impersonation', () => {
  let world: Secured

  before(async () => {
    world = await secured()
    const users = { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['jane'] }
    await world.role('as-jane', [users, { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['devs'] }])
    await world.bind('as-jane', 'system:serviceaccount:default:default')
    const constrained = [
      { apiGroups: ['authentication.k8s.io'], resources: ['users'], verbs: ['impersonate:user-info'], resourceNames: ['joe'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['impersonate-on:user-info:list'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['groups'], verbs: ['impersonate:user-info'] },
    ]
    await world.role('as-joe-for-pods', constrained)
    await world.bind('as-joe-for-pods', 'system:serviceaccount:default:default')
    await world.role('lister', [{ apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['list'] }])
    await world.bind('lister', 'joe')
    const { body } = await world.admin('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} })
    token = body.status.token
  })
  after(() => world.server.close())

  let token: string
  const account = (headers: Record<string, string>, method = 'POST', url = WHOAMI) =>
    world.admin(method, url, method === 'POST' ? {} : undefined, { ...headers, authorization: `Bearer ${token}` })
  const whoami = async (headers: Record<string, string>) => (await world.admin('POST', WHOAMI, {}, headers)).body

  it('takes over name, groups, uid and extra', async () => {
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-group': 'devs, ops',
      'impersonate-uid': 'u-1',
      'impersonate-extra-a%2fb': 'x',
    }
    expect((await whoami(headers)).status.userInfo).to.deep.equal({
      username: 'jane',
      uid: 'u-1',
      groups: ['devs', 'ops', 'system:authenticated'],
      extra: { 'a/b': ['x'] },
    })
  })

  it('knows the groups of a service account, and that nobody is not authenticated', async () => {
    expect((await whoami({ 'impersonate-user': 'system:serviceaccount:a:b' })).status.userInfo.groups).to.deep.equal([
      'system:serviceaccounts',
      'system:serviceaccounts:a',
      'system:authenticated',
    ])
    expect((await whoami({ 'impersonate-user': 'system:anonymous' })).message).to.match(/User "system:anonymous" cannot create/)
  })

  it('needs a user', async () => {
    expect((await whoami({ 'impersonate-group': 'x' })).message).to.equal(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
    )
  })

  it('is for whom roles allow it: users and groups one by one', async () => {
    expect((await account({ 'impersonate-user': 'jane', 'impersonate-group': 'devs' })).status).to.equal(201)
    expect((await account({ 'impersonate-user': 'jane', 'impersonate-group': 'ops' })).status).to.equal(403)
    expect((await account({ 'impersonate-user': 'bob' })).status).to.equal(403)
    expect((await account({ 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' })).status).to.equal(403)
  })

  it('may be allowed for some requests only', async () => {
    const joe = { 'impersonate-user': 'joe' }
    expect((await account(joe, 'GET', '/api/v1/pods')).status).to.equal(200)
    expect((await account({ ...joe, 'impersonate-group': 'devs' }, 'GET', '/api/v1/pods')).status).to.equal(200)
    const { body: masters } = await account({ ...joe, 'impersonate-group': 'system:masters' }, 'GET', '/api/v1/pods')
    expect(masters.message).to.match(/: impersonating the system:masters group is not allowed$/)
    const { status, body } = await account(joe, 'GET', '/api/v1/secrets')
    expect(status).to.equal(403)
    expect(body.message).to.equal(
      'secrets is forbidden: User "system:serviceaccount:default:default" cannot impersonate-on:user-info:list resource "secrets" in API group "" at the cluster scope',
    )
  })
})
