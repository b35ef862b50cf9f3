/**
 * Sets of fields, as trees. A field is in the set where its node is a member; having fields below it does not make it one.
 * Sets never change once they are made, so they share their parts.
 */
import { compareElements, type PathElement } from './path-element.ts'

export type Path = readonly PathElement[]

export interface FieldNode {
  readonly member: boolean
  /** Never empty. */
  readonly children: FieldSet | undefined
}

export type FieldSet = ReadonlyMap<PathElement, FieldNode>

export const EMPTY: FieldSet = new Map()
/** A field by itself. */
export const LEAF: FieldNode = { member: true, children: undefined }

/** For building one: the only place where a set grows. */
export type FieldSetDraft = Map<PathElement, FieldNode>

export function setOf(...paths: Path[]): FieldSet {
  let result = EMPTY
  for (const path of paths) result = union(result, single(path))
  return result
}

function single(path: Path): FieldSet {
  const [first, ...rest] = path
  if (first === undefined) return EMPTY
  return new Map([[first, rest.length === 0 ? LEAF : { member: false, children: single(rest) }]])
}

export function has(set: FieldSet, path: Path): boolean {
  let at: FieldSet | undefined = set
  for (let i = 0; i < path.length; i++) {
    const node: FieldNode | undefined = at?.get(path[i] as PathElement)
    if (node === undefined) return false
    if (i === path.length - 1) return node.member
    at = node.children
  }
  return false
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a.size === 0 || a === b) return b
  if (b.size === 0) return a
  const result: FieldSetDraft = new Map(a)
  for (const [element, node] of b) {
    const own = result.get(element)
    result.set(element, own === undefined || own === node ? node : { member: own.member || node.member, children: both(own, node) })
  }
  return result
}

function both(a: FieldNode, b: FieldNode): FieldSet | undefined {
  if (a.children === undefined) return b.children
  return b.children === undefined ? a.children : union(a.children, b.children)
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const result: FieldSetDraft = new Map()
  for (const [element, node] of a) {
    const other = b.get(element)
    if (other === undefined) continue
    const children = node.children && other.children && intersection(node.children, other.children)
    put(result, element, node.member && other.member, children)
  }
  return result
}

/** What is in `a` and not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, false)
}

/** What is in `a` and neither in `b` nor below a field of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true)
}

function subtract(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet {
  if (a.size === 0 || b.size === 0) return a
  const result: FieldSetDraft = new Map()
  for (const [element, node] of a) {
    const other = b.get(element)
    if (other === undefined) result.set(element, node)
    else if (!(recursive && other.member)) {
      const children = node.children && other.children ? subtract(node.children, other.children, recursive) : node.children
      put(result, element, node.member && !other.member, children)
    }
  }
  return result
}

function put(draft: FieldSetDraft, element: PathElement, member: boolean, children: FieldSet | undefined): void {
  if (children !== undefined && children.size > 0) draft.set(element, { member, children })
  else if (member) draft.set(element, LEAF)
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [element, node] of a) {
    const other = b.get(element)
    if (other === undefined || other.member !== node.member) return false
    if (!equalSets(node.children ?? EMPTY, other.children ?? EMPTY)) return false
  }
  return true
}

/** In the order of paths: the fields of a level, then those below them. */
export function* paths(set: FieldSet, prefix: Path = []): Generator<Path> {
  const elements = sortedElements(set)
  for (const element of elements) if (set.get(element)?.member) yield [...prefix, element]
  for (const element of elements) {
    const children = set.get(element)?.children
    if (children !== undefined) yield* paths(children, [...prefix, element])
  }
}

export function sortedElements(set: FieldSet): PathElement[] {
  const elements = [...set.keys()]
  return elements.length < 2 ? elements : elements.sort(compareElements)
}
