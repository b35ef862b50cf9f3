/**
 * How an object of a built-in kind looks after Go has decoded it, and before Go encodes it again.
 *
 * A real server holds built-in objects as structs. That shows: unknown members are not there, a value of another type is refused,
 * `null` is nothing, empty members vanish or stay by the tags of the struct, quantities and times are written in one form. All of
 * it is in the types alone, which `data.ts` has recorded; the OpenAPI documents do not tell it.
 *
 * Format of the data: the first line lists `group/version/Kind=STRUCT`, each further line is one struct,
 * `name|member=tags=type=embedded|…` (`embedded`: the struct inlined here that really has the member, if any). Tags: `o` omitempty, `z` omitzero. Types: `*T` pointer, `[name:T` slice, `{name:key:T` map, `#N` struct,
 * `s` string, `b` bool, `iKIND ` integer, `f` float, `y` bytes, `?` anything, `@name` a type that reads itself.
 */
import { brotliDecompressSync } from 'node:zlib'
import { define } from '../../json.ts'
import { canonicalQuantity } from '../../quantity.ts'
import { type ApiError, badRequest } from '../../status.ts'
import { parseMicroTime, parseTime } from '../../times.ts'
import type { ApiObject } from '../../types.ts'
import { SHAPES } from './data.ts'

export interface Shape {
  /**
   * Brings a private copy into the decoded form, and gives the paths of the members that it does not have.
   * @throws ApiError 400 where a value has the wrong type, with Go's text
   */
  decode(object: ApiObject): string[]
  /** The same for what the server itself has changed: nothing is unknown or wrong any more. */
  normalize(object: ApiObject): void
  /** Go's text of the first value of a wrong type; `undefined`: there is none. Changes nothing. */
  problem(object: unknown): string | undefined
}

export function builtinShape(group: string, version: string, kind: string): Shape | undefined {
  const index = roots().get(`${group}/${version}/${kind}`)
  if (index === undefined) return undefined
  return {
    decode(object) {
      const reading = new Reading(false)
      const decoded = readStruct(reading, struct(index), object)
      if (reading.clean) {
        replace(object, decoded)
        return []
      }
      const careful = new Reading(true)
      readStruct(careful, struct(index), object)
      if (careful.error !== undefined) throw notHandled(kind, version, careful.error)
      replace(object, decoded)
      return careful.unknown
    },
    normalize(object) {
      replace(object, readStruct(new Reading(false, true), struct(index), object))
    },
    problem(object) {
      const careful = new Reading(true)
      read(careful, { code: '#', struct: index }, object)
      return careful.error
    },
  }
}

