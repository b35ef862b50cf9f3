/** From a request to its answer: who asks, what for, may they, and then the verb. */
import { forbiddenRequest } from './auth/forbidden.ts'
import { impersonate } from './auth/impersonate.ts'
import { ADMIN, type Attributes, type Core } from './core.ts'
import { discovery } from './discovery.ts'
import { health } from './health.ts'
import { negotiateError } from './negotiate.ts'
import { TOO_DEEP } from './nesting.ts'
import { newUid } from './object-meta.ts'
import { openapi } from './openapi.ts'
import { withJsonBody } from './protobuf.ts'
import { protobufError, wantsOnlyProtobuf } from './protobuf-status.ts'
import { parseResourcePath, type ResourcePath } from './request-path.ts'
import { type AnswerHeaders, answerError, commonHeaders, compressed, plainText } from './respond.ts'
import { selectedName } from './selectors.ts'
import { ApiError, badRequest, internalError, methodNotAllowed, notFound, unknownResource } from './status.ts'
import type { ApiRequest, ApiResponse, ResourceType, User } from './types.ts'
import { type Call, type Extensions, runVerb, unsupported } from './verbs.ts'

export interface HandlerParts {
  readonly core: Core
  /** Absent: everybody is the admin. @throws ApiError 401, 403 */
  readonly authenticate?: ((headers: Readonly<Record<string, string | undefined>>) => User) | undefined
  readonly extensions: Extensions
  /** Gets what no ApiError was: a fault of this server. */
  readonly report: (error: unknown) => void
}

const NO_QUERY = new URLSearchParams()

export function createHandler(parts: HandlerParts): (request: ApiRequest) => Promise<ApiResponse> {
  const { core, report } = parts
  return async (request) => {
    const { url, headers } = request
    const mark = url.indexOf('?')
    const path = mark === -1 ? url : url.slice(0, mark)
    const query = mark === -1 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1))
    const warnings: string[] = []
    const extra: AnswerHeaders = {
      auditId: headers['audit-id'] ?? newUid(core.random),
      warnings,
      acceptEncoding: headers['accept-encoding'],
    }
    const asked: Asked = { attributes: undefined, served: false }
    let response: ApiResponse
    try {
      const user = parts.authenticate?.(headers) ?? ADMIN
      response = await route(parts, request, path, query, user, extra, warnings, asked)
    } catch (error) {
      response = refusal(knownError(error, report), request, query, extra)
    }
    core.requests.answered(request, asked.attributes, response.status, asked.served)
    return response
  }
}

/** What a request turned out to be, for those who count. */
interface Asked {
  attributes: Attributes | undefined
  /** It is for a resource that there is: what is counted by name is bounded. */
  served: boolean
}

function refusal(error: ApiError, { headers }: ApiRequest, query: URLSearchParams, extra: AnswerHeaders): ApiResponse {
  if (error === PAGE_NOT_FOUND) return plainText(404, '404 page not found\n', extra)
  if (wantsOnlyProtobuf(headers.accept)) return protobufError(error, extra)
  return answerError(error, negotiateError(headers.accept, headers['user-agent'], query), extra)
}

function knownError(error: unknown, report: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error
  // A patch can nest deeper what nested deep already; the stack is the limit of what can be handled.
  if (error instanceof RangeError && error.message.includes('call stack')) return badRequest(TOO_DEEP)
  report(error)
  return internalError(error instanceof Error ? error.message : String(error))
}

/** Not a Status: nothing serves this path. */
const PAGE_NOT_FOUND = new ApiError(404, '', '404 page not found')

async function route(
  parts: HandlerParts,
  request: ApiRequest,
  path: string,
  query: URLSearchParams,
  user: User,
  extra: AnswerHeaders,
  warnings: string[],
  asked: Asked,
): Promise<ApiResponse> {
  const { core } = parts
  const target = parseResourcePath(path)
  if (target === undefined) {
    const attributes = { ...NO_RESOURCE, user, verb: request.method.toLowerCase(), path }
    asked.attributes = attributes
    asked.attributes = { ...attributes, user: allowed(core, attributes, request) }
    return notResource(core, request, path, query, extra)
  }
  // `?watch` on the path of one object is a plain get, as there.
  const watch = (target.name === '' && isWatch(query)) || target.watch
  const verb = verbOf(request.method, target, watch)
  const attributes: Attributes = {
    user,
    verb,
    group: target.group,
    version: target.version,
    resource: target.resource,
    subresource: target.subresource,
    namespace: target.namespace ?? (target.group === '' && target.resource === 'namespaces' ? target.name : ''),
    name: target.name || selectedBy(query, verb),
  }
  asked.attributes = attributes
  const actual = allowed(core, attributes, request)
  if (actual !== user) asked.attributes = { ...attributes, user: actual }
  const type = core.registry.find(target.group, target.version, target.resource)
  if (type === undefined) throw unserved(core, target)
  if ((type.custom ? path : path.replace('/namespaces//', '/')).includes('//')) throw type.custom ? PAGE_NOT_FOUND : unknownResource()
  checkRoute(type, target, request.method, verb)
  asked.served = true
  if (type.deprecation !== undefined) warnings.push(type.deprecation)
  const call: Call = {
    core,
    type,
    target,
    namespace: type.namespaced ? (target.namespace ?? '') : '',
    verb,
    request: type.custom ? request : withJsonBody(request),
    query,
    user: actual,
    warnings,
    extra,
    extensions: parts.extensions,
  }
  return runVerb(call)
}

