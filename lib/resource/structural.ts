/**
 * Makes JSON Schema (as zod writes it for OpenAPI 3.0) structural, which is what a CRD asks for: a type at every level, all fields named
 * outside of `anyOf` and the like, which may then only narrow values.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 *
 * Pure: data in, data out.
 */

import { checkMeta } from './meta.ts'
import { oneOf } from './regexp.ts'
import { type Schema, SchemaError } from './schema.ts'

/** @throws SchemaError with the path of what cannot be said */
export function structural(node: Schema, path: string): Schema {
  const schema = converted(node, path)
  checkMeta(schema, path)
  return schema
}

function converted(node: Schema, path: string): Schema {
  const spelledOut = node['x-kubernetes-preserve-unknown-fields'] === true || node['x-kubernetes-int-or-string'] === true
  const options = node.anyOf ?? node.oneOf
  if (options !== undefined) {
    // Whoever says by `.meta()` how the field is to be kept is not asked for more.
    const united = spelledOut ? {} : unionWithNull(options.flatMap(flat), path)
    return { ...united, ...annotations(node) }
  }
  if (node.allOf !== undefined && node.type === undefined) {
    return {
      ...intersection(
        node.allOf.map((part) => structural(part, path)),
        path,
      ),
      ...annotations(node),
    }
  }
  if (node.not !== undefined) throw new SchemaError(path, 'nothing can be stored in this field (z.never()); leave it out')
  if (node.type === undefined && node.enum !== undefined) return { ...mixedEnum(node.enum, path), ...annotations(node) }
  if (node.type === undefined) return { ...(spelledOut ? {} : ANY_VALUE), ...annotations(node) }
  if (isNull(node)) throw new SchemaError(path, 'only null could be stored in this field (z.null()); leave it out, or use .nullable()')
  return nullableEnum({ ...TYPES[node.type]?.(node, path), ...annotations(node) }, node, path)
}

const ANYTHING: Schema = { 'x-kubernetes-preserve-unknown-fields': true }
/** Without `nullable` an API server drops null. */
const ANY_VALUE: Schema = { ...ANYTHING, nullable: true }

const TYPES: Record<string, (node: Schema, path: string) => Schema> = {
  string: (node) => ({
    type: 'string',
    ...stringFormat(node),
    ...pick(node, ['enum', 'minLength', 'maxLength', 'pattern']),
    ...narrowing(node),
  }),
  boolean: (node) => ({ type: 'boolean', ...pick(node, ['enum']) }),
  integer: (node) => ({ type: 'integer', ...integerBounds(node), ...pick(node, ['enum', 'multipleOf']), ...narrowing(node) }),
  number: (node) => (node.enum === undefined ? number(node) : numbers(node.enum.map(Number))),
  array: (node, path) => ({
    type: 'array',
    ...pick(node, ['minItems', 'maxItems']),
    items: structural(node.items ?? {}, `${path}[]`),
  }),
  object,
}

function number(node: Schema): Schema {
  return { type: 'number', ...floatBounds(node), ...pick(node, ['multipleOf']), ...narrowing(node) }
}

function numbers(values: readonly number[]): Schema {
  if (values.every(Number.isInteger)) return { type: 'integer', format: 'int64', enum: [...values] }
  if (!values.some(Number.isInteger)) return { type: 'number', enum: [...values] }
  return { type: 'number', anyOf: values.map(exactly) }
}

function object(node: Schema, path: string): Schema {
  const out: Schema = { type: 'object', ...pick(node, ['minProperties', 'maxProperties']) }
  const properties = Object.entries(node.properties ?? {})
  if (properties.length > 0)
    out.properties = Object.fromEntries(properties.map(([name, value]) => [name, structural(value, `${path}.${name}`)]))
  if (node.required !== undefined && node.required.length > 0) out.required = node.required
  const rest = node.additionalProperties
  if (rest === undefined || rest === false) return out
  // A CRD has either `properties` or `additionalProperties`.
  if (node.properties !== undefined) return { ...out, ...ANYTHING }
  if (rest === true || Object.keys(rest).length === 0) return { ...out, additionalProperties: ANY_VALUE }
  return { ...out, additionalProperties: structural(rest, `${path}[*]`) }
}

