/** Who owns which field of an object: kept by every write, asked by server-side apply. */
import { cloneJson, isObject, type Json } from '../json.ts'
import { jsonKind } from '../patch/go-format.ts'
import { badRequest, plainError } from '../status.ts'
import type { ApiObject, ManagedFieldsEntry, ResourceType, SchemaSource } from '../types.ts'
import { conflictError } from './conflict.ts'
import { difference, type FieldSet, intersection, setOf, union } from './field-set.ts'
import { type FieldType, objectType } from './field-type.ts'
import { KUBECTL, keepLastApplied, lastAppliedFields } from './last-applied.ts'
import { capUpdaters, decodeManaged, encodeManaged, Managed, type ManagerId, managerId, type Owner } from './managed-fields.ts'
import { fieldElement } from './path-element.ts'
import { NoPlaceError, TypedError } from './typed.ts'
import { ConflictsFound, type ConvertForApply, type Typed, Updater } from './updater.ts'
import { requireType } from './validate-type.ts'

interface Write {
  readonly live: ApiObject | undefined
  /** Empty: `unknown`. */
  readonly manager: string
  /** `''` for the object itself. */
  readonly subresource: string
  /** RFC 3339, to the second. */
  readonly time: string
  readonly schemas: SchemaSource
  /** Fields that a write through this (sub)resource cannot set, and so does not own. */
  readonly resetFields?: readonly (readonly string[])[] | undefined
  /**
   * How the kind looks without anything: a built-in one has a `spec` and a `status` even then, and nobody owns them for
   * having made them. Default: only apiVersion and kind.
   */
  readonly empty?: ApiObject | undefined
  /** For owners that speak another apiVersion. Default: only the apiVersion changes. */
  readonly convert?: ConvertForApply | undefined
}

export interface TrackUpdate extends Write {
  /** The new state, decoded and defaulted, before admission. Its `metadata.managedFields` is set in place. */
  readonly next: ApiObject
  readonly apiVersion: string
}

export interface ApplyConfiguration extends Write {
  /** As the client sent it. */
  readonly config: ApiObject
  readonly force: boolean
  readonly type: Pick<ResourceType, 'group' | 'version' | 'kind'>
}

/**
 * Sets `next.metadata.managedFields` after a create, an update or a patch. An object that does not fit its schema has no owners:
 * so does the real server, and it will refuse it soon.
 */
export function trackUpdate(input: TrackUpdate): void {
  const { live, next } = input
  const sent = next.metadata.managedFields
  let managed = managedBefore(live, sent, input.subresource)
  delete next.metadata.managedFields
  // An object whose owners are not known stays so until somebody applies it.
  if (managed.owners.size === 0 && live !== undefined) return
  try {
    managed = updated(input, managed, next, input.manager)
  } catch (error) {
    if (error instanceof NoPlaceError || error instanceof TypedError) return
    throw error
  }
  setManaged(next, managed)
}

/**
 * What an apply makes of `live`, as a private copy with its managedFields, before it is decoded and defaulted: it still has
 * the nulls that the configuration has, and `metadata.resourceVersion` and `metadata.uid` where the configuration names them.
 * @throws ApiError 409 for conflicts, 400 for another kind or version and for managedFields, 500 where the configuration does not
 * fit the schema (as the real server answers it)
 */
export function applyConfiguration(input: ApplyConfiguration): ApiObject {
  const { live, config, type } = input
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  checkConfig(config, apiVersion, type.kind)
  const fieldType = objectType(input.schemas)
  try {
    requireType(config as Json, fieldType, false)
  } catch (error) {
    throw plainError(`failed to create typed patch object (${describe(config)}): ${(error as TypedError).message}`)
  }
  let managed = decodeForApply(live?.metadata.managedFields)
  const before = withoutManaged(live ?? emptyObject(input, apiVersion, type.kind))
  if (managed.owners.size === 0 && live !== undefined) {
    const unowned = { ...input, live: undefined, apiVersion, kind: type.kind }
    const doing = (stored: string) => `failed to create manager for existing fields: failed to convert new object (${stored}) to smd typed`
    managed = asStored(before, fieldType, doing, () => updated(unowned, managed, before, 'before-first-apply'))
  }
  const object = applied(input, { value: before, type: fieldType }, managed, apiVersion)
  if (input.manager === KUBECTL) keepLastApplied(object, config)
  return object
}

