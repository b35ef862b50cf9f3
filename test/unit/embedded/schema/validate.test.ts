import { expect } from 'chai'
import fc from 'fast-check'
import { CAUSE_REASON } from '../../../../lib/embedded/field-error.ts'
import { validate } from '../../../../lib/embedded/schema/validate.ts'
import type { Schema } from '../../../../lib/embedded/types.ts'

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })

function says(schema: Schema, value: unknown, old?: unknown): string[] {
  return validate({ v: value }, object({ v: schema }), '', old === undefined ? undefined : { v: old }).map(
    ({ field, type, message }) => `${field} ${CAUSE_REASON[type].replace('FieldValue', '')} ${message}`,
  )
}

describe('validation against a schema', () => {
  const cases: [string, Schema, unknown, string[]][] = [
    [
      'a string too short',
      { type: 'string', minLength: 2 },
      'é',
      ['v Invalid Invalid value: "é": v in body should be at least 2 chars long'],
    ],
    ['a length in code points', { type: 'string', maxLength: 1 }, '😀', []],
    ['a string too long', { type: 'string', maxLength: 1 }, '😀😀', ['v TooLong Too long: may not be more than 1 byte']],
    ['a pattern', { type: 'string', pattern: '^a+$' }, 'b', [`v Invalid Invalid value: "b": v in body should match '^a+$'`]],
    ['a pattern only Go has', { type: 'string', pattern: '(?i)^(?P<x>a)\\z' }, 'A', []],
    ['a wrong type', { type: 'integer' }, 'x', ['v TypeInvalid Invalid value: "string": v in body must be of type integer: "string"']],
    [
      'a fraction for an integer',
      { type: 'integer' },
      1.5,
      [
        'v TypeInvalid Invalid value: "number": v in body must be of type integer: "number"',
        '<nil> Invalid Invalid value: "": Checked value must be of type integer (default format) in v',
      ],
    ],
    ['an integer for a number', { type: 'number' }, 1, []],
    [
      'int-or-string',
      { 'x-kubernetes-int-or-string': true },
      true,
      ['v TypeInvalid Invalid value: "boolean": v in body must be of type integer,string: "boolean"'],
    ],
    ['null', { type: 'string' }, null, ['v TypeInvalid Invalid value: "null": v in body must be of type string: "null"']],
    ['a null that is allowed', { type: 'string', nullable: true }, null, []],
    ['an enum', { type: 'string', enum: ['red', 'blue'] }, 'x', ['v NotSupported Unsupported value: "x": supported values: "red", "blue"']],
    [
      'a null, in an enum with null',
      { type: 'string', nullable: true, enum: ['a', null] },
      null,
      ['v NotSupported Unsupported value: null: supported values: "a", "null"'],
    ],
    ['a minimum', { type: 'integer', minimum: 0 }, -3, ['v Invalid Invalid value: -3: v in body should be greater than or equal to 0']],
    [
      'an integer and an exclusive fractional limit',
      { type: 'number', maximum: 1.5, exclusiveMaximum: true },
      1,
      ['v Invalid Invalid value: 1: v in body should be less than 1'],
    ],
    [
      'a limit the type cannot hold',
      { type: 'integer', maximum: 1.5 },
      1,
      ['<nil> Invalid Invalid value: "": Maximum boundary value must be of type integer (default format) in v'],
    ],
    ['a multiple of a fraction', { type: 'number', multipleOf: 0.1 }, 0.3, []],
    [
      'int32',
      { type: 'integer', format: 'int32' },
      2 ** 31,
      ['<nil> Invalid Invalid value: "": Checked value must be of type integer with format int32 in v'],
    ],
    [
      'an integer that no JavaScript number holds',
      { type: 'integer', maximum: 2 ** 62, exclusiveMaximum: true },
      2n ** 62n + 1n,
      ['v Invalid Invalid value: 4611686018427387905: v in body should be less than 4611686018427387904'],
    ],
    [
      'too few items',
      { type: 'array', items: { type: 'string' }, minItems: 1 },
      [],
      ['v Invalid Invalid value: 0: v in body should have at least 1 items'],
    ],
    [
      'too many items',
      { type: 'array', items: { type: 'string' }, maxItems: 1 },
      ['a', 'b'],
      ['v TooMany Too many: 2: must have at most 1 item'],
    ],
    ['required fields', object({}, { required: ['a'] }), {}, ['v.a Required Required value']],
    ['an inherited name is not there', object({}, { required: ['toString'] }), {}, ['v.toString Required Required value']],
    [
      'a key that is not allowed',
      { type: 'object', additionalProperties: false },
      { k: 1 },
      ['v Invalid Invalid value: "k": v.k in body is a forbidden property'],
    ],
    [
      'a format',
      { type: 'string', format: 'date-time' },
      'nope',
      ['v TypeInvalid Invalid value: "nope": v in body must be of type date-time: "nope"'],
    ],
    ['a format that nobody knows', { type: 'string', format: 'colour' }, 'nope', []],
    [
      'not',
      { type: 'object', properties: { a: { type: 'string' } }, not: { required: ['a'] } },
      { a: '' },
      ['<nil> Invalid Invalid value: "": "v" must not validate the schema (not)'],
    ],
    [
      'the alternative that came farthest',
      {
        ...object({ a: { type: 'string' }, b: { type: 'string' } }),
        anyOf: [{ required: ['a'] }, { properties: { b: { minLength: 1 } }, required: ['c'] }],
      },
      { b: 'x' },
      ['<nil> Invalid Invalid value: "": "v" must validate at least one schema (anyOf)', 'v.c Required Required value'],
    ],
    [
      'two alternatives of oneOf',
      { ...object({ a: { type: 'string' } }), oneOf: [{ required: ['a'] }, {}] },
      { a: '' },
      ['<nil> Invalid Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
  ]
  for (const [name, schema, value, expected] of cases) {
    it(`has a word for ${name}`, () => expect(says(schema, value)).to.deep.equal(expected))
  }

  it('names fields from the root, and texts from where validation began', () => {
    expect(validate({ phase: 1 }, object({ phase: { type: 'string' } }), 'status')).to.deep.equal([
      { type: 'TypeInvalid', field: 'status.phase', message: 'Invalid value: "integer": phase in body must be of type string: "integer"' },
    ])
  })

  describe('of an update', () => {
    const named: Schema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
    const items = object({ k: { type: 'string' }, s: { type: 'string', maxLength: 1 } })

    it('forgives what was wrong before', () => {
      expect(says(object({ s: { type: 'string', maxLength: 1 }, n: {} }), { s: 'long', n: 2 }, { s: 'long', n: 1 })).to.deep.equal([])
    })

    it('finds the old item of a list of type map by its keys', () => {
      const old = [{ k: 'a', s: 'long' }, { k: 'b' }]
      expect(says({ ...named, items }, [{ k: 'b' }, { k: 'a', s: 'long' }, { k: 'c', s: 'new' }], old)).to.deep.equal([
        'v[2].s TooLong Too long: may not be more than 1 byte',
      ])
    })

    it('does not look for old items in other lists', () => {
      expect(says({ type: 'array', items }, [{ k: 'a', s: 'long' }, {}], [{ k: 'a', s: 'long' }])).to.have.length(1)
    })
  })

  it('never throws, whatever the value', () => {
    const leaf: fc.Arbitrary<Schema> = fc.constantFrom<Schema>(
      { type: 'string', format: 'email', minLength: 1 },
      { type: 'integer', minimum: 0.5, multipleOf: 2 },
      { type: 'number', enum: [1, 2.5, null] },
      { 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+%$' },
      { 'x-kubernetes-preserve-unknown-fields': true },
    )
    const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), tie('schema')), required: fc.array(fc.string()) }),
        fc.record({ type: fc.constant('object'), additionalProperties: tie('schema'), anyOf: fc.array(tie('schema')), not: tie('schema') }),
      ),
    }))
    fc.assert(
      fc.property(schema, fc.jsonValue(), fc.jsonValue(), (any, value, old) => {
        expect(validate(value, any, '', old)).to.be.an('array')
        expect(validate(value, any, '', value)).to.deep.equal([])
      }),
      { numRuns: 300 },
    )
  })
})
