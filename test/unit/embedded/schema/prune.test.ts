import { expect } from 'chai'
import fc from 'fast-check'
import { cloneJson, equalJson } from '../../../../lib/embedded/json.ts'
import { conforms } from '../../../../lib/embedded/schema/conforms.ts'
import { applyDefaults } from '../../../../lib/embedded/schema/defaults.ts'
import { prune } from '../../../../lib/embedded/schema/prune.ts'
import type { Schema } from '../../../../lib/embedded/types.ts'

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })
const text: Schema = { type: 'string' }

function pruned(schema: Schema, value: object): { value: object; unknown: string[] } {
  const copy = cloneJson(value)
  return { unknown: prune(copy, schema, { root: true }), value: copy }
}

describe('pruning', () => {
  it('drops what the schema does not have and names it, sorted', () => {
    const schema = object({
      spec: object({ l: { type: 'array', items: object({ a: text }) }, m: { type: 'object', additionalProperties: object({}) } }),
    })
    const value = { spec: { x: 1, l: [{ a: '' }, { b: 1, a: '' }], m: { k: { z: 1 } } }, bogus: 1 }
    expect(pruned(schema, value)).to.deep.equal({
      value: { spec: { l: [{ a: '' }, { a: '' }], m: { k: {} } } },
      unknown: ['bogus', 'spec.l[1].b', 'spec.m.k.z', 'spec.x'],
    })
  })

  it('keeps apiVersion, kind and metadata of the whole object', () => {
    const value = { apiVersion: 'a/v1', kind: 'K', metadata: { name: 'n' }, more: 1 }
    expect(pruned(object({}), value)).to.deep.equal({
      value: { apiVersion: 'a/v1', kind: 'K', metadata: { name: 'n' } },
      unknown: ['more'],
    })
  })

  it('keeps unknown fields where it shall, and prunes the known ones below', () => {
    const keep = { 'x-kubernetes-preserve-unknown-fields': true } as const
    const schema = object({
      mixed: object({ known: object({ keep: { type: 'integer' } }) }, keep),
      any: keep,
      list: { type: 'array', items: object({}), ...keep },
    })
    const value = { mixed: { known: { keep: 1, drop: 2 }, other: { x: 1 } }, any: [1, { a: null }], list: [{ gone: 1 }] }
    expect(pruned(schema, value)).to.deep.equal({
      value: { mixed: { known: { keep: 1 }, other: { x: 1 } }, any: [1, { a: null }], list: [{ gone: 1 }] },
      unknown: ['mixed.known.drop'],
    })
  })

  it('treats embedded resources as objects with metadata', () => {
    const schema = object({ e: object({ spec: object({ a: text }) }, { 'x-kubernetes-embedded-resource': true }) })
    const value = { e: { apiVersion: 'v1', kind: 'Foo', metadata: { name: 'x', odd: 1 }, spec: { a: '', b: 2 }, other: 3 } }
    expect(pruned(schema, value)).to.deep.equal({
      value: { e: { apiVersion: 'v1', kind: 'Foo', metadata: { name: 'x' }, spec: { a: '' } } },
      unknown: ['e.other', 'e.spec.b', 'e.metadata.odd'],
    })
  })

  it('refuses embedded resources that cannot be decoded, but keeps those that are stored', () => {
    const schema = object({ e: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true } })
    const value = { e: { apiVersion: 'v1', kind: 'Foo', metadata: { labels: { a: 1 } } } }
    expect(() => pruned(schema, value)).to.throw(
      'e.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    )
    expect(prune(value, schema, { root: true, lenient: true })).to.deep.equal([])
  })

  it('drops a null that is not allowed, except in lists and where a default takes its place', () => {
    const schema = object({ s: text, d: { ...text, default: 'x' }, n: { ...text, nullable: true }, l: { type: 'array', items: text } })
    expect(pruned(schema, { s: null, d: null, n: null, l: [null] })).to.deep.equal({ value: { d: null, n: null, l: [null] }, unknown: [] })
  })

  it('takes __proto__ for a field like any other', () => {
    const value = JSON.parse('{"spec": {"__proto__": {"x": 1}, "constructor": 1}}')
    expect(prune(value, object({ spec: object({}) }), { root: true })).to.deep.equal(['spec.__proto__', 'spec.constructor'])
    expect(Object.keys(value.spec)).to.deep.equal([])
  })
})

