import { expect } from 'chai'
import { labelMatcher, matchesFields, matchesLabels, toFieldSelector, toLabelSelector } from '../../../lib/api/selectors.ts'
import type { Selector } from '../../../lib/resource/selector.ts'

describe('a label selector', () => {
  const shop = { app: 'shop', tier: 'web', 'example.com/size': '3' }

  for (const [selector, text, selects, leaves] of [
    [{ app: 'shop', tier: 'web' }, 'app=shop,tier=web', shop, { app: 'shop' }],
    [{ matchLabels: { app: 'shop' } }, 'app=shop', shop, {}],
    [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['web', 'db'] }] }, 'tier in (web,db)', shop, { tier: 'cache' }],
    [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['db', 'cache'] }] }, 'tier notin (db,cache)', shop, { tier: 'db' }],
    [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['db'] }] }, 'tier!=db', {}, { tier: 'db' }],
    [{ matchExpressions: [{ key: 'app', operator: 'Exists' }] }, 'app', shop, { tier: 'web' }],
    [{ matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, '!app', { tier: 'web' }, shop],
    [{ matchLabels: { app: 'shop' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, 'app=shop,tier', shop, { app: 'shop' }],
    ['app=shop', 'app=shop', shop, { app: 'other' }],
    ['app == shop , tier != db', 'app == shop , tier != db', shop, { app: 'shop', tier: 'db' }],
    ['tier in (web, db)', 'tier in (web, db)', shop, { tier: 'cache' }],
    ['tier notin (db,cache),app', 'tier notin (db,cache),app', shop, { tier: 'web' }],
    ['!missing', '!missing', shop, { missing: '' }],
    ['example.com/size>2', 'example.com/size>2', shop, { 'example.com/size': '2' }],
    ['example.com/size<4', 'example.com/size<4', shop, { 'example.com/size': 'x' }],
    ['empty=', 'empty=', { empty: '' }, { empty: 'no' }],
    // Labels may be called what they like.
    [{ matchLabels: 'yes' }, 'matchLabels=yes', { matchLabels: 'yes' }, {}],
    ['!toString', '!toString', {}, { toString: 'x' }],
  ] as [Selector, string, Record<string, string>, Record<string, string>][]) {
    it(`${JSON.stringify(selector)} is "${text}" to the server and means the same here`, () => {
      expect(toLabelSelector(selector)).to.equal(text)
      expect(matchesLabels(selector, selects), 'selects').to.equal(true)
      expect(matchesLabels(selector, leaves), 'leaves').to.equal(false)
      // The text it becomes selects the same.
      expect(matchesLabels(text, selects)).to.equal(true)
      expect(matchesLabels(text, leaves)).to.equal(false)
    })
  }

  it('that is empty selects everything', () => {
    for (const selector of ['', {}, { matchLabels: {} }, { matchExpressions: [] }]) {
      expect([toLabelSelector(selector), matchesLabels(selector, undefined)]).to.deep.equal(['', true])
    }
  })

  it('is read once for many objects', () => {
    const matches = labelMatcher('app in (a,b)')
    expect([{ app: 'a' }, { app: 'c' }, undefined].map(matches)).to.deep.equal([true, false, false])
  })

  for (const [selector, what] of [
    ['app shop', 'cannot read "app shop"'],
    ['app=shop,', 'nothing follows the last comma'],
    ['=x', 'cannot read'],
    ['a in x', 'cannot read'],
    ['a>x', '"x" must be a whole number'],
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, 'needs values'],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }, 'takes no values'],
    [{ matchExpressions: [{ key: 'a', operator: 'Matches' }] }, 'must be In, NotIn, Exists or DoesNotExist'],
  ] as [Selector, string][]) {
    it(`${JSON.stringify(selector)} is refused: ${what}`, () => {
      expect(() => toLabelSelector(selector)).to.throw(TypeError, what)
    })
  }
})

describe('a field selector', () => {
  const pod = { metadata: { name: 'a', namespace: 'x' }, spec: { nodeName: 'n=1,2', hostNetwork: true }, status: {} }

  for (const [selector, text, matches] of [
    [{ 'metadata.name': 'a', 'spec.hostNetwork': 'true' }, 'metadata.name=a,spec.hostNetwork=true', true],
    [{ 'spec.nodeName': 'n=1,2' }, 'spec.nodeName=n\\=1\\,2', true],
    ['spec.nodeName=n\\=1\\,2,metadata.name!=b', 'spec.nodeName=n\\=1\\,2,metadata.name!=b', true],
    ['metadata.name==a', 'metadata.name==a', true],
    ['metadata.name!=a', 'metadata.name!=a', false],
    ['status.phase=', 'status.phase=', true],
    ['status.phase.deeper!=', 'status.phase.deeper!=', false],
    ['', '', true],
  ] as const) {
    it(`${JSON.stringify(selector)} is "${text}" and ${matches ? 'selects' : 'leaves'} the pod`, () => {
      expect(toFieldSelector(selector)).to.equal(text)
      expect(matchesFields(selector, pod)).to.equal(matches)
    })
  }

  it('that cannot be read is refused', () => {
    expect(() => toFieldSelector('metadata.name')).to.throw(TypeError, 'cannot read "metadata.name"')
  })
})
