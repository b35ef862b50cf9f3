/** An object without some of its fields. */
import { define, type Json, type JsonObject } from '../json.ts'
import type { FieldNode, FieldSet, FieldSetDraft } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import { fieldElement } from './path-element.ts'
import { asList, asMap, firstPart, isEmptyMap, listElement, partOf } from './typed.ts'

/** Shares what stays. What was emptied is null, as the real server leaves it to defaulting. */
export function removeFields(value: Json, fields: FieldSet, type: FieldType): Json {
  const part = partOf(type, value) ?? firstPart(type)
  if (part === 'scalar') return value
  if (part === 'list') return type.list === undefined || type.list.atomic ? null : fromList(value, fields, type)
  return type.map === undefined || type.map.atomic ? null : fromMap(value, fields, type)
}

function fromMap(value: Json, fields: FieldSet, type: FieldType): Json {
  const map = asMap(value)
  if (map === undefined || isEmptyMap(map)) return null
  const result: JsonObject = {}
  for (const key of Object.keys(map)) {
    const member = map[key]
    const node = fields.get(fieldElement(key))
    if (member === undefined || node?.member) continue
    const inner = type.map?.field(key)
    define(result, key, node?.children === undefined || inner === undefined ? member : removeFields(member, node.children, inner))
  }
  return isEmptyMap(result) ? null : result
}

function fromList(value: Json, fields: FieldSet, type: FieldType): Json {
  const list = type.list
  const result: Json[] = []
  for (const item of list === undefined ? [] : (asList(value) ?? [])) {
    const node = list && fields.get(listElement(list, item))
    if (node?.member) continue
    result.push(node?.children === undefined || list === undefined ? item : removeFields(item, node.children, list.element))
  }
  return result.length === 0 ? null : result
}

/**
 * The set with each declared field in it that has fields in it: removing all that somebody owned below a declared field removes
 * the field as well, but one that only holds keys of others stays.
 */
export function withDeclaredParents(set: FieldSet, type: FieldType | undefined): FieldSet {
  const result: FieldSetDraft = new Map()
  for (const [element, node] of set) {
    const { children } = node
    if (children === undefined) {
      result.set(element, node)
      continue
    }
    const isField = element.startsWith('f:')
    const name = element.slice(2)
    const member = node.member || (isField && type?.map?.declares(name) === true)
    const inner = isField ? type?.map?.field(name) : element.startsWith('k:') ? type?.list?.element : undefined
    const withParents: FieldNode = { member, children: withDeclaredParents(children, inner) }
    result.set(element, withParents)
  }
  return result
}