/** What the API server checks as zod does. Its `hostname` and `duration` are other things, the rest it does not know. */
const FORMATS = new Set(['date-time', 'date', 'email', 'ipv4', 'ipv6', 'mac', 'uri', 'uuid'])
const RENAMED: Record<string, string> = { cidrv4: 'cidr', cidrv6: 'cidr' }

function stringFormat({ format, askedFormat }: Schema): Schema {
  if (askedFormat !== undefined) return { format: String(askedFormat) }
  const known = format === undefined ? undefined : (RENAMED[format] ?? format)
  return known === 'cidr' || (known !== undefined && FORMATS.has(known)) ? { format: known } : {}
}

const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 }

function integerBounds(given: Schema): Schema {
  const node = wholeBounds(given)
  const { minimum, maximum } = node
  const small = minimum !== undefined && maximum !== undefined && minimum >= INT32.least && maximum <= INT32.most
  return {
    format: small ? 'int32' : 'int64',
    ...bounds(node, (value) => Math.abs(value) >= Number.MAX_SAFE_INTEGER || (small && (value === INT32.least || value === INT32.most))),
  }
}

const FLOAT32_MOST = 3.4028234663852886e38

/** A fraction as a bound of a whole number: the server would cut it down to a whole one. */
function wholeBounds(node: Schema): Schema {
  const { minimum, maximum } = node
  const out = { ...node }
  if (minimum !== undefined && !Number.isInteger(minimum)) Object.assign(out, { minimum: Math.ceil(minimum), exclusiveMinimum: false })
  if (maximum !== undefined && !Number.isInteger(maximum)) Object.assign(out, { maximum: Math.floor(maximum), exclusiveMaximum: false })
  return out
}

/**
 * Where the number is a whole one, an API server cuts a bound down to a whole number as well, so that 1 is not less than 1.5 (tried on
 * 1.36). The one value about which it would be wrong is named.
 */
function floatBounds(node: Schema): Schema {
  const single = node.minimum === -FLOAT32_MOST && node.maximum === FLOAT32_MOST
  const out = { ...(single ? { format: 'float' } : {}), ...bounds(node, (value) => Math.abs(value) >= FLOAT32_MOST) }
  const wrong: number[] = []
  for (const [bound, exclusive, outwards] of [
    ['minimum', 'exclusiveMinimum', 1],
    ['maximum', 'exclusiveMaximum', -1],
  ] as const) {
    const value = out[bound]
    if (value === undefined || Number.isInteger(value)) continue
    if (out[exclusive] === true) wrong.push(value)
    delete out[exclusive]
    if (value * outwards > 0) wrong.push(Math.trunc(value))
  }
  const [first, ...others] = wrong.map(exactly)
  return first === undefined ? out : { ...out, not: others.length === 0 ? first : { anyOf: [first, ...others] } }
}

/** An `enum` with 1 takes 1.5 as well, and bounds of 1.5 take 1: the server makes the value what the keyword is (tried on 1.36). */
function exactly(value: number): Schema {
  return Number.isInteger(value) ? { minimum: value, maximum: value } : { enum: [value] }
}

function bounds(node: Schema, empty: (bound: number) => boolean): Schema {
  return {
    ...(node.minimum === undefined || empty(node.minimum) ? {} : { minimum: node.minimum, ...flagged(node, 'exclusiveMinimum') }),
    ...(node.maximum === undefined || empty(node.maximum) ? {} : { maximum: node.maximum, ...flagged(node, 'exclusiveMaximum') }),
  }
}

function flagged(node: Schema, keyword: 'exclusiveMinimum' | 'exclusiveMaximum'): Schema {
  return node[keyword] === true ? { [keyword]: true } : {}
}

/** Several patterns or divisors come as `allOf`, each with its type. */
function narrowing(node: Schema): Schema {
  const parts = (node.allOf ?? []).map(valuesOnly).filter((part) => Object.keys(part).length > 0)
  return parts.length === 0 ? {} : { allOf: parts }
}

