/** Types as people write them in `resource()`, each with values that it takes and values that it does not, near to each other. */
import fc from 'fast-check'
import { z } from '../../../lib/index.ts'

export interface TypeWithValues {
  readonly type: z.ZodType
  readonly values: fc.Arbitrary<unknown>
}

/** Whatever JSON can say. */
const JUNK = fc.constantFrom<unknown>('', 'a', 'abc', '5', 0, 1, -1, 5, 1.5, 2 ** 40, true, false, [], ['a'], [1], {}, { a: 1 }, { a: 'x' })

/** Mostly the given ones, sometimes anything. */
const of = (type: z.ZodType, ...values: unknown[]): TypeWithValues => ({
  type,
  values: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: JUNK }),
})

/** A text with a format: in its place an API server lets any list through (tried on 1.36). */
const formatted = (type: z.ZodType, ...values: unknown[]): TypeWithValues => ({
  type,
  values: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...values) },
    { weight: 1, arbitrary: JUNK.filter((junk) => !Array.isArray(junk)) },
  ),
})

const texts = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'ABC', 'a\nb', 'Größe', 'b', 'x1', ' a ']
const numbers = [0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -5, 1.5, 2.25, 2.5, 0.1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 1e15]

export const TYPES: readonly TypeWithValues[] = [
  of(z.string(), ...texts),
  of(z.string().min(2).max(4), ...texts),
  of(z.string().length(3), ...texts, '😀😀😀', '😀a'),
  of(z.string().regex(/^[a-z]+$/), ...texts),
  of(
    z
      .string()
      .regex(/^[a-z]+$/i)
      .max(3),
    ...texts,
  ),
  of(z.string().startsWith('a').endsWith('b').includes('a'), ...texts, 'aab', 'axb'),
  of(z.string().lowercase(), ...texts),
  of(z.templateLiteral(['v', z.int()]), 'v1', 'v', 'v1.5', 'x1', 'v-2'),
  of(z.boolean(), true, false, 'true', 0),
  of(z.int(), ...numbers),
  of(z.int().min(1).max(7), ...numbers),
  of(z.int().positive(), ...numbers),
  of(z.int().gt(1).lt(6).multipleOf(2), ...numbers),
  of(z.int32(), ...numbers),
  of(z.uint32(), ...numbers, 2 ** 32 - 1, 2 ** 32),
  of(z.number(), ...numbers),
  of(z.number().min(1.5).lt(5), ...numbers),
  of(z.number().gt(1.5).lt(2.5), ...numbers),
  of(z.number().min(-1.5).max(-0.5), ...numbers, -1.5, -0.5, -0.6, -2),
  of(z.number().gt(-1.5).lt(0.5), ...numbers, -1.5, -1, -0.5, 0.4),
  of(z.int().min(1.5).lt(5.5), ...numbers),
  of(z.union([z.number().min(4.5), z.number().lt(1.5)]), ...numbers),
  of(z.number().multipleOf(2), ...numbers),
  of(z.enum(['a', 'b', 'x1']), ...texts),
  of(z.literal('a'), ...texts),
  of(z.literal([1, 5]), ...numbers),
  of(z.literal([1.5]), ...numbers),
  of(z.literal([1, 1.5, 5]), ...numbers),
  of(z.literal([1, 1.5]).nullable(), ...numbers, null),
  of(z.union([z.literal([1, 2.5]), z.number().gt(4.5)]), ...numbers),
  of(z.literal(['a', 1]), 'a', 1, 2, 'b'),
  of(z.literal(true), true, false),
  of(z.union([z.literal('a'), z.literal(true)]), 'a', true, false, 'b'),
  of(z.enum(['a', 'b']).nullable(), 'a', 'c', null),
  of(z.string().min(2).nullable(), ...texts, null),
  of(z.int().max(3).nullable(), ...numbers, null),
  of(z.union([z.enum(['a', 'b']), z.string().min(4)]).nullable(), ...texts, null),
  formatted(z.iso.date(), '2026-01-31', '2026-02-30', '2026-1-1', '2026-01-31T00:00:00Z'),
  formatted(z.iso.datetime(), '2026-01-31T00:00:00Z', '2026-01-31T00:00:00.123Z', '2026-01-31', '2026-13-31T00:00:00Z'),
  of(z.iso.duration(), 'P1D', 'PT1H', 'P', '1h', 'P1Y2M', 'PT', 'P3W', 'P1DT', 'P1M1Y', 'PT1M1.5S', 'P1DT1H'),
  formatted(z.uuid(), '123e4567-e89b-42d3-a456-426614174000', '123e4567-e89b-42d3-a456-42661417400', 'x'),
  formatted(z.ipv4(), '10.0.0.1', '10.0.0.256', '::1', '10.0.0'),
  formatted(z.ipv6(), '::1', 'fe80::1', '10.0.0.1', 'g::1'),
  formatted(z.cidrv4(), '10.0.0.0/8', '10.0.0.0/33', '10.0.0.0', 'fe80::/10'),
  formatted(z.email(), 'a@example.com', 'a.example.com', 'a b@example.com', '@example.com'),
  formatted(z.url(), 'https://example.com/a?b#c', 'example.com', '/a', 'mailto:a@example.com'),
  of(z.hostname(), 'example.com', 'a-b.c', '-a.b', 'a..b', 'a_b'),
  of(z.base64(), 'YQ==', 'YWI=', 'YWJj', 'YQ=', '?'),
  of(z.union([z.int(), z.string()]), ...texts, ...numbers),
  of(z.union([z.int().min(1).max(5), z.string().regex(/^[a-z]+$/)]), ...texts, ...numbers),
  of(z.union([z.int().min(2), z.enum(['a', 'b'])]), ...texts, ...numbers),
  of(z.union([z.literal([1, 5]), z.int().min(8), z.string().max(1), z.enum(['abc'])]), ...texts, ...numbers),
  of(z.union([z.int32(), z.email()]), ...numbers, 'a@example.com', 'a', ''),
  of(z.enum(['a', 'b']).nullable(), 'a', 'b', 'c', null),
  of(z.literal([1, 5]).nullable(), 1, 2, 5, null),
  of(z.literal(['a', 1, null]), 'a', 1, 2, 'b', null),
  of(z.union([z.int().min(5), z.number().max(2)]), ...numbers),
  of(z.union([z.int32(), z.int().min(2 ** 40)]), ...numbers, 2 ** 39, 2 ** 40),
  of(z.union([z.iso.date(), z.string().max(2)]), ...texts, '2026-01-31'),
  of(z.union([z.array(z.string().min(3)), z.array(z.string()).max(1)]), [], ['a'], ['a', 'b'], ['abc', 'abcd'], ['abc', 'a']),
  of(z.array(z.int()).min(1).max(3), [], [1], [1, 2, 3], [1, 2, 3, 4], ['a'], [1.5]),
  of(z.record(z.string(), z.int().min(1)), {}, { a: 1 }, { a: 0 }, { a: 'x' }, { a: 1, b: 2 }),
  of(z.record(z.enum(['a', 'b']), z.string()), { a: 'x', b: 'y' }, { a: 'x' }, { a: 'x', b: 1 }, {}),
  of(z.partialRecord(z.enum(['a', 'b']), z.string()), { a: 'x', b: 'y' }, { a: 'x' }, { a: 1 }, {}),
  of(z.looseObject({ a: z.int() }), { a: 1 }, { a: 1, b: { c: [null] } }, { b: 1 }, { a: 'x' }),
  of(z.unknown(), 'a', 1, null, [1, 'a', null], { a: { b: null } }),
  of(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('s3'), bucket: z.string().min(3) }),
      z.object({ type: z.literal('disk'), size: z.int() }),
    ]),
    { type: 's3', bucket: 'abc' },
    { type: 's3', bucket: 'a' },
    { type: 's3' },
    { type: 'disk', size: 1 },
    { type: 'disk' },
    { type: 'tape', size: 1 },
    { bucket: 'abc' },
  ),
  of(
    z.intersection(z.object({ a: z.string().min(2) }), z.object({ a: z.string().max(3), b: z.int().optional() })),
    { a: 'ab' },
    { a: 'a' },
    { a: 'abcd' },
    { a: 'abc', b: 1 },
    { a: 'abc', b: 'x' },
    { b: 1 },
  ),
]

