/**
 * JSON patch as the API server applies it. It uses evanphx/json-patch v4, which is laxer than RFC 6902 in places that clients
 * rely on: a `replace` may create a member, negative indices count from the end, a missing member equals null in a `test`,
 * a path needs no leading slash, and an `add` without a value adds null.
 */
import { cloneJson, define, encodeJson, isObject, type Json, type JsonObject } from '../json.ts'
import { ApiError, badRequest } from '../status.ts'
import { jsonKind } from './go-format.ts'

/** More operations in one patch are refused (413). */
const MAX_OPERATIONS = 10_000
/** Bytes that the `copy` operations of one patch may add. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024

/**
 * Null that an operation of this patch wrote. A later `test` tells it from null that was there before: only the former differs
 * from a `test` without a value.
 */
const WRITTEN_NULL = Symbol('null')
type Value = Json | typeof WRITTEN_NULL
type Container = JsonObject | Json[]

interface Document {
  root: Container
  copied: number
  wroteNull: boolean
}

/**
 * The document after all operations; the inputs stay as they are.
 * @throws ApiError 400 where `operations` is no list of operations, 413 for too many, 422 where one of them fails.
 */
export function applyJsonPatch(document: Json, operations: unknown): Json {
  const steps = decodeOperations(operations)
  if (steps.length > MAX_OPERATIONS) {
    const detail = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${steps.length}`
    throw new ApiError(413, 'RequestEntityTooLarge', `Request entity is too large: ${detail}`)
  }
  const state: Document = { root: cloneJson(document) as Container, copied: 0, wroteNull: false }
  for (const step of steps) apply(state, step)
  return state.wroteNull ? (withoutMarks(state.root) as Json) : state.root
}

const DECODING = 'error decoding patch: json: cannot unmarshal'

function decodeOperations(operations: unknown): (JsonObject | null)[] {
  if (operations === null) return []
  if (!Array.isArray(operations)) {
    throw badRequest(`${DECODING} ${jsonKind(operations as Json)} into Go value of type []handlers.jsonPatchOp`)
  }
  for (const operation of operations) {
    if (operation === null) continue
    if (!isObject(operation)) throw badRequest(`${DECODING} ${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`)
    for (const field of ['op', 'path', 'from']) {
      const value = Object.hasOwn(operation, field) ? operation[field] : undefined
      if (value === undefined || value === null || typeof value === 'string') continue
      throw badRequest(`${DECODING} ${jsonKind(value)} into Go struct field jsonPatchOp.${field} of type string`)
    }
  }
  return operations
}

function apply(state: Document, step: JsonObject | null): void {
  switch (text(step, 'op')) {
    case 'add':
      add(state, required(step, 'path'), operand(state, step))
      break
    case 'remove':
      remove(state, required(step, 'path'))
      break
    case 'replace':
      replace(state, required(step, 'path'), step)
      break
    case 'move': {
      const from = required(step, 'from')
      const { container, key } = find(state, from)
      const value = read(container, key)
      remove(state, from)
      add(state, required(step, 'path'), value)
      break
    }
    case 'copy':
      copy(state, step)
      break
    case 'test':
      test(state, required(step, 'path'), step)
      break
    default:
      throw rejected()
  }
}

function add(state: Document, path: string, value: Value | undefined): void {
  const { container, key } = find(state, path)
  const added = (value ?? null) as Json
  if (!Array.isArray(container)) define(container, key, added)
  else if (key === '-') container.push(added)
  else container.splice(index(key, container.length + 1), 0, added)
}

function remove(state: Document, path: string): void {
  const { container, key } = find(state, path)
  if (Array.isArray(container)) container.splice(index(key, container.length), 1)
  else if (Object.hasOwn(container, key)) delete container[key]
  else throw rejected()
}

function replace(state: Document, path: string, step: JsonObject | null): void {
  const value = operand(state, step)
  if (path === '') {
    if (typeof value !== 'object' || value === null) throw rejected()
    state.root = value
    return
  }
  const { container, key } = find(state, path)
  if (Array.isArray(container)) container[index(key, container.length)] = (value ?? null) as Json
  else define(container, key, value ?? null)
}

function copy(state: Document, step: JsonObject | null): void {
  const from = find(state, required(step, 'from'))
  const value = read(from.container, from.key)
  const path = required(step, 'path')
  find(state, path)
  if (value !== undefined && value !== null) {
    state.copied += Buffer.byteLength(encodeJson((value === WRITTEN_NULL ? null : value) as Json))
    if (state.copied > MAX_COPIED_BYTES) throw rejected()
  }
  add(state, path, value === undefined ? null : typeof value === 'symbol' ? value : cloneJson(value))
}

function test(state: Document, path: string, step: JsonObject | null): void {
  const has = step !== null && Object.hasOwn(step, 'value') && step.value !== undefined
  const expected = has ? (step.value ?? WRITTEN_NULL) : undefined
  if (path === '') {
    if (expected === undefined || !equal(state.root, expected)) throw rejected()
    return
  }
  const { container, key } = find(state, path)
  const value = read(container, key) ?? null
  if (value === null) {
    if (expected === undefined || expected === WRITTEN_NULL) return
    throw rejected()
  }
  if (expected === undefined || !equal(value, expected)) throw rejected()
}

/** The container of the last token. All but that one must exist, and be objects or lists. */
function find(state: Document, path: string): { container: Container; key: string } {
  const tokens = path.split('/')
  if (tokens.length < 2) throw rejected()
  let container: Container = state.root
  for (let i = 1; i < tokens.length - 1; i++) {
    const next = read(container, decodeToken(tokens[i] as string))
    if (typeof next !== 'object' || next === null) throw rejected()
    container = next
  }
  return { container, key: decodeToken(tokens.at(-1) as string) }
}

function read(container: Container, key: string): Value | undefined {
  if (Array.isArray(container)) return container[index(key, container.length)]
  return Object.hasOwn(container, key) ? container[key] : undefined
}

/** A position below `length`; negative ones count from the end. Written as Go's Atoi reads it. */
function index(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw rejected()
  const number = Number(key)
  if (number >= length || number < -length) throw rejected()
  return number < 0 ? number + length : number
}

function decodeToken(token: string): string {
  return token.includes('~') ? token.replace(/~[01]/g, (escaped) => (escaped === '~1' ? '/' : '~')) : token
}

/** The value of `add` and `replace`, private to the result; null where there is none. */
function operand(state: Document, step: JsonObject | null): Value {
  if (step === null || !Object.hasOwn(step, 'value') || step.value === undefined) return null
  if (step.value !== null) return cloneJson(step.value)
  state.wroteNull = true
  return WRITTEN_NULL
}

function text(step: JsonObject | null, field: string): string | undefined {
  const value = step !== null && Object.hasOwn(step, field) ? step[field] : undefined
  return typeof value === 'string' ? value : undefined
}

function required(step: JsonObject | null, field: string): string {
  const value = text(step, field)
  if (value === undefined) throw rejected()
  return value
}

function equal(a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return isNumeric(a) && isNumeric(b) && String(a) === String(b)
  }
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i] as Json))
  }
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key] as Json, b[key] as Json))
}

const isNumeric = (value: unknown) => typeof value === 'number' || typeof value === 'bigint'

function withoutMarks(value: Value): Value {
  if (value === WRITTEN_NULL) return null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutMarks) as Json[]
  for (const key of Object.keys(value)) define(value, key, withoutMarks(value[key] as Json))
  return value
}

/** The message never says what was wrong; the real server's does not either. */
function rejected(): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
}