/** What may stand beside any type. */
function annotations(node: Schema): Schema {
  const extensions = Object.keys(node).filter((key) => key.startsWith('x-kubernetes-'))
  const example = Array.isArray(node.examples) && node.examples.length > 0 ? { example: node.examples[0] } : {}
  return { ...example, ...descriptionOf(node), ...pick(node, ['title', 'default', 'nullable', 'example', 'externalDocs', ...extensions]) }
}

/** A definition has no word for fields that should not be used any more; their descriptions say so, as in Kubernetes' own types. */
function descriptionOf({ description, deprecated }: Schema): Schema {
  if (deprecated === true) return { description: description === undefined ? 'Deprecated.' : `Deprecated: ${description}` }
  return description === undefined ? {} : { description }
}

/**
 * An API server compares null with the enum even where `nullable` is true, and refuses it also where the enum has it (tried on 1.36).
 * Patterns and bounds are not asked of null. A rule would cost too much in lists and maps without a limit.
 */
function nullableEnum(schema: Schema, node: Schema, path: string): Schema {
  if (node.nullable !== true || schema.enum === undefined) return schema
  const { enum: values, ...rest } = schema
  const allowed = values.filter((value) => value !== null)
  const texts = allowed.filter((value) => typeof value === 'string')
  const amounts = allowed.filter((value) => typeof value === 'number')
  if (texts.length + amounts.length < allowed.length || (schema.type === undefined && schema['x-kubernetes-int-or-string'] !== true))
    throw new SchemaError(path, 'the API server cannot tell null beside literals of several types, or booleans; use another value for it')
  const parts = [...(texts.length > 0 ? [{ pattern: oneOf(texts) }] : []), ...(amounts.length > 0 ? [{ anyOf: amounts.map(exactly) }] : [])]
  const [only] = parts
  return { ...rest, ...(parts.length === 1 ? only : { allOf: parts }) }
}

function mixedEnum(values: readonly unknown[], path: string): Schema {
  const rest = values.filter((value) => value !== null)
  const types = new Set(rest.map((value) => (typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value)))
  const nullable = rest.length < values.length
  const [only] = types
  if (types.size === 1 && only !== undefined) {
    const schema = { type: only, enum: rest, ...(nullable ? { nullable } : {}) }
    return nullableEnum(schema, schema, path)
  }
  const intOrString = types.size === 2 && types.has('integer') && types.has('string')
  const schema = { ...(intOrString ? { 'x-kubernetes-int-or-string': true } : ANYTHING), enum: rest, ...(nullable ? { nullable } : {}) }
  return nullableEnum(schema, schema, path)
}

function unionWithNull(options: readonly Schema[], path: string): Schema {
  const rest = options.filter((option) => !isNull(option)).map((option) => structural(option, path))
  const united = union(rest, path)
  return rest.length < options.length ? nullableEnum({ ...united, nullable: true }, { nullable: true }, path) : united
}

/** zod writes null as a string of which only null is allowed. */
function isNull(node: Schema): boolean {
  return node.nullable === true && node.enum?.length === 1 && node.enum[0] === null
}

/** A union inside of a union is part of it. */
function flat(option: Schema): Schema[] {
  return option.anyOf !== undefined && Object.keys(option).length === 1 ? option.anyOf.flatMap(flat) : [option]
}

