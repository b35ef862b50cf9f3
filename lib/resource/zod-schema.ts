/**
 * From zod to the schema of a CRD. What zod can check but an API server cannot is an error here, with its path: silently dropped it
 * would let objects in that the handler's types say cannot exist.
 */

import { type core, globalRegistry, safeParse, toJSONSchema } from 'zod'
import { toRe2 } from './regexp.ts'
import { type Schema, SchemaError } from './schema.ts'
import { structural } from './structural.ts'

type Zod = core.$ZodTypes

/** @throws SchemaError */
export function schemaOf(type: core.$ZodType, path: string): Schema {
  check(type as Zod, path, [])
  const json = toJSONSchema(type, {
    target: 'openapi-3.0',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => amend(zodSchema as Zod, jsonSchema as Schema),
  }) as Schema & { definitions?: Record<string, Schema> }
  return structural(inlined(json, json.definitions ?? {}), path)
}

/** Goes through the type, so that an error can name the field as its author wrote it. */
function check(type: Zod, path: string, above: readonly Zod[]): void {
  if (above.includes(type))
    throw new SchemaError(path, 'the type contains itself, which a CRD schema cannot; use z.unknown() from some depth on')
  const inside = [...above, type]
  const { def } = type._zod
  checkChecks(type, path)
  if ('coerce' in def && def.coerce === true && def.type !== 'date' && def.type !== 'bigint')
    throw new SchemaError(path, `z.coerce changes the value, which the API server does not; use z.${def.type}()`)
  const children = CHILDREN[def.type]
  if (children === undefined) throw new SchemaError(path, REFUSED[def.type] ?? `z.${def.type}() ${NO_JSON}`)
  for (const [child, childPath] of children(type, path)) check(child as Zod, childPath, inside)
  if (def.type === 'default' || def.type === 'prefault') checkDefaultFits(def.innerType, def.defaultValue, path)
}

/** Only once all that is inside is known to have no code of its own in it. */
function checkDefaultFits(type: core.$ZodType, value: unknown, path: string): void {
  const { error } = safeParse(type, value)
  if (error === undefined) return
  const [issue] = error.issues
  throw new SchemaError(path, `its default ${JSON.stringify(value)} is none of its values: ${issue?.message}`)
}

type Child = readonly [core.$ZodType, string]

/** What is inside of a type, with its path; what is wrong with the type itself is thrown. A type that is not here is refused. */
const CHILDREN: Partial<Record<Zod['_zod']['def']['type'], (type: Zod, path: string) => readonly Child[]>> = {
  object: (type, path) => {
    const { shape, catchall } = (type as core.$ZodObject)._zod.def
    const rest = catchall?._zod.def.type
    if (rest !== undefined && rest !== 'never' && rest !== 'unknown' && rest !== 'any')
      throw new SchemaError(
        path,
        'catchall() cannot be checked beside named fields; put the others into a z.record() of their own, or use z.looseObject()',
      )
    return Object.entries(shape).map(([name, field]): Child => [field, `${path}.${name}`])
  },
  record: (type, path) => {
    const { keyType, valueType, mode } = (type as core.$ZodRecord)._zod.def
    if (mode === 'loose' && keysOf(keyType as Zod) !== undefined)
      throw new SchemaError(path, 'z.looseRecord() of fixed keys cannot be said in a CRD; use z.partialRecord(), or z.looseObject()')
    checkKeys(keyType as Zod, path)
    return [[valueType, `${path}[*]`]]
  },
  array: (type, path) => [[(type as core.$ZodArray)._zod.def.element, `${path}[]`]],
  union: (type, path) => (type as core.$ZodUnion)._zod.def.options.map((option): Child => [option, path]),
  intersection: (type, path) => {
    const { left, right } = (type as core.$ZodIntersection)._zod.def
    if ([left, right].some(isMap))
      throw new SchemaError(path, 'z.intersection() with z.record() cannot be said in a CRD; put the map into a field of its own')
    return [
      [left, path],
      [right, path],
    ]
  },
  lazy: (type, path) => [[(type as core.$ZodLazy)._zod.innerType, path]],
  default: withDefault,
  prefault: withDefault,
  optional: innerType,
  nullable: innerType,
  nonoptional: innerType,
  readonly: innerType,
  string: withPatterns,
  template_literal: withPatterns,
  number: (type, path) => {
    for (const { value } of (type._zod.def.checks ?? [])
      .map(({ _zod }) => _zod.def as { check: string; value?: unknown })
      .filter(({ check }) => check === 'multiple_of')) {
      // For a whole number it cuts the divisor down to a whole one (tried on 1.36).
      if (!Number.isInteger(value))
        throw new SchemaError(
          path,
          `multipleOf(${value}): the API server divides by whole numbers only; count in smaller units, or write the rule in CEL`,
        )
    }
    return []
  },
  boolean: () => [],
  null: () => [],
  any: () => [],
  unknown: () => [],
  enum: () => [],
  literal: (type, path) => {
    const { values } = (type as core.$ZodLiteral)._zod.def
    if (values.every((value) => typeof value !== 'bigint' && value !== undefined)) return []
    throw new SchemaError(path, `z.literal() of a bigint or undefined ${NO_JSON}`)
  },
  pipe: (type, path) => {
    const def = (type as core.$ZodPipe)._zod.def
    const changes = 'transform' in def || [def.in, def.out].some((part) => part._zod.def.type === 'transform')
    throw new SchemaError(path, changes ? (REFUSED.transform as string) : 'z.pipe() cannot be said in a CRD; put the checks on one type')
  },
}

