import { expect } from 'chai'
import { podOf } from '../../../lib/leadership/identity.ts'

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
