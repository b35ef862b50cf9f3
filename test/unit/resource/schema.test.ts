import { expect } from 'chai'
import { z } from '../../../lib/index.ts'
import { schemaOf } from '../../../lib/resource/zod-schema.ts'

/** The schema of one field. */
const field = (type: z.ZodType) => schemaOf(z.object({ field: type }), 'spec').properties?.field

describe('schemaOf', () => {
  const point = z.object({ x: z.number() }).meta({ id: 'Point' })
  const table: Record<string, [z.ZodType, object]> = {
    'a text with its bounds': [z.string().min(1).max(5), { type: 'string', minLength: 1, maxLength: 5 }],
    'a description and a default': [
      z.enum(['a', 'b']).default('a').describe('Which.'),
      { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Which.' },
    ],
    'a small whole number as int32': [z.int().min(1).max(7), { type: 'integer', format: 'int32', minimum: 1, maximum: 7 }],
    'any whole number as int64, without the bounds of JavaScript': [z.int(), { type: 'integer', format: 'int64' }],
    'a whole number with one bound as int64': [z.int().min(0), { type: 'integer', format: 'int64', minimum: 0 }],
    'z.int32() without bounds that its format says already': [z.int32(), { type: 'integer', format: 'int32' }],
    'z.uint32() with its bounds': [z.uint32(), { type: 'integer', format: 'int64', minimum: 0, maximum: 4294967295 }],
    'an exclusive bound': [z.number().gt(3), { type: 'number', minimum: 3, exclusiveMinimum: true }],
    'a fraction as a bound, with the value that the server would be wrong about': [
      z.number().min(1.5).lt(9.5),
      { type: 'number', minimum: 1.5, maximum: 9.5, not: { anyOf: [{ minimum: 1, maximum: 1 }, { enum: [9.5] }] } },
    ],
    'a fraction as a bound of a whole number': [z.int().gt(1.5).max(9.5), { type: 'integer', format: 'int32', minimum: 2, maximum: 9 }],
    'a literal as an enum': [z.literal('a'), { type: 'string', enum: ['a'] }],
    'null beside a type': [z.string().nullable(), { type: 'string', nullable: true }],
    'z.any()': [z.any(), { 'x-kubernetes-preserve-unknown-fields': true, nullable: true }],
    'z.unknown() with a description': [
      z.unknown().describe('Any.'),
      { 'x-kubernetes-preserve-unknown-fields': true, nullable: true, description: 'Any.' },
    ],
    'a record': [z.record(z.string(), z.int()), { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } }],
    'a record of anything': [
      z.record(z.string(), z.any()),
      { type: 'object', additionalProperties: { 'x-kubernetes-preserve-unknown-fields': true, nullable: true } },
    ],
    'a record of fixed keys as fields': [
      z.record(z.enum(['a', 'b']), z.string()),
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
    ],
    'a strict object': [z.strictObject({ a: z.string() }), { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
    'a loose object': [
      z.looseObject({ a: z.string() }),
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], 'x-kubernetes-preserve-unknown-fields': true },
    ],
    'an object without fields': [z.object({}), { type: 'object' }],
    'a list that the server merges by key': [
      z
        .array(z.object({ name: z.string() }))
        .max(9)
        .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      {
        type: 'array',
        maxItems: 9,
        items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ],
    'a time without the pattern that its format says already': [z.iso.datetime(), { type: 'string', format: 'date-time' }],
    'a time with a pattern of its own': [z.iso.datetime().regex(/Z$/), { type: 'string', format: 'date-time', pattern: 'Z$' }],
    'a date': [z.iso.date(), { type: 'string', format: 'date' }],
    'a format the server does not know by its pattern alone': [z.nanoid(), { type: 'string', pattern: '^[a-zA-Z0-9_-]{21}$' }],
    'an URL': [z.url(), { type: 'string', format: 'uri', pattern: '^[a-zA-Z][a-zA-Z0-9+.-]*:' }],
    'flags of a pattern as RE2 writes them': [z.string().regex(/^a+$/i), { type: 'string', pattern: '(?i)^a+$' }],
    'several patterns without a type inside': [
      z.string().startsWith('a').endsWith('b'),
      { type: 'string', allOf: [{ pattern: '^a.*' }, { pattern: '.*b$' }] },
    ],
    'what zod says but a CRD cannot': [
      z
        .string()
        .readonly()
        .meta({ deprecated: true, examples: ['a', 'b'], title: 'T' }),
      { type: 'string', title: 'T', example: 'a', description: 'Deprecated.' },
    ],
    'a type used twice by its id': [
      z.object({ a: point, b: point.optional() }),
      {
        type: 'object',
        properties: {
          a: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
          b: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
        },
        required: ['a'],
      },
    ],
    'a number or a text': [z.union([z.int(), z.string()]), { 'x-kubernetes-int-or-string': true }],
    'a number or a text with the checks of both': [
      z.union([z.int().min(1).max(65535), z.string().regex(/^[a-z]+$/)]).default(80),
      { 'x-kubernetes-int-or-string': true, minimum: 1, maximum: 65535, pattern: '^[a-z]+$', default: 80 },
    ],
    'a number or one of some words': [
      z.union([z.int(), z.enum(['auto', 'a.b'])]),
      { 'x-kubernetes-int-or-string': true, pattern: '^(?:auto|a\\.b)$' },
    ],
    'literals of two types': [z.literal(['a', 1]), { 'x-kubernetes-int-or-string': true, enum: ['a', 1] }],
    'literals of one type in a union': [z.union([z.literal('a'), z.literal('b')]), { type: 'string', enum: ['a', 'b'] }],
    'texts of several forms': [
      z.union([z.iso.date(), z.iso.datetime()]),
      { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
    ],
    'a union with a form that takes all': [z.union([z.string(), z.url()]), { type: 'string' }],
    'what should not be used any more in its description': [
      z.string().describe('Use size.').meta({ deprecated: true }),
      { type: 'string', description: 'Deprecated: Use size.' },
    ],
    'a union with anything': [z.union([z.string(), z.any()]), { 'x-kubernetes-preserve-unknown-fields': true, nullable: true }],
    'literals of any types': [
      z.union([z.literal('a'), z.literal(true)]),
      { 'x-kubernetes-preserve-unknown-fields': true, enum: ['a', true] },
    ],
    'a number or a text of two kinds each': [
      z.union([z.literal([1, 5]), z.int().min(10), z.string().regex(/^a/), z.enum(['b', 'c'])]),
      {
        'x-kubernetes-int-or-string': true,
        allOf: [
          { anyOf: [{ pattern: '^a' }, { pattern: '^(?:b|c)$' }] },
          { anyOf: [{ minimum: 1, maximum: 1 }, { minimum: 5, maximum: 5 }, { minimum: 10 }] },
        ],
      },
    ],
    'a union inside of a union': [
      z.union([z.union([z.int().min(3), z.string()]), z.enum(['a'])]),
      { 'x-kubernetes-int-or-string': true, minimum: 3 },
    ],
    'a small whole number or a text with the bounds that its format says elsewhere': [
      z.union([z.int32(), z.string()]),
      { 'x-kubernetes-int-or-string': true, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
    ],
    'whole and broken numbers with what tells them apart': [
      z.union([z.int().min(5), z.number().max(2)]),
      { type: 'number', anyOf: [{ multipleOf: 1, minimum: 5 }, { maximum: 2 }] },
    ],
    'small and large whole numbers': [
      z.union([z.int32(), z.int().min(2 ** 40)]),
      { type: 'integer', format: 'int64', anyOf: [{ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }, { minimum: 2 ** 40 }] },
    ],
    'lists of one type with what tells them apart': [
      z.union([z.array(z.string().min(3)), z.array(z.string()).max(1)]),
      { type: 'array', items: { type: 'string' }, anyOf: [{ items: { minLength: 3 } }, { maxItems: 1 }] },
    ],
    'an intersection of lists': [
      z.intersection(z.array(z.string().min(3)), z.array(z.string().max(5)).max(2)),
      {
        type: 'array',
        items: { type: 'string', minLength: 3, allOf: [{ maxLength: 5 }] },
        allOf: [{ maxItems: 2, items: { maxLength: 5 } }],
      },
    ],
    'null in an intersection only where all parts take it': [
      z.intersection(z.string().nullable(), z.string().min(2)),
      { type: 'string', allOf: [{ minLength: 2 }] },
    ],
    'a format of the API server by its name': [z.string().meta({ format: 'byte' }), { type: 'string', format: 'byte' }],
    'an object of Kubernetes': [
      z.looseObject({}).meta({ 'x-kubernetes-embedded-resource': true }),
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-embedded-resource': true },
    ],
    'a rule with all that it may say': [
      z.object({ min: z.int(), max: z.int() }).meta({
        'x-kubernetes-validations': [
          { rule: 'self.min <= self.max', messageExpression: "'wrong'", reason: 'FieldValueForbidden', fieldPath: '.max' },
        ],
      }),
      {
        type: 'object',
        properties: { min: { type: 'integer', format: 'int64' }, max: { type: 'integer', format: 'int64' } },
        required: ['min', 'max'],
        'x-kubernetes-validations': [
          { rule: 'self.min <= self.max', messageExpression: "'wrong'", reason: 'FieldValueForbidden', fieldPath: '.max' },
        ],
      },
    ],
    'a set': [
      z.array(z.string()).meta({ 'x-kubernetes-list-type': 'set' }),
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    ],
    'a union with null': [z.union([z.int(), z.null()]), { type: 'integer', format: 'int64', nullable: true }],
    'a union that says by .meta() how it is kept': [
      z.union([z.string(), z.object({})]).meta({ 'x-kubernetes-preserve-unknown-fields': true, description: 'Any.' }),
      { 'x-kubernetes-preserve-unknown-fields': true, description: 'Any.' },
    ],
    'an enum or null by a pattern, since the server compares null with an enum': [
      z.enum(['a', 'b']).nullable(),
      { type: 'string', nullable: true, pattern: '^(?:a|b)$' },
    ],
    'numbers or null by bounds': [
      z.literal([1, 5]).nullable(),
      {
        type: 'integer',
        format: 'int64',
        nullable: true,
        anyOf: [
          { minimum: 1, maximum: 1 },
          { minimum: 5, maximum: 5 },
        ],
      },
    ],
    'an intersection': [
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
    ],
    'a discriminated union, with all fields outside': [
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('s3'), bucket: z.string().min(3) }).describe('In a bucket.'),
        z.object({ type: z.literal('disk'), size: z.int() }),
      ]),
      {
        type: 'object',
        properties: {
          type: { type: 'string', enum: ['s3', 'disk'] },
          bucket: { type: 'string', minLength: 3 },
          size: { type: 'integer', format: 'int64' },
        },
        required: ['type'],
        anyOf: [
          { properties: { type: { enum: ['s3'] } }, required: ['bucket'] },
          { properties: { type: { enum: ['disk'] } }, required: ['size'] },
        ],
      },
    ],
  }
  for (const [name, [type, expected]] of Object.entries(table)) {
    it(`writes ${name}`, () => expect(field(type)).to.deep.equal(expected))
  }

  it('writes an address range by the name that the server knows', () => expect(field(z.cidrv4())?.format).to.equal('cidr'))

  it('checks a local time by its pattern, since the format of the server asks for a zone', () => {
    expect(field(z.iso.datetime({ local: true }))).to.have.property('pattern')
    expect(field(z.iso.datetime({ local: true }))).to.not.have.property('format')
  })

  it('asks only for fields without a default', () => {
    expect(schemaOf(z.object({ a: z.string(), b: z.string().default('x'), c: z.string().optional() }), 'spec').required).to.deep.equal([
      'a',
    ])
  })

  it('has no word in it that a CRD does not know', () => {
    const all = z.object(Object.fromEntries(Object.entries(table).map(([name, [type]], index) => [`f${index}`, type.describe(name)])))
    const words = new Set(JSON.stringify(schemaOf(all, 'spec')).match(/"[$a-zA-Z]+":/g))
    expect(
      [...words].filter((word) =>
        [
          '"$ref":',
          '"$schema":',
          '"const":',
          '"oneOf":',
          '"definitions":',
          '"propertyNames":',
          '"readOnly":',
          '"examples":',
          '"deprecated":',
          '"askedFormat":',
          '"contentEncoding":',
          '"id":',
        ].includes(word),
      ),
    ).to.deep.equal([])
  })

  const tree: z.ZodType = z.object({
    get children() {
      return z.array(tree)
    },
  })
  const refused: Record<string, [z.ZodType, string]> = {
    'z.date()': [z.date(), 'spec.field: z.date() has no JSON form; use z.iso.datetime()'],
    'z.coerce.date()': [z.coerce.date(), 'spec.field: z.date() has no JSON form; use z.iso.datetime()'],
    'z.bigint()': [z.bigint(), 'spec.field: z.bigint() has no JSON form; use z.int()'],
    'z.map()': [z.map(z.string(), z.string()), 'spec.field: z.map() has no JSON form; use z.record()'],
    'z.set()': [z.set(z.string()), 'spec.field: z.set() has no JSON form; use z.array()'],
    'z.symbol()': [z.symbol(), 'spec.field: z.symbol() has no JSON form'],
    'z.undefined()': [z.undefined(), 'spec.field: z.undefined() has no JSON form'],
    'z.file()': [z.file(), 'spec.field: z.file() has no JSON form'],
    'z.tuple()': [z.tuple([z.string(), z.int()]), 'spec.field: z.tuple() cannot be said in a CRD'],
    'z.instanceof()': [z.instanceof(URL), 'spec.field: z.custom() and z.instanceof()'],
    'transform()': [z.string().transform((text) => text.length), 'spec.field: z.transform() changes the value'],
    'z.preprocess()': [z.preprocess((value) => value, z.string()), 'spec.field: z.transform() changes the value'],
    'z.codec()': [z.codec(z.string(), z.int(), { decode: Number, encode: String }), 'spec.field: z.transform() changes the value'],
    'z.stringbool()': [z.stringbool(), 'spec.field: z.transform() changes the value'],
    'pipe()': [z.string().pipe(z.string().min(3)), 'spec.field: z.pipe() cannot be said in a CRD'],
    'trim()': [z.string().trim(), 'spec.field: trim(), toLowerCase() and the like change the value'],
    'refine()': [z.string().refine((text) => text !== 'x'), 'spec.field: refine() and check() run JavaScript'],
    'catch()': [z.string().catch('x'), 'spec.field: z.catch() replaces a value'],
    'z.never()': [z.never(), 'spec.field: nothing can be stored in this field'],
    'z.null() alone': [z.null(), 'spec.field: only null could be stored in this field'],
    'a look-ahead': [z.string().regex(/^(?=a)/), 'spec.field: the pattern /^(?=a)/ has a look-ahead'],
    'a back reference': [z.string().regex(/(a)\1/), 'spec.field: the pattern /(a)\\1/ has a back reference'],
    'an operation on sets': [z.string().regex(/[\p{L}--[a-z]]/v), 'spec.field: the pattern /[\\p{L}--[a-z]]/v has an operation on sets'],
    'z.emoji()': [z.emoji(), 'spec.field: the pattern'],
    'checked keys of a record': [z.record(z.string().min(3), z.int()), 'spec.field: the keys of z.record() cannot be checked'],
    'a type that contains itself': [tree, 'spec.field.children[]: the type contains itself'],
    'a default of another value each time': [
      z.string().default(() => String(Math.random())),
      'spec.field: its default is another one each time',
    ],
    'a default in one alternative': [
      z.union([z.object({ a: z.string().default('x') }), z.object({ b: z.string() })]),
      'spec.field.a: a default in one alternative of a union',
    ],
    'types that have nothing in common': [
      z.union([z.string(), z.object({})]),
      'spec.field: the API server cannot tell texts and objects apart in one field; use a field for each',
    ],
    'a time or a number': [
      z.union([z.int(), z.iso.datetime()]),
      'spec.field: the API server cannot check the format date-time beside numbers',
    ],
    'null or a literal boolean': [z.literal(true).nullable(), 'spec.field: the API server cannot tell null beside literals'],
    'a broken number or a text': [z.union([z.number(), z.string()]), 'spec.field: the API server cannot tell numbers and texts apart'],
    'lists of different items': [z.union([z.array(z.int()), z.array(z.string())]), 'spec.field: the API server cannot tell lists of'],
    'maps of different values': [
      z.union([z.record(z.string(), z.int()), z.record(z.string(), z.string())]),
      'spec.field: the API server cannot tell maps (z.record())',
    ],
    'a map or an object': [
      z.union([z.record(z.string(), z.int()), z.object({ a: z.string() })]),
      'spec.field: the API server cannot tell maps',
    ],
    'a field of another type in each alternative': [
      z.union([z.object({ port: z.int() }), z.object({ port: z.string() })]),
      'spec.field.port: it has another type in each alternative',
    ],
    'an intersection with a map': [
      z.intersection(z.object({ a: z.string() }), z.record(z.string(), z.string())),
      'spec.field: z.intersection() with z.record()',
    ],
    'a rule in one part of an intersection': [
      z.intersection(z.object({ a: z.string() }).meta({ 'x-kubernetes-validations': [{ rule: 'true' }] }), z.object({ b: z.string() })),
      'spec.field: x-kubernetes-validations inside one part of an intersection; put it behind',
    ],
    'a divisor that is no whole number': [z.number().multipleOf(0.25), 'spec.field: multipleOf(0.25): the API server divides by whole'],
    'catchall()': [z.object({ a: z.string() }).catchall(z.int()), 'spec.field: catchall() cannot be checked beside named fields'],
    'z.looseRecord() of fixed keys': [z.looseRecord(z.enum(['a']), z.string()), 'spec.field: z.looseRecord() of fixed keys'],
    'z.coerce': [z.coerce.number(), 'spec.field: z.coerce changes the value, which the API server does not; use z.number()'],
    'parts of an URL': [z.httpUrl(), 'spec.field: the API server does not look into the parts of an URL'],
    'z.jwt()': [z.jwt(), 'spec.field: the API server does not know the format jwt; use .regex()'],
    'a format by code': [
      z.stringFormat('even', (text) => text.length % 2 === 0),
      'spec.field: the API server does not know the format even; use .regex()',
    ],
    'a default of null': [z.string().nullable().default(null), 'spec.field: the API server takes a default of null for none'],
    'a default that is none of its values': [z.int().min(5).default(1), 'spec.field: its default 1 is none of its values: Too small'],
    'a default of an object that is none of its values': [
      z.object({ a: z.string() }).prefault({} as { a: string }),
      'spec.field: its default {} is none of its values',
    ],
    'an extension that nobody knows': [
      z.array(z.string()).meta({ 'x-kubernetes-listtype': 'set' }),
      'spec.field: .meta(): the API server does not know x-kubernetes-listtype, but x-kubernetes-validations, x-kubernetes-list-type',
    ],
    'a list type that nobody knows': [
      z.array(z.string()).meta({ 'x-kubernetes-list-type': 'bag' as 'set' }),
      "spec.field: .meta(): x-kubernetes-list-type: expected 'atomic', 'set' or 'map', not",
    ],
    'a list type of a text': [
      z.string().meta({ 'x-kubernetes-list-type': 'set' }),
      'spec.field: .meta(): x-kubernetes-list-type is for z.array()',
    ],
    'an embedded text': [z.string().meta({ 'x-kubernetes-embedded-resource': true }), 'is for z.object() and z.record()'],
    'a rule that is a text': [
      z.string().meta({ 'x-kubernetes-validations': ['self != ""'] as never }),
      'spec.field: .meta(): x-kubernetes-validations: expected a list of rules',
    ],
    'a list by keys without keys': [
      z.array(z.object({ name: z.string() })).meta({ 'x-kubernetes-list-type': 'map' }),
      'spec.field: .meta(): a list of type map needs',
    ],
    'keys of a list that is none by keys': [
      z.array(z.object({ name: z.string() })).meta({ 'x-kubernetes-list-map-keys': ['name'] }),
      "spec.field: .meta(): 'x-kubernetes-list-map-keys' is for lists",
    ],
    'a key that the items do not have': [
      z.array(z.object({ name: z.string() })).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] }),
      'spec.field: .meta(): the items of the list have no field id',
    ],
    'a key that may be absent': [
      z.array(z.object({ name: z.string().optional() })).meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
      'spec.field[].name: a key of a list of type map must be given',
    ],
    'a field deep inside': [z.array(z.record(z.string(), z.object({ at: z.date() }))), 'spec.field[][*].at: z.date() has no JSON form'],
  }
  for (const [name, [type, expected]] of Object.entries(refused)) {
    it(`refuses ${name} by its path`, () => expect(() => field(type)).to.throw(expected))
  }
})
