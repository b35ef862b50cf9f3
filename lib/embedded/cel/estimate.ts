/**
 * The worst cost of an expression before it runs, from the limits that the schema gives. The real server refuses rules by
 * it, so it follows cel-go's estimator and Kubernetes' additions to it step by step, oddities included.
 */
import type { Call, Comprehension, List, MapNode, Node, Select } from './ast.ts'
import { AUTHORIZATION_COST, LIST_COST, MAP_COST, REGEX_FACTOR, STRING_FACTOR, STRUCT_COST } from './call-cost.ts'
import { addRange, factor, fixed, multiply, type Range, UNKNOWN, union } from './ranges.ts'
import type { SchemaType } from './schema-type.ts'
import { type CelType, isOptional, sameType } from './types.ts'
import { textLength, type Value } from './values.ts'

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

interface Argument {
  readonly node: Node | undefined
  readonly type: CelType
  readonly path: Path
  readonly derived: Range | undefined
}

interface CallEstimate {
  readonly cost: Range
  readonly resultSize?: Range | undefined
}

/** Through the schema: `self`, `spec`, `@items`. Empty: it leads nowhere. */
type Path = readonly string[]

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
    const own = this.#extension(id, target, args) ?? this.#kubernetes(node.name, id, target, args)
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

  /** `ext.Lists` and `ext.Sets`. */
  #extension(id: string, target: Argument | undefined, args: readonly Argument[]): CallEstimate | undefined {
    const targetSize = () => this.#schemaSize(target as Argument)
    switch (id) {
      case 'list_slice': {
        const size = targetSize()
        const end = integer(args[1], size.max)
        return allocating(fixed(wrap(end - integer(args[0], 0))))
      }
      case 'lists_range':
        return allocating(fixed(integer(args[0], Number.POSITIVE_INFINITY)))
      case 'list_reverse':
        return allocating(targetSize())
      case 'list_flatten':
        return allocating(targetSize())
      case 'list_flatten_int':
        return allocating(targetSize(), integer(args[0], Number.POSITIVE_INFINITY))
      case 'list_distinct':
        return allocating(multiply(targetSize(), targetSize()), 2)
      case 'list_sets_contains_list':
      case 'list_sets_intersects_list':
        return { cost: addRange(multiply(this.#schemaSize(args[0] as Argument), this.#schemaSize(args[1] as Argument)), fixed(1)) }
      case 'list_sets_equivalent_list': {
        const pairs = multiply(this.#schemaSize(args[0] as Argument), this.#schemaSize(args[1] as Argument))
        return { cost: addRange(factor(pairs, 2), fixed(1)) }
      }
    }
    const sorting = /^list_(\w+|google\.protobuf\.\w+)_sort(ByAssociatedKeys)?$/.exec(id)
    if (sorting === null) return undefined
    const size = this.#schemaSize((sorting[2] === undefined ? target : args[0]) as Argument)
    return allocating(multiply(size, size), sorting[1] === 'string' || sorting[1] === 'bytes' ? 2 + STRING_FACTOR : 2)
  }

  /** Kubernetes' own functions, by name. */
  #kubernetes(name: string, id: string, target: Argument | undefined, args: readonly Argument[]): CallEstimate | undefined {
    const [first, second] = args
    const text = (argument: Argument, by = STRING_FACTOR) => factor(this.#schemaSize(argument), by)
    switch (name) {
      case 'check':
        return { cost: fixed(AUTHORIZATION_COST) }
      case 'fieldSelector':
      case 'labelSelector':
        return args.length === 1 ? { cost: selectorCost(this.#schemaSize(first as Argument)) } : undefined
      case 'isSorted':
      case 'sum':
      case 'max':
      case 'min':
      case 'indexOf':
      case 'lastIndexOf':
        return target && { cost: this.#traversal(target) }
      case 'url':
        return first && { cost: text(first), resultSize: this.#schemaSize(first) }
      case 'lowerAscii':
      case 'upperAscii':
      case 'substring':
      case 'trim':
        return target && { cost: text(target), resultSize: this.#schemaSize(target) }
      case 'replace':
        return target && args.length >= 2 ? this.#replace(target, first as Argument, second as Argument) : undefined
      case 'split': {
        if (target === undefined) return undefined
        const limit = args.length > 1 ? literal(second as Argument) : undefined
        const max = typeof limit === 'bigint' ? Number(BigInt.asUintN(64, limit)) : this.#schemaSize(target).max
        return { cost: text(target, 2 * STRING_FACTOR), resultSize: { min: 0, max } }
      }
      case 'join':
        return target && this.#join(target, first)
      case 'find':
      case 'findAll': {
        if (target === undefined) return undefined
        const size = this.#schemaSize(target)
        return { cost: regexCost(size, this.#schemaSize(first as Argument)), resultSize: { min: 0, max: size.max } }
      }
      case 'cidr':
      case 'isIP':
      case 'isCIDR':
      case 'quantity':
      case 'isQuantity':
      case 'semver':
      case 'isSemver':
        return first && { cost: text(first) }
      case 'ip':
        return { cost: id === 'cidr_ip' ? fixed(1) : text(first as Argument) }
      case 'ip.isCanonical':
        return first && { cost: text(first, 2 * STRING_FACTOR) }
      case 'containsIP':
      case 'containsCIDR':
        return first && { cost: this.#contains(name, id, first) }
      case 'validate':
        return first && { cost: factor(text(first), 128 * REGEX_FACTOR) }
      case '_==_':
        return equality(first as Argument, second as Argument)
      default:
        return CONSTANT_COST.has(name) ? { cost: fixed(1) } : undefined
    }
  }

  #traversal(target: Argument): Range {
    const size = this.#schemaSize(target)
    const element = this.#element(target)
    if (element === undefined) return factor(size, STRING_FACTOR)
    const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
    return multiply(size, isText ? addRange(fixed(1), factor(this.#schemaSize(element), STRING_FACTOR)) : fixed(1))
  }

  #element(list: Argument): Argument | undefined {
    const type = list.type.params[0]
    if (type === undefined) return undefined
    return { node: undefined, type, path: list.path.length === 0 ? [] : [...list.path, '@items'], derived: undefined }
  }

  #join(target: Argument, separator: Argument | undefined): CallEstimate {
    const list = this.#schemaSize(target)
    const element = this.#element(target)
    let size = element === undefined ? fixed(0) : multiply(list, this.#schemaSize(element))
    if (separator !== undefined) {
      const count = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) }
      size = addRange(size, multiply(this.#schemaSize(separator), count))
    }
    return { cost: factor(size, STRING_FACTOR), resultSize: size }
  }

  #replace(target: Argument, part: Argument, by: Argument): CallEstimate {
    const size = this.#schemaSize(target)
    const old = this.#schemaSize(part)
    const next = this.#schemaSize(by)
    let [minCount, maxCount, minKept, maxKept] = [0, 0, 0, 0]
    if (old.min === 0) [maxCount, maxKept] = [size.max + 1, size.max]
    else if (next.max <= old.min) maxKept = size.max
    else maxCount = Math.ceil(size.max / old.min)
    if (old.max === 0) [minCount, minKept] = [size.min + 1, size.min]
    else if (old.max <= next.min) minKept = size.min
    else minCount = Math.ceil(size.min / old.max)
    const resultSize = addRange(multiply({ min: minCount, max: maxCount }, next), { min: minKept, max: maxKept })
    return { cost: factor(size, 2 * STRING_FACTOR), resultSize }
  }

  #contains(name: string, id: string, other: Argument): Range {
    const address: Range = { min: 4, max: 16 }
    let cost = factor(addRange(address, address), STRING_FACTOR)
    if (name === 'containsCIDR') cost = addRange(addRange(cost, factor(address, STRING_FACTOR)), fixed(1))
    return id.endsWith('_string') ? addRange(cost, factor(this.#schemaSize(other), STRING_FACTOR)) : cost
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

const CONSTANT_COST = new Set([
  ...['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name', 'allowed', 'reason', 'error', 'errored'],
  ...['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'],
  ...['format.named', 'sign', 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan', 'compareTo', 'add', 'sub'],
  ...['major', 'minor', 'patch', 'getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'],
])

const typeOfNode = (node: Node): CelType => node.type as CelType
const derived = (argument: Argument): Range => argument.derived ?? UNKNOWN
const literal = (argument: Argument): Value | undefined => (argument.node?.kind === 'literal' ? argument.node.value : undefined)
/** uint64 arithmetic wraps around. */
const wrap = (value: number) => (value < 0 ? value + UNKNOWN.max : value)

function isBind(node: Comprehension): boolean {
  return (
    node.range.kind === 'list' &&
    node.range.elements.length === 0 &&
    node.condition.kind === 'literal' &&
    node.condition.value === false &&
    node.accumulator !== '__result__'
  )
}

function regexCost(text: Range, pattern: Range): Range {
  return multiply(factor(addRange(text, fixed(1)), STRING_FACTOR), factor(pattern, REGEX_FACTOR))
}

function comparing(left: Argument, right: Argument): CallEstimate {
  const max = Math.min(derived(left).max, derived(right).max)
  return { cost: factor({ min: max > 0 ? 1 : 0, max }, STRING_FACTOR) }
}

function equality(left: Argument, right: Argument): CallEstimate | undefined {
  if (!sameType(left.type, right.type)) return undefined
  switch (left.type.name) {
    case 'net.IP':
    case 'net.CIDR':
    case 'kubernetes.Quantity':
    case 'kubernetes.Semver':
      return { cost: fixed(1) }
    case 'kubernetes.NamedFormat':
      return { cost: factor({ min: 1, max: 64 }, STRING_FACTOR) }
    case 'kubernetes.URL':
      return { cost: factor({ min: 1, max: right.derived?.max ?? 1 }, STRING_FACTOR) }
    default:
      return left.type.name.startsWith('kubernetes.authorization.') ? { cost: fixed(1) } : undefined
  }
}

function selectorCost(length: Range): Range {
  const requirements = factor(factor(length, 0.5), LIST_COST + STRUCT_COST)
  return addRange(addRange(fixed(LIST_COST), factor(length, STRING_FACTOR)), requirements)
}

function allocating(size: Range, by = 1): CallEstimate {
  return { cost: addRange(addRange(factor(size, by), fixed(1)), fixed(LIST_COST)), resultSize: size }
}

function integer(argument: Argument | undefined, otherwise: number): number {
  const value = argument && literal(argument)
  return typeof value === 'bigint' ? Number(value < 0n ? 0n : value) : otherwise
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
