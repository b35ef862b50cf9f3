/** The tree of an expression. The parser makes it; the checker writes types and overloads into it. */
import type { Overload } from './environment.ts'
import type { CelType } from './types.ts'
import type { Value } from './values.ts'

interface Base {
  /** Offset in the text, where issues of this node are shown. */
  readonly at: number
  type?: CelType
}

export interface Literal extends Base {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Ident extends Base {
  readonly kind: 'ident'
  readonly name: string
  /** Set by the checker where the name stands for a type. */
  constant?: Value
}

export interface Select extends Base {
  readonly kind: 'select'
  readonly operand: Node
  readonly field: string
  /** `has(operand.field)` */
  readonly test: boolean
  /** Set by the checker where the whole path is one name: `google.protobuf.Timestamp`. */
  ident?: string
  constant?: Value
}

export interface Call extends Base {
  readonly kind: 'call'
  /** The checker makes a function with a qualified name (`sets.contains`) out of a call with a target. */
  name: string
  target: Node | undefined
  readonly args: readonly Node[]
  overloads: Overload[]
}

export interface List extends Base {
  readonly kind: 'list'
  readonly elements: readonly Node[]
  /** Indexes of `[?x]`. */
  readonly optional: ReadonlySet<number>
}

export interface MapEntry {
  readonly key: Node
  readonly value: Node
  readonly optional: boolean
}

export interface MapNode extends Base {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface Struct extends Base {
  readonly kind: 'struct'
  readonly name: string
}

export interface Comprehension extends Base {
  readonly kind: 'comprehension'
  readonly range: Node
  readonly variable: string
  /** Of the two-variable forms. */
  readonly variable2: string | undefined
  readonly accumulator: string
  readonly initial: Node
  readonly condition: Node
  readonly step: Node
  readonly result: Node
}

export type Node = Literal | Ident | Select | Call | List | MapNode | Struct | Comprehension

/** Nodes that are checked independently of the original: macros use their target twice. */
export function copyNode(node: Node): Node {
  switch (node.kind) {
    case 'literal':
    case 'ident':
    case 'struct':
      return { ...node }
    case 'select':
      return { ...node, operand: copyNode(node.operand) }
    case 'call':
      return { ...node, target: node.target && copyNode(node.target), args: node.args.map(copyNode), overloads: [] }
    case 'list':
      return { ...node, elements: node.elements.map(copyNode) }
    case 'map':
      return {
        ...node,
        entries: node.entries.map(({ key, value, optional }) => ({ key: copyNode(key), value: copyNode(value), optional })),
      }
    case 'comprehension':
      return {
        ...node,
        range: copyNode(node.range),
        initial: copyNode(node.initial),
        condition: copyNode(node.condition),
        step: copyNode(node.step),
        result: copyNode(node.result),
      }
  }
}

export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'select':
      return [node.operand]
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args]
    case 'list':
      return node.elements
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value])
    case 'comprehension':
      return [node.range, node.initial, node.condition, node.step, node.result]
    default:
      return []
  }
}

/** The node and all below it, from the top. */
export function* walk(node: Node): Generator<Node> {
  yield node
  for (const child of children(node)) yield* walk(child)
}