function isMap(type: core.$ZodType): boolean {
  const { def } = (type as Zod)._zod
  return def.type === 'record' && keysOf(def.keyType as Zod) === undefined
}

function innerType(type: Zod, path: string): readonly Child[] {
  return [[(type as core.$ZodOptional)._zod.def.innerType, path]]
}

function withDefault(type: Zod, path: string): readonly Child[] {
  const { def } = (type as core.$ZodDefault)._zod
  checkDefault(() => def.defaultValue, path)
  return innerType(type, path)
}

function withPatterns(type: Zod, path: string): readonly Child[] {
  checkPatterns(type, path)
  if (type._zod.def.type === 'string') for (const one of stringChecks(type)) checkFormat(one, path)
  return []
}

const NO_JSON = 'has no JSON form'

const REFUSED: Record<string, string> = {
  date: `z.date() ${NO_JSON}; use z.iso.datetime()`,
  bigint: `z.bigint() ${NO_JSON}; use z.int(), or z.string() for more than 2^53`,
  map: `z.map() ${NO_JSON}; use z.record()`,
  set: `z.set() ${NO_JSON}; use z.array() with .meta({ 'x-kubernetes-list-type': 'set' })`,
  tuple: 'z.tuple() cannot be said in a CRD; use z.object() with a name for each part, or z.array()',
  custom: 'z.custom() and z.instanceof() cannot be checked by the API server; use a type that has a JSON form',
  catch: 'z.catch() replaces a value that the API server refuses; use .default() for one that is missing',
  transform: 'z.transform() changes the value, which the API server does not; keep the type as it is stored and change it in the handler',
  never: 'nothing can be stored in this field (z.never()); leave it out',
}

function checkChecks(type: Zod, path: string): void {
  for (const { _zod } of type._zod.def.checks ?? []) {
    const { check } = _zod.def
    if (check === 'overwrite') {
      throw new SchemaError(
        path,
        'trim(), toLowerCase() and the like change the value, which the API server does not; use a pattern, or change it in the handler',
      )
    }
    if (check === 'custom') {
      throw new SchemaError(
        path,
        "refine() and check() run JavaScript, which the API server does not; write the rule in CEL: .meta({ 'x-kubernetes-validations': [{ rule: '…' }] }), or `validations` of the resource",
      )
    }
  }
}

/** Keys are texts; a fixed set of them becomes fields. */
function checkKeys(type: Zod, path: string): void {
  const { def } = type._zod
  const plain = def.type === 'string' && patternsOf(type).length === 0 && (def.checks ?? []).length === 0
  if (!plain && keysOf(type) === undefined) {
    throw new SchemaError(
      path,
      "the keys of z.record() cannot be checked by the API server; use z.string() and a rule in CEL: .meta({ 'x-kubernetes-validations': [{ rule: 'self.all(key, …)' }] })",
    )
  }
}

function keysOf(type: Zod): string[] | undefined {
  const { def } = type._zod
  if (def.type === 'enum') return Object.values(def.entries).map(String)
  if (def.type === 'literal') return def.values.map(String)
  return undefined
}

function checkDefault(read: () => unknown, path: string): void {
  const text = JSON.stringify(read())
  if (text === undefined) throw new SchemaError(path, `its default ${NO_JSON}`)
  if (text === 'null')
    throw new SchemaError(path, 'the API server takes a default of null for none; leave it out, and the field is optional')
  if (text !== JSON.stringify(read())) {
    throw new SchemaError(path, 'its default is another one each time, but a CRD has one for all objects; let the handler choose the value')
  }
}

/** Formats that the API server checks by itself, so that zod's own long pattern is not needed. */
const CHECKED_BY_FORMAT: Record<string, string> = { datetime: 'date-time', date: 'date' }
const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const SECONDS = '\\d+(?:[.,]\\d+)?S'
const TIME = `\\d+H(?:\\d+M)?(?:${SECONDS})?|\\d+M(?:${SECONDS})?|${SECONDS}`
const DAYS = '\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D'
/** zod's pattern has a look-ahead, or leaves a part to its own code. */
const INSTEAD: Record<string, string> = {
  // Whether there is a host, too, only zod's own code knows.
  url: '^[a-zA-Z][a-zA-Z0-9+.-]*:',
  hostname: `^${HOST_PART}(?:\\.${HOST_PART})*\\.?$`,
  base64: '^(?:[0-9A-Za-z+/]{4})*(?:[0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$',
  base64url: '^(?:[0-9A-Za-z_-]{4})*(?:[0-9A-Za-z_-]{2,3})?$',
  duration: `^P(?:\\d+W|(?:${DAYS})(?:T(?:${TIME}))?|T(?:${TIME}))$`,
}