const NO_RESOURCE = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }

/** Who it is done as. @throws ApiError 403 */
/** A list, watch or deletion of a collection that selects one name asks for that one: a role for the name alone allows it. */
function selectedBy(query: URLSearchParams, verb: string): string {
  const selector = query.get('fieldSelector')
  if (selector === null || !SELECTING.has(verb)) return ''
  try {
    return selectedName(selector) ?? ''
  } catch {
    // Told to those who may ask.
    return ''
  }
}

const SELECTING: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

function allowed(core: Core, attributes: Attributes, { headers }: ApiRequest): User {
  const user = impersonate(core.authorizer, attributes, headers)
  if (core.authorizer === undefined) return user
  const { allowed: may, reason } = core.authorizer.authorize({ ...attributes, user })
  if (!may) throw forbiddenRequest({ ...attributes, user }, reason)
  return user
}

function notResource(core: Core, request: ApiRequest, path: string, query: URLSearchParams, extra: AnswerHeaders): ApiResponse {
  const { method, headers } = request
  const accept = headers.accept
  const found =
    health(core, { method, path, query }) ??
    openapi(core, { path, query, accept, ifNoneMatch: headers['if-none-match'] }) ??
    (method === 'GET'
      ? discovery(core, {
          path,
          accept,
          ifNoneMatch: headers['if-none-match'],
          userAgent: headers['user-agent'],
          query,
          host: headers.host,
        })
      : undefined)
  if (found === undefined) throw PAGE_NOT_FOUND
  // Without a body there is no type: a client that gets a 304 would take it for the type of what it has kept.
  const { 'content-type': _type, ...common } = commonHeaders('', extra)
  const own = Object.fromEntries(Object.entries(found.headers).map(([name, value]) => [name.toLowerCase(), value]))
  return compressed({ ...found, headers: { ...common, ...own } }, extra.acceptEncoding)
}

const WATCH_OFF = /^(0|false)$/
const isWatch = (query: URLSearchParams) => {
  if (query.size === 0) return false
  const given = query.get('watch')
  return given !== null && !WATCH_OFF.test(given)
}

/** As `RequestInfo` names it. */
function verbOf(method: string, { name, subresource }: ResourcePath, watch: boolean): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    case 'GET':
    case 'HEAD':
      if (watch && subresource === '') return 'watch'
      return name === '' ? 'list' : 'get'
    default:
      return ''
  }
}

/** Custom groups are answered by another handler than built-in ones, and differently. */
function unserved(core: Core, target: ResourcePath): ApiError {
  for (const type of core.registry.types()) {
    if (!type.custom && type.group === target.group) return unknownResource()
  }
  return PAGE_NOT_FOUND
}

const ACROSS_NAMESPACES = new Set(['list', 'watch'])
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** @throws ApiError 404, 405 */
function checkRoute(type: ResourceType, target: ResourcePath, method: string, verb: string): void {
  const { namespace, name, subresource, rest } = target
  if (type.custom) {
    if (!type.namespaced && namespace !== undefined) throw PAGE_NOT_FOUND
    if (type.namespaced && namespace === undefined && !ACROSS_NAMESPACES.has(verb)) throw PAGE_NOT_FOUND
    if (!METHODS.has(method) && method !== 'HEAD') throw unsupported(type, '')
    if (subresource !== '' && !type.subresources.includes(subresource)) throw notFound(type, name)
    return
  }
  if (!type.namespaced && namespace !== undefined) throw unknownResource()
  if (subresource !== '' && !type.subresources.includes(subresource)) throw unknownResource()
  if (rest !== '' && subresource !== 'proxy') throw unknownResource()
  if (type.namespaced && namespace === undefined) {
    if (name !== '') throw unknownResource()
    if (!ACROSS_NAMESPACES.has(verb) || method === 'HEAD') throw methodNotAllowed()
  }
  if (!METHODS.has(method)) throw methodNotAllowed()
}
