/** PATCH: a document that says how an object changes, applied to what is stored and then written like any update. */
import type { Core, PatchType } from '../core.ts'
import { cloneJson, encodeJson, type Json } from '../json.ts'
import { goFormat } from '../patch/go-format.ts'
import { conflict } from '../status.ts'
import type { ApiObject, ResourceType, WriteContext } from '../types.ts'
import { type WriteOptions, writeContext } from './context.ts'
import { matchNamespace } from './create.ts'
import { decodeError, decodeObject, decodePatched, reportProblems } from './decode.ts'
import { decodeMetadata } from './decode-metadata.ts'
import { applyTracked } from './managed-fields.ts'
import { applyPatch } from './patch-types.ts'
import { change, checkName, type Updated } from './update.ts'

export interface Patch {
  readonly type: PatchType
  readonly value: unknown
  readonly force?: boolean
}

export function patch(
  core: Core,
  type: ResourceType,
  namespace: string,
  name: string,
  subresource: string,
  document: Patch,
  options: WriteOptions,
): Promise<Updated> {
  const context = writeContext(core, type, namespace, 'update', subresource, options)
  if (document.type === 'apply') return apply(core, name, context, document, options)
  return change(core, name, context, options, {
    uid: undefined,
    create: false,
    make: (live) => patched(live as ApiObject, name, context, document, options),
  })
}

function patched(live: ApiObject, name: string, context: WriteContext, document: Patch, options: WriteOptions): ApiObject {
  const { type } = context
  const result = applyPatch(type.schema, live, document)
  const object = decodePatched(type, result, options, () =>
    document.type === 'strategic' ? goFormat(document.value as Json) : encodeJson(result),
  )
  matchNamespace(type, context.namespace, object)
  checkName(object, name)
  type.strategy.defaults?.(object, context)
  return object
}

function apply(core: Core, name: string, context: WriteContext, document: Patch, options: WriteOptions): Promise<Updated> {
  const { type, subresource } = context
  return change(core, name, context, options, {
    uid: undefined,
    create: subresource === '',
    tracked: true,
    make(live) {
      const merged = applyTracked(core, type, live, cloneJson(document.value) as ApiObject, subresource, document.force === true, options)
      if (live === undefined) refuseUid(type, name, merged)
      const object = decodeApplied(type, merged, options)
      matchNamespace(type, context.namespace, object)
      checkName(object, name)
      type.strategy.defaults?.(object, live === undefined ? { ...context, operation: 'create' } : context)
      return object
    },
  })
}

/**
 * A merged custom object has no unknown fields, and its nulls are not dropped: where they may not be, the schema refuses them. So it
 * is refused to apply `{}` over a map whose only owner one is, as the real server does it.
 */
function decodeApplied(type: ResourceType, merged: ApiObject, options: WriteOptions): ApiObject {
  if (!type.custom) return decodeObject(type, merged, options)
  decodeMetadata(merged.metadata, (text) => decodeError(type, text))
  reportProblems(type, [], options)
  type.applySchemaDefaults?.(merged)
  return merged
}

/** An apply that creates may not know the object; the version it was made from does not matter. @throws ApiError 409 */
function refuseUid(type: ResourceType, name: string, { metadata }: ApiObject): void {
  delete metadata.resourceVersion
  if (!metadata.uid) return
  throw conflict(type, name, `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`)
}
