/** The fields of `metadata`: what is not among them is dropped, in custom kinds as in built-in ones. */
import { isObject, type JsonObject } from '../json.ts'

/** Null: any value. A table: an object, or a list of objects, with just these fields. */
type Fields = ReadonlyMap<string, Fields | null>

const table = (names: string, nested: Record<string, Fields> = {}): Fields =>
  new Map([...names.split(' ').map((name) => [name, null] as const), ...Object.entries(nested)])

const OBJECT_META = table(
  'name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations finalizers',
  {
    ownerReferences: table('apiVersion kind name uid controller blockOwnerDeletion'),
    managedFields: table('manager operation apiVersion time fieldsType fieldsV1 subresource'),
  },
)

/** Drops unknown and null fields in place; the paths of the unknown ones. */
export function pruneMetadata(metadata: JsonObject, path = 'metadata'): string[] {
  const unknown: string[] = []
  pruneFields(metadata, OBJECT_META, path, unknown)
  return unknown
}

function pruneFields(object: JsonObject, fields: Fields, path: string, unknown: string[]): void {
  for (const key of Object.keys(object)) {
    const nested = fields.get(key)
    if (nested === undefined) {
      unknown.push(`${path}.${key}`)
      delete object[key]
    } else if (object[key] === null) delete object[key]
    else if (nested !== null && Array.isArray(object[key])) {
      for (const [i, item] of object[key].entries()) if (isObject(item)) pruneFields(item, nested, `${path}.${key}[${i}]`, unknown)
    }
  }
}