/** One of several, each structural already. */
function union(all: readonly Schema[], path: string): Schema {
  const options = distinct(all)
  const nullable = options.some((option) => option.nullable === true) ? { nullable: true } : {}
  if (options.length > 1) for (const option of options) refuseInAlternative(option, path)
  const [first] = options
  if (first === undefined) return ANY_VALUE
  if (options.length === 1) return first
  const types = new Set(options.map(typeName))
  const are = (...names: readonly string[]) => [...types].every((type) => names.includes(type))
  if (options.some((option) => typeName(option) === 'anything' && option.enum === undefined)) return { ...ANYTHING, ...nullable }
  if (are('object')) return { ...unionOfObjects(options, path), ...nullable }
  if (are('array')) return { ...unionOfArrays(options, path), ...nullable }
  if (types.size > 1 && options.every((option) => option.enum !== undefined)) {
    return {
      ...mixedEnum(
        options.flatMap((option) => option.enum ?? []),
        path,
      ),
      ...nullable,
    }
  }
  if (types.size === 1 && first.type !== undefined) return { ...unionOfScalars(first.type, options), ...nullable }
  if (are('integer', 'number')) return { type: 'number', ...alternatives(options.map(explicit)), ...nullable }
  if (are('integer', 'string', INT_OR_STRING)) return { ...intOrString(options, path), ...nullable }
  const names = [...types].map((type) => TYPE_NAMES[type] ?? type).join(' and ')
  throw new SchemaError(
    path,
    `the API server cannot tell ${names} apart in one field; use a field for each, or .meta({ '${KEEP}': true }) behind the union to have it keep whatever is given`,
  )
}

const INT_OR_STRING = 'int-or-string'
const KEEP = 'x-kubernetes-preserve-unknown-fields'
const TYPE_NAMES: Record<string, string> = {
  object: 'objects',
  array: 'lists',
  string: 'texts',
  integer: 'whole numbers',
  number: 'numbers',
  boolean: 'booleans',
  [INT_OR_STRING]: 'numbers or texts',
}

function typeName(schema: Schema): string {
  return schema.type ?? (schema['x-kubernetes-int-or-string'] === true ? INT_OR_STRING : 'anything')
}

function unionOfArrays(options: readonly Schema[], path: string): Schema {
  const items = options.map((option) => option.items ?? ANY_VALUE)
  const types = distinct(items.map((item) => [typeName(item), item.nullable]))
  if (types.length > 1)
    throw new SchemaError(
      path,
      'the API server cannot tell lists of different items apart; use a field for each, or z.array(z.union([…])) for mixed ones',
    )
  return { type: 'array', items: union(items, `${path}[]`), ...alternatives(options) }
}

/** What can only be said of the field as a whole. */
function refuseInAlternative(option: Schema, path: string): void {
  if (option.default !== undefined) {
    throw new SchemaError(path, 'a default inside one alternative of a union; put it behind the union: z.union([…]).default(…)')
  }
  const extension = Object.keys(option).find((key) => key.startsWith('x-kubernetes-') && !KEPT_BY_UNION.includes(key))
  if (extension !== undefined)
    throw new SchemaError(path, `${extension} inside one alternative of a union; put it behind the union, by .meta()`)
}

const KEPT_BY_UNION = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-int-or-string']

function unionOfScalars(type: string, options: readonly Schema[]): Schema {
  const enums = options.map((option) => option.enum)
  if (enums.every((values) => values !== undefined)) return { type, enum: [...new Set(enums.flat())] }
  if (type !== 'integer') return { type, ...alternatives(options) }
  const format = commonFormat(options)
  const wider = options.map((option) => (format === 'int64' && option.format === 'int32' ? withoutDivisor(explicit(option)) : option))
  return { type, format, ...alternatives(wider) }
}

function withoutDivisor({ multipleOf, ...rest }: Schema): Schema {
  return multipleOf === 1 ? rest : { multipleOf, ...rest }
}

function commonFormat(options: readonly Schema[]): string {
  return options.every((option) => option.format === 'int32') ? 'int32' : 'int64'
}

/** `pattern` and the lengths are only asked of strings, the bounds only of numbers: both may stand side by side, or in `anyOf`. */
function intOrString(options: readonly Schema[], path: string): Schema {
  const texts = options.filter((option) => option.type !== 'integer').map((option) => textChecks(option, path))
  const numbers = options.filter((option) => option.type !== 'string').flatMap(numberChecks)
  const both = [distinct(texts), distinct(numbers)].filter((parts) => !parts.some((part) => Object.keys(part).length === 0))
  const single = both.flatMap((parts) => (parts.length === 1 ? parts : []))
  const several = both.filter((parts) => parts.length > 1).map((anyOf) => ({ anyOf }))
  const allOf = [...single.flatMap((part) => part.allOf ?? []), ...several]
  return { 'x-kubernetes-int-or-string': true, ...Object.assign({}, ...single), ...(allOf.length === 0 ? {} : { allOf }) }
}