/** `Deployment in version "v1" cannot be handled as a Deployment: …` */
export function notHandled(kind: string, version: string, why: string): ApiError {
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`)
}

type Code = '*' | '[' | '{' | '#' | 's' | 'b' | 'i' | 'f' | 'y' | '?' | '@'

interface GoType {
  readonly code: Code
  /** As an error names it. */
  readonly name?: string
  readonly element?: GoType
  readonly struct?: number
}

interface Member {
  readonly name: string
  readonly omitEmpty: boolean
  readonly type: GoType
  /** Names of the inlined structs on the way: errors count them into the path. */
  readonly via: readonly string[]
}

interface Struct {
  readonly name: string
  readonly short: string
  readonly members: readonly Member[]
  readonly byName: ReadonlyMap<string, Member>
}

let data: { lines: string[]; roots: Map<string, number>; structs: (Struct | undefined)[] } | undefined

function load() {
  if (data === undefined) {
    const [head = '', ...lines] = brotliDecompressSync(Buffer.from(SHAPES, 'base64')).toString().trimEnd().split('\n')
    const entries = head.split('|').map((entry) => entry.split('=') as [string, string])
    data = { lines, roots: new Map(entries.map(([kind, index]) => [kind, Number(index)])), structs: new Array(lines.length) }
  }
  return data
}

const roots = () => load().roots

function struct(index: number): Struct {
  const { structs, lines } = load()
  let known = structs[index]
  if (known === undefined) {
    const [name = '', ...rest] = (lines[index] ?? '').split('|')
    // A struct may have no members.
    const members = rest.flatMap((text) => (text === '' ? [] : [parseMember(text)]))
    known = { name, short: name.slice(name.indexOf('.') + 1), members, byName: new Map(members.map((member) => [member.name, member])) }
    structs[index] = known
  }
  return known
}

function parseMember(text: string): Member {
  const [name = '', tags = '', type = '', via] = text.split('=')
  const parsed = parseType(type)
  const vanishes = tags.includes('z') || (tags.includes('o') && parsed.code !== '#' && parsed.code !== '@')
  return { name, omitEmpty: vanishes, type: parsed, via: via === undefined ? [] : via.split('.') }
}

function parseType(text: string): GoType {
  const code = text[0] as Code
  const rest = text.slice(1)
  switch (code) {
    case '*':
      return { code, element: parseType(rest) }
    case '[': {
      const colon = rest.indexOf(':')
      return named(code, rest.slice(0, colon), parseType(rest.slice(colon + 1)))
    }
    case '{': {
      const [name = '', key = ''] = rest.split(':', 2)
      return named(code, name, parseType(rest.slice(name.length + key.length + 2)), key)
    }
    case '#':
      return { code, struct: Number(rest) }
    case 'i': {
      const [kind = '', name = ''] = rest.split(' ')
      return { code, name: name === '' ? kind : name }
    }
    case 's':
      return { code, name: rest === '' ? 'string' : rest }
    case 'b':
      return { code, name: rest === '' ? 'bool' : rest }
    default:
      return { code, name: rest === '' ? (({ f: 'float64', y: '[]uint8' } as Record<string, string>)[code] ?? code) : rest }
  }
}

/** Types without a name of their own get one when an error needs it. */
const named = (code: Code, name: string, element: GoType, key = ''): GoType =>
  name === '' ? { code, element, ...(key === '' ? {} : { struct: keyIndex(key) }) } : { code, name, element }

const keys: string[] = []
const keyIndex = (key: string) => {
  const known = keys.indexOf(key)
  return known >= 0 ? known : keys.push(key) - 1
}

function typeName(type: GoType): string {
  if (type.code === '#') return struct(type.struct ?? 0).name
  if (type.name !== undefined) return type.name
  const element = type.element === undefined ? '' : typeName(type.element)
  if (type.code === '*') return `*${element}`
  if (type.code === '[') return `[]${element}`
  return `map[${keys[type.struct ?? 0] ?? 'string'}]${element}`
}

/** One object being read. `careful`: in the order of the document, to find what is wrong or unknown; else as fast as it goes. */
class Reading {
  readonly careful: boolean
  /** The result is what is stored. Until then an empty list is one, and whoever wrote it owns it. */
  readonly stored: boolean
  clean = true
  error: string | undefined
  readonly unknown: string[] = []
  /** For errors: the innermost struct, and the members that lead to the value. */
  struct = ''
  readonly stack: string[] = []
  /** For unknown members: with indices. */
  path = ''

  constructor(careful: boolean, stored = false) {
    this.careful = careful
    this.stored = stored
  }

  wrong(value: unknown, type: GoType, withNumber = false): undefined {
    const came = kindOf(value) + (withNumber ? ` ${value}` : '')
    const where = this.struct === '' ? 'Go value' : `Go struct field ${this.struct}.${this.stack.join('.')}`
    return this.fail(`json: cannot unmarshal ${came} into ${where} of type ${typeName(type)}`)
  }

  fail(text: string): undefined {
    this.clean = false
    this.error ??= text
    return undefined
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return typeof value
}

function readStruct(reading: Reading, shape: Struct, value: Record<string, unknown>): Record<string, unknown> {
  if (reading.careful) return searchStruct(reading, shape, value)
  const result: Record<string, unknown> = {}
  let known = 0
  for (const member of shape.members) {
    const given = value[member.name]
    if (given === undefined) {
      if (!member.omitEmpty) result[member.name] = zero(member.type)
      continue
    }
    known++
    const read_ = given === null ? zero(member.type) : read(reading, member.type, given)
    if (isEmpty(member.type, read_)) {
      if (member.omitEmpty) continue
      // Stored objects are protobuf, which knows no empty list; definitions of custom kinds alone are JSON.
      const vanishes = reading.stored && member.type.code === '[' && shape.short !== 'CustomResourceDefinitionSpec'
      result[member.name] = vanishes ? null : read_
    } else result[member.name] = read_
  }
  if (reading.clean && countMembers(value) !== known) reading.clean = false
  return result
}

function countMembers(value: Record<string, unknown>): number {
  let count = 0
  for (const key in value) if (value[key] !== undefined) count++
  return count
}

function searchStruct(reading: Reading, shape: Struct, value: Record<string, unknown>): Record<string, unknown> {
  const { struct: outer, path } = reading
  for (const key of Object.keys(value)) {
    const given = value[key]
    if (given === undefined) continue
    const member = shape.byName.get(key)
    const at = path === '' ? key : `${path}.${key}`
    if (member === undefined) {
      reading.unknown.push(at)
      continue
    }
    if (given === null) continue
    reading.struct = shape.short
    const depth = reading.stack.length
    reading.stack.push(...member.via, key)
    reading.path = at
    read(reading, member.type, given)
    reading.stack.length = depth
  }
  reading.struct = outer
  reading.path = path
  return {}
}

/** `value` is neither null nor undefined. */
function read(reading: Reading, type: GoType, value: unknown): unknown {
  switch (type.code) {
    case '*':
      return read(reading, type.element as GoType, value)
    case '#':
      if (typeof value !== 'object' || Array.isArray(value)) return reading.wrong(value, type)
      return readStruct(reading, struct(type.struct as number), value as Record<string, unknown>)
    case '[':
      return Array.isArray(value) ? readSlice(reading, type.element as GoType, value) : reading.wrong(value, type)
    case '{':
      if (typeof value !== 'object' || Array.isArray(value)) return reading.wrong(value, type)
      return readMap(reading, type.element as GoType, value as Record<string, unknown>)
    case 's':
      return typeof value === 'string' ? value : reading.wrong(value, type)
    case 'b':
      return typeof value === 'boolean' ? value : reading.wrong(value, type)
    case 'i':
      return readInteger(reading, type, value)
    case 'f':
      return typeof value === 'number' || typeof value === 'bigint' ? value : reading.wrong(value, type)
    case 'y':
      if (isBytes(value)) return Buffer.from(value).toString('base64')
      return typeof value === 'string' ? readBytes(reading, value) : reading.wrong(value, type)
    case '@':
      return readSpecial(reading, type, value)
    default:
      return value
  }
}

function readSlice(reading: Reading, element: GoType, values: unknown[]): unknown[] {
  const { path } = reading
  const result = new Array(values.length)
  for (let i = 0; i < values.length; i++) {
    if (reading.careful) reading.path = `${path}[${i}]`
    const value = values[i]
    result[i] = value === null || value === undefined ? zero(element) : read(reading, element, value)
  }
  reading.path = path
  return result
}

function readMap(reading: Reading, element: GoType, values: Record<string, unknown>): Record<string, unknown> {
  const { path } = reading
  const result: Record<string, unknown> = {}
  // Go writes the members of a map in the order of their names.
  const names = reading.careful ? Object.keys(values) : Object.keys(values).sort()
  for (const key of names) {
    const value = values[key]
    if (value === undefined) continue
    if (reading.careful) reading.path = `${path}.${key}`
    define(result, key, value === null ? (element.code === 'y' ? '' : zero(element)) : read(reading, element, value))
  }
  reading.path = path
  return result
}

const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 63n), 2n ** 63n - 1n],
  uint8: [0n, 255n],
  uint16: [0n, 65535n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
}

function readInteger(reading: Reading, type: GoType, value: unknown): unknown {
  if (typeof value !== 'number' && typeof value !== 'bigint') return reading.wrong(value, type)
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return reading.wrong(value, type, true)
    if (value >= -2147483648 && value <= 2147483647) return value
  }
  const [low, high] = RANGES[type.name ?? ''] ?? [-(2n ** 63n), 2n ** 63n - 1n]
  const exact = BigInt(value)
  return exact >= low && exact <= high ? value : reading.wrong(value, type, true)
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Go takes a list of numbers for bytes as well. */
const isBytes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((each) => Number.isInteger(each) && each >= 0 && each <= 255)

function readBytes(reading: Reading, value: string): unknown {
  if (BASE64.test(value)) return value
  const bare = value.replace(/[\r\n]/g, '')
  if (BASE64.test(bare)) return bare
  return reading.fail(`illegal base64 data at input byte ${corruptAt(value)}`)
}

/** Where Go's reader gives up: groups of four, padding only at the end of the last. */
function corruptAt(value: string): number {
  let inGroup = 0
  for (let i = 0; i < value.length; i++) {
    const character = value[i] as string
    if (/[\r\n]/.test(character)) continue
    if (/[A-Za-z0-9+/]/.test(character)) inGroup = (inGroup + 1) % 4
    else if (character !== '=' || inGroup < 2) return i
    else if (inGroup === 3) return i + 1
    else if (i + 1 === value.length) return value.length
    else return value[i + 1] === '=' ? i + 2 : i
  }
  return value.length - inGroup
}

function readSpecial(reading: Reading, type: GoType, value: unknown): unknown {
  try {
    switch (type.name) {
      case 'resource.Quantity':
        return canonicalQuantity(quantityText(value))
      case 'v1.Time':
        return typeof value === 'string' ? parseTime(value) : reading.wrong(value, TEXT)
      case 'v1.MicroTime':
        return typeof value === 'string' ? parseMicroTime(value) : reading.wrong(value, TEXT)
      case 'intstr.IntOrString':
        return typeof value === 'string' ? value : readInteger(reading, INT32, value)
      default:
        return value
    }
  } catch (error) {
    return reading.fail((error as Error).message)
  }
}

const TEXT: GoType = { code: 's', name: 'string' }
const INT32: GoType = { code: 'i', name: 'int32' }

const quantityText = (value: unknown): string | number | bigint =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? value : JSON.stringify(value)

function isEmpty(type: GoType, value: unknown): boolean {
  switch (type.code) {
    case 's':
    case 'y':
      return value === '' || value === null || value === undefined
    case 'b':
      return value !== true
    case 'i':
    case 'f':
      return value === 0 || value === null || value === undefined
    case '[':
      return value === null || value === undefined || (value as unknown[]).length === 0
    case '{':
      for (const _ in value as object) return false
      return true
    default:
      return value === null || value === undefined
  }
}

function zero(type: GoType): unknown {
  switch (type.code) {
    case 's':
      return ''
    case 'b':
      return false
    case 'i':
    case 'f':
      return 0
    case '#':
      return readStruct(new Reading(false), struct(type.struct as number), {})
    case '@':
      if (type.name === 'resource.Quantity') return '0'
      return type.name === 'intstr.IntOrString' ? 0 : null
    default:
      return null
  }
}

function replace(object: ApiObject, decoded: Record<string, unknown>): void {
  for (const key of Object.keys(object)) delete object[key]
  for (const key of Object.keys(decoded)) object[key] = decoded[key]
}
