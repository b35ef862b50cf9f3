/** What a call costs when it runs, in the units of cel-go: exact, since rules are stopped by it. */
import { CelError, ListValue, MapValue, Opaque, OptionalValue, sizeOf, type Value } from './values.ts'

export const STRING_FACTOR = 0.1
export const REGEX_FACTOR = 0.25
export const LIST_COST = 10
export const MAP_COST = 30
export const STRUCT_COST = 40
export const AUTHORIZATION_COST = 350_000

type Cost = number | ((args: readonly Value[], result: Value) => number)

/** Elements, code points or bytes; 1 of what has no size. */
export function actualSize(value: Value | undefined): number {
  if (value === undefined) return 1
  const size = sizeOf(value)
  if (size !== undefined) return size
  return value instanceof OptionalValue && value.value !== undefined ? actualSize(value.value) : 1
}

/** As Kubernetes measures: an optional counts 1. */
const plainSize = (value: Value | undefined): number => (value === undefined ? 1 : (sizeOf(value) ?? 1))

/** A float product may be a hair above the whole number it stands for; Go's ceiling sees the same float. */
const scaled = (size: number, factor: number) => Math.ceil(size * factor)
const traversal =
  (factor: number): Cost =>
  (args) =>
    scaled(plainSize(args[0]), factor)

const search: Cost = (args) => scaled(1 + plainSize(args[0]), STRING_FACTOR) * scaled(plainSize(args[1]), REGEX_FACTOR)

/** Bytes of all texts below, and 1 for each other leaf. */
function leaves(value: Value): number {
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * STRING_FACTOR)
  if (value instanceof Uint8Array) return Math.trunc(value.length * STRING_FACTOR)
  let total = 0
  if (value instanceof ListValue) {
    for (const each of value) total += leaves(each)
    return total
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) total += leaves(key) + leaves(value.find(key) as Value)
    return total
  }
  return 1
}

const traverse: Cost = (args) => (args[0] === undefined ? 0 : leaves(args[0]))

function selectorCost(args: readonly Value[]): number {
  const length = plainSize(args[1])
  return LIST_COST + scaled(length, STRING_FACTOR) + scaled(scaled(length, 0.5), LIST_COST + STRUCT_COST)
}

function containsCost(args: readonly Value[], text: boolean, masked: boolean): number {
  const [cidr, other] = [plainSize(args[0]), plainSize(args[1])]
  const more = masked ? scaled(cidr, STRING_FACTOR) + 1 : 0
  return scaled(cidr + cidr, STRING_FACTOR) + more + (text ? scaled(other, STRING_FACTOR) : 0)
}

const ONE = ['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name', 'allowed', 'reason', 'error', 'errored']
  .concat(['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast'])
  .concat(['isGlobalUnicast', 'format.named', 'sign', 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan'])
  .concat([
    'compareTo',
    'add',
    'sub',
    'major',
    'minor',
    'patch',
    'getScheme',
    'getHostname',
    'getHost',
    'getPort',
    'getEscapedPath',
    'getQuery',
  ])

/** By the name of the function, whatever its overload. */
const BY_FUNCTION: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ...ONE.map((name) => [name, 1] as const),
  ['check', AUTHORIZATION_COST],
  ['fieldSelector', selectorCost],
  ['labelSelector', selectorCost],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name) => [name, traverse] as const),
  ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim'].map((name) => [name, traversal(STRING_FACTOR)] as const),
  ['replace', traversal(2 * STRING_FACTOR)],
  ['split', traversal(2 * STRING_FACTOR)],
  ['join', (_args, result) => scaled(plainSize(result), 2 * STRING_FACTOR)],
  ['find', search],
  ['findAll', search],
  ...['cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    (name) => [name, traversal(STRING_FACTOR)] as const,
  ),
  ['ip.isCanonical', traversal(2 * STRING_FACTOR)],
  ['validate', validateCost],
])

function validateCost(args: readonly Value[]): number {
  const [format, text] = args
  const regexSize = format instanceof Opaque && 'regexSize' in format ? Number(format.regexSize) : undefined
  return regexSize === undefined ? 1 : scaled(1 + plainSize(text), STRING_FACTOR) * scaled(regexSize, REGEX_FACTOR)
}

