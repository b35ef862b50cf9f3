/** Objects made up from a schema: enough to find what a conversion forgets. */

import type { Schema } from '../resource/schema.ts'

/** Called again and again it gives one object after the other, for the same seed always the same ones. */
export function examplesOf(schema: Schema, seed: number): () => unknown {
  const random = generator(seed)
  return () => example(schema, random, '')
}

type Random = () => number

function example(schema: Schema, random: Random, path: string): unknown {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  if (schema.nullable === true && random() < 0.1) return null
  if (schema.enum !== undefined) return pick(schema.enum)
  const examples = [...(Array.isArray(schema['examples']) ? schema['examples'] : []), ...('example' in schema ? [schema['example']] : [])]
  if (examples.length > 0) return pick(examples)
  if (schema['x-kubernetes-int-or-string'] === true) return pick([whole(schema, random), `${whole(schema, random)}%`])
  switch (schema.type) {
    case 'string':
      return text(schema, random, path)
    case 'integer':
      return whole(schema, random)
    case 'number':
      return pick([whole(schema, random), Math.round(whole(schema, random) * 100) / 100])
    case 'boolean':
      return random() < 0.5
    case 'array': {
      const { minItems = 0, maxItems = Number(minItems) + 3 } = schema as { minItems?: number; maxItems?: number }
      const count = between(random, minItems, Math.min(maxItems, minItems + 3))
      return Array.from({ length: count }, (_, i) => example(schema.items ?? {}, random, `${path}[${i}]`))
    }
    case 'object':
      return fields(schema, random, path)
    default:
      return pick<unknown>(['text', 5, true, { a: [1] }])
  }
}

function fields(schema: Schema, random: Random, path: string): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const made: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const has = required.includes(name) || property.default !== undefined || random() < 0.6
    // What every status has comes by itself.
    if (!has || (path === 'status' && OWN_STATUS.has(name))) continue
    made[name] = example(property, random, path === '' ? name : `${path}.${name}`)
  }
  if (typeof additionalProperties === 'object') {
    for (let i = between(random, 0, 2); i > 0; i--) made[`key-${i}`] = example(additionalProperties, random, `${path}.key-${i}`)
  }
  return made
}

const OWN_STATUS = new Set(['conditions', 'observedGeneration', 'external'])

function whole(
  { minimum = -1000, maximum, multipleOf = 1, exclusiveMinimum, exclusiveMaximum }: Schema & { multipleOf?: number },
  random: Random,
): number {
  const from = Math.ceil((minimum + (exclusiveMinimum === true ? 1 : 0)) / multipleOf)
  const most = maximum ?? Math.max(minimum, 0) + 1000
  const to = Math.floor((most - (exclusiveMaximum === true ? 1 : 0)) / multipleOf)
  // The ends are where faults are.
  const at = random()
  return (at < 0.1 ? from : at > 0.9 ? to : between(random, from, Math.max(from, to))) * multipleOf
}

const FORMATS: Readonly<Record<string, (n: number) => string>> = {
  'date-time': (n) => `2026-01-${String((n % 28) + 1).padStart(2, '0')}T00:00:00Z`,
  date: (n) => `2026-01-${String((n % 28) + 1).padStart(2, '0')}`,
  email: (n) => `user${n}@example.com`,
  ipv4: (n) => `192.0.2.${n % 255}`,
  ipv6: (n) => `2001:db8::${(n % 65_535).toString(16)}`,
  uri: (n) => `https://example.com/${n}`,
  uuid: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  cidr: (n) => `192.0.2.0/${n % 33}`,
}

function text(schema: Schema, random: Random, path: string): string {
  const n = between(random, 0, 999)
  const format = schema.format === undefined ? undefined : FORMATS[schema.format]
  if (format !== undefined) return format(n)
  if (schema.pattern !== undefined) {
    const fits = [schema.default, 'a', `a${n}`, String(n)].filter(
      (one) => typeof one === 'string' && new RegExp(schema.pattern ?? '', 'u').test(one),
    )
    if (fits.length === 0)
      throw new TypeError(`${path}: nothing fits the pattern ${schema.pattern}: give its type examples, .meta({ examples: ['…'] })`)
    return String(fits[n % fits.length])
  }
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema as { minLength?: number; maxLength?: number }
  return ['', 'a', `text ${n}`, 'ä/~"'][n % 4]?.padEnd(minLength, 'x').slice(0, maxLength) ?? ''
}

const between = (random: Random, from: number, to: number) => from + Math.floor(random() * (to - from + 1))

/** Mulberry32: small, and the same everywhere. */
function generator(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
