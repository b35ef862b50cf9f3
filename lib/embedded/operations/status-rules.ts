/** What a request may not change: the status through the object, all but the status through `/status`. */
import { cloneJson, equalJson } from '../json.ts'
import type { ApiObject, ResourceType } from '../types.ts'

// Kinds whose status a creation may set.
const STATUS_ON_CREATE = new Set(['/nodes'])

export function clearStatus(type: ResourceType, object: ApiObject): void {
  if (type.subresources.includes('status') && !STATUS_ON_CREATE.has(type.bucket)) delete object.status
}

/** Puts back into `object`, in place, what this request does not reach. */
export function restoreUnreachable(type: ResourceType, subresource: string, object: ApiObject, old: ApiObject): void {
  if (subresource === 'ephemeralcontainers') restoreAllBut(object, old, ({ spec }) => ({ ephemeralContainers: spec?.ephemeralContainers }))
  else if (subresource === 'resize') restoreAllBut(object, old, ({ spec }) => resized(spec, old.spec))
  else if (!type.subresources.includes('status')) return
  else if (subresource === 'status' || subresource === 'approval') restoreAllButStatus(type, object, old)
  else if (old.status === undefined) delete object.status
  else object.status = cloneJson(old.status)
}

/** Only what `part` takes from the specification changes. */
function restoreAllBut(object: ApiObject, old: ApiObject, part: (object: ApiObject) => object): void {
  const spec = { ...cloneJson(old.spec), ...part(object) }
  if (old.status === undefined) delete object.status
  else object.status = cloneJson(old.status)
  object.spec = spec
}

/** The containers of before with the resources of now. */
function resized(spec: Part, old: Part): object {
  const list = (name: string) => {
    const now = new Map((spec[name] ?? []).map((each: Part) => [each.name, each]))
    return old[name]?.map((each: Part) => ({ ...each, resources: (now.get(each.name) as Part | undefined)?.resources ?? each.resources }))
  }
  return { containers: list('containers'), ...(old.initContainers === undefined ? {} : { initContainers: list('initContainers') }) }
}

// biome-ignore lint/suspicious/noExplicitAny: a part of an object of any kind
type Part = any

function restoreAllButStatus(type: ResourceType, object: ApiObject, old: ApiObject): void {
  for (const key of Object.keys(object)) if (!OWN.has(key) && !Object.hasOwn(old, key)) delete object[key]
  for (const key of Object.keys(old)) if (!OWN.has(key)) object[key] = cloneJson(old[key])
  if (!type.custom) return
  const { managedFields, resourceVersion } = object.metadata
  object.metadata = cloneJson(old.metadata)
  if (managedFields !== undefined) object.metadata.managedFields = managedFields
  else delete object.metadata.managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}

const OWN = new Set(['apiVersion', 'kind', 'metadata', 'status'])

/**
 * The generation of what is now: one more where anything but metadata changed, and but the status where that has its own
 * subresource.
 */
export function nextGeneration(type: ResourceType, object: ApiObject, old: ApiObject): number | undefined {
  const generation = old.metadata.generation
  const counts = type.strategy.generation ?? false
  if (counts === false) return generation
  const withStatus = type.custom && !type.subresources.includes('status')
  const also = typeof counts === 'function' && counts(object, old)
  const changed = [...new Set([...Object.keys(object), ...Object.keys(old)])].some(
    (key) => key !== 'metadata' && key !== 'apiVersion' && (withStatus || key !== 'status') && !equalJson(object[key], old[key]),
  )
  return changed || also ? (generation ?? 0) + 1 : generation
}
