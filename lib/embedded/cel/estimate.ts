/**
 * The worst cost of an expression before it runs, from the limits that the schema gives. The real server refuses rules by
 * it, so it follows cel-go's estimator and Kubernetes' additions to it step by step, oddities included.
 */
import type { Call, Comprehension, List, MapNode, Node, Select } from './ast.ts'
import { LIST_COST, MAP_COST, STRING_FACTOR, STRUCT_COST } from './call-cost.ts'
import {
  type Argument,
  type CallEstimate,
  comparing,
  derived,
  estimateExtension,
  estimateKubernetes,
  type Path,
  regexCost,
} from './call-estimate.ts'
import { addRange, factor, fixed, multiply, type Range, UNKNOWN, union } from './ranges.ts'
import type { SchemaType } from './schema-type.ts'
import { type CelType, isOptional } from './types.ts'
import { textLength } from './values.ts'

/** `root`: what `self` and `oldSelf` are. */
export function estimateCost(node: Node, root: SchemaType): Range {
  return new Estimator(root).cost(node)
}

interface EntrySize {
  readonly container: 'list' | 'map'
  readonly key: Range
  readonly value: Range
}

interface Local {
  readonly path: Path
  readonly size: Range | undefined
  readonly entry: EntrySize | undefined
}

class Estimator {
  readonly #root: SchemaType
  readonly #paths = new Map<Node, Path>()
  readonly #sizes = new Map<Node, Range>()
  readonly #entries = new Map<Node, EntrySize>()
  readonly #locals = new Map<string, Local[]>()

  constructor(root: SchemaType) {
    this.#root = root
  }