/** A `format` would be asked of numbers as well. */
function textChecks({ type, enum: values, format, ...rest }: Schema, path: string): Schema {
  if (type === undefined) return {}
  if (format !== undefined && rest.pattern === undefined)
    throw new SchemaError(
      path,
      `the API server cannot check the format ${format} beside numbers; use z.string().regex(…), or a field for each`,
    )
  return values === undefined ? valuesOnly(rest) : { pattern: oneOf(values.map(String)) }
}

/** An `enum` would be asked of texts as well. */
function numberChecks({ type, enum: values, ...rest }: Schema): Schema[] {
  if (type === undefined) return [{}]
  if (values !== undefined) return values.map((value) => exactly(Number(value)))
  const { format: _width, ...checks } = explicit({ type, ...rest })
  const { multipleOf, ...others } = valuesOnly({ ...checks, type: 'number' })
  return [{ ...others, ...(multipleOf === 1 ? {} : pick({ multipleOf }, ['multipleOf'])) }]
}

/** A whole number's checks where its type is not said beside them. */
function explicit(schema: Schema): Schema {
  if (schema.type !== 'integer') return schema
  const bounds = schema.format === 'int32' ? { minimum: INT32.least, maximum: INT32.most } : {}
  return { multipleOf: 1, ...bounds, ...schema }
}

