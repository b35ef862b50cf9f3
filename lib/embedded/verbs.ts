/** The verbs over HTTP: bodies and options in, objects out in the form that was asked for. */
import { bodyText, decodeBody, UnreadableBody } from './body.ts'
import type { Core } from './core.ts'
import { isObject } from './json.ts'
import { list } from './list.ts'
import { notOlderThan } from './list-options.ts'
import { bodyMedia, negotiate, type Representation } from './negotiate.ts'
import type { WriteOptions } from './operations/context.ts'
import { create } from './operations/create.ts'
import { unreadable } from './operations/decode.ts'
import { remove } from './operations/delete.ts'
import { deleteCollection } from './operations/delete-collection.ts'
import { patch } from './operations/patch.ts'
import { decodePatch, patchType } from './operations/patch-body.ts'
import { update } from './operations/update.ts'
import { deleteOptions, type OptionsKind, type QueryOptions, writeOptions } from './operations/write-options.ts'
import { listBody, objectBody } from './representations.ts'
import type { ResourcePath } from './request-path.ts'
import { type AnswerHeaders, answer, commonHeaders, plainText } from './respond.ts'
import { ApiError, badRequest, methodNotAllowed, notFound, unknownResource } from './status.ts'
import { scaleVerb } from './subresources/scale.ts'
import type { ApiObject, ApiRequest, ApiResponse, ResourceType, User } from './types.ts'
import { watch } from './watch.ts'
import { watchEncoder } from './watch-encoding.ts'

export interface Call {
  readonly core: Core
  readonly type: ResourceType
  readonly target: ResourcePath
  /** `''`: none, or all. */
  readonly namespace: string
  readonly verb: string
  readonly request: ApiRequest
  readonly query: URLSearchParams
  readonly user: User
  readonly warnings: string[]
  readonly extra: AnswerHeaders
  readonly extensions: Extensions
}

/** A question to an extension: verbs that are not about what is stored, or not only. */
export interface ExtensionCall {
  readonly core: Core
  readonly type: ResourceType
  readonly namespace: string
  readonly name: string
  /** The decoded body. */
  readonly object: ApiObject | undefined
  readonly query: URLSearchParams
  readonly user: User
  readonly options: WriteOptions
}

export type ExtensionAnswer = { readonly status: number; readonly object: object } | { readonly status: number; readonly text: string }

export type Extension = (call: ExtensionCall) => ExtensionAnswer | Promise<ExtensionAnswer>

/** By bucket, subresource and verb: `authorization.k8s.io/selfsubjectaccessreviews create`, `/pods/eviction create`. */
export type Extensions = ReadonlyMap<string, Extension>

/** Subresources that show the whole object, and write a part of it. */
const OF_THE_OBJECT = new Set(['status', 'approval', 'ephemeralcontainers', 'resize'])
const ITEM_VERBS = ['get', 'update', 'patch', 'delete']

export function runVerb(call: Call): Promise<ApiResponse> | ApiResponse {
  const { verb, target, type, request } = call
  const own = call.extensions.get(`${type.bucket}${target.subresource === '' ? '' : `/${target.subresource}`} ${verb}`)
  if (own !== undefined) return extended(call, own)
  if (request.method === 'HEAD' && !type.custom) throw methodNotAllowed()
  if (target.subresource === 'scale' && type.scale !== undefined) return scaleVerb(call)
  if (target.subresource !== '' && !OF_THE_OBJECT.has(target.subresource)) return unsupportedSubresource(call)
  if (target.subresource !== '' && verb !== 'get' && verb !== 'update' && verb !== 'patch') throw unsupported(type, verb)
  if (!type.verbs.includes(verb) && !type.custom) {
    const routed = target.name === '' || ITEM_VERBS.some((each) => type.verbs.includes(each))
    throw routed ? methodNotAllowed() : unknownResource()
  }
  switch (verb) {
    case 'get':
      return get(call)
    case 'list':
      return listAll(call)
    case 'watch':
      return startWatch(call)
    case 'create':
      return post(call)
    case 'update':
      return put(call)
    case 'patch':
      return patchOne(call)
    case 'delete':
      return deleteOne(call)
    case 'deletecollection':
      return deleteMany(call)
    default:
      throw methodNotAllowed()
  }
}

/** @throws ApiError 406 */
export function representation(call: Call, watching = false): Representation {
  const { headers } = call.request
  return negotiate({
    accept: headers.accept,
    userAgent: headers['user-agent'],
    query: call.query,
    watch: watching,
    custom: call.type.custom,
  })
}