  cost(node: Node): Range {
    switch (node.kind) {
      case 'literal':
        return fixed(0)
      case 'ident':
        return this.#ident(node, node.name)
      case 'select':
        return node.ident !== undefined ? this.#ident(node, node.ident) : this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'struct':
        return fixed(STRUCT_COST)
      case 'comprehension':
        return isBind(node) ? this.#bind(node) : this.#loop(node)
    }
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1)
  }

  #push(name: string, local: Local): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), local])
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop()
  }

  #ident(node: Node, name: string): Range {
    this.#paths.set(node, this.#local(name)?.path ?? [name])
    return fixed(1)
  }

  #select(node: Select): Range {
    if (node.test) return this.cost(node.operand)
    const operand = this.cost(node.operand)
    const { kind } = typeOfNode(node.operand)
    const sum = kind === 'map' || kind === 'struct' || kind === 'param' ? addRange(operand, fixed(1)) : operand
    this.#paths.set(node, [...this.#path(node.operand), node.field])
    return sum
  }

  #path(node: Node): Path {
    if (node.kind === 'ident') {
      const local = this.#local(node.name)
      if (local !== undefined) return local.path
    }
    return this.#paths.get(node) ?? []
  }

  #list(node: List): Range {
    let sum = fixed(0)
    let item: Range = node.elements.length === 0 ? fixed(0) : { min: Number.POSITIVE_INFINITY, max: 0 }
    for (const each of node.elements) {
      sum = addRange(sum, this.cost(each))
      item = union(item, this.#sizeOrUnknown(each))
    }
    this.#entries.set(node, { container: 'list', key: fixed(1), value: item })
    return addRange(sum, fixed(LIST_COST))
  }

  #map(node: MapNode): Range {
    const empty = node.entries.length === 0
    let sum = fixed(0)
    let key: Range = empty ? fixed(0) : { min: Number.POSITIVE_INFINITY, max: 0 }
    let value = key
    for (const entry of node.entries) {
      sum = addRange(addRange(sum, this.cost(entry.key)), this.cost(entry.value))
      key = union(key, this.#sizeOrUnknown(entry.key))
      value = union(value, this.#sizeOrUnknown(entry.value))
    }
    this.#entries.set(node, { container: 'map', key, value })
    return addRange(sum, fixed(MAP_COST))
  }

  #bind(node: Comprehension): Range {
    const sum = addRange(this.cost(node.range), this.cost(node.initial))
    this.#push(node.accumulator, this.#bound(node.initial))
    const total = addRange(sum, this.cost(node.result))
    this.#pop(node.accumulator)
    this.#copySizes(node, node.result)
    return total
  }

  #bound(node: Node): Local {
    const path = this.#path(node)
    const entry = this.#entrySize(node)
    return { path, size: this.#size(node), entry }
  }

  #loop(node: Comprehension): Range {
    let sum = addRange(this.cost(node.range), this.cost(node.initial))
    this.#push(node.accumulator, this.#bound(node.initial))
    this.#pushVariables(node)
    const condition = this.cost(node.condition)
    const step = this.cost(node.step)
    this.#pop(node.variable)
    if (node.variable2 !== undefined) this.#pop(node.variable2)
    sum = addRange(sum, this.cost(node.result))
    this.#pop(node.accumulator)
    const count = this.#sizeOrUnknown(node.range)
    sum = addRange(sum, multiply(count, addRange(step, condition)))
    if (node.initial.kind === 'literal') this.#setSize(node, this.#size(node.initial))
    else if (node.initial.kind === 'list' || node.initial.kind === 'map') {
      this.#setSize(node, count)
      const entry = this.#entrySize(node.step)
      if (entry !== undefined) this.#entries.set(node, entry)
    }
    return sum
  }

  #pushVariables(node: Comprehension): void {
    const entry = this.#entrySize(node.range)
    const path = this.#path(node.range)
    const isList = (entry?.container ?? typeOfNode(node.range).kind) === 'list'
    if (node.variable2 === undefined) {
      const size = isList ? entry?.value : entry?.key
      this.#push(node.variable, { path: [...path, isList ? '@items' : '@keys'], size, entry: undefined })
      return
    }
    this.#push(node.variable, { path: [...path, isList ? '@indices' : '@keys'], size: entry?.key, entry: undefined })
    this.#push(node.variable2, { path: [...path, isList ? '@items' : '@values'], size: entry?.value, entry: undefined })
  }

  #call(node: Call): Range {
    if (node.name === 'dyn') {
      const argument = node.args[0] as Node
      const cost = this.cost(argument)
      this.#copySizes(node, argument)
      return addRange(fixed(1), cost)
    }
    const costs: Range[] = []
    const args: Argument[] = []
    for (const each of node.args) {
      costs.push(this.cost(each))
      args.push(this.#argument(each))
    }
    const ids = node.name === '_?._' ? ['select_optional_field'] : node.overloads.map(({ id }) => id)
    if (ids.length === 0) return fixed(0)
    let sum = fixed(0)
    let target: Argument | undefined
    if (node.target !== undefined) {
      sum = this.cost(node.target)
      target = this.#argument(node.target)
    }
    let total: Range = { min: Number.POSITIVE_INFINITY, max: 0 }
    let resultSize: Range | undefined
    for (const id of ids) {
      const estimate = this.#estimate(node, id, target, args, costs)
      total = union(total, estimate.cost)
      if (estimate.resultSize !== undefined)
        resultSize = resultSize === undefined ? estimate.resultSize : union(resultSize, estimate.resultSize)
      if (id === 'index_list' || id === 'index_map') {
        const container = node.args[0] as Node
        resultSize = this.#entrySize(container)?.value
        this.#paths.set(node, [...this.#path(container), id === 'index_list' ? '@items' : '@values'])
      }
      resultSize ??= this.#size(node)
    }
    this.#setSize(node, resultSize)
    return addRange(sum, total)
  }

  #argument(node: Node): Argument {
    const path = this.#path(node)
    return { node, type: typeOfNode(node), path: path[0] === '__result__' ? [] : path, derived: this.#size(node) }
  }

  /** Of one overload, with its arguments. */
  #estimate(node: Call, id: string, target: Argument | undefined, args: readonly Argument[], costs: readonly Range[]): CallEstimate {
    const size = (argument: Argument) => this.#schemaSize(argument)
    const own = estimateExtension(size, id, target, args) ?? estimateKubernetes(size, node.name, id, target, args)
    if (own !== undefined) return { cost: costs.reduce(addRange, own.cost), resultSize: own.resultSize }
    if (id === 'logical_or' || id === 'logical_and') {
      const [left, right] = costs as [Range, Range]
      return { cost: { min: left.min, max: addRange(left, right).max } }
    }
    if (id === 'conditional') return this.#conditional(node, args, costs)
    const estimate = this.#standard(node, id, target, args) ?? { cost: fixed(1) }
    return { cost: costs.reduce(addRange, estimate.cost), resultSize: estimate.resultSize }
  }

  #conditional(node: Call, args: readonly Argument[], [condition, yes, no]: readonly Range[]): CallEstimate {
    const [, first, second] = args as [Argument, Argument, Argument]
    const resultSize = union(derived(first), derived(second))
    const entry = unionEntries(this.#entrySize(first.node as Node), this.#entrySize(second.node as Node))
    if (entry !== undefined) this.#entries.set(node, entry)
    return { cost: addRange(condition as Range, union(yes as Range, no as Range)), resultSize }
  }

  #standard(node: Call, id: string, target: Argument | undefined, args: readonly Argument[]): CallEstimate | undefined {
    const [first, second] = args
    switch (id) {
      case 'string_format':
        return target && { cost: factor(derived(target), STRING_FACTOR) }
      case 'string_to_bytes': {
        const size = derived(first as Argument)
        return { cost: factor(size, STRING_FACTOR), resultSize: { min: size.min, max: Math.min(size.max * 4, UNKNOWN.max) } }
      }
      case 'bytes_to_string': {
        const size = derived(first as Argument)
        return { cost: factor(size, STRING_FACTOR), resultSize: { min: Math.floor(size.min / 4), max: size.max } }
      }
      case 'strings_quote': {
        const size = derived(first as Argument)
        return {
          cost: factor(size, STRING_FACTOR),
          resultSize: { min: size.min + 2, max: size.max === UNKNOWN.max ? 0 : size.max * 2 + 2 },
        }
      }
      case 'starts_with_string':
      case 'ends_with_string':
        return { cost: factor(derived(first as Argument), STRING_FACTOR) }
      case 'in_list':
        return { cost: derived(second as Argument) }
      case 'matches_string':
        return { cost: regexCost(derived(target as Argument), derived(first as Argument)) }
      case 'contains_string':
        return {
          cost: multiply(factor(derived(target as Argument), STRING_FACTOR), factor(derived(first as Argument), STRING_FACTOR)),
        }
      case 'add_string':
      case 'add_bytes':
      case 'add_list':
        return this.#concatenation(node, id, first as Argument, second as Argument)
      case 'equals':
      case 'not_equals':
        return comparing(first as Argument, second as Argument)
      default:
        return /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(id) ? comparing(first as Argument, second as Argument) : undefined
    }
  }

  #concatenation(node: Call, id: string, left: Argument, right: Argument): CallEstimate {
    const resultSize = addRange(derived(left), derived(right))
    const entry = unionEntries(this.#entrySize(left.node as Node), this.#entrySize(right.node as Node))
    if (entry !== undefined) this.#entries.set(node, entry)
    return { cost: id === 'add_list' ? fixed(1) : factor(resultSize, STRING_FACTOR), resultSize }
  }

  #setSize(node: Node, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(node, size)
  }

  #copySizes(to: Node, from: Node): void {
    this.#setSize(to, this.#size(from))
    const entry = this.#entrySize(from)
    if (entry !== undefined) this.#entries.set(to, entry)
  }

  #sizeOrUnknown(node: Node): Range {
    return this.#size(node) ?? UNKNOWN
  }

  #size(node: Node): Range | undefined {
    const known = this.#sizes.get(node) ?? literalSize(node)
    if (known !== undefined) return known
    const declared = this.#declaredSize(this.#path(node))
    if (declared !== undefined) {
      this.#sizes.set(node, declared)
      return declared
    }
    if (isScalar(typeOfNode(node))) return fixed(1)
    return node.kind === 'ident' ? this.#local(node.name)?.size : undefined
  }

  #entrySize(node: Node): EntrySize | undefined {
    return this.#entries.get(node) ?? (node.kind === 'ident' ? this.#local(node.name)?.entry : undefined)
  }

  #schemaSize(argument: Argument): Range {
    return argument.derived ?? this.#declaredSize(argument.path) ?? UNKNOWN
  }

  /** From the limits of the schema. */
  #declaredSize(path: Path): Range | undefined {
    if (path.length === 0) return undefined
    let type: SchemaType | undefined = this.#root
    for (const name of path.slice(1)) {
      if (name === '@items' || name === '@values') type = type.element
      else if (name === '@keys') type = type.key
      else type = type.fields?.get(name)
      if (type === undefined) return undefined
    }
    return { min: 0, max: type.maxElements }
  }
}

const typeOfNode = (node: Node): CelType => node.type as CelType
function isBind(node: Comprehension): boolean {
  return (
    node.range.kind === 'list' &&
    node.range.elements.length === 0 &&
    node.condition.kind === 'literal' &&
    node.condition.value === false &&
    node.accumulator !== '__result__'
  )
}

function unionEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  if (a === undefined || b === undefined) return undefined
  return { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) }
}

function literalSize(node: Node): Range | undefined {
  switch (node.kind) {
    case 'literal':
      if (typeof node.value === 'string') return fixed(textLength(node.value))
      return fixed(node.value instanceof Uint8Array ? node.value.length : 1)
    case 'list':
      return fixed(node.elements.length)
    case 'map':
      return fixed(node.entries.length)
    default:
      return undefined
  }
}

const SCALARS = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])
const isScalar = (type: CelType): boolean => SCALARS.has(type.kind) || (isOptional(type) && isScalar(type.params[0] as CelType))