function applied(input: ApplyConfiguration, live: Typed, managed: Managed, apiVersion: string): ApiObject {
  const { config, force } = input
  const id = idOf(input, 'Apply', apiVersion)
  const updater = new Updater(input.convert, resetSet(input.resetFields))
  const attempt = (forced: boolean) =>
    asStored(
      live.value,
      live.type,
      (stored) => `failed to create typed live object (${stored})`,
      () => updater.apply(live, { value: config, type: live.type }, apiVersion, managed.owners, id, forced),
    )
  let result: ReturnType<typeof attempt>
  try {
    result = attempt(force)
  } catch (error) {
    if (!(error instanceof ConflictsFound)) throw error
    const allowed = input.manager === KUBECTL ? lastAppliedFields(live.value, apiVersion, live.type) : undefined
    const others = allowed === undefined ? error.conflicts : withoutAllowed(error.conflicts, allowed)
    if (others.size > 0) throw conflictError(others)
    result = attempt(true)
  }
  const owners = new Map(result.owners)
  strip(owners, id)
  const after = new Managed(owners, new Map(managed.times))
  if (result.object !== undefined) after.times.set(id, input.time)
  const object = cloneJson(result.object ?? live.value)
  object.metadata ??= {}
  setManaged(object, after)
  return object
}

/**
 * Stored objects are taken as they are: they have been validated. One that fits its schema no longer, and in a way that makes the
 * walks over it fail, is told as the real server tells it.
 */
function asStored<T>(live: ApiObject, type: FieldType, doing: (stored: string) => string, walk: () => T): T {
  try {
    return walk()
  } catch (error) {
    if (error instanceof TypedError) throw plainError(error.message)
    if (!(error instanceof NoPlaceError)) throw error
    try {
      requireType(live as Json, type, true)
    } catch (problem) {
      throw plainError(`${doing(describe(live))}: ${(problem as TypedError).message}`)
    }
    throw error
  }
}

function withoutAllowed(conflicts: ReadonlyMap<ManagerId, FieldSet>, allowed: FieldSet): Map<ManagerId, FieldSet> {
  const rest = new Map<ManagerId, FieldSet>()
  for (const [id, set] of conflicts) {
    const other = difference(set, intersection(set, allowed))
    if (other.size > 0) rest.set(id, other)
  }
  return rest
}

/** The owners after `next` replaced `live`, with `manager` owning what changed. */
function updated(input: Omit<TrackUpdate, 'next'> & { kind?: string }, managed: Managed, next: ApiObject, manager: string): Managed {
  const { apiVersion } = input
  const type = objectType(input.schemas)
  const live = input.live === undefined ? emptyObject(input, apiVersion, next.kind) : withoutManaged(input.live)
  const updater = new Updater(input.convert, resetSet(input.resetFields))
  const owners = updater.update({ value: live, type }, { value: next, type }, apiVersion, managed.owners, SELF)
  const result = new Managed(owners, managed.times)
  strip(owners, SELF)
  const own = owners.get(SELF)
  if (own !== undefined) {
    owners.delete(SELF)
    const id = idOf({ ...input, manager }, 'Update', apiVersion)
    const previous = owners.get(id)
    owners.set(id, previous === undefined ? own : { ...own, set: union(own.set, previous.set) })
    result.times.set(id, input.time)
  }
  capUpdaters(result)
  return result
}