/** All fields of all alternatives outside, and inside of `anyOf` which of them go together. */
function unionOfObjects(options: readonly Schema[], path: string): Schema {
  const named = options.every((option) => option.additionalProperties === undefined)
  const open = options.some((option) => option['x-kubernetes-preserve-unknown-fields'] === true)
  if (!named) {
    throw new SchemaError(
      path,
      `the API server cannot tell maps (z.record()) from other maps or objects; use a field for each, or .meta({ '${KEEP}': true }) behind the union to have it keep whatever is given`,
    )
  }
  const names = [...new Set(options.flatMap((option) => Object.keys(option.properties ?? {})))]
  const properties = Object.fromEntries(names.map((name) => [name, unitedProperty(options, name, `${path}.${name}`)]))
  const required = (options[0]?.required ?? []).filter((name) => options.every((option) => option.required?.includes(name)))
  return {
    type: 'object',
    ...(names.length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(open ? ANYTHING : {}),
    ...alternatives(options.map((option) => withoutKnown(option, properties, required))),
  }
}

/** A field that some alternatives have: a default would be filled in for the others as well. */
function unitedProperty(options: readonly Schema[], name: string, path: string): Schema {
  const found = options.map((option) => option.properties?.[name]).filter((schema) => schema !== undefined)
  const defaults = distinct(found.map((schema) => schema.default)).filter((value) => value !== undefined)
  if (
    defaults.length > 0 &&
    (found.length < options.length || defaults.length > 1 || found.some((schema) => schema.default === undefined))
  ) {
    throw new SchemaError(
      path,
      'a default in one alternative of a union would be filled in for the others too; make the field optional, or give it the same default in all',
    )
  }
  if (distinct(found.map((schema) => [typeName(schema), schema.nullable === true])).length > 1) {
    throw new SchemaError(
      path,
      'it has another type in each alternative of a union, which the API server cannot tell apart; give it another name in each, or a type that is a union itself',
    )
  }
  const description = found.find((schema) => schema.description !== undefined)?.description
  const united = {
    ...union(
      found.map(({ default: _default, ...rest }): Schema => rest),
      path,
    ),
    ...(description === undefined ? {} : { description }),
  }
  return defaults.length === 0 ? united : { ...united, default: defaults[0] }
}

/** What the outer fields say already need not be said again in each alternative. */
function withoutKnown(option: Schema, known: Record<string, Schema>, required: readonly string[]): Schema {
  const properties = Object.entries(option.properties ?? {}).filter(([name, schema]) => !same(schema, known[name]))
  const more = (option.required ?? []).filter((name) => !required.includes(name))
  const { required: _required, ...rest } = option
  return { ...rest, properties: Object.fromEntries(properties), ...(more.length > 0 ? { required: more } : {}) }
}

function alternatives(options: readonly Schema[]): Schema {
  const parts = distinct(options.map(valuesOnly))
  return parts.some((part) => Object.keys(part).length === 0) ? {} : { anyOf: parts }
}

/** All of several, each structural already. */
function intersection(parts: readonly Schema[], path: string): Schema {
  const [first, ...rest] = parts
  if (first === undefined) return ANYTHING
  const strange = rest.find((part) => part.type !== first.type)
  if (strange !== undefined)
    throw new SchemaError(path, `z.intersection() of ${first.type ?? 'anything'} and ${strange.type ?? 'anything'} cannot be said in a CRD`)
  for (const part of parts) refuseInPart(part, path)
  const nullable = parts.every((part) => part.nullable === true) ? { nullable: true } : {}
  const { nullable: _nullable, ...only } = first
  if (first.type !== 'object') {
    const items =
      first.items === undefined
        ? {}
        : {
            items: intersection(
              parts.map((part) => part.items ?? ANY_VALUE),
              `${path}[]`,
            ),
          }
    const narrower = distinct(rest.map(valuesOnly)).filter((part) => Object.keys(part).length > 0)
    return { ...only, ...items, ...(narrower.length === 0 ? {} : { allOf: [...(first.allOf ?? []), ...narrower] }), ...nullable }
  }
  const properties: Record<string, Schema> = {}
  for (const [name, schema] of parts.flatMap((part) => Object.entries(part.properties ?? {}))) {
    properties[name] = properties[name] === undefined ? schema : intersection([properties[name], schema], `${path}.${name}`)
  }
  const required = [...new Set(parts.flatMap((part) => part.required ?? []))]
  const all = parts.flatMap((part) => [...(part.anyOf === undefined ? [] : [{ anyOf: part.anyOf }]), ...(part.allOf ?? [])])
  const open = parts.some((part) => part['x-kubernetes-preserve-unknown-fields'] === true)
  return {
    type: 'object',
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(open ? ANYTHING : {}),
    ...(all.length > 0 ? { allOf: all } : {}),
    ...nullable,
  }
}

function refuseInPart(part: Schema, path: string): void {
  if (part.additionalProperties !== undefined)
    throw new SchemaError(path, 'z.intersection() with z.record() cannot be said in a CRD; put the map into a field of its own')
  const said = Object.keys(part).find((key) => key === 'default' || (key.startsWith('x-kubernetes-') && !KEPT_BY_UNION.includes(key)))
  if (said !== undefined)
    throw new SchemaError(path, `${said} inside one part of an intersection; put it behind: z.intersection(…).meta(…)`)
}

const VALUE_KEYWORDS = [
  'format',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'not',
]

/** A schema without what may only stand outside of `anyOf` and the like: types, descriptions, defaults, extensions. */
function valuesOnly(schema: Schema): Schema {
  const out = pick(schema, VALUE_KEYWORDS)
  // The widths of integers belong to the outer type.
  if (schema.type === 'integer') delete out.format
  const properties = Object.entries(schema.properties ?? {}).map(([name, value]) => [name, valuesOnly(value)] as const)
  const narrowed = properties.filter(([, value]) => Object.keys(value).length > 0)
  if (narrowed.length > 0) out.properties = Object.fromEntries(narrowed)
  if (schema.items !== undefined) {
    const items = valuesOnly(schema.items)
    if (Object.keys(items).length > 0) out.items = items
  }
  for (const keyword of ['allOf', 'anyOf'] as const) {
    const parts = schema[keyword]?.map(valuesOnly)
    if (parts !== undefined) out[keyword] = parts
  }
  return out
}

function pick(node: Schema, keywords: readonly string[]): Schema {
  return Object.fromEntries(keywords.filter((keyword) => node[keyword] !== undefined).map((keyword) => [keyword, node[keyword]]))
}

function distinct<T>(values: readonly T[]): T[] {
  return values.filter((value, index) => values.findIndex((other) => same(other, value)) === index)
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