function checkPatterns(type: Zod, path: string): void {
  for (const pattern of patternsOf(type)) {
    try {
      if (typeof pattern !== 'string') toRe2(pattern)
    } catch (error) {
      throw new SchemaError(path, (error as Error).message)
    }
  }
}

/** Formats that zod checks by code of its own, without a pattern, but the API server as well. */
const BY_CODE = new Set(['ipv6', 'cidrv6'])

/** What only code of zod's, or the user's, would check. */
function checkFormat(check: StringCheck & { readonly hostname?: unknown; readonly protocol?: unknown }, path: string): void {
  const { format, pattern } = check
  if (format === undefined) return
  if (format === 'url' && (check.hostname !== undefined || check.protocol !== undefined))
    throw new SchemaError(path, 'the API server does not look into the parts of an URL; use z.url().regex(/^https:…/)')
  if (pattern !== undefined || serverFormat(check) !== undefined || Object.hasOwn(INSTEAD, format) || BY_CODE.has(format)) return
  throw new SchemaError(path, `the API server does not know the format ${format}; use .regex()`)
}

type StringCheck = { readonly format?: string; readonly pattern?: RegExp; readonly local?: boolean; readonly precision?: number | null }

/** A text may be a format by itself (`z.email()`) and have checks beside. */
function stringChecks(type: Zod): StringCheck[] {
  return [type._zod.def as StringCheck, ...(type._zod.def.checks ?? []).map((check) => check._zod.def as StringCheck)]
}

/** The format that stands for a check. `local` and `precision: -1` are wider than the API server's `date-time`. */
function serverFormat({ format, local, precision }: StringCheck): string | undefined {
  if (format === undefined || local === true || precision === -1) return undefined
  return Object.hasOwn(CHECKED_BY_FORMAT, format) ? CHECKED_BY_FORMAT[format] : undefined
}

/** Patterns still to be checked: JavaScript's, or in RE2 already. */
function patternsOf(type: Zod): (RegExp | string)[] {
  if (type._zod.def.type === 'template_literal') return [(type as core.$ZodTemplateLiteral)._zod.pattern]
  return stringChecks(type).flatMap((check) => {
    if (serverFormat(check) !== undefined) return []
    const { format, pattern } = check
    return (format !== undefined && Object.hasOwn(INSTEAD, format) ? INSTEAD[format] : pattern) ?? []
  })
}

/** Corrects what zod writes: flags of patterns are lost, and so are the names of a record's fixed keys. */
function amend(type: Zod, json: Schema): void {
  const { def } = type._zod
  if (def.type === 'string' || def.type === 'template_literal') {
    const [first, ...rest] = patternsOf(type).map((pattern) => (typeof pattern === 'string' ? pattern : toRe2(pattern)))
    const format = stringChecks(type)
      .map(serverFormat)
      .find((name) => name !== undefined)
    // Whoever names a format by `.meta()` means the API server's.
    const asked = globalRegistry.get(type)?.['format']
    if (asked !== undefined) json['askedFormat'] = asked
    delete json.pattern
    delete json.allOf
    if (format !== undefined) json.format = format
    if (rest.length > 0) json.allOf = [first, ...rest].map((pattern) => ({ pattern: pattern as string }))
    else if (first !== undefined) json.pattern = first
  }
  if (def.type === 'record') {
    const keys = keysOf(def.keyType as Zod)
    const values = json.additionalProperties
    if (keys === undefined || typeof values !== 'object') return
    json.properties = Object.fromEntries(keys.map((key) => [key, values]))
    delete json.additionalProperties
  }
}

/** zod points to types that have an `id`; a CRD has no pointers. What points to itself was refused above. */
function inlined(node: Schema, definitions: Record<string, Schema>): Schema {
  const { $ref, definitions: _definitions, ...rest } = node as Schema & { $ref?: string }
  const target = $ref === undefined ? undefined : definitions[$ref.slice('#/definitions/'.length)]
  const out: Schema = target === undefined ? rest : { ...inlined(target, definitions), ...rest }
  if (out.allOf?.length === 1 && out.type === undefined) {
    const { allOf, ...beside } = out
    return { ...inlined(allOf[0] as Schema, definitions), ...beside }
  }
  const go = (schema: Schema) => inlined(schema, definitions)
  if (out.properties !== undefined)
    out.properties = Object.fromEntries(Object.entries(out.properties).map(([name, value]) => [name, go(value)]))
  if (typeof out.additionalProperties === 'object') out.additionalProperties = go(out.additionalProperties)
  if (out.items !== undefined) out.items = go(out.items)
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = out[keyword]
    if (parts !== undefined) out[keyword] = parts.map(go)
  }
  return out
}
