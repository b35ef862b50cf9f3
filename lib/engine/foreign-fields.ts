/**
 * Why a child is refused that its builder made right: server-side apply leaves what other managers own, a second port of a Service say, and
 * the two together break a rule. Who they are stands in `managedFields`
 * (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
 */
import type { StatusError } from '../api/status-error.ts'
import type { KubeObject } from '../resource/kind.ts'

interface ManagedFields {
  readonly manager?: string
  readonly subresource?: string
  readonly fieldsV1?: Fields
}
interface Fields {
  readonly [member: string]: Fields
}

/** How many fields of one manager are named. */
const NAMED = 3

/**
 * What others own of `live` where the server finds fault with it, and what to do; where it finds fault with no field of theirs, only who they are.
 * Undefined where nobody else owns more than labels and annotations.
 *
 * @param what names the object
 */
export function foreignFields(error: StatusError, live: KubeObject, ours: string, what: string): string | undefined {
  const all = (live.metadata as { managedFields?: readonly ManagedFields[] }).managedFields ?? []
  const others = all.filter(({ manager, subresource }) => manager !== ours && !subresource)
  const places = (error.details?.causes ?? []).flatMap(({ field }) => (field === undefined ? [] : [placeOf(field)]))
  const found = others.flatMap(({ manager = '', fieldsV1 = {} }) => {
    const { 'f:metadata': _, ...rest } = fieldsV1
    const fields = new Set(places.flatMap((place) => leaves(at(fieldsV1, place), place.join('.'))))
    return fields.size > 0 ? [{ manager, there: [...fields] }] : Object.keys(rest).length > 0 ? [{ manager, there: [] }] : []
  })
  const there = found.filter(({ there }) => there.length > 0)
  if (there.length > 0) {
    const owners = there.map(({ manager, there }) => `${manager} owns ${listed(there)}`).join(' and ')
    return `${owners}, which an apply leaves there: remove it from ${what}, or have the builder return it too`
  }
  return found.length === 0 ? undefined : `other managers own fields of this object: ${found.map(({ manager }) => manager).join(', ')}`
}

/** `spec.ports[0].name` → `spec`, `ports`: which element of a list is meant is only known of the object that was refused. */
function placeOf(field: string): string[] {
  return (field.split('[', 1)[0] ?? '').split('.').filter((name) => name !== '')
}

function at(fields: Fields, place: readonly string[]): Fields | undefined {
  return place.reduce<Fields | undefined>((found, name) => found?.[`f:${name}`], fields)
}

/** The fields below: elements of a list as such, by their keys. */
function leaves(fields: Fields | undefined, path: string): string[] {
  if (fields === undefined || path === '') return []
  const members = Object.keys(fields).filter((member) => member !== '.')
  if (members.length === 0) return [path]
  return members.flatMap((member) => {
    const name = member.slice(2)
    if (member.startsWith('f:')) return leaves(fields[member], `${path}.${name}`)
    return [`${path}[${member.startsWith('k:') ? keys(name) : name}]`]
  })
}

/** `{"port":99,"protocol":"TCP"}` → `port=99,protocol=TCP` */
function keys(json: string): string {
  try {
    return Object.entries(JSON.parse(json))
      .map(([key, value]) => `${key}=${value}`)
      .join(',')
  } catch {
    return json
  }
}

function listed(fields: readonly string[]): string {
  const more = fields.length - NAMED
  return [...fields.slice(0, NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}
