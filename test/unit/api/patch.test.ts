import { expect } from 'chai'
import fc from 'fast-check'
import { applyMergePatch, equalJson, mergePatch } from '../../../lib/api/patch.ts'

/** Few keys, so that two objects have some in common; some of them of the unpleasant kind. */
const key = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__', 'toString')
const { object } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.integer(), fc.string(), fc.boolean(), fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<object>,
}))

/** As the wire makes it, which keeps a key `__proto__`. */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value))

describe('mergePatch', () => {
  it('gives a patch that makes one object of the other', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const patch = mergePatch(a, b)
        expect(equalJson(applyMergePatch(copy(a), patch === undefined ? {} : copy(patch)), b)).to.equal(true)
      }),
    )
  })

  it('gives none exactly where the objects are equal', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        expect(mergePatch(a, copy(a))).to.equal(undefined)
        expect(mergePatch(a, b) === undefined).to.equal(equalJson(a, b))
      }),
    )
  })

  it('changes neither object', () => {
    fc.assert(
      fc.property(object, object, (a, b) => {
        const before = JSON.stringify([a, b])
        applyMergePatch(a, mergePatch(a, b) ?? {})
        expect(JSON.stringify([a, b])).to.equal(before)
      }),
    )
  })

  for (const [from, to, patch] of [
    [{ a: 1, b: { c: 1, d: 2 } }, { a: 1, b: { c: 1, d: 3 } }, { b: { d: 3 } }],
    [{ a: [1, 2] }, { a: [1] }, { a: [1] }],
    [{ a: 1 }, {}, { a: null }],
    [{ a: 1 }, { a: undefined }, { a: null }],
    [{}, { a: null }, undefined],
    [{ a: { b: 1 } }, { a: { b: 1, c: undefined } }, undefined],
    [{ a: 'x' }, { a: { b: 1 } }, { a: { b: 1 } }],
    [{ a: { b: 1 } }, { a: [] }, { a: [] }],
  ] as [object, object, object | undefined][]) {
    it(`from ${JSON.stringify(from)} to ${JSON.stringify(to)} is ${JSON.stringify(patch)}`, () => {
      expect(mergePatch(from, to)).to.deep.equal(patch)
    })
  }
})

describe('applyMergePatch', () => {
  // The table of RFC 7386, appendix A.
  for (const [target, patch, result] of [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]) {
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(target)} and ${JSON.stringify(patch)}`, () => {
      expect(applyMergePatch(target, patch)).to.deep.equal(result)
    })
  }
})