async function get(call: Call): Promise<ApiResponse> {
  const form = representation(call)
  const { core, type, namespace, target, query } = call
  if (query.has('resourceVersion')) notOlderThan(core, query.get('resourceVersion') ?? '')
  return respond(call, 200, await core.operations.get(type, namespace, target.name), form)
}

async function listAll(call: Call): Promise<ApiResponse> {
  const form = representation(call)
  const { core, type, target, query, extra } = call
  const { items, metadata } = await list(core, type, type.namespaced ? target.namespace : undefined, query)
  return answer(200, listBody(core, type, items, metadata, form, query), form, extra)
}

function startWatch(call: Call): ApiResponse {
  const form = representation(call, true)
  const { core, type, target, query, extra } = call
  // `/watch/…/name` is a watch of one object.
  const asked = target.name === '' ? query : withName(query, target.name)
  const body = watch(core, type, type.namespaced ? target.namespace : undefined, asked, watchEncoder(core, type, form, query))
  return { status: 200, headers: commonHeaders('application/json', extra), body }
}

function withName(query: URLSearchParams, name: string): URLSearchParams {
  const asked = new URLSearchParams(query)
  const given = asked.get('fieldSelector')
  asked.set('fieldSelector', `${given ? `${given},` : ''}metadata.name=${name}`)
  return asked
}

async function post(call: Call): Promise<ApiResponse> {
  if (call.target.name !== '' && !call.type.custom) throw methodNotAllowed()
  const form = representation(call)
  const { core, type, namespace, target } = call
  const { value, options } = readBody(call, 'CreateOptions')
  nameFromPath(value, target.name)
  return respond(call, 201, await create(core, type, namespace, value, options), form)
}

/** POST to an object's own path creates that one. */
function nameFromPath(value: unknown, name: string): void {
  if (name === '' || !isObject(value) || !isObject(value.metadata)) return
  if (value.metadata.name !== undefined && value.metadata.name !== name) {
    throw badRequest(`the name of the object (${String(value.metadata.name)}) does not match the name on the URL (${name})`)
  }
  value.metadata.name = name
}

async function put(call: Call): Promise<ApiResponse> {
  const { core, type, namespace, target } = call
  needName(call)
  const form = representation(call)
  const { value, options } = readBody(call, 'UpdateOptions')
  const { object, created } = await update(core, type, namespace, target.name, target.subresource, value, options)
  return respond(call, created ? 201 : 200, object, form)
}

async function patchOne(call: Call): Promise<ApiResponse> {
  const { core, type, namespace, target, request } = call
  needName(call)
  const kind = patchType(type, request.headers['content-type'])
  const form = representation(call)
  const text = bodyText(request.body)
  const given = writeOptions('PatchOptions', call.query, kind === 'apply')
  const { patch: document, problems } = decodePatch(kind, text, given)
  const options = requestOptions(call, given, problems)
  const { object, created } = await patch(core, type, namespace, target.name, target.subresource, document, options)
  return respond(call, created ? 201 : 200, object, form)
}

async function deleteOne(call: Call): Promise<ApiResponse> {
  const { core, type, namespace, target } = call
  const form = representation(call)
  const { deletion, options } = deletionOf(call)
  const { object, deleted } = await remove(core, type, namespace, target.name, deletion, options)
  const status = !deleted && deletion.orphanDependents === false ? 202 : 200
  if (!deleted || type.strategy.returnsDeleted === true) return respond(call, status, object, form)
  return answer(status, success(type, object), form, call.extra)
}

function success(type: ResourceType, { metadata }: ApiObject): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: metadata.name,
      ...(type.group === '' ? {} : { group: type.group }),
      kind: type.resource,
      uid: metadata.uid,
    },
  }
}

async function deleteMany(call: Call): Promise<ApiResponse> {
  const { core, type, target, query } = call
  const form = representation(call)
  const { deletion, options } = deletionOf(call)
  const { items, metadata } = await deleteCollection(core, type, type.namespaced ? target.namespace : undefined, query, deletion, options)
  return answer(200, listBody(core, type, items, metadata, form, query), form, call.extra)
}

function deletionOf(call: Call) {
  const text = bodyText(call.request.body)
  const body = text === '' ? undefined : decodeDeletion(text, call)
  const deletion = deleteOptions(body, call.query)
  const raw = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...deletion }
  const options: WriteOptions = {
    user: call.user,
    dryRun: (deletion.dryRun?.length ?? 0) > 0,
    raw,
    warn: (warning) => call.warnings.push(warning),
  }
  return { deletion, options }
}

