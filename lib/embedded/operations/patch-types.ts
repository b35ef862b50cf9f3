/** What each kind of patch makes of an object. */
import { isObject, type Json } from '../json.ts'
import { jsonKind } from '../patch/go-format.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.ts'
import { badRequest } from '../status.ts'
import type { ApiObject, SchemaSource } from '../types.ts'
import type { Patch } from './patch.ts'

/** `live` changed, as a private copy. @throws ApiError */
export function applyPatch(schemas: SchemaSource, live: ApiObject, { type, value }: Patch): Json {
  switch (type) {
    case 'json':
      return applyJsonPatch(live, value)
    case 'merge':
      return applyMergePatch(live, value as Json)
    case 'strategic':
      if (value !== null && !isObject(value)) {
        throw badRequest(`json: cannot unmarshal ${jsonKind(value as Json)} into Go value of type map[string]interface {}`)
      }
      return applyStrategicMergePatch(live, value ?? {}, schemas)
    case 'apply':
      throw new Error('an apply is not a patch of a document')
  }
}
