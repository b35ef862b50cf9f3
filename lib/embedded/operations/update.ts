/** Changes of an object that is there: PUT, the end of every patch, and the subresource `status`. */
import type { Core } from '../core.ts'
import { invalid } from '../field-error.ts'
import { cloneJson } from '../json.ts'
import { dropDuplicateOwners, finalizerWarnings, validateOnUpdate } from '../object-meta.ts'
import { type ApiError, badRequest, conflict, invalidError, MODIFIED, notFound, plainError } from '../status.ts'
import type { ApiObject, ResourceType, Stored, WriteContext } from '../types.ts'
import { admissionRequest, errorSubject, mutate, read, toStorage, validate, type WriteOptions, warnAll, writeContext } from './context.ts'
import { createDecoded, matchNamespace, scopeOf, warnOnce } from './create.ts'
import { decodeObject } from './decode.ts'
import { track } from './managed-fields.ts'
import { nextGeneration, restoreUnreachable } from './status-rules.ts'

export interface Updated {
  readonly object: ApiObject
  readonly created: boolean
}

export function update(
  core: Core,
  type: ResourceType,
  namespace: string,
  name: string,
  subresource: string,
  value: unknown,
  options: WriteOptions,
): Promise<Updated> {
  const object = decodeObject(type, options.owned ? value : cloneJson(value), options)
  matchNamespace(type, namespace, object)
  checkName(object, name)
  const context = writeContext(core, type, namespace, 'update', subresource, options)
  type.strategy.defaults?.(object, context)
  warnOnce(dropDuplicateOwners(object, false), options)
  // Only a write without a version is tried again when somebody else was faster.
  const conditional = object.metadata.resourceVersion !== undefined
  const uid = object.metadata.uid
  return change(core, name, context, options, {
    uid,
    create: type.strategy.allowCreateOnUpdate === true && (subresource === '' || subresource === 'status'),
    make: () => (conditional ? object : cloneJson(object)),
  })
}

export interface Change {
  /** The uid that the body names: another object of the name is a conflict. */
  readonly uid: string | undefined
  /** An object that is not there is created. */
  readonly create: boolean
  /** The new state, decoded and defaulted, as a private copy; called again when another write came between. */
  make(live: ApiObject | undefined): ApiObject | Promise<ApiObject>
  /** `make` also keeps managedFields. */
  readonly tracked?: boolean
}

/** The loop around one change: from what is stored to what is stored then. */
export async function change(core: Core, name: string, context: WriteContext, options: WriteOptions, wanted: Change): Promise<Updated> {
  const { type } = context
  const bucket = core.store.bucket(type.bucket)
  const namespace = type.namespaced ? context.namespace : ''
  for (;;) {
    const stored = bucket.get(namespace, name)
    if (stored === undefined) {
      if (!wanted.create) throw notFound(type, name)
      if (wanted.uid) throw otherUid(type, context, name, wanted.uid, '')
      const object = await wanted.make(undefined)
      // Of what was there once.
      delete object.metadata.resourceVersion
      const creation: WriteContext = { ...context, operation: 'create' }
      return { object: await createDecoded(core, object, creation, options, wanted.tracked, true), created: true }
    }
    const live = await read(type, stored.object)
    if (wanted.uid && wanted.uid !== live.metadata.uid) throw otherUid(type, context, name, wanted.uid, live.metadata.uid ?? '')
    const made = wanted.make(live)
    const done = await changeOnce(
      core,
      made instanceof Promise ? await made : made,
      live,
      stored,
      context,
      options,
      wanted.tracked === true,
    )
    if (done !== undefined) return { object: done, created: false }
  }
}

async function changeOnce(
  core: Core,
  made: ApiObject,
  live: ApiObject,
  stored: Stored,
  context: WriteContext,
  options: WriteOptions,
  tracked: boolean,
): Promise<ApiObject | undefined> {
  const { type, subresource } = context
  const { name } = stored
  let object = made
  const tracking = tracked ? undefined : track(core, type, live, object, subresource, options)
  if (tracking instanceof Promise) await tracking
  const request = admissionRequest('UPDATE', type, subresource, scopeOf(context, object), name, object, live, options)
  if (core.admission.length > 0) {
    await mutate(core, request)
    object = request.object ?? object
    warnOnce(dropDuplicateOwners(object, true), options)
  }
  matchVersion(type, object, stored)
  prepare(object, live, context)
  check(object, live, context, options)
  if (core.admission.length > 0) await validate(core, { ...request, object })
  if (emptied(type, object, live)) return deleteEmptied(core, type, object, live, stored, context)
  if (context.dryRun) return object
  const converted = toStorage(type, object)
  const toStore = converted instanceof Promise ? await converted : converted
  const now = core.store.bucket(type.bucket).put(stored.namespace, name, toStore, stored.revision)
  if (now === undefined) return undefined
  if (now.revision !== stored.revision) type.strategy.stored?.(now.object, stored.object, context)
  return toStore === object ? now.object : read(type, now.object)
}

