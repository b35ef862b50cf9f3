/** A Scale as a client sends it. */
import { builtinShape } from '../builtin/shapes/shape.ts'
import type { JsonObject } from '../json.ts'
import type { ApiObject } from '../types.ts'

/** @throws ApiError 400 */
export function autoscalingScale(value: JsonObject): ApiObject {
  const scale = value as unknown as ApiObject
  scale.kind ??= 'Scale'
  scale.apiVersion ??= 'autoscaling/v1'
  scale.metadata ??= {}
  builtinShape('autoscaling', 'v1', 'Scale')?.decode(scale)
  return scale
}
