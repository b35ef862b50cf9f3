import { expect } from 'chai'
import { type Secured, secured } from './secured.ts'

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'
const PODS = '/api/v1/namespaces/default/pods'

describe('tokens of service accounts', () => {
  let world: Secured

  beforeEach(async () => {
    world = await secured()
  })
  afterEach(() => world.server.close())

  const request = (spec: object = {}, account = 'default') => world.admin('POST', `${ACCOUNTS}/${account}/token`, { spec })
  const token = async (spec?: object): Promise<string> => (await request(spec)).body.status.token
  const whoami = async (bearer: string) => {
    const { status, body } = await world.bearing(bearer, 'POST', WHOAMI, {})
    return status === 201 ? body.status.userInfo : status
  }
  const review = async (spec: object) => (await world.admin('POST', REVIEWS, { spec })).body.status
  const pod = (name: string, more: object = {}) =>
    world.admin('POST', PODS, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'x' }], ...more } })

  it('make their bearer the account, in its groups', async () => {
    const { username, groups, extra } = await whoami(await token())
    expect(username).to.equal('system:serviceaccount:default:default')
    expect(groups).to.deep.equal(['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'])
    expect(Object.keys(extra)).to.deep.equal(['authentication.kubernetes.io/credential-id'])
  })

  it('carry the pod they are bound to, and its node', async () => {
    const { body: a } = await pod('a')
    expect(a.metadata.uid).to.be.a('string')
    const bound = await token({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'a', uid: a.metadata.uid } })
    const { extra } = await whoami(bound)
    expect(extra['authentication.kubernetes.io/pod-name']).to.deep.equal(['a'])
    expect(extra['authentication.kubernetes.io/pod-uid']).to.deep.equal([a.metadata.uid])
  })

  it('end with what they are bound to, also when another one of its name comes', async () => {
    await pod('a')
    const bound = await token({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'a' } })
    await world.admin('DELETE', `${PODS}/a`)
    expect(await whoami(bound)).to.equal(401)
    await pod('a')
    expect(await whoami(bound)).to.equal(401)
  })

  it('end with their account', async () => {
    await world.admin('POST', ACCOUNTS, { metadata: { name: 'op' } })
    const { token: bearer } = (await request({}, 'op')).body.status
    await world.admin('DELETE', `${ACCOUNTS}/op`)
    await world.admin('POST', ACCOUNTS, { metadata: { name: 'op' } })
    expect(await whoami(bearer)).to.equal(401)
  })

  it('are good for their audiences alone', async () => {
    const foreign = await token({ audiences: ['vault'] })
    expect(await whoami(foreign)).to.equal(401)
    expect(await review({ token: foreign, audiences: ['vault', 'x'] })).to.deep.include({ authenticated: true, audiences: ['vault'] })
    expect((await review({ token: foreign })).error).to.equal(
      '[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc"]]',
    )
  })

  it('are refused when a character of them is changed', async () => {
    const [header, claims, signature] = (await token()).split('.') as [string, string, string]
    const forged = Buffer.from(Buffer.from(claims, 'base64url').toString().replace('default:default', 'kube-system:x')).toString(
      'base64url',
    )
    expect(await whoami(`${header}.${forged}.${signature}`)).to.equal(401)
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    expect(await whoami(`${none}.${claims}.`)).to.equal(401)
    expect(await whoami(`${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`)).to.equal(401)
  })

  it('of another server are refused', async () => {
    const other = await secured()
    const { token: bearer } = (await other.admin('POST', `${ACCOUNTS}/default/token`, { spec: {} })).body.status
    expect(await whoami(bearer)).to.equal(401)
    await other.server.close()
  })

  const refused: readonly [string, object, string][] = [
    [
      'less than ten minutes',
      { expirationSeconds: 10 },
      '422 spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    ],
    [
      'another kind to be bound to',
      { boundObjectRef: { kind: 'Foo', apiVersion: 'v1', name: 'x' } },
      '400 cannot bind token to object of type /v1, Kind=Foo',
    ],
    ['a pod that there is not', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } }, '404 pods "x" not found'],
  ]
  for (const [what, spec, expected] of refused) {
    it(`are not given for ${what}`, async () => {
      const { status, body } = await request(spec)
      expect(`${status} ${body.message.replace(/^TokenRequest\S+ "" is invalid: /, '')}`).to.equal(expected)
    })
  }

  it('are not given for the pod of another account, nor for another uid', async () => {
    await world.admin('POST', ACCOUNTS, { metadata: { name: 'op' } })
    await pod('a', { serviceAccountName: 'op' })
    const ref = { kind: 'Pod', apiVersion: 'v1', name: 'a' }
    expect((await request({ boundObjectRef: ref })).body.message).to.equal(
      'cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.',
    )
    expect((await request({ boundObjectRef: { ...ref, uid: 'zzz' } }, 'op')).status).to.equal(409)
  })
})
