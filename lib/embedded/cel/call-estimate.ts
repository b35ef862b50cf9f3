/** What calls of functions may cost, and how large their results may be, from the sizes of their arguments. */
import type { Node } from './ast.ts'
import { AUTHORIZATION_COST, LIST_COST, REGEX_FACTOR, STRING_FACTOR, STRUCT_COST } from './call-cost.ts'
import { addRange, factor, fixed, multiply, type Range, UNKNOWN } from './ranges.ts'
import { type CelType, sameType } from './types.ts'
import type { Value } from './values.ts'

/** Through the schema: `self`, `spec`, `@items`. Empty: it leads nowhere. */
export type Path = readonly string[]

/** An argument of a call. */
export interface Argument {
  readonly node: Node | undefined
  readonly type: CelType
  readonly path: Path
  readonly derived: Range | undefined
}

export interface CallEstimate {
  readonly cost: Range
  readonly resultSize?: Range | undefined
}

/** How large an argument may be: known from the expression, or by its limits in the schema. */
type SizeOf = (argument: Argument) => Range

/** `ext.Lists` and `ext.Sets`. */
export function estimateExtension(
  sizeOf: SizeOf,
  id: string,
  target: Argument | undefined,
  args: readonly Argument[],
): CallEstimate | undefined {
  const targetSize = () => sizeOf(target as Argument)
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
      return { cost: addRange(multiply(sizeOf(args[0] as Argument), sizeOf(args[1] as Argument)), fixed(1)) }
    case 'list_sets_equivalent_list': {
      const pairs = multiply(sizeOf(args[0] as Argument), sizeOf(args[1] as Argument))
      return { cost: addRange(factor(pairs, 2), fixed(1)) }
    }
  }
  const sorting = /^list_(\w+|google\.protobuf\.\w+)_sort(ByAssociatedKeys)?$/.exec(id)
  if (sorting === null) return undefined
  const size = sizeOf((sorting[2] === undefined ? target : args[0]) as Argument)
  return allocating(multiply(size, size), sorting[1] === 'string' || sorting[1] === 'bytes' ? 2 + STRING_FACTOR : 2)
}

/** Kubernetes' own functions, by name. */
export function estimateKubernetes(
  sizeOf: SizeOf,
  name: string,
  id: string,
  target: Argument | undefined,
  args: readonly Argument[],
): CallEstimate | undefined {
  const [first, second] = args
  const text = (argument: Argument, by = STRING_FACTOR) => factor(sizeOf(argument), by)
  switch (name) {
    case 'check':
      return { cost: fixed(AUTHORIZATION_COST) }
    case 'fieldSelector':
    case 'labelSelector':
      return args.length === 1 ? { cost: selectorCost(sizeOf(first as Argument)) } : undefined
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return target && { cost: traversal(sizeOf, target) }
    case 'url':
      return first && { cost: text(first), resultSize: sizeOf(first) }
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target && { cost: text(target), resultSize: sizeOf(target) }
    case 'replace':
      return target && args.length >= 2 ? replace(sizeOf, target, first as Argument, second as Argument) : undefined
    case 'split': {
      if (target === undefined) return undefined
      const limit = args.length > 1 ? literal(second as Argument) : undefined
      const max = typeof limit === 'bigint' ? Number(BigInt.asUintN(64, limit)) : sizeOf(target).max
      return { cost: text(target, 2 * STRING_FACTOR), resultSize: { min: 0, max } }
    }
    case 'join':
      return target && join(sizeOf, target, first)
    case 'find':
    case 'findAll': {
      if (target === undefined) return undefined
      const size = sizeOf(target)
      return { cost: regexCost(size, sizeOf(first as Argument)), resultSize: { min: 0, max: size.max } }
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
      return first && { cost: contains(sizeOf, name, id, first) }
    case 'validate':
      return first && { cost: factor(text(first), 128 * REGEX_FACTOR) }
    case '_==_':
      return equality(first as Argument, second as Argument)
    default:
      return CONSTANT_COST.has(name) ? { cost: fixed(1) } : undefined
  }
}

function traversal(sizeOf: SizeOf, target: Argument): Range {
  const size = sizeOf(target)
  const element = elementOf(target)
  if (element === undefined) return factor(size, STRING_FACTOR)
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  return multiply(size, isText ? addRange(fixed(1), factor(sizeOf(element), STRING_FACTOR)) : fixed(1))
}

function elementOf(list: Argument): Argument | undefined {
  const type = list.type.params[0]
  if (type === undefined) return undefined
  return { node: undefined, type, path: list.path.length === 0 ? [] : [...list.path, '@items'], derived: undefined }
}

function join(sizeOf: SizeOf, target: Argument, separator: Argument | undefined): CallEstimate {
  const list = sizeOf(target)
  const element = elementOf(target)
  let size = element === undefined ? fixed(0) : multiply(list, sizeOf(element))
  if (separator !== undefined) {
    const count = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) }
    size = addRange(size, multiply(sizeOf(separator), count))
  }
  return { cost: factor(size, STRING_FACTOR), resultSize: size }
}

function replace(sizeOf: SizeOf, target: Argument, part: Argument, by: Argument): CallEstimate {
  const size = sizeOf(target)
  const old = sizeOf(part)
  const next = sizeOf(by)
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

function contains(sizeOf: SizeOf, name: string, id: string, other: Argument): Range {
  const address: Range = { min: 4, max: 16 }
  let cost = factor(addRange(address, address), STRING_FACTOR)
  if (name === 'containsCIDR') cost = addRange(addRange(cost, factor(address, STRING_FACTOR)), fixed(1))
  return id.endsWith('_string') ? addRange(cost, factor(sizeOf(other), STRING_FACTOR)) : cost
}

const CONSTANT_COST = new Set([
  ...['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name', 'allowed', 'reason', 'error', 'errored'],
  ...['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'],
  ...['format.named', 'sign', 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan', 'compareTo', 'add', 'sub'],
  ...['major', 'minor', 'patch', 'getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'],
])

export const derived = (argument: Argument): Range => argument.derived ?? UNKNOWN
const literal = (argument: Argument): Value | undefined => (argument.node?.kind === 'literal' ? argument.node.value : undefined)
/** uint64 arithmetic wraps around. */
const wrap = (value: number) => (value < 0 ? value + UNKNOWN.max : value)

export function regexCost(text: Range, pattern: Range): Range {
  return multiply(factor(addRange(text, fixed(1)), STRING_FACTOR), factor(pattern, REGEX_FACTOR))
}

export function comparing(left: Argument, right: Argument): CallEstimate {
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
