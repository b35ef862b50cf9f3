/** PATCH: a document that says how an object changes, applied to what is stored and then written like any update. */
import type { Core, PatchType } from '../core.ts'
import { cloneJson, type Json } from '../json.ts'
import { goFormat } from '../patch/go-format.ts'
import { ApiError, conflict, plainError } from '../status.ts'
import type { ApiObject, ResourceType, WriteContext } from '../types.ts'
import { type WriteOptions, writeContext } from './context.ts'
import { matchNamespace } from './create.ts'
import { decodeError, decodeObject, decodePatched, reportProblems } from './decode.ts'
import { decodeMetadata } from './decode-metadata.ts'
import { applyTracked } from './managed-fields.ts'
import { applyPatch } from './patch-types.ts'
import { inOrderOfPatch, shownPatched, shownStrategic } from './shown-patch.ts'
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
  const strategic = document.type === 'strategic'
  // Decoding changes the object; what an error shows is what was decoded.
  const shown = () =>
    strategic
      ? goFormat(shownStrategic(live as unknown as Json, document.value as Json))
      : shownPatched(type, live, applyPatch(type.schema, live, document))
  const object = decode(result)
  matchNamespace(type, context.namespace, object)
  checkName(object, name)
  type.strategy.defaults?.(object, context)
  return object

  function decode(value: Json): ApiObject {
    try {
      return decodePatched(type, value, options, shown, strategic ? ofStrategic : undefined)
    } catch (error) {
      if (strategic) throw error
      // The first of several faults is told: in the order in which a real server reads.
      return decodePatched(type, inOrderOfPatch(type, live, applyPatch(type.schema, live, document)), options, shown)
    }
  }
}

/** Its result goes through no text, but for what only a text can hold. */
const ofStrategic = (text: string) => (text.startsWith('illegal base64') ? `error decoding from json: ${text}` : text)

function apply(core: Core, name: string, context: WriteContext, document: Patch, options: WriteOptions): Promise<Updated> {
  const { type, subresource } = context
  return change(core, name, context, options, {
    uid: undefined,
    create: subresource === '' || (subresource === 'status' && type.strategy.allowCreateOnUpdate === true),
    tracked: true,
    make(live) {
      const decode = (merged: ApiObject): ApiObject => {
        if (live === undefined) refuseUid(type, name, merged)
        const object = decodeApplied(type, merged, document.value as ApiObject, options)
        matchNamespace(type, context.namespace, object)
        checkName(object, name)
        type.strategy.defaults?.(object, live === undefined ? { ...context, operation: 'create' } : context)
        return object
      }
      const merged = applyTracked(core, type, live, cloneJson(document.value) as ApiObject, subresource, document.force === true, options)
      return merged instanceof Promise ? merged.then(decode) : decode(merged)
    },
  })
}

/**
 * A merged custom object has no unknown fields, and its nulls are not dropped: where they may not be, the schema refuses them. So it
 * is refused to apply `{}` over a map whose only owner one is, as the real server does it.
 */
function decodeApplied(type: ResourceType, merged: ApiObject, config: ApiObject, options: WriteOptions): ApiObject {
  if (!type.custom) return decodeMerged(type, merged, config, options)
  decodeMetadata(merged.metadata, (text) => decodeError(type, text))
  reportProblems(type, [], options)
  type.applySchemaDefaults?.(merged)
  return merged
}

/** What a configuration has made of a built-in object and does not fit its type is no fault of the body as such. */
function decodeMerged(type: ResourceType, merged: ApiObject, config: ApiObject, options: WriteOptions): ApiObject {
  const { namespace = '', name = '' } = config.metadata ?? {}
  try {
    return decodeObject(type, merged, options)
  } catch (error) {
    const prefix = decodeError(type, '').message
    if (!(error instanceof ApiError) || !error.message.startsWith(prefix)) throw error
    const kind = `${type.group}/${type.version}, Kind=${type.kind}`
    const problem = error.message.slice(prefix.length)
    throw plainError(
      `failed to convert new object (${namespace}/${name}; ${kind}) to proper version: unable to convert unstructured object to ${kind}: error decoding from json: ${problem}`,
    )
  }
}

/** An apply that creates may not know the object; the version it was made from does not matter. @throws ApiError 409 */
function refuseUid(type: ResourceType, name: string, { metadata }: ApiObject): void {
  delete metadata.resourceVersion
  if (!metadata.uid) return
  throw conflict(type, name, `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`)
}
