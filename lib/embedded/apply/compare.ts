/** Which fields differ between two states of an object. */
import { equalJson, type Json, type JsonObject } from '../json.ts'
import { EMPTY, type FieldNode, type FieldSet, type FieldSetDraft, LEAF } from './field-set.ts'
import type { FieldType, ListType, MapType } from './field-type.ts'
import { fieldElement, type PathElement } from './path-element.ts'
import { asList, asMap, firstPart, isEmptyMap, listElement, memberOf, type Part, partOf, partsOf } from './typed.ts'

export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

/** @throws NoPlaceError */
export function compare(left: Json, right: Json, type: FieldType): Comparison {
  const found = new Found()
  compareFields(left, right, type, found)
  return { removed: found.removed ?? EMPTY, modified: found.modified ?? EMPTY, added: found.added ?? EMPTY }
}

/** The fields below one field; each set is there once it has something. */
class Found {
  removed: FieldSetDraft | undefined
  modified: FieldSetDraft | undefined
  added: FieldSetDraft | undefined

  add(element: PathElement, node: FieldNode): void {
    this.added ??= new Map()
    this.added.set(element, joined(this.added.get(element), node))
  }

  remove(element: PathElement, node: FieldNode): void {
    this.removed ??= new Map()
    this.removed.set(element, joined(this.removed.get(element), node))
  }

  modify(element: PathElement, node: FieldNode): void {
    this.modified ??= new Map()
    this.modified.set(element, joined(this.modified.get(element), node))
  }
}

/** Both values are there. Where they are one value as a whole, `true` tells that they differ. */
function compareFields(left: Json, right: Json, type: FieldType, found: Found): boolean {
  let differ = false
  for (const part of partsOf(type, left, right)) differ = comparePart(part, left, right, type, found) || differ
  return differ
}

function comparePart(part: Part, left: Json, right: Json, type: FieldType, found: Found): boolean {
  if (part === 'map') {
    const map = type.map as MapType
    const [a, b] = [asMap(left), asMap(right)]
    if (map.atomic || (isEmptyMap(a) && isEmptyMap(b))) return !equalJson(left, right)
    compareMaps(a, b, map, found)
    return false
  }
  if (part === 'list') {
    const list = type.list as ListType
    const [a, b] = [asList(left) ?? [], asList(right) ?? []]
    if (list.atomic || (a.length === 0 && b.length === 0)) return !equalJson(left, right)
    compareLists(a, b, list, found)
    return false
  }
  return left !== right && !equalJson(left, right)
}

function compareMaps(left: JsonObject | undefined, right: JsonObject | undefined, type: MapType, found: Found): void {
  if (left !== undefined) {
    for (const key of Object.keys(left)) {
      const value = left[key]
      if (value !== undefined) compareMember(fieldElement(key), value, memberOf(right, key), type.field(key), found)
    }
  }
  if (right !== undefined) {
    for (const key of Object.keys(right)) {
      const value = right[key]
      if (value !== undefined && memberOf(left, key) === undefined)
        compareMember(fieldElement(key), undefined, value, type.field(key), found)
    }
  }
}

/** A field without a type is not looked at: the object has not been pruned, and will be refused. */
function compareMember(
  element: PathElement,
  left: Json | undefined,
  right: Json | undefined,
  type: FieldType | undefined,
  found: Found,
): void {
  if (type === undefined || left === right) return
  if (left === undefined) found.add(element, whole(right as Json, type))
  else if (right === undefined) found.remove(element, whole(left, type))
  else {
    const below = new Found()
    if (compareFields(left, right, type, below)) found.modify(element, LEAF)
    if (below.added !== undefined) found.add(element, { member: false, children: below.added })
    if (below.modified !== undefined) found.modify(element, { member: false, children: below.modified })
    if (below.removed !== undefined) found.remove(element, { member: false, children: below.removed })
  }
}

function joined(node: FieldNode | undefined, other: FieldNode): FieldNode {
  if (node === undefined) return other
  return { member: node.member || other.member, children: node.children ?? other.children }
}

function compareLists(left: readonly Json[], right: readonly Json[], type: ListType, found: Found): void {
  const [ours, theirs] = [groupItems(left, type), groupItems(right, type)]
  for (const [element, items] of ours) compareItems(element, items, theirs.get(element) ?? [], type, found)
  for (const [element, items] of theirs) if (!ours.has(element)) compareItems(element, [], items, type, found)
}

/** Items of equal keys are one value as a whole, at the item's own path. */
function compareItems(element: PathElement, left: Json[], right: Json[], type: ListType, found: Found): void {
  const [one, other] = [left.length <= 1, right.length <= 1]
  if (one && other) compareMember(element, left[0], right[0], type.element, found)
  else if (!one && !other) {
    if (!equalJson(left, right)) found.modify(element, LEAF)
  } else if (other) {
    if (right[0] !== undefined) found.add(element, whole(right[0], type.element))
    found.remove(element, LEAF)
  } else {
    if (left[0] !== undefined) found.remove(element, whole(left[0], type.element))
    found.add(element, LEAF)
  }
}

export function groupItems(list: readonly Json[], type: ListType): Map<PathElement, Json[]> {
  const groups = new Map<PathElement, Json[]>()
  for (const item of list) {
    const element = listElement(type, item)
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [item])
    else group.push(item)
  }
  return groups
}

/** A value that came or went as a whole: it and all its fields. */
function whole(value: Json, type: FieldType): FieldNode {
  const part = partOf(type, value) ?? firstPart(type)
  const children: FieldSetDraft = new Map()
  if (part === 'map') {
    const map = type.map as MapType
    const members = asMap(value)
    if (!map.atomic && members !== undefined) {
      for (const key of Object.keys(members)) {
        const member = members[key]
        const inner = map.field(key)
        if (member !== undefined && inner !== undefined) children.set(fieldElement(key), whole(member, inner))
      }
    }
  } else if (part === 'list') {
    const list = type.list as ListType
    if (!list.atomic) {
      for (const [element, items] of groupItems(asList(value) ?? [], list)) {
        children.set(element, items.length > 1 ? LEAF : whole(items[0] as Json, list.element))
      }
    }
  }
  return children.size === 0 ? LEAF : { member: true, children }
}