function decodeDeletion(text: string, call: Call): unknown {
  const media = bodyMedia(call.request.headers['content-type'])
  try {
    return decodeBody(text, media, false).value
  } catch (error) {
    if (error instanceof UnreadableBody) throw badRequest(error.message)
    throw error
  }
}

/** The body of a create or update, and its options; in the order in which the real server looks at them. */
export function readBody(call: Call, kind: OptionsKind, expected = call.type.kind): { value: unknown; options: WriteOptions } {
  const { headers, body } = call.request
  const media = bodyMedia(headers['content-type'])
  const text = bodyText(body)
  const given = writeOptions(kind, call.query)
  try {
    const { value, problems, strict } = decodeBody(text, media, given.fieldValidation !== 'Ignore')
    return { value, options: { ...requestOptions(call, given, problems), strictErrors: strict, source: text } }
  } catch (error) {
    if (error instanceof UnreadableBody) throw unreadable({ ...call.type, kind: expected }, error, text)
    throw error
  }
}

export function requestOptions(call: Call, given: QueryOptions, decodingErrors: readonly string[]): WriteOptions {
  return {
    user: call.user,
    dryRun: given.dryRun,
    fieldManager: given.fieldManager === '' ? managerFromAgent(call.request.headers['user-agent']) : given.fieldManager,
    fieldValidation: given.fieldValidation,
    warn: (warning) => call.warnings.push(warning),
    decodingErrors,
    raw: given.raw,
    knows: (apiVersion) => knows(call, apiVersion),
    owned: true,
  }
}

function knows({ core, type }: Call, apiVersion: string): boolean {
  const [group, version = ''] = apiVersion.split('/')
  return group === type.group && core.registry.find(type.group, version, type.resource) !== undefined
}

const MANAGER_LENGTH = 128

/** The part of the User-Agent before the first slash, printable characters only. */
function managerFromAgent(agent = ''): string {
  const name = agent.split('/', 1)[0] ?? ''
  const printable = name.replace(/[^\P{C}]/gu, '')
  return (printable.length > MANAGER_LENGTH ? printable.slice(0, MANAGER_LENGTH) : printable) || 'unknown'
}

function needName({ target, type }: Call): void {
  if (target.name !== '') return
  throw type.custom ? badRequest('name must be provided') : methodNotAllowed()
}

export function respond(call: Call, status: number, object: ApiObject, form: Representation): ApiResponse {
  return answer(status, objectBody(call.core, call.type, object, form, call.query), form, call.extra)
}

async function extended(call: Call, extension: Extension): Promise<ApiResponse> {
  const form = representation(call)
  const { core, type, namespace, target, query, user } = call
  const reads = call.verb === 'create' || call.verb === 'update'
  const { value, options } = reads
    ? readBody(call, call.verb === 'create' ? 'CreateOptions' : 'UpdateOptions')
    : { value: undefined, options: { user } }
  const object = value as ApiObject | undefined
  const result = await extension({ core, type, namespace, name: target.name, object, query, user, options })
  if ('text' in result) return plainText(result.status, result.text, call.extra)
  return answer(result.status, result.object, form, call.extra)
}

function unsupportedSubresource(call: Call): never {
  const { type, target, extensions } = call
  if (type.custom) throw unsupported(type, call.verb)
  const key = `${type.bucket}/${target.subresource} `
  if ([...extensions.keys()].some((each) => each.startsWith(key))) throw methodNotAllowed()
  if (type.bucket === '/pods') {
    const pod = call.core.lookup.get('', 'pods', call.namespace, target.name)
    if (pod === undefined) throw notFound(type, target.name)
    if (!pod.spec?.nodeName && target.subresource !== 'proxy') throw badRequest(`pod ${target.name} does not have a host assigned`)
  }
  throw new ApiError(501, 'NotImplemented', `${type.resource}/${target.subresource} is not part of the embedded API server`, {})
}

/** @returns 405 in the words of custom kinds, which go through another handler. */
export function unsupported(type: ResourceType, verb: string): ApiError {
  const { code, reason, message, details } = methodNotAllowed()
  if (!type.custom) return new ApiError(code, reason, message, details)
  return new ApiError(code, reason, `${verb} is not supported on resources of kind "${type.resource}.${type.group}"`, {
    group: type.group,
    kind: type.resource,
  })
}
