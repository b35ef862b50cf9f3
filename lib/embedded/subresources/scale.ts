/**
 * The subresource `scale`: one number of an object, behind a kind that is the same for all (`autoscaling/v1`, Scale). Where the
 * number is in the object, its type says.
 */

import { applyConfiguration, trackUpdate } from '../apply/field-manager.ts'
import { ownersFromScale, ownersOfScale, type ReplicasPath, SCALE_SCHEMA, SCALE_VERSION } from '../apply/scale-owners.ts'
import { bodyText } from '../body.ts'
import { invalid } from '../field-error.ts'
import { cloneJson, encodeJson, isObject } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import { apiVersionOf, managerOf, type WriteOptions, writeContext } from '../operations/context.ts'
import { decodeObject, decodePatched } from '../operations/decode.ts'
import type { Patch } from '../operations/patch.ts'
import { decodePatch, patchType } from '../operations/patch-body.ts'
import { applyPatch } from '../operations/patch-types.ts'
import { change, checkName } from '../operations/update.ts'
import { writeOptions } from '../operations/write-options.ts'
import { objectBody } from '../representations.ts'
import { answer } from '../respond.ts'
import { ApiError, badRequest, internalError, invalidError, plainError } from '../status.ts'
import type { ApiObject, ApiResponse, ResourceType } from '../types.ts'
import { type Call, readBody, representation, requestOptions, unsupported } from '../verbs.ts'
import { SCALE } from './scale-type.ts'

export async function scaleVerb(call: Call): Promise<ApiResponse> {
  const { core, type, namespace, target } = call
  const form = representation(call)
  return answer(200, objectBody(core, SCALE, await result(call), form, call.query), form, call.extra)

  function result({ verb }: Call): Promise<ApiObject> {
    if (verb === 'get') return core.operations.get(type, namespace, target.name).then((object) => existingScale(type, object))
    if (verb === 'update') return put(call)
    if (verb === 'patch') return patch(call)
    throw unsupported(type, verb)
  }
}

async function put(call: Call): Promise<ApiObject> {
  const { value, options } = readBody(call, 'UpdateOptions', 'Scale')
  const wanted = decodeScale(call.type, value, options)
  checkName(wanted, call.target.name)
  const writes = tracked(call, options, () => wanted)
  return write(call, options, wanted.metadata.uid, writes)
}

async function patch(call: Call): Promise<ApiObject> {
  const kind = patchType(call.type, call.request.headers['content-type'])
  const given = writeOptions('PatchOptions', call.query, kind === 'apply')
  const { patch: document, problems } = decodePatch(kind, bodyText(call.request.body), given)
  const options = requestOptions(call, given, problems)
  const make = (live: ApiObject) => {
    const patched = applyPatch(SCALE.schema, live, document)
    return decodePatched(SCALE, patched, options, () => encodeJson(patched))
  }
  const writes = kind === 'apply' ? applied(call, document, options) : tracked(call, options, make)
  return write(call, options, undefined, writes)
}

async function write(call: Call, options: WriteOptions, uid: string | undefined, make: (live: ApiObject) => ApiObject): Promise<ApiObject> {
  const { core, type, namespace, target } = call
  const context = writeContext(core, type, namespace, 'update', 'scale', options)
  const { object } = await change(core, target.name, context, options, {
    uid,
    create: false,
    tracked: true,
    make: (live) => scaled(call, live as ApiObject, make),
  })
  return scaleOf(type, object)
}

/** The scale of a custom kind is read by a reader that knows custom objects only; its errors say no more. @throws ApiError 400 */
function decodeScale(type: ResourceType, value: unknown, options: WriteOptions): ApiObject {
  try {
    return decodeObject(SCALE, value, options)
  } catch (error) {
    if (!type.custom || !(error instanceof ApiError) || error.message.includes('strict decoding')) throw error
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"')
  }
}

/** An update or a patch: what it changes belongs to its manager from now on. */
function tracked({ core }: Call, options: WriteOptions, make: (scale: ApiObject) => ApiObject): (scale: ApiObject) => ApiObject {
  return (scale) => {
    const next = cloneJson(make(scale))
    const write = { manager: managerOf(options), subresource: 'scale', time: timestamp(core.clock.now()), schemas: SCALE_SCHEMA }
    trackUpdate({ ...write, live: scale, next, apiVersion: SCALE_VERSION })
    return next
  }
}

