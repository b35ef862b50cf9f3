/**
 * What a real API server said of its API (scripts/record-api.ts, scripts/record-protobuf.ts): constant, so all servers of a process share it. Each part is
 * read when somebody asks for it; a start needs the first two, some 25 KB.
 */
import type { Schema, TableColumn } from '../types.ts'

export interface RecordedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface RecordedSubresource {
  readonly subresource: string
  readonly responseKind: RecordedKind
  readonly verbs: readonly string[]
}

export interface RecordedResource {
  readonly resource: string
  readonly responseKind: RecordedKind
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly RecordedSubresource[]
  readonly storageVersionHash?: string
  /** `group/version`, where objects are not stored in the version at hand. */
  readonly storageVersion?: string
}

export interface RecordedGroup {
  /** Empty of the core group. */
  readonly metadata: { readonly name?: string }
  readonly versions: readonly { readonly version: string; readonly resources: readonly RecordedResource[] }[]
}

export interface RecordedCore {
  /** Of `/version`. */
  readonly version: Readonly<Record<string, string>>
  /** In the order of discovery; the core group first. */
  readonly groups: readonly RecordedGroup[]
  /** `group/version/Kind` → the name of its definition. */
  readonly kinds: Readonly<Record<string, string>>
  /** Path below `/openapi/v3/` → the hash of the document. */
  readonly documents: Readonly<Record<string, string>>
  /** Names of the checks of each health endpoint. */
  readonly checks: Readonly<Record<'healthz' | 'livez' | 'readyz', readonly string[]>>
  /** Of `/`. */
  readonly paths: readonly string[]
}

/** The documents of a custom group, with `<kind>`, `<plural>` … in place of what differs. */
export interface CustomTemplate {
  readonly v3: {
    readonly info: object
    /** Path → its operations, as JSON text. */
    readonly namespaced: Readonly<Record<string, string>>
    readonly cluster: Readonly<Record<string, string>>
    /** The schema of the list, as JSON text. */
    readonly list: string
    /** Of each object: apiVersion, kind, metadata. */
    readonly properties: Readonly<Record<'apiVersion' | 'kind' | 'metadata', Schema>>
    /** What the operations and `metadata` refer to. */
    readonly schemas: Readonly<Record<string, object>>
  }
  readonly v2: {
    readonly namespaced: Readonly<Record<string, string>>
    readonly cluster: Readonly<Record<string, string>>
    readonly list: string
  }
}

export const recorded = once(() => JSON.parse(read('core.json').toString()) as RecordedCore)
export const customTemplate = once(() => JSON.parse(read('custom.json').toString()) as CustomTemplate)
/** The whole OpenAPI v2 document: two megabytes of JSON. */
export const openapiV2 = weakly(() => read('openapi-v2.json'))

/** Of `group/version/resource`, as its Table has them. */
export function recordedColumns(key: string): readonly TableColumn[] | undefined {
  const all = columns()
  return Object.hasOwn(all, key) ? all[key] : undefined
}

/**
 * A definition without descriptions; references are `$ref` with the bare name of another. The same object each time.
 */
export function definition(name: string): Schema | undefined {
  const known = parsed.get(name)
  if (known !== undefined) return known
  const text = definitionTexts().get(name)
  if (text === undefined) return undefined
  const schema = JSON.parse(text) as Schema
  parsed.set(name, schema)
  return schema
}

export function definitionNames(): Iterable<string> {
  return definitionTexts().keys()
}

/** An OpenAPI v3 document of built-in kinds, by its path below `/openapi/v3/`. */
export function openapiV3(path: string): Buffer | undefined {
  const { index, data } = documents()
  const place = index.get(path)
  return place === undefined ? undefined : data.subarray(place.start, place.end)
}

export interface ProtobufField {
  /** `''`: the members of the message are members of the object. */
  readonly name: string
  readonly many: '' | 'list' | 'map'
  /** `s` string, `b` bool, `i` integer, `d` double, `y` bytes, or the name of a message. */
  readonly type: string
}

/** The fields of a message, by number (scripts/record-protobuf.ts). */
export function protobufMessage(name: string): ReadonlyMap<number, ProtobufField> | undefined {
  const known = messages.get(name)
  if (known !== undefined) return known
  const all = protobuf()
  const fields = Object.hasOwn(all, name) ? all[name] : undefined
  if (fields === undefined) return undefined
  const message = new Map(Object.entries(fields).map(([number, text]) => [Number(number), protobufField(text)]))
  messages.set(name, message)
  return message
}

function protobufField(text: string): ProtobufField {
  const [, name = '', many = '', type = ''] = /^([^:]*):([[{]?)(.*)$/.exec(text) ?? []
  return { name, many: many === '[' ? 'list' : many === '{' ? 'map' : '', type }
}

const messages = new Map<string, ReadonlyMap<number, ProtobufField>>()
const protobuf = once(() => JSON.parse(read('protobuf.json').toString()) as Record<string, Record<string, string>>)
const parsed = new Map<string, Schema>()
const columns = once(() => JSON.parse(read('columns.json').toString()) as Record<string, readonly TableColumn[]>)

const definitionTexts = once(() => {
  const lines = read('definitions.txt').toString().split('\n')
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)]))
})

const documents = weakly(() => {
  const data = read('openapi-v3.txt')
  const first = data.indexOf('\n')
  let start = first + 1
  const index = new Map<string, { start: number; end: number }>()
  for (const [path, length] of JSON.parse(data.subarray(0, first).toString()) as [string, number][]) {
    index.set(path, { start, end: start + length })
    start += length + 1
  }
  return { index, data }
})

function read(name: string): Buffer {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib')
  return brotliDecompressSync(readFileSync(new URL(`./${name}.br`, import.meta.url)))
}

function once<T>(make: () => T): () => T {
  let value: { readonly of: T } | undefined
  return () => {
    value ??= { of: make() }
    return value.of
  }
}

/** Made again when memory was short in between: megabytes that few ask for. */
function weakly<T extends object>(make: () => T): () => T {
  let last: WeakRef<T> | undefined
  return () => {
    const known = last?.deref()
    if (known !== undefined) return known
    const value = make()
    last = new WeakRef(value)
    return value
  }
}
