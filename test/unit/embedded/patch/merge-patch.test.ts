import { expect } from 'chai'
import fc from 'fast-check'
import { equalJson, type Json } from '../../../../lib/embedded/json.ts'
import { applyMergePatch } from '../../../../lib/embedded/patch/merge-patch.ts'
import { recordedCases } from '../recorded.ts'

describe('merge patch', () => {
  it('answers as evanphx/json-patch v4 does', () => {
    for (const { doc, patch, result } of recordedCases<{ doc: Json; patch: Json; result: Json }>(
      new URL('merge-patch.recorded.jsonl', import.meta.url),
    )) {
      expect(equalJson(applyMergePatch(doc, patch), result), JSON.stringify({ doc, patch })).to.equal(true)
    }
  })

  const cases: [what: string, target: Json, patch: Json, result: Json][] = [
    ['merges objects and replaces the rest', { a: { b: 1, c: 2 }, l: [1] }, { a: { c: 3 }, l: [2, 3] }, { a: { b: 1, c: 3 }, l: [2, 3] }],
    ['deletes by null', { a: 1, b: 2 }, { a: null, c: null }, { b: 2 }],
    ['makes an object of what was none', { a: 'x' }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    ['drops nulls from objects in a list that is new', {}, { l: [{ a: null, b: 1 }, null] }, { l: [{ b: 1 }, null] }],
    ['keeps nulls in a list that takes the place of an object', { a: {} }, { a: [{ b: null }] }, { a: [{ b: null }] }],
  ]
  for (const [what, target, patch, result] of cases) it(what, () => expect(applyMergePatch(target, patch)).to.deep.equal(result))

  it('refuses what is no object', () => {
    const text = (patch: Json) =>
      expect(() => applyMergePatch({}, patch))
        .to.throw()
        .property('message')
    text(null).to.equal('Invalid JSON Patch')
    text([]).to.equal('error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}')
    text('x').to.equal('error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}')
  })

  it('takes __proto__ for a name like any other', () => {
    const result = applyMergePatch(
      JSON.parse('{"__proto__":{"a":1}}'),
      JSON.parse('{"__proto__":{"b":2},"constructor":{"prototype":{"c":1}}}'),
    )
    expect(JSON.stringify(result)).to.equal('{"__proto__":{"a":1,"b":2},"constructor":{"prototype":{"c":1}}}')
    expect(({} as Record<string, unknown>)['b']).to.equal(undefined)
  })

  const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue())

  it('changes neither the target nor the patch', () => {
    fc.assert(
      fc.property(object, object, (target, patch) => {
        const before = JSON.stringify([target, patch])
        applyMergePatch(target as Json, patch as Json)
        expect(JSON.stringify([target, patch])).to.equal(before)
      }),
    )
  })

  it('does the same a second time as not at all, where it has no lists', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const change = fc.dictionary(
      name,
      fc.oneof(fc.dictionary(name, fc.oneof(fc.constant(null), fc.string())), fc.constant(null), fc.string()),
    )
    fc.assert(
      fc.property(object, change, (target, patch) => {
        const once = applyMergePatch(target as Json, patch as Json)
        expect(applyMergePatch(once, patch as Json)).to.deep.equal(once)
      }),
    )
  })
})
