/**
 * Bodies in protobuf, which typed Go clients send for built-in kinds (kubectl create, controller-runtime): read as the JSON that
 * they would have sent otherwise. Answers are never protobuf; all these clients take JSON as well.
 *
 * Go writes every field that is no pointer, empty ones too. They are dropped later, where the object is decoded as its Go type.
 */
import { bodyText } from './body.ts'
import { type ProtobufField, protobufMessage, recorded } from './data/recorded.ts'
import { define, encodeJson, type Json, type JsonObject } from './json.ts'
import { badRequest } from './status.ts'
import type { ApiRequest } from './types.ts'

const MEDIA_TYPE = 'application/vnd.kubernetes.protobuf'
/** Of `k8s.io/apimachinery/pkg/runtime/serializer/protobuf`. */
const PREFIX = 'k8s\0'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** The same request with a body in JSON; the request itself where its body is in no protobuf. @throws ApiError 400 */
export function withJsonBody(request: ApiRequest): ApiRequest {
  const { headers, body } = request
  if (body === undefined || headers['content-type'] !== MEDIA_TYPE) return request
  // Before anything is made of it: it may be too large.
  bodyText(body)
  return {
    ...request,
    headers: { ...headers, 'content-type': 'application/json' },
    body: encodeJson(decodeProtobuf(typeof body === 'string' ? Buffer.from(body, 'latin1') : body)),
  }
}

/** @throws ApiError 400 */
export function decodeProtobuf(body: Buffer): JsonObject {
  if (body.length === 0) return {}
  if (body.toString('latin1', 0, PREFIX.length) !== PREFIX) throw badRequest('provided data does not appear to be a protobuf message')
  try {
    const { apiVersion, kind, raw } = unwrap(body.subarray(PREFIX.length))
    const slash = apiVersion.indexOf('/')
    const group = slash === -1 ? '' : apiVersion.slice(0, slash)
    const known = recorded().kinds
    const key = `${group}/${apiVersion.slice(slash + 1)}/${kind}`
    // DeleteOptions are a kind of each group.
    const message = Object.hasOwn(known, key) ? known[key] : `${META}${kind}`
    return { kind, apiVersion, ...readMessage(message ?? '', raw, 0) }
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(`proto: ${error.message}`)
    throw error
  }
}

/** The envelope: `runtime.Unknown`. */
function unwrap(data: Buffer): { apiVersion: string; kind: string; raw: Buffer } {
  let apiVersion = ''
  let kind = ''
  let raw: Buffer = EMPTY
  for (const { number, bytes } of fieldsOf(data)) {
    if (number === 2) raw = bytes
    if (number !== 1) continue
    for (const part of fieldsOf(bytes)) {
      if (part.number === 1) apiVersion = part.bytes.toString()
      if (part.number === 2) kind = part.bytes.toString()
    }
  }
  return { apiVersion, kind, raw }
}

const EMPTY = Buffer.alloc(0)
const DEEPEST = 1000

function readMessage(name: string, data: Buffer, depth: number): JsonObject {
  if (depth > DEEPEST) throw new RangeError('exceeded maximum recursion depth')
  const object: JsonObject = {}
  const message = protobufMessage(name)
  if (message === undefined) return object
  for (const wire of fieldsOf(data)) {
    const field = message.get(wire.number)
    if (field !== undefined) setField(object, field, wire, depth)
  }
  return object
}

function setField(object: JsonObject, { name, many, type }: ProtobufField, wire: Wire, depth: number): void {
  if (many === 'map') {
    const entries = object[name] as JsonObject | undefined
    const into = entries ?? {}
    if (entries === undefined) define(object, name, into)
    const [key, value] = readEntry(type, wire.bytes, depth)
    define(into, key, value)
  } else if (many === 'list') {
    const known = (object[name] as Json[] | undefined) ?? []
    define(object, name, known)
    known.push(...(wire.type === LENGTH && type === 'i' ? packed(wire.bytes) : [readValue(type, wire, depth) ?? null]))
  } else if (name === '') Object.assign(object, readMessage(type, wire.bytes, depth + 1))
  else {
    const value = readValue(type, wire, depth)
    if (value !== undefined) define(object, name, value)
  }
}

function readEntry(type: string, data: Buffer, depth: number): [string, Json] {
  let key = ''
  let value: Json | undefined
  for (const wire of fieldsOf(data)) {
    if (wire.number === 1) key = wire.bytes.toString()
    if (wire.number === 2) value = readValue(type, wire, depth)
  }
  return [key, value ?? (type === 's' || type === 'y' ? '' : {})]
}

function packed(data: Buffer): Json[] {
  const values: Json[] = []
  for (let at = 0; at < data.length; ) {
    const [value, next] = varint(data, at)
    values.push(integer(value))
    at = next
  }
  return values
}

