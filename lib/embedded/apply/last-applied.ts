/**
 * `kubectl apply` of old keeps its configuration in an annotation. When kubectl applies on the server instead, it may take over
 * what that annotation shows to be its own, and the annotation follows.
 */
import { cloneJson, define, isObject, type Json, type JsonObject } from '../json.ts'
import type { ApiObject } from '../types.ts'
import { compare } from './compare.ts'
import { difference, type FieldSet } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import { ownedFields } from './owned.ts'
import { goJson } from './path-element.ts'
import { requireType } from './validate-type.ts'

export const KUBECTL = 'kubectl'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
/** Annotations may not be larger altogether. */
const MAX_ANNOTATIONS = 256 * 1024

/** The fields that are still as kubectl has set them. `undefined`: there is no annotation that tells. */
export function lastAppliedFields(live: ApiObject, apiVersion: string, type: FieldType): FieldSet | undefined {
  const text = live.metadata?.annotations?.[LAST_APPLIED]
  if (!text) return undefined
  try {
    const applied: unknown = JSON.parse(text)
    if (!isObject(applied) || applied['apiVersion'] !== apiVersion) return undefined
    requireType(applied, type, false)
    const { removed, modified, added } = compare(applied, live as Json, type)
    return difference(difference(difference(ownedFields(applied, type), modified), added), removed)
  } catch {
    return undefined
  }
}

/** Writes the configuration into the annotation, where there is one. In place. */
export function keepLastApplied(object: ApiObject, config: ApiObject): void {
  const annotations = object.metadata.annotations
  if (!annotations?.[LAST_APPLIED]) return
  const applied = cloneJson(config)
  if (applied.metadata?.annotations !== undefined) {
    delete applied.metadata.annotations[LAST_APPLIED]
    if (Object.keys(applied.metadata.annotations).length === 0) delete applied.metadata.annotations
  }
  annotations[LAST_APPLIED] = `${goJson(sorted(applied as Json))}\n`
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (size > MAX_ANNOTATIONS) delete annotations[LAST_APPLIED]
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const result: JsonObject = {}
  for (const key of Object.keys(value).sort()) define(result, key, sorted(value[key] as Json))
  return result
}
