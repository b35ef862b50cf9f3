/** The fields that a configuration sets, and so owns when it is applied. */
import { isObject, type Json } from '../json.ts'
import { groupItems } from './compare.ts'
import { EMPTY, type FieldNode, type FieldSet, type FieldSetDraft, LEAF } from './field-set.ts'
import type { FieldType, ListType, MapType } from './field-type.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { asList, asMap, firstPart, isEmptyMap, type Part, partOf } from './typed.ts'

/**
 * Unlike an update, which owns a map or a list that it made, a configuration owns only what it names: values, items of
 * lists, members of maps that the schema does not declare, and maps that are empty.
 */
export function ownedFields(value: Json, type: FieldType): FieldSet {
  return node(value, type)?.children ?? EMPTY
}

/** `undefined`: nothing of it is owned. */
function node(value: Json, type: FieldType): FieldNode | undefined {
  const part: Part = partOf(type, value) ?? firstPart(type)
  if (part === 'scalar') return LEAF
  if (part === 'map') {
    const map = type.map as MapType
    return map.atomic ? LEAF : below(mapFields(value, map))
  }
  const list = type.list as ListType
  return list.atomic ? LEAF : below(listFields(value, list))
}

const below = (children: FieldSetDraft): FieldNode | undefined => (children.size === 0 ? undefined : { member: false, children })

function mapFields(value: Json, type: MapType): FieldSetDraft {
  const fields: FieldSetDraft = new Map()
  const members = asMap(value)
  if (members === undefined) return fields
  for (const key of Object.keys(members)) {
    const member = members[key]
    const inner = member === undefined ? undefined : type.field(key)
    if (member === undefined || inner === undefined) continue
    const itself = member === null || (isObject(member) && isEmptyMap(member)) || !type.declares(key)
    set(fields, fieldElement(key), node(member, inner), itself)
  }
  return fields
}

function listFields(value: Json, type: ListType): FieldSetDraft {
  const fields: FieldSetDraft = new Map()
  for (const [element, items] of groupItems(asList(value) ?? [], type)) {
    set(fields, element, items.length > 1 ? LEAF : node(items[0] as Json, type.element), true)
  }
  return fields
}

function set(fields: FieldSetDraft, element: PathElement, own: FieldNode | undefined, itself: boolean): void {
  if (own === undefined) {
    if (itself) fields.set(element, LEAF)
  } else fields.set(element, itself && !own.member ? { member: true, children: own.children } : own)
}
