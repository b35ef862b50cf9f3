/** `/openapi/v2` and `/openapi/v3`: built-in kinds as recorded, custom ones from the registry. */
import type { Core } from './core.ts'
import { openapiV2, openapiV3, recorded } from './data/recorded.ts'
import { customDocument, customV2 } from './openapi/custom.ts'
import { openapiV2Protobuf } from './openapi/v2-protobuf.ts'
import type { ApiResponse, ResourceType } from './types.ts'

export interface OpenApiRequest {
  readonly path: string
  readonly query?: URLSearchParams
  readonly accept: string | undefined
  readonly ifNoneMatch?: string | undefined
}

/** The answer to a GET; undefined: the path is none of these. */
export function openapi(core: Core, request: OpenApiRequest): ApiResponse | undefined {
  const { path } = request
  if (path === '/openapi/v2') return whole(core, request)
  if (path === '/openapi/v3') return index(core)
  if (path.startsWith('/openapi/v3/')) return one(core, path.slice('/openapi/v3/'.length), request)
  return undefined
}

function index(core: Core): ApiResponse {
  const hashes = new Map(Object.entries(recorded().documents))
  for (const [path, { hash }] of documentsOf(core)) hashes.set(path, hash)
  const sorted = [...hashes].sort(([a], [b]) => (a < b ? -1 : 1))
  const paths = Object.fromEntries(sorted.map(([path, hash]) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]))
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': UNCACHED }
  return { status: 200, headers, body: JSON.stringify({ paths }) }
}

const UNCACHED = 'no-cache, private'
const YEAR = 365 * 86_400_000

/** A client that names the document's hash may keep it for good; one that names another is sent to the right one. */
function one(core: Core, path: string, { query, accept, ifNoneMatch }: OpenApiRequest): ApiResponse {
  const custom = documentsOf(core).get(path)
  const { documents } = recorded()
  const hash = custom?.hash ?? (Object.hasOwn(documents, path) ? documents[path] : undefined)
  if (hash === undefined) return { status: 404, headers: { 'Cache-Control': UNCACHED }, body: '' }
  const headers = { 'Cache-Control': UNCACHED, Vary: 'Accept' }
  if (!acceptsJson(accept)) return { status: 406, headers, body: '' }
  const asked = query?.get('hash') ?? ''
  const typed = { ...headers, 'Content-Type': 'application/json', ETag: `"${hash}"` }
  if (asked !== '' && asked !== hash) return { status: 301, headers: { ...typed, Location: `/openapi/v3/${path}?hash=${hash}` }, body: '' }
  const expires = new Date(core.clock.now() + YEAR).toUTCString().replace('GMT', 'UTC')
  const kept = asked === '' ? typed : { ...typed, 'Cache-Control': 'public, immutable', Expires: expires }
  if (ifNoneMatch === `"${hash}"`) return { status: 304, headers: kept, body: '' }
  return { status: 200, headers: kept, body: custom?.text ?? openapiV3(path) ?? '' }
}

/** What kubectl asks for it as, and how it is called in the answer. */
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const V2_PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

function whole(core: Core, { accept, ifNoneMatch }: OpenApiRequest): ApiResponse {
  const headers = { 'Cache-Control': UNCACHED, Vary: 'Accept' }
  const protobuf =
    accept?.split(',').some((clause) => [V2_PROTOBUF, V2_PROTOBUF_TYPE].includes((clause.split(';')[0] ?? '').trim())) === true
  if (!protobuf && !acceptsJson(accept)) return { status: 406, headers, body: '' }
  const { body, etag } = protobuf ? protobufOf(core) : wholeOf(core)
  const typed = { ...headers, 'Content-Type': protobuf ? V2_PROTOBUF_TYPE : 'application/json', ETag: etag }
  return ifNoneMatch === etag ? { status: 304, headers: typed, body: '' } : { status: 200, headers: typed, body }
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '') return true
  return accept.split(',').some((clause) => ['application/json', 'application/*', '*/*'].includes((clause.split(';')[0] ?? '').trim()))
}

interface Document {
  readonly types: readonly ResourceType[]
  readonly text: string
  readonly hash: string
}

interface State {
  generation: number
  documents: ReadonlyMap<string, Document>
  whole: Encoded | undefined
  protobuf: Encoded | undefined
}

interface Encoded {
  readonly body: Buffer
  readonly etag: string
}

const states = new WeakMap<Core, State>()

function stateOf(core: Core): State {
  const { generation } = core.registry
  let state = states.get(core)
  if (state?.generation !== generation) {
    state = { generation, documents: renewed(core, state?.documents), whole: undefined, protobuf: undefined }
    states.set(core, state)
  }
  return state
}

/** By path below `/openapi/v3/`. */
function documentsOf(core: Core): ReadonlyMap<string, Document> {
  return stateOf(core).documents
}

/** A document is written anew only when one of its kinds has changed. */
function renewed(core: Core, before: ReadonlyMap<string, Document> = new Map()): ReadonlyMap<string, Document> {
  const groups = new Map<string, ResourceType[]>()
  for (const type of core.registry.types()) {
    if (!type.custom) continue
    const path = `apis/${type.group}/${type.version}`
    groups.set(path, [...(groups.get(path) ?? []), type])
  }
  const documents = new Map<string, Document>()
  for (const [path, types] of groups) {
    const known = before.get(path)
    const same = known?.types.length === types.length && known.types.every((type, i) => type === types[i])
    documents.set(path, known !== undefined && same ? known : documentOf(types))
  }
  return documents
}

function documentOf(types: readonly ResourceType[]): Document {
  const text = customDocument(types)
  return { types, text, hash: sha512(text) }
}

function wholeOf(core: Core): Encoded {
  const state = stateOf(core)
  if (state.whole === undefined) {
    const body = merged([...core.registry.types()].filter((type) => type.custom))
    state.whole = { body, etag: `"${sha512(body)}"` }
  }
  return state.whole
}

function protobufOf(core: Core): Encoded {
  const state = stateOf(core)
  if (state.protobuf === undefined) {
    const body = openapiV2Protobuf(JSON.parse(wholeOf(core).body.toString()) as Record<string, unknown>)
    state.protobuf = { body, etag: `"${sha512(body)}"` }
  }
  return state.protobuf
}

/** Puts custom kinds into the recorded text, which is too long to be parsed for that. */
function merged(types: readonly ResourceType[]): Buffer {
  const text = openapiV2()
  if (types.length === 0) return text
  const { paths, definitions } = customV2(types)
  const first = text.indexOf('"paths":{') + '"paths":{'.length
  const second = text.indexOf('"definitions":{"io.k8s.') + '"definitions":{'.length
  return Buffer.concat([
    text.subarray(0, first),
    Buffer.from(`${paths},`),
    text.subarray(first, second),
    Buffer.from(`${definitions},`),
    text.subarray(second),
  ])
}

function sha512(data: string | Buffer): string {
  return process.getBuiltinModule('node:crypto').createHash('sha512').update(data).digest('hex').toUpperCase()
}