function prepare(object: ApiObject, live: ApiObject, context: WriteContext): void {
  const { type, subresource } = context
  matchNamespace(type, context.namespace, object)
  const { metadata: old } = live
  if (old.generation === undefined) delete object.metadata.generation
  else object.metadata.generation = old.generation
  restoreUnreachable(type, subresource, object, live)
  type.strategy.prepareForUpdate?.(object, live, context)
  const { metadata } = object
  if (!metadata.uid && old.uid !== undefined) metadata.uid = old.uid
  if (old.creationTimestamp) metadata.creationTimestamp = old.creationTimestamp
  if (old.deletionTimestamp) metadata.deletionTimestamp = old.deletionTimestamp
  if (old.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds === undefined) {
    metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds
  }
  delete metadata.selfLink
  type.normalize?.(object)
  if (subresource === 'status') return
  // Of what will be stored: a list that is empty instead of absent is no change.
  const generation = nextGeneration(type, object, live)
  if (generation !== undefined) object.metadata.generation = generation
}

function check(object: ApiObject, live: ApiObject, context: WriteContext, options: WriteOptions): void {
  const { type } = context
  const errors = [...validateOnUpdate(type, object.metadata, live.metadata)]
  const schema = type.validateSchema?.(object, live, context)
  if (schema !== undefined) errors.push(...schema.errors)
  const more = type.strategy.validateUpdate?.(object, live, context)
  if (more !== undefined) errors.push(...more)
  if (errors.length > 0) throw invalidError(errorSubject(type), object.metadata.name ?? '', errors)
  if (options.warn === undefined) return
  if (schema !== undefined) warnAll(options, schema.warnings)
  if (type.custom && context.subresource === '') {
    const known = new Set(live.metadata.finalizers)
    warnAll(options, finalizerWarnings((object.metadata.finalizers ?? []).filter((each) => !known.has(each))))
  }
  // A status is written by controllers, who cannot mend what a user wrote.
  const warnings = context.subresource === 'status' ? undefined : type.strategy.warnings?.(object, live, context)
  if (warnings !== undefined) warnAll(options, warnings)
}

const DECIMAL = /^\d+$/

/** Fills in the version of a write that names none, where the kind allows that. @throws ApiError 409, 422, 500 */
function matchVersion(type: ResourceType, object: ApiObject, stored: Stored): void {
  const given = object.metadata.resourceVersion
  const unconditional = type.strategy.allowUnconditionalUpdate ?? !type.custom
  if (given === undefined || given === '' || given === '0') {
    if (unconditional) {
      object.metadata.resourceVersion = String(stored.revision)
      return
    }
    const subject = { ...type, kind: type.resource }
    throw invalidError(subject, stored.name, [invalid('metadata.resourceVersion', 0, 'must be specified for an update')])
  }
  if (!DECIMAL.test(given)) throw plainError(`strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`)
  if (Number(given) !== stored.revision) throw conflict(type, stored.name, MODIFIED)
}

/** The last finalizer of an object that waited only for it is gone. */
function emptied(type: ResourceType, { metadata, spec }: ApiObject, live: ApiObject): boolean {
  if (!live.metadata.deletionTimestamp || (metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false
  if (metadata.finalizers !== undefined && metadata.finalizers.length > 0) return false
  // A namespace waits for finalizers of its own, too.
  return type.bucket !== '/namespaces' || (spec?.finalizers ?? []).length === 0
}

async function deleteEmptied(
  core: Core,
  type: ResourceType,
  object: ApiObject,
  live: ApiObject,
  stored: Stored,
  context: WriteContext,
): Promise<ApiObject | undefined> {
  if (context.dryRun) return object
  // Watches see what was stored, with its finalizers.
  const event = core.store.bucket(type.bucket).delete(stored.namespace, stored.name, stored.revision)
  if (event === undefined) return undefined
  type.strategy.stored?.(event.object, stored.object, context)
  // The answer shows the version before the deletion, which alone has the new one.
  return { ...object, metadata: { ...object.metadata, resourceVersion: live.metadata.resourceVersion ?? '' } }
}

function otherUid(type: ResourceType, context: WriteContext, name: string, wanted: string, found: string): ApiError {
  const place = type.namespaced ? `${context.namespace}/${name}` : name
  const root = type.group === '' || !type.custom ? `/registry/${type.resource}` : `/registry/${type.group}/${type.resource}`
  return conflict(
    type,
    name,
    `StorageError: invalid object, Code: 4, Key: ${root}/${place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`,
  )
}

/** @throws ApiError 400 */
export function checkName(object: ApiObject, name: string): void {
  const { metadata } = object
  if (!metadata.name) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (metadata.name !== name) throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
}
