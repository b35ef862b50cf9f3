/** Who wrote which field: kept on every write, asked by server-side apply. */
import { applyConfiguration, trackUpdate } from '../apply/field-manager.ts'
import type { ConvertForApply } from '../apply/updater.ts'
import type { Core } from '../core.ts'
import { cloneJson, encodeJson } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { apiVersionOf, managerOf, type WriteOptions } from './context.ts'

/** Sets `next.metadata.managedFields`, in place. A promise only where a webhook has to be asked. */
export function track(
  core: Core,
  type: ResourceType,
  live: ApiObject | undefined,
  next: ApiObject,
  subresource: string,
  options: WriteOptions,
): void | Promise<void> {
  const { managedFields } = next.metadata
  return withConversions(core, type, (convert) => {
    if (managedFields !== undefined) next.metadata.managedFields = managedFields
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
      convert,
    })
  })
}

/** The result of an apply, with its managedFields. A promise only where a webhook has to be asked. @throws ApiError 400, 409, 500 */
export function applyTracked(
  core: Core,
  type: ResourceType,
  live: ApiObject | undefined,
  config: ApiObject,
  subresource: string,
  force: boolean,
  options: WriteOptions,
): ApiObject | Promise<ApiObject> {
  return withConversions(core, type, (convert) =>
    applyConfiguration({
      live,
      config: type.convertsByWebhook === true ? cloneJson(config) : config,
      manager: managerOf(options),
      force,
      subresource,
      time: timestamp(core.clock.now()),
      schemas: type.schema,
      resetFields: resetFields(type, subresource),
      empty: emptyOf(type),
      convert,
      type,
    }),
  )
}

/** What a webhook is to be asked before it can be worked out who owns which field. */
class Unconverted extends Error {
  readonly key: string
  readonly object: ApiObject
  readonly apiVersion: string

  constructor(key: string, object: ApiObject, apiVersion: string) {
    super('a conversion is missing')
    this.key = key
    this.object = object
    this.apiVersion = apiVersion
  }
}

/** Who owns which field is worked out in one go. Where that needs a webhook's answer, it is asked, and all is worked out anew. */
function withConversions<T>(core: Core, type: ResourceType, work: (convert: ConvertForApply) => T): T | Promise<T> {
  const renaming = convertFor(core, type)
  const { convert } = type
  if (type.convertsByWebhook !== true || convert === undefined) return work(renaming)
  const answers = new Map<string, ApiObject>()
  const asking: ConvertForApply = (object, apiVersion) => {
    const renamed = renaming(object, apiVersion)
    if (renamed === undefined || object.apiVersion === apiVersion) return renamed
    const key = `${apiVersion} ${encodeJson(object)}`
    const answer = answers.get(key)
    if (answer === undefined) throw new Unconverted(key, object, apiVersion)
    return { ...renamed, object: answer }
  }
  const attempt = (): T | Promise<T> => {
    try {
      return work(asking)
    } catch (error) {
      if (!(error instanceof Unconverted)) throw error
      return Promise.resolve(convert(error.object, error.apiVersion)).then((answer) => {
        answers.set(error.key, answer)
        return attempt()
      })
    }
  }
  return attempt()
}

/** For fields that are owned in another version. */
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
