import { expect } from 'chai'
import { leaseName, podOf } from '../../../lib/leadership/identity.ts'

const tls = { rejectUnauthorized: true }
const jwt = (claims: unknown) => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`
const bearer = (token: string) => ({ tls, headers: { authorization: `Bearer ${token}` } })

describe('the identity of a process', () => {
  it('is the pod that its token is bound to', () => {
    expect(podOf(bearer(jwt({ 'kubernetes.io': { namespace: 'shop', pod: { name: 'op-7d9f', uid: 'u' } } })))).to.equal('op-7d9f')
  })

  for (const [what, credentials] of [
    ['no token', { tls, headers: {} }],
    ['a token that says nothing of a pod', bearer(jwt({ sub: 'me' }))],
    ['a token that is none', bearer('secret')],
    ['a token with something else inside', bearer('a.!!!.b')],
    ['a password', { tls, headers: { authorization: 'Basic abc' } }],
  ] as const) {
    it(`is not known by ${what}`, () => {
      expect(podOf(credentials)).to.equal(undefined)
    })
  }
})

describe('the name of a lease', () => {
  for (const [operator, name] of [
    ['databases', 'databases'],
    ['@acme/Databases', 'acme-databases'],
    ['my_operator', 'my-operator'],
    ['a..b', 'a.b'],
    ['-a.-b-', 'a-b'],
    ['@/', 'tsop'],
    ['x'.repeat(300), 'x'.repeat(253)],
  ] as const) {
    it(`of the operator ${operator.slice(0, 20)} is ${name.slice(0, 20)}`, () => {
      expect(leaseName(operator)).to.equal(name)
      expect(name).to.match(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
    })
  }
})
