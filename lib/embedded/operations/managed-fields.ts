/** Who wrote which field: kept on every write, asked by server-side apply. */
import { applyConfiguration, trackUpdate } from '../apply/field-manager.ts'
import type { ConvertForApply } from '../apply/updater.ts'
import type { Core } from '../core.ts'
import { timestamp } from '../object-meta.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { apiVersionOf, managerOf, type WriteOptions } from './context.ts'

/** Sets `next.metadata.managedFields`, in place. */
export function track(
  core: Core,
  type: ResourceType,
  live: ApiObject | undefined,
  next: ApiObject,
  subresource: string,
  options: WriteOptions,
): void {
  trackUpdate({
    live,
    next,
    manager: managerOf(options),
    apiVersion: apiVersionOf(type),
    subresource,
    time: timestamp(core.clock.now()),
    schemas: type.schema,
    resetFields: resetFields(type, subresource),
    empty: emptyOf(type),
    convert: convertFor(core, type),
  })
}

/** The result of an apply, with its managedFields. @throws ApiError 400, 409, 500 */
export function applyTracked(
  core: Core,
  type: ResourceType,
  live: ApiObject | undefined,
  config: ApiObject,
  subresource: string,
  force: boolean,
  options: WriteOptions,
): ApiObject {
  return applyConfiguration({
    live,
    config,
    manager: managerOf(options),
    force,
    subresource,
    time: timestamp(core.clock.now()),
    schemas: type.schema,
    resetFields: resetFields(type, subresource),
    empty: emptyOf(type),
    convert: convertFor(core, type),
    type,
  })
}

/**
 * For fields that are owned in another version. Who owns which field is worked out in one go, and no webhook is asked meanwhile: the
 * versions of a kind that has one are taken to agree on what its fields are called.
 */
function convertFor(core: Core, type: ResourceType): ConvertForApply {
  return (object, apiVersion) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    // Of the two groups of Event, neither knows the other's owners.
    const other = group === type.group ? core.registry.find(group, version ?? '', type.resource) : undefined
    if (other === undefined) return undefined
    const renamed = { object: { ...object, apiVersion }, schemas: other.schema }
    if (type.custom) return type.convertsByWebhook === true ? renamed : { ...renamed, unchecked: true }
    const converted = type.convert?.(object, apiVersion)
    return converted === undefined || converted instanceof Promise ? renamed : { object: converted, schemas: other.schema }
  }
}

const STATUS = [['status']]
const CUSTOM_STATUS = [['metadata'], ['spec']]
const BUILTIN_STATUS = [['spec']]
const NONE: readonly (readonly string[])[] = []

function resetFields({ custom, strategy, subresources }: ResourceType, subresource: string): readonly (readonly string[])[] {
  const own = strategy.resetFields?.[subresource]
  if (own !== undefined) return own
  if (!subresources.includes('status')) return NONE
  if (subresource === 'status') return custom ? CUSTOM_STATUS : BUILTIN_STATUS
  return STATUS
}

const empties = new WeakMap<ResourceType, ApiObject>()

/** A typed object has members even when it has nothing. */
function emptyOf(type: ResourceType): ApiObject | undefined {
  if (type.normalize === undefined) return undefined
  let empty = empties.get(type)
  if (empty === undefined) {
    empty = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: {} }
    type.normalize(empty)
    empties.set(type, empty)
  }
  return empty
}
