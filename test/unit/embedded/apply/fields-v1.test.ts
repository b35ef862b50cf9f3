import { expect } from 'chai'
import fc from 'fast-check'
import {
  difference,
  equalSets,
  type FieldSet,
  has,
  intersection,
  paths,
  recursiveDifference,
  setOf,
  union,
} from '../../../../lib/embedded/apply/field-set.ts'
import { parseFields, writeFields } from '../../../../lib/embedded/apply/fields-v1.ts'
import type { JsonObject } from '../../../../lib/embedded/json.ts'

const element = fc.constantFrom('f:a', 'f:b', 'f:__proto__', 'k:{"name":"x"}', 'k:{"a":1,"b":"y"}', 'v:"s"', 'v:2', 'i:0')
const set = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 6 }).map((found) => setOf(...found))
const all = (fields: FieldSet) => [...paths(fields)].map((path) => path.join(' '))

describe('FieldsV1', () => {
  it('comes back as it was, in canonical order', () => {
    const fields = {
      'f:a': {},
      'f:b': { '.': {}, 'f:c': {} },
      'f:list': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} }, 'k:{"name":"y","port":80}': { 'f:q': {} } },
      'f:set': { '.': {}, 'v:1': {}, 'v:"a"': {}, 'v:true': {} },
      'f:x': { 'i:0': {} },
    }
    expect(JSON.stringify(writeFields(parseFields(fields)))).to.equal(JSON.stringify(fields))
    const shuffled = { 'f:x': { 'i:0': {} }, ...Object.fromEntries(Object.entries(fields).reverse()) }
    expect(JSON.stringify(writeFields(parseFields(shuffled)))).to.equal(JSON.stringify(fields))
  })

  it('reads keys in any order and spelling as the same', () => {
    const fields = { 'k:{"b": "y", "a":1}': {}, 'v: "<"': {} }
    expect(writeFields(parseFields(fields))).to.deep.equal({ 'k:{"a":1,"b":"y"}': {}, 'v:"\\u003c"': {} })
  })

  it('sorts numbers as numbers, before strings', () => {
    expect(Object.keys(writeFields(parseFields({ 'v:"10"': {}, 'v:10': {}, 'v:9': {} })))).to.deep.equal(['v:9', 'v:10', 'v:"10"'])
  })

  it('ignores kinds of steps that it does not know, and refuses malformed ones', () => {
    expect(all(parseFields({ 'z:new': { 'f:a': {} }, 'f:b': {} }))).to.deep.equal(['f:b'])
    for (const key of ['f', 'name', 'k:{', 'k:[]', 'v:', 'i:x']) expect(() => parseFields({ [key]: {} } as JsonObject), key).to.throw()
  })

  it('keeps __proto__ as a name like any other', () => {
    const fields = JSON.parse('{"f:__proto__":{"f:a":{}}}')
    expect(JSON.stringify(writeFields(parseFields(fields)))).to.equal('{"f:__proto__":{"f:a":{}}}')
  })

  it('comes back as it was, whatever it is', () => {
    fc.assert(fc.property(set, (fields) => equalSets(parseFields(writeFields(fields)), fields)))
  })
})

describe('sets of fields', () => {
  it('behave like sets of paths', () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const [inA, inB] = [new Set(all(a)), new Set(all(b))]
        expect(all(union(a, b))).to.have.members([...new Set([...inA, ...inB])])
        expect(all(intersection(a, b))).to.have.members([...inA].filter((path) => inB.has(path)))
        expect(all(difference(a, b))).to.have.members([...inA].filter((path) => !inB.has(path)))
        const below = [...inA].filter((path) => ![...inB].some((root) => path === root || path.startsWith(`${root} `)))
        expect(all(recursiveDifference(a, b))).to.have.members(below)
        for (const path of paths(a)) expect(has(a, path)).to.equal(true)
      }),
    )
  })
})