describe('defaulting', () => {
  const schema = object({
    spec: object({
      d: { ...text, default: 'dd' },
      nd: { ...text, nullable: true, default: 'x' },
      o: object({ x: { type: 'integer', default: 1 } }),
      p: object({ x: { type: 'integer', default: 1 } }, { default: {} }),
      l: { type: 'array', items: object({ x: { type: 'integer', default: 1 } }) },
      m: { type: 'object', additionalProperties: object({ x: { type: 'integer', default: 1 } }) },
    }),
  })
  const filled = (value: object): object => {
    const copy = cloneJson(value)
    applyDefaults(copy, schema)
    return copy
  }

  it('fills in what is missing or null, and nested fields only where their parent is', () => {
    expect(filled({ spec: {} })).to.deep.equal({ spec: { d: 'dd', nd: 'x', p: { x: 1 } } })
    expect(filled({})).to.deep.equal({})
    expect(filled({ spec: { d: null, nd: null, o: {}, p: null } })).to.deep.equal({ spec: { d: 'dd', nd: null, o: { x: 1 }, p: { x: 1 } } })
  })

  it('looks into lists and maps', () => {
    expect(filled({ spec: { l: [{}, { x: 2 }], m: { a: {} } } })).to.deep.include({
      spec: { l: [{ x: 1 }, { x: 2 }], m: { a: { x: 1 } }, d: 'dd', nd: 'x', p: { x: 1 } },
    })
  })

  it('shares nothing between the objects it fills', () => {
    const [one, two] = [filled({ spec: {} }), filled({ spec: {} })] as { spec: { p: object } }[]
    expect(one!.spec.p).to.not.equal(two!.spec.p)
  })
})

describe('pruning and defaulting', () => {
  const names = fc.constantFrom('a', 'b', 'c')
  const { schema, value } = fc.letrec<{ schema: Schema; value: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<Schema>(
        text,
        { ...text, default: 'd' },
        { ...text, nullable: true },
        { 'x-kubernetes-preserve-unknown-fields': true },
      ),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(names, tie('schema')),
        default: fc.constantFrom({}, { a: 1 }, null),
      }),
      fc.record({ type: fc.constant('object'), additionalProperties: fc.oneof(tie('schema'), fc.boolean()) }),
    ) as fc.Arbitrary<Schema>,
    value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(null, 1, 'x'), fc.array(tie('value')), fc.dictionary(names, tie('value'))),
  }))

  it('change nothing the second time', () => {
    fc.assert(
      fc.property(schema, value, (any, json) => {
        const once = cloneJson(json)
        prune(once, any, { root: false })
        const twice = cloneJson(once)
        expect(prune(twice, any, { root: false })).to.deep.equal([])
        expect(twice).to.deep.equal(once)
        applyDefaults(once, any)
        const filled = cloneJson(once)
        applyDefaults(filled, any)
        expect(filled).to.deep.equal(once)
      }),
      { numRuns: 500 },
    )
  })

  it('change nothing of what is said to conform, and what they leave conforms', () => {
    fc.assert(
      fc.property(schema, fc.dictionary(names, value), (any, json) => {
        const before = cloneJson(json)
        const after = cloneJson(json)
        prune(after, any, { root: true })
        // Not so with defaults: one may have fields that the schema does not, which no definition is let have.
        expect(conforms(after, any, false)).to.equal(true)
        applyDefaults(after, any)
        expect(conforms(before, any)).to.equal(equalJson(before, after))
      }),
      { numRuns: 500 },
    )
  })
})