function readValue(type: string, wire: Wire, depth: number): Json | undefined {
  switch (type) {
    case 's':
      return wire.bytes.toString()
    case 'b':
      return wire.value !== 0n
    case 'i':
      return integer(wire.value)
    case 'd':
      return wire.bytes.length === 8 ? wire.bytes.readDoubleLE() : 0
    case 'y':
      return wire.bytes.toString('base64')
    default:
      return readSpecial(type, wire.bytes, depth)
  }
}

/** Types that write themselves to JSON in their own way. */
function readSpecial(type: string, data: Buffer, depth: number): Json | undefined {
  switch (type.slice(type.lastIndexOf('.') + 1)) {
    case 'Time':
      return readTime(data, 0)
    case 'MicroTime':
      return readTime(data, 6)
    case 'Duration':
      return String(integer(only(data, 1)?.value ?? 0n))
    case 'Quantity':
      return only(data, 1)?.bytes.toString() ?? '0'
    case 'IntOrString':
      return (only(data, 1)?.value ?? 0n) === 0n ? integer(only(data, 2)?.value ?? 0n) : (only(data, 3)?.bytes.toString() ?? '')
    case 'RawExtension':
    case 'FieldsV1':
    case 'JSON':
      return readJson(only(data, 1)?.bytes ?? EMPTY)
    case 'Verbs':
    case 'ExtraValue':
      return (readMessage(type, data, depth + 1)['items'] as Json | undefined) ?? []
    case 'JSONSchemaPropsOrArray':
    case 'JSONSchemaPropsOrBool':
    case 'JSONSchemaPropsOrStringArray': {
      const { schema, allows, jSONSchemas, property } = readMessage(type, data, depth + 1)
      return schema ?? jSONSchemas ?? property ?? allows ?? false
    }
    case 'JSONSchemaProps':
      return withoutEmpty(readMessage(type, data, depth + 1))
    default:
      return readMessage(type, data, depth + 1)
  }
}

/** What stands in an `items` is no longer seen as its Go type. */
function withoutEmpty(schema: JsonObject): JsonObject {
  for (const [name, value] of Object.entries(schema)) if (value === '' || value === false) delete schema[name]
  return schema
}

function readJson(data: Buffer): Json | undefined {
  if (data.length === 0) return undefined
  try {
    return JSON.parse(data.toString()) as Json
  } catch (error) {
    throw badRequest((error as Error).message)
  }
}

/** Seconds since 1970 and nanoseconds; nothing at all is no time. */
function readTime(data: Buffer, digits: 0 | 6): Json {
  if (data.length === 0) return null
  const seconds = Number(integer(only(data, 1)?.value ?? 0n))
  const nanos = Number(integer(only(data, 2)?.value ?? 0n))
  const time = new Date(seconds * 1000)
  if (Number.isNaN(time.getTime())) throw new RangeError('time is out of range')
  const text = time.toISOString().slice(0, 19)
  return digits === 0 ? `${text}Z` : `${text}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`
}

function only(data: Buffer, number: number): Wire | undefined {
  for (const wire of fieldsOf(data)) if (wire.number === number) return wire
  return undefined
}

interface Wire {
  readonly number: number
  readonly type: number
  /** Of a length-delimited or fixed field. */
  readonly bytes: Buffer
  /** Of a varint. */
  readonly value: bigint
}

const VARINT = 0
const FIXED64 = 1
const LENGTH = 2
const FIXED32 = 5

/** @throws RangeError where the data end too early */
function* fieldsOf(data: Buffer): Iterable<Wire> {
  let at = 0
  while (at < data.length) {
    const [tag, afterTag] = varint(data, at)
    const type = Number(tag & 7n)
    const number = Number(tag >> 3n)
    at = afterTag
    if (type === VARINT) {
      const [value, next] = varint(data, at)
      yield { number, type, bytes: EMPTY, value }
      at = next
      continue
    }
    let length = type === FIXED64 ? 8 : 4
    if (type === LENGTH) {
      const [given, next] = varint(data, at)
      length = given > BigInt(data.length) ? Number.MAX_SAFE_INTEGER : Number(given)
      at = next
    } else if (type !== FIXED64 && type !== FIXED32) throw new RangeError(`illegal wireType ${type}`)
    if (at + length > data.length) throw new RangeError('unexpected EOF')
    yield { number, type, bytes: data.subarray(at, at + length), value: 0n }
    at += length
  }
}

function varint(data: Buffer, start: number): [bigint, number] {
  let value = 0n
  for (let i = 0; i < 10; i++) {
    const byte = data[start + i]
    if (byte === undefined) throw new RangeError('unexpected EOF')
    value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte < 0x80) return [value, start + i + 1]
  }
  throw new RangeError('integer overflow')
}

function integer(value: bigint): Json {
  const signed = BigInt.asIntN(64, value)
  const number = Number(signed)
  return Number.isSafeInteger(number) ? number : signed
}