/** Stands for the manager while an update is worked out: what it owned before is no different from what others did. */
const SELF: ManagerId = 'current-operation'

function idOf(input: { manager: string; subresource: string }, operation: 'Apply' | 'Update', apiVersion: string): ManagerId {
  return managerId({ manager: input.manager === '' ? 'unknown' : input.manager, operation, apiVersion, subresource: input.subresource })
}

/** `managedFields: []` or `[{}]` forgets all owners; anything else that is no list of entries is ignored. */
function managedBefore(live: ApiObject | undefined, sent: ManagedFieldsEntry[] | undefined, subresource: string): Managed {
  if (subresource === '' && Array.isArray(sent)) {
    if (isReset(sent)) return new Managed()
    const managed = decodeOrNone(sent)
    if (managed.owners.size > 0) return managed
  }
  return decodeOrNone(live?.metadata.managedFields)
}

function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first] = entries
  return first === undefined || (entries.length === 1 && isObject(first) && Object.values(first).every((value) => value === undefined))
}

function decodeOrNone(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  try {
    return decodeManaged(entries)
  } catch {
    return new Managed()
  }
}

function decodeForApply(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  try {
    return decodeManaged(entries)
  } catch (error) {
    throw plainError(`failed to decode managed fields: ${(error as Error).message}`)
  }
}

function setManaged(object: ApiObject, managed: Managed): void {
  const entries = encodeManaged(managed)
  if (entries === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = entries
}

function emptyObject(input: { empty?: ApiObject | undefined }, apiVersion: string, kind: string): ApiObject {
  return input.empty ?? ({ apiVersion, kind } as ApiObject)
}

function withoutManaged(object: ApiObject): ApiObject {
  if (object.metadata?.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function checkConfig(config: ApiObject, apiVersion: string, kind: string): void {
  if (config !== null && !isObject(config)) {
    const kindSent = jsonKind(config)
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${kindSent} into Go value of type map[string]interface {}`,
    )
  }
  if (config?.apiVersion !== apiVersion || config.kind !== kind) throw badRequest(`invalid object type: ${gvk(config ?? {})}`)
  const sent = isObject(config?.metadata) ? config.metadata.managedFields : undefined
  if (Array.isArray(sent)) throw badRequest('metadata.managedFields must be nil')
}

/** As Go prints a GroupVersionKind: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
function gvk({ apiVersion, kind }: { apiVersion?: unknown; kind?: unknown }): string {
  const [first = '', second] = typeof apiVersion === 'string' ? apiVersion.split('/') : []
  const groupVersion = second === undefined ? `/${first}` : `${first}/${second}`
  return `${groupVersion}, Kind=${typeof kind === 'string' ? kind : ''}`
}

function describe(object: ApiObject): string {
  const { namespace, name } = isObject(object.metadata) ? object.metadata : {}
  return `${namespace ?? ''}/${name ?? ''}; ${gvk(object)}`
}

const resetSets = new WeakMap<readonly (readonly string[])[], FieldSet>()

function resetSet(fields: readonly (readonly string[])[] | undefined): FieldSet {
  if (fields === undefined) return NONE
  let set = resetSets.get(fields)
  if (set === undefined) {
    set = setOf(...fields.map((path) => path.map(fieldElement)))
    resetSets.set(fields, set)
  }
  return set
}

const NONE: FieldSet = setOf()

/** Nobody ever owns these. */
const IDENTITY: FieldSet = setOf(
  ...['apiVersion', 'kind', 'metadata'].map((name) => [fieldElement(name)]),
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion'].map(
    (name) => [fieldElement('metadata'), fieldElement(name)],
  ),
)

function strip(owners: Map<ManagerId, Owner>, id: ManagerId): void {
  const owner = owners.get(id)
  if (owner === undefined) return
  const set = difference(owner.set, IDENTITY)
  if (set.size === 0) owners.delete(id)
  else if (set !== owner.set) owners.set(id, { ...owner, set })
}
