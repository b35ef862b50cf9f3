/** Creation, from decoded JSON to what is stored. */
import { forbiddenRequest } from '../auth/forbidden.ts'
import type { AdmissionRequest, Core } from '../core.ts'
import { cloneJson } from '../json.ts'
import {
  dropDuplicateOwners,
  finalizerWarnings,
  generateName,
  newUid,
  timestamp,
  validateOnCreate,
  wipeSystemFields,
} from '../object-meta.ts'
import { ApiError, alreadyExists, badRequest, forbiddenError, invalidError, plainError } from '../status.ts'
import type { ApiObject, ResourceType, WriteContext } from '../types.ts'
import { admissionRequest, errorSubject, mutate, read, toStorage, validate, type WriteOptions, warnAll, writeContext } from './context.ts'
import { decodeObject } from './decode.ts'
import { track } from './managed-fields.ts'
import { clearStatus } from './status-rules.ts'

const NAME_ATTEMPTS = 8

export async function create(core: Core, type: ResourceType, namespace: string, value: unknown, options: WriteOptions): Promise<ApiObject> {
  const object = decodeObject(type, options.owned ? value : cloneJson(value), options)
  const context = writeContext(core, type, namespace, 'create', '', options)
  type.strategy.defaults?.(object, context)
  return createDecoded(core, object, context, options)
}

/**
 * The rest of a creation, also of a PUT or apply that creates. `tracked`: managedFields are already those of the result. `byUpdate`: it was asked
 * for by another verb, so that the right to create is still to be looked at.
 */
export async function createDecoded(
  core: Core,
  decoded: ApiObject,
  context: WriteContext,
  options: WriteOptions,
  tracked = false,
  byUpdate = false,
): Promise<ApiObject> {
  const { type } = context
  let object = decoded
  wipeSystemFields(object.metadata)
  // A namespace is its own namespace in the eyes of admission.
  matchNamespace(type, context.namespace, object)
  if (type.terminating) throw terminating(type, object.metadata.name ?? '')
  warnOnce(dropDuplicateOwners(object, false), options)
  const tracking = tracked ? undefined : track(core, type, undefined, object, '', options)
  if (tracking instanceof Promise) await tracking
  const request = admissionRequest('CREATE', type, '', scopeOf(context, object), object.metadata.name ?? '', object, undefined, options)
  if (core.admission.length > 0) {
    await mutate(core, request)
    object = request.object ?? object
    matchNamespace(type, context.namespace, object)
    warnOnce(dropDuplicateOwners(object, true), options)
  }
  const sentVersion = object.metadata.resourceVersion
  const generated = !object.metadata.name && object.metadata.generateName !== undefined
  delete object.metadata.resourceVersion
  prepare(core, object, context)
  if (generated) object.metadata.name = generateName(object.metadata.generateName ?? '', core.random)
  type.normalize?.(object)
  check(object, context, options)
  if (byUpdate) authorize(core, request)
  if (core.admission.length > 0) await validate(core, { ...request, name: object.metadata.name ?? '', object })
  if (sentVersion !== undefined && /^0*[1-9]\d*$/.test(sentVersion))
    throw plainError('resourceVersion should not be set on objects to be created')
  const toStore = toStorage(type, object)
  return store(core, toStore instanceof Promise ? await toStore : toStore, object, context, generated)
}

/** @throws ApiError 403 */
function authorize(core: Core, { user, type, namespace, name }: AdmissionRequest): void {
  const { group, version, resource } = type
  const attributes = { user, verb: 'create', group, version, resource, subresource: '', namespace, name }
  const { allowed, reason } = core.authorizer?.authorize(attributes) ?? { allowed: true, reason: '' }
  if (!allowed) throw forbiddenRequest(attributes, reason)
}

function prepare(core: Core, object: ApiObject, context: WriteContext): void {
  const { type } = context
  const { metadata } = object
  metadata.uid = newUid(core.random)
  metadata.creationTimestamp = timestamp(core.clock.now())
  if (type.strategy.generation) metadata.generation = 1
  clearStatus(type, object)
  type.strategy.prepareForCreate?.(object, context)
}

function check(object: ApiObject, context: WriteContext, options: WriteOptions): void {
  const { type } = context
  const errors = validateOnCreate(type, object.metadata)
  const schema = type.validateSchema?.(object, undefined, context)
  if (schema !== undefined) errors.push(...schema.errors)
  const more = type.strategy.validate?.(object, context)
  if (more !== undefined) errors.push(...more)
  if (errors.length > 0) throw invalidError(errorSubject(type), object.metadata.name ?? '', errors)
  if (options.warn === undefined) return
  if (schema !== undefined) warnAll(options, schema.warnings)
  if (type.custom) warnAll(options, finalizerWarnings(object.metadata.finalizers))
  const warnings = type.strategy.warnings?.(object, undefined, context)
  if (warnings !== undefined) warnAll(options, warnings)
}

async function store(core: Core, toStore: ApiObject, object: ApiObject, context: WriteContext, generated: boolean): Promise<ApiObject> {
  const { type } = context
  const bucket = core.store.bucket(type.bucket)
  const namespace = type.namespaced ? context.namespace : ''
  for (let attempt = 1; ; attempt++) {
    const name = toStore.metadata.name ?? ''
    const holder = bucket.get(namespace, name)
    if (holder === undefined) {
      if (context.dryRun) {
        delete object.metadata.resourceVersion
        return object
      }
      const stored = bucket.put(namespace, name, toStore, 0)
      if (stored !== undefined) {
        type.strategy.stored?.(stored.object, undefined, context)
        return toStore === object ? stored.object : read(type, stored.object)
      }
    }
    if (!generated) throw exists(type, name, holder?.object)
    if (attempt >= NAME_ATTEMPTS) throw noUniqueName(type, name)
    const again = generateName(toStore.metadata.generateName ?? '', core.random)
    toStore.metadata.name = again
    object.metadata.name = again
  }
}

function exists(type: ResourceType, name: string, holder: ApiObject | undefined): ApiError {
  const error = alreadyExists(type, name)
  if (!holder?.metadata.deletionTimestamp) return error
  return new ApiError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details)
}

function noUniqueName(type: ResourceType, name: string): ApiError {
  const error = alreadyExists(type, name)
  return new ApiError(error.code, error.reason, `${error.message}, the server was not able to generate a unique name for the object`, {
    ...error.details,
    retryAfterSeconds: 1,
  })
}

function terminating(type: ResourceType, name: string): ApiError {
  return forbiddenError(type, name, 'create not allowed while custom resource definition is terminating')
}

/** @throws ApiError 400 */
export function matchNamespace(type: ResourceType, namespace: string, object: ApiObject): void {
  const { metadata } = object
  if (!type.namespaced) {
    delete metadata.namespace
    return
  }
  if (!metadata.namespace) metadata.namespace = namespace
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

export function scopeOf(context: WriteContext, object: ApiObject): string {
  return context.type.bucket === '/namespaces' ? (object.metadata.name ?? '') : context.namespace
}

export function warnOnce(text: string | undefined, options: WriteOptions): void {
  if (text !== undefined) options.warn?.(text)
}