/** The types above, and objects, lists, maps, defaults and optional fields of them. */
export function anyType(depth = 2): fc.Arbitrary<TypeWithValues> {
  const simple = fc.constantFrom(...TYPES)
  if (depth === 0) return simple
  const inner = anyType(depth - 1)
  const fields = fc.dictionary(fc.constantFrom('a', 'b', 'size', 'camelCase'), field(inner), { minKeys: 1, maxKeys: 3 })
  return fc.oneof(
    simple,
    inner.map(({ type, values }) => ({ type: z.array(type).max(3), values: fc.array(values, { maxLength: 4 }) })),
    inner.map(({ type, values }) => ({ type: z.record(z.string(), type), values: fc.dictionary(fc.constantFrom('k', 'l'), values) })),
    fields.map((shape) => ({
      type: z.object(Object.fromEntries(Object.entries(shape).map(([name, { type }]) => [name, type]))),
      values: fc.record(Object.fromEntries(Object.entries(shape).map(([name, { values }]) => [name, values])), { requiredKeys: [] }),
    })),
  )
}

/** A field may be absent, or null, which the API server takes for absent where the type is not nullable. */
function field(inner: fc.Arbitrary<TypeWithValues>): fc.Arbitrary<TypeWithValues> {
  return fc.oneof(
    inner,
    inner.map(({ type, values }) => ({ type: type.optional(), values: fc.option(values, { freq: 8, nil: null }) })),
    inner.chain(({ type, values }) => {
      const fitting = values.filter((value) => type.safeParse(value).data != null)
      return fc
        .constant(undefined)
        .chain(() => fitting)
        .map((value) => ({ type: type.default(type.parse(value) as never), values }))
    }),
  )
}
