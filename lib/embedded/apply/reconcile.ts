/** Owned fields brought in step with a schema that has changed since: what became one value is owned as one. */
import { type FieldNode, type FieldSet, type FieldSetDraft, LEAF } from './field-set.ts'
import type { FieldType } from './field-type.ts'
import type { PathElement } from './path-element.ts'

/** The same set where nothing changed. */
export function reconcile(set: FieldSet, type: FieldType): FieldSet {
  let draft: FieldSetDraft | undefined
  for (const [element, node] of set) {
    const inner = typeBelow(type, element)
    const result = inner === undefined ? node : reconcileNode(node, inner)
    if (result === node) continue
    draft ??= new Map(set)
    draft.set(element, result)
  }
  return draft ?? set
}

function reconcileNode(node: FieldNode, type: FieldType): FieldNode {
  const { map, list } = type
  if (map !== undefined) {
    if (map.deduced || node.children === undefined) return node
    if (map.atomic) return LEAF
  } else if (list !== undefined && type.scalar === undefined) {
    if (list.atomic) return node.children === undefined && node.member ? node : LEAF
  } else return node
  if (node.children === undefined) return node
  const children = reconcile(node.children, type)
  return children === node.children ? node : { member: node.member, children }
}

function typeBelow(type: FieldType, element: PathElement): FieldType | undefined {
  if (type.map !== undefined) return element.startsWith('f:') ? type.map.field(element.slice(2)) : undefined
  return type.list?.element
}
