/** How an error quotes an object that a patch has made: in the order that Go's patch libraries leave its members in. */
import { define, encodeJson, equalJson, isObject, type Json, type JsonObject } from '../json.ts'
import type { ApiObject, ResourceType } from '../types.ts'

/** Maps are sorted, and so are the parts of a built-in object that the patch touched; the others keep the order of their Go struct. */
export const shownPatched = (type: ResourceType, live: ApiObject, patched: Json): string =>
  encodeJson(inOrderOfPatch(type, live, patched) as object)

export const inOrderOfPatch = ({ custom }: ResourceType, live: ApiObject, patched: Json): Json =>
  custom ? sorted(patched) : touchedSorted(live as unknown as Json, patched)

/** A strategic merge takes the nulls out of those parts of the patch that meet nothing, in the patch itself. */
export function shownStrategic(live: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  return inOrder(patch, Object.keys(patch), (key, value) => {
    const before = isObject(live) && Object.hasOwn(live, key) ? live[key] : undefined
    return isObject(value) && before === undefined ? withoutNulls(value) : shownStrategic(before, value)
  })
}

function withoutNulls(value: Json): Json {
  if (!isObject(value)) return value
  const kept = Object.keys(value).filter((key) => value[key] !== null)
  return inOrder(value, kept, (_, member) => withoutNulls(member))
}

function touchedSorted(live: Json | undefined, patched: Json): Json {
  if (!isObject(patched)) return patched
  return inOrder(patched, Object.keys(patched).sort(), (key, value) => {
    const before = isObject(live) && Object.hasOwn(live, key) ? live[key] : undefined
    if (!equalJson(before, value)) return touchedSorted(before, value)
    return key === 'metadata' && isObject(value) ? inOrder(value, METADATA, (_, member) => member) : value
  })
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  return isObject(value) ? inOrder(value, Object.keys(value).sort(), (_, member) => sorted(member)) : value
}

function inOrder(value: JsonObject, keys: readonly string[], make: (key: string, value: Json) => Json): JsonObject {
  const result: JsonObject = {}
  for (const key of keys) {
    const member = Object.hasOwn(value, key) ? value[key] : undefined
    if (member !== undefined) define(result, key, make(key, member))
  }
  return result
}

const METADATA = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]
