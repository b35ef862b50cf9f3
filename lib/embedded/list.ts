/** Lists: pages at a snapshot, resourceVersion semantics, selectors. */
import type { Core } from './core.ts'
import { type ListOptions, parseListOptions, parseResourceVersion, tooLarge } from './list-options.ts'
import { fromStorage } from './operations/context.ts'
import { ApiError, badRequest } from './status.ts'
import type { ApiObject, Bucket, ResourceType, Stored } from './types.ts'

export interface ListMetadata {
  resourceVersion: string
  continue?: string
  remainingItemCount?: number
}

export interface ListResult {
  /** In the version of the type. */
  readonly items: ApiObject[]
  readonly metadata: ListMetadata
}

/**
 * `namespace`: undefined for all, or for a kind that has none.
 * @throws ApiError 400 or 422 for options that make no sense, 410 for a revision that is forgotten, 504 for one still to come
 */
export async function list(core: Core, type: ResourceType, namespace: string | undefined, query: URLSearchParams): Promise<ListResult> {
  const options = parseListOptions(query, type, false)
  const where = position(core, namespace, options)
  const revision = where.at ?? core.store.revision
  const found = candidates(core.store.bucket(type.bucket), type, namespace, options, where)
  // A page of "any state will do" is the whole of it, as the watch cache answers.
  const limit = options.resourceVersion === '0' ? 0 : options.limit
  const { items, seen } = await select(type, found, options, limit)
  const metadata: ListMetadata = { resourceVersion: String(revision) }
  if (seen < found.length) {
    metadata.continue = encodeToken(namespace, found[seen - 1]!, revision)
    if (options.labels === undefined && options.fields === undefined) metadata.remainingItemCount = found.length - seen
  }
  return { items, metadata }
}

/** Which revision is listed, and from which key on. */
interface Position {
  /** Undefined: the newest. */
  readonly at: number | undefined
  readonly from: string | undefined
}

function position(core: Core, namespace: string | undefined, options: ListOptions): Position {
  const { resourceVersion, match } = options
  if (options.continue !== '') {
    const { revision, from } = decodeToken(namespace, options.continue)
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return { at: revision < 0 ? undefined : notInFuture(core, String(revision)), from }
  }
  const revision = parse(resourceVersion)
  // A limit beside a resourceVersion makes it an exact one: the next page could not be of "not older".
  const exact = match === 'Exact' || (match === '' && options.limit > 0 && revision > 0)
  notInFuture(core, resourceVersion)
  return { at: exact ? revision : undefined, from: undefined }
}

function parse(resourceVersion: string): number {
  try {
    return parseResourceVersion(resourceVersion)
  } catch (error) {
    throw badRequest(`invalid resource version: ${(error as Error).message}`)
  }
}

/** A real server waits up to three seconds for a revision; here nothing else could make it come. */
function notInFuture(core: Core, resourceVersion: string): number {
  const revision = Number(resourceVersion)
  if (revision > core.store.revision) throw tooLarge(resourceVersion, core.store.revision)
  return revision
}

function candidates(
  bucket: Bucket,
  type: ResourceType,
  namespace: string | undefined,
  options: ListOptions,
  where: Position,
): readonly Stored[] {
  if (options.name !== undefined && where.at === undefined && where.from === undefined && (namespace !== undefined || !type.namespaced)) {
    const one = bucket.get(namespace ?? '', options.name)
    return one === undefined ? [] : [one]
  }
  try {
    return bucket.list({
      ...(namespace === undefined ? {} : { namespace }),
      ...(where.at === undefined ? {} : { at: where.at }),
      ...(where.from === undefined ? {} : { from: where.from }),
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 410 || where.from === undefined) throw error
    throw new ApiError(410, 'Expired', INCONSISTENT, undefined, encodeStart(relative(namespace, where.from), -1))
  }
}

const INCONSISTENT =
  'The provided continue parameter is too old to display a consistent list result. ' +
  'You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted ' +
  'between the time the first chunk was returned and now may show up in the list.'

/** `seen`: how many of the candidates were looked at until the page was full. */
async function select(
  type: ResourceType,
  found: readonly Stored[],
  { labels, fields }: ListOptions,
  limit: number,
): Promise<{ items: ApiObject[]; seen: number }> {
  const items: ApiObject[] = []
  let seen = 0
  for (const { object } of found) {
    if (limit > 0 && items.length === limit) break
    seen++
    if (labels !== undefined && !labels(object.metadata.labels)) continue
    const converted = fromStorage(type, object)
    const item = converted instanceof Promise ? await converted : converted
    if (fields === undefined || fields(item)) items.push(item)
  }
  return { items, seen }
}

const keyOf = ({ namespace, name }: Stored) => (namespace === '' ? name : `${namespace}/${name}`)
const relative = (namespace: string | undefined, key: string) => (namespace === undefined ? key : key.slice(namespace.length + 1))

function encodeToken(namespace: string | undefined, last: Stored, revision: number): string {
  return encodeStart(`${relative(namespace, keyOf(last))}\0`, revision)
}

/** The same token that the API server makes: clients look into it, and tests make their own. */
function encodeStart(start: string, revision: number): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `/${start}` })).toString('base64url')
}

function decodeToken(namespace: string | undefined, token: string): { revision: number; from: string } {
  const value = decodeTokenJson(token)
  if (value.v !== 'meta.k8s.io/v1') throw badToken(`server does not recognize this encoded version ${value.v ?? ''}`)
  if (typeof value.rv !== 'number' || value.rv === 0) throw badToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof value.start !== 'string' || value.start === '') throw badToken('encoded start key empty (version meta.k8s.io/v1)')
  const key = value.start.startsWith('/') ? value.start : `/${value.start}`
  // A token must not lead out of what the path allows.
  if (/\/(\.{0,2})(\/|$)/.test(key)) throw badToken(value.start)
  return { revision: value.rv, from: namespace === undefined ? key.slice(1) : `${namespace}${key}` }
}

function decodeTokenJson(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const wrong = /[^A-Za-z0-9_-]/.exec(token)
  if (wrong !== null) throw badToken(`illegal base64 data at input byte ${Buffer.byteLength(token.slice(0, wrong.index))}`)
  if (token.length % 4 === 1) throw badToken(`illegal base64 data at input byte ${token.length - 1}`)
  const text = Buffer.from(token, 'base64url').toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw badToken(text === '' ? 'unexpected end of JSON input' : `invalid character '${firstWrong(text)}' looking for beginning of value`)
  }
  return typeof value === 'object' && value !== null ? value : {}
}

const firstWrong = (text: string) => text.trimStart().charAt(0)
const badToken = (detail: string) => badRequest(`invalid continue token: continue key is not valid: ${detail}`)
