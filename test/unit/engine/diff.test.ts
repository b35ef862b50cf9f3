import { expect } from 'chai'
import fc from 'fast-check'
import { canonicalJson, difference } from '../../../lib/engine/diff.ts'

const json = fc.jsonValue({ maxDepth: 4 })
const object = fc.dictionary(fc.string(), json)

describe('what differs from the desired state', () => {
  const table: [what: string, desired: unknown, live: unknown, expected: string][] = [
    ['a default of the server', { a: 1 }, { a: 1, b: 2 }, ''],
    ['a default within a list’s item', { l: [{ a: 1 }] }, { l: [{ a: 1, b: 2 }] }, ''],
    ['another value', { s: { a: 1 } }, { s: { a: 2 } }, '.s.a=2'],
    ['a missing value', { a: 1 }, {}, '.a=undefined'],
    ['a longer list', { l: [1] }, { l: [1, 2] }, '.l=[1,2]'],
    ['another order of a list', { l: [1, 2] }, { l: [2, 1] }, '.l[0]=2\n.l[1]=1'],
    ['an undefined wish', { a: undefined }, { a: 1 }, ''],
    ['an empty object that the server drops', { a: {}, l: [], u: { x: undefined } }, {}, ''],
    ['null where something is', { a: null }, { a: 1 }, '.a=1'],
    ['null where nothing is', { a: null }, {}, ''],
    ['a map where a text is', { a: { b: 1 } }, { a: 'x' }, '.a="x"'],
    ['a name that every object inherits', { constructor: 'x' }, {}, '.constructor=undefined'],
  ]
  for (const [what, desired, live, expected] of table) {
    it(`${what}: ${JSON.stringify(expected)}`, () => expect(difference(desired, live)).to.equal(expected))
  }

  it('nothing differs from itself, nor from itself with more fields at the top', () => {
    fc.assert(fc.property(object, (value) => difference(value, structuredClone(value)) === ''))
    fc.assert(fc.property(object, json, (value, more) => difference(value, { ...value, 'added by somebody': more }) === ''))
  })

  it('a changed field is always seen', () => {
    fc.assert(
      fc.property(object, fc.string(), fc.integer(), (value, key, n) => {
        fc.pre(key !== '__proto__')
        return difference({ ...value, [key]: n }, { ...value, [key]: n + 1 }) !== ''
      }),
    )
  })
})

describe('JSON with sorted keys', () => {
  it('means the same as JSON', () => {
    fc.assert(fc.property(json, (value) => void expect(JSON.parse(canonicalJson(value))).to.deep.equal(JSON.parse(JSON.stringify(value)))))
  })

  it('is the same in whatever order the keys were set', () => {
    fc.assert(
      fc.property(object, (value) => {
        const reversed = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(value).reverse())))
        expect(canonicalJson(reversed)).to.equal(canonicalJson(value))
      }),
    )
  })

  it('leaves out what JSON leaves out', () => {
    expect(canonicalJson({ b: undefined, a: [undefined], d: new Date(0) })).to.equal('{"a":[null],"d":"1970-01-01T00:00:00.000Z"}')
  })

  it('keeps a key that would be the prototype', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).to.equal('{"__proto__":{"a":1}}')
  })
})