/** Values of which comparing costs 1, whatever their size. */
const CHEAP_TO_COMPARE = new Set([
  'kubernetes.Quantity',
  'net.IP',
  'net.CIDR',
  'kubernetes.NamedFormat',
  'kubernetes.URL',
  'kubernetes.Semver',
])

function comparing(args: readonly Value[]): number {
  return scaled(Math.min(actualSize(args[0]), actualSize(args[1])), STRING_FACTOR)
}

const equals: Cost = (args) => {
  const [left] = args
  return left instanceof Opaque && CHEAP_TO_COMPARE.has(left.typeName) ? 1 : comparing(args)
}
const firstText: Cost = (args) => scaled(actualSize(args[0]), STRING_FACTOR)

const BY_OVERLOAD: ReadonlyMap<string, Cost> = new Map<string, Cost>([
  ...['starts_with_string', 'ends_with_string', 'string_to_bytes', 'bytes_to_string', 'strings_quote', 'string_format'].map(
    (id) => [id, firstText] as const,
  ),
  ['in_list', (args) => actualSize(args[1])],
  ...['less', 'greater', 'less_equals', 'greater_equals'].flatMap((name) => [
    [`${name}_string`, comparing] as const,
    [`${name}_bytes`, comparing] as const,
  ]),
  ['equals', equals],
  ['not_equals', comparing],
  ['add_string', (args) => scaled(actualSize(args[0]) + actualSize(args[1]), STRING_FACTOR)],
  ['add_bytes', (args) => scaled(actualSize(args[0]) + actualSize(args[1]), STRING_FACTOR)],
  ['matches_string', (args) => scaled(1 + actualSize(args[0]), STRING_FACTOR) * scaled(actualSize(args[1]), REGEX_FACTOR)],
  ['contains_string', (args) => scaled(actualSize(args[0]), STRING_FACTOR) * scaled(actualSize(args[1]), STRING_FACTOR)],
  ['cidr_ip', 1],
  ['cidr_contains_ip_string', (args) => containsCost(args, true, false)],
  ['cidr_contains_ip_ip', (args) => containsCost(args, false, false)],
  ['cidr_contains_cidr_string', (args) => containsCost(args, true, true)],
  ['cidr_contains_cidr', (args) => containsCost(args, false, true)],
])

/** Of `ext.Lists` and `ext.Sets`; these come before all others. */
const allocating = (size: number, factor = 1) => Math.trunc(size * factor) + 1 + LIST_COST

/** Ends the evaluation: the real server's own code fails here, and tells so. */
export class InternalError extends Error {}

function selfCompare(list: Value | undefined): number {
  if (list instanceof CelError) {
    throw new InternalError('internal error: interface conversion: *types.Err is not traits.Lister: missing method Add')
  }
  const size = plainSize(list)
  if (!(list instanceof ListValue) || list.size === 0) return allocating(0)
  const first = list.at(0)
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + STRING_FACTOR : 2
  return allocating(size * size, factor)
}

function extensionCost(id: string): Cost | undefined {
  if (id.endsWith('_sort') && id.startsWith('list_')) return (args) => selfCompare(args[0])
  if (id.endsWith('_sortByAssociatedKeys')) return (args) => selfCompare(args[1])
  switch (id) {
    case 'list_slice':
    case 'lists_range':
    case 'list_reverse':
      return (_args, result) => allocating(plainSize(result))
    case 'list_flatten':
      return (args) => allocating(plainSize(args[0]))
    case 'list_flatten_int':
      return (args) => allocating(plainSize(args[0]), Number(args[1]))
    case 'list_distinct':
      return (args) => selfCompare(args[0])
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return (args) => 1 + plainSize(args[0]) * plainSize(args[1])
    case 'list_sets_equivalent_list':
      return (args) => 1 + plainSize(args[0]) * plainSize(args[1]) * 2
    default:
      return undefined
  }
}

/** `overload`: the one that will run, or undefined where it is open. */
export function callCost(name: string, overload: string | undefined): Cost {
  if (overload !== undefined) {
    const extension = extensionCost(overload)
    if (extension !== undefined) return extension
    if (overload === 'cidr_ip') return 1
  }
  return BY_FUNCTION.get(name) ?? (overload === undefined ? undefined : BY_OVERLOAD.get(overload)) ?? 1
}