function applied({ core, type }: Call, { value, force }: Patch, options: WriteOptions): (scale: ApiObject) => ApiObject {
  const write = { manager: managerOf(options), subresource: 'scale', time: timestamp(core.clock.now()), schemas: SCALE_SCHEMA }
  return (live) => {
    const config = cloneJson(value) as ApiObject
    const merged = applyConfiguration({ ...write, live, config, force: force === true, type: SCALE_TYPE })
    if (type.custom) throw plainError(inconvertible(config))
    const scale = decodeObject(SCALE, merged, options)
    if (merged.metadata.managedFields !== undefined) scale.metadata.managedFields = merged.metadata.managedFields
    return scale
  }
}

/** No custom object can be scaled by an apply: a fault of the real server that has become its behaviour. */
const inconvertible = ({ metadata }: ApiObject) =>
  `failed to convert new object (${metadata.namespace ?? ''}/${metadata.name ?? ''}; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`

const SCALE_TYPE = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** Where the versions of a kind have the number; all versions of a built-in one have it in one place. */
function replicasPath({ core, type }: Call): ReplicasPath {
  return (apiVersion) => {
    const version = apiVersion.split('/').at(-1) ?? ''
    const found = version === type.version ? type : core.registry.find(type.group, version, type.resource)
    return found === undefined ? undefined : pathOf(found.scale?.spec)
  }
}

function scaled(call: Call, live: ApiObject, make: (scale: ApiObject) => ApiObject): ApiObject {
  const { type } = call
  const path = replicasPath(call)
  const before = scaleOf(type, live) as ApiObject
  const owners = ownersOfScale(live.metadata.managedFields, path)
  const scale = make(owners === undefined ? before : { ...before, metadata: { ...before.metadata, managedFields: owners } })
  const replicas: unknown = scale.spec?.replicas ?? 0
  if (!type.custom && typeof replicas === 'number' && replicas < 0) {
    const subject = { group: 'autoscaling', resource: 'scales', kind: 'Scale' }
    throw invalidError(subject, scale.metadata.name ?? '', [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')])
  }
  const object = cloneJson(live)
  setAt(object, pathOf(type.scale?.spec), replicas)
  if (scale.metadata.resourceVersion) object.metadata.resourceVersion = scale.metadata.resourceVersion
  const after = ownersFromScale(live.metadata.managedFields, scale.metadata.managedFields, path, apiVersionOf(type))
  if (after === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = after
  return object
}

/** @throws ApiError 500 where a custom object does not have the number */
function existingScale(type: ResourceType, object: ApiObject): ApiObject {
  if (type.custom && typeof read(object, pathOf(type.scale?.spec)) !== 'number') {
    throw internalError(`the spec replicas field ${JSON.stringify(type.scale?.spec)} does not exist`)
  }
  return scaleOf(type, object)
}

/** A write may set the number where there is none yet. */
export function scaleOf(type: ResourceType, object: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const found = read(object, pathOf(type.scale?.spec))
  const replicas = typeof found === 'number' ? found : undefined
  const selector = selectorText(type, object)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: { replicas: read(object, pathOf(type.scale?.status)) ?? 0, ...(selector === '' ? {} : { selector }) },
  }
}

/** A custom kind has the text, a built-in one the selector that it is made of. */
function selectorText(type: ResourceType, object: ApiObject): string {
  const path = type.scale?.selector
  const found = path === undefined ? undefined : read(object, pathOf(path))
  if (typeof found === 'string') return found
  if (!isObject(found)) return ''
  const { matchLabels, matchExpressions } = found
  const isSelector = matchLabels !== undefined || matchExpressions !== undefined
  const labels = isObject(matchLabels) ? matchLabels : isSelector ? {} : found
  const terms = Object.entries(labels).map(([key, value]) => ({ key, text: `${key}=${String(value)}` }))
  for (const each of Array.isArray(matchExpressions) ? matchExpressions : []) if (isObject(each)) terms.push(term(each))
  return terms
    .toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',')
}

function term({ key: name, operator, values }: Record<string, unknown>): { key: string; text: string } {
  const key = String(name)
  const list = (Array.isArray(values) ? values.map(String) : []).toSorted().join(',')
  switch (operator) {
    case 'In':
      return { key, text: `${key} in (${list})` }
    case 'NotIn':
      return { key, text: `${key} notin (${list})` }
    case 'Exists':
      return { key, text: key }
    default:
      return { key, text: `!${key}` }
  }
}

/** `.spec.replicas` */
function pathOf(text = ''): string[] {
  return text.split('.').filter((part) => part !== '')
}

function read(object: object, path: readonly string[]): unknown {
  let value: unknown = object
  for (const part of path) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}

function setAt(object: ApiObject, path: readonly string[], value: unknown): void {
  let at: Record<string, unknown> = object
  for (const part of path.slice(0, -1)) {
    if (!isObject(at[part])) at[part] = {}
    at = at[part] as Record<string, unknown>
  }
  const last = path.at(-1)
  if (last !== undefined) at[last] = value
}
