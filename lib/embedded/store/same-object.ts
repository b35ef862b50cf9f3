/** Whether a write would change nothing: the answer that keeps a no-op from making a revision and waking watchers. */
import { equalJson } from '../json.ts'
import type { ApiObject, ManagedFieldsEntry, Metadata } from '../types.ts'

/** Equal but for the resourceVersion and the times in managedFields, which alone are no change. */
export function sameObject(a: ApiObject, b: ApiObject): boolean {
  if (a === b) return true
  return sameMetadata(a.metadata, b.metadata) && sameBut(a, b, 'metadata')
}

function sameMetadata(a: Metadata, b: Metadata): boolean {
  // What differs most often comes first: a write mostly bumps the generation or touches managedFields.
  if (a.generation !== b.generation) return false
  return sameBut(a, b, 'resourceVersion', 'managedFields') && sameManagers(a.managedFields ?? [], b.managedFields ?? [])
}

function sameManagers(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  return a.length === b.length && a.every((entry, i) => sameBut(entry, b[i]!, 'time'))
}

function sameBut(a: object, b: object, ...ignored: readonly string[]): boolean {
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key of Object.keys(left)) {
    if (ignored.includes(key)) continue
    const value = left[key]
    if (value === undefined) continue
    if (!Object.hasOwn(right, key) || !equalJson(value, right[key])) return false
  }
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && !ignored.includes(key) && !(Object.hasOwn(left, key) && left[key] !== undefined)) return false
  }
  return true
}
