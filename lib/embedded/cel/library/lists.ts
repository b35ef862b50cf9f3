/** Lists: Kubernetes' own functions, and `ext.Lists` version 3 and `ext.Sets` of cel-go. */
import { type Library, member, type Overload, overload } from '../environment.ts'
import { add } from '../operators.ts'
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, DYN, INT, listOf, param, STRING, TIMESTAMP, UINT } from '../types.ts'
import { CelError, compare, Duration, equal, ListValue, PlainList, typeName, Uint, type Value } from '../values.ts'

const A = param('A')
const LIST = listOf(A)

const COMPARABLE: Readonly<Record<string, CelType>> = {
  int: INT,
  uint: UINT,
  double: DOUBLE,
  bool: BOOL,
  duration: DURATION,
  timestamp: TIMESTAMP,
  string: STRING,
  bytes: BYTES,
}
const ZEROS: Readonly<Record<string, Value>> = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) }

const forEach = (types: Readonly<Record<string, CelType>>, make: (name: string, type: CelType) => Overload): Overload[] =>
  Object.entries(types).map(([name, type]) => make(name, type))

function isSorted(list: ListValue): Value {
  let previous: Value | undefined
  for (const each of list) {
    if (previous !== undefined && compare(previous, each) === 1) return false
    previous = each
  }
  return true
}

function sum(zero: Value): (list: ListValue) => Value {
  return (list) => {
    let total = zero
    for (const each of list) {
      total = add(total, each)
      if (total instanceof CelError) return total
    }
    return total
  }
}

function extreme(name: 'min' | 'max'): (list: ListValue) => Value {
  const worse = name === 'min' ? 1 : -1
  return (list) => {
    let best: Value | undefined
    for (const each of list) {
      if (each instanceof CelError) return each
      if (best === undefined || compare(best, each) === worse) best = each
    }
    return best === undefined ? new CelError(`${name} called on empty list`) : best
  }
}

function indexOf(list: ListValue, value: Value): Value {
  for (let i = 0; i < list.size; i++) if (equal(list.at(i), value) === true) return BigInt(i)
  return -1n
}

function lastIndexOf(list: ListValue, value: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (equal(list.at(i), value) === true) return BigInt(i)
  return -1n
}

function slice(list: ListValue, start: bigint, end: bigint): Value {
  const call = `cannot slice(${start}, ${end})`
  if (start < 0n || end < 0n) return new CelError(`${call}, negative indexes not supported`)
  if (start > end) return new CelError(`${call}, start index must be less than or equal to end index`)
  if (list.size < end) return new CelError(`${call}, list is length ${list.size}`)
  return new PlainList([...list].slice(Number(start), Number(end)))
}

function flatten(list: ListValue, depth = 1n): Value {
  if (depth < 0n) return new CelError('level must be non-negative')
  return new PlainList(flat(list, depth))
}

function flat(list: ListValue, depth: bigint): Value[] {
  return [...list].flatMap((each) => (each instanceof ListValue && depth > 0n ? flat(each, depth - 1n) : [each]))
}

const sort = (list: ListValue): Value => sortByKeys(list, list)

function sortByKeys(list: ListValue, keys: ListValue): Value {
  if (list.size !== keys.size) {
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.size} and ${keys.size} elements respectively`,
    )
  }
  if (list.size === 0) return list
  const sorted = [...keys]
  const type = typeName(sorted[0] as Value)
  if (compare(sorted[0] as Value, sorted[0] as Value) instanceof CelError) return new CelError('list elements must be comparable')
  if (sorted.some((key) => typeName(key) !== type)) return new CelError('list elements must have the same type')
  const order = sorted.map((_, i) => i)
  order.sort((a, b) => Number(compare(sorted[a] as Value, sorted[b] as Value)))
  return new PlainList(order.map((i) => list.at(i)))
}

/** Takes no memory, however long: what it costs stops it. */
class RangeList extends ListValue {
  readonly size: number

  constructor(size: number) {
    super()
    this.size = size
  }

  at(index: number): Value {
    return BigInt(index)
  }
}

const range = (end: bigint): Value => new RangeList(Math.max(0, Number(end)))

function distinct(list: ListValue): Value {
  const unique: Value[] = []
  for (const each of list) if (!unique.some((other) => equal(each, other) === true)) unique.push(each)
  return new PlainList(unique)
}

export const lists: Library = {
  isSorted: forEach(COMPARABLE, (name, type) => member(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, isSorted)),
  sum: forEach({ int: INT, uint: UINT, double: DOUBLE, duration: DURATION }, (name, type) =>
    member(`list_${name}_sum_${name}`, [listOf(type)], type, sum(ZEROS[name] as Value)),
  ),
  max: forEach(COMPARABLE, (name, type) => member(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max'))),
  min: forEach(COMPARABLE, (name, type) => member(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min'))),
  indexOf: [member('list_a_index_of_int', [LIST, A], INT, indexOf)],
  lastIndexOf: [member('list_a_last_index_of_int', [LIST, A], INT, lastIndexOf)],
  slice: [member('list_slice', [LIST, INT, INT], LIST, slice)],
  flatten: [member('list_flatten', [listOf(LIST)], LIST, flatten), member('list_flatten_int', [listOf(DYN), INT], listOf(DYN), flatten)],
  sort: forEach(COMPARABLE, (_name, type) => member(`list_${type.name}_sort`, [listOf(type)], listOf(type), sort)),
  '@sortByAssociatedKeys': forEach(COMPARABLE, (_name, type) =>
    member(`list_${type.name}_sortByAssociatedKeys`, [LIST, listOf(type)], LIST, sortByKeys),
  ),
  'lists.range': [overload('lists_range', [INT], listOf(INT), range)],
  reverse: [member('list_reverse', [LIST], LIST, (list: ListValue) => new PlainList([...list].reverse()))],
  distinct: [member('list_distinct', [LIST], LIST, distinct)],
}

function containsAll(list: ListValue, part: ListValue): Value {
  for (const each of part) {
    const found = list.contains(each)
    if (found !== true) return found
  }
  return true
}

function intersects(a: ListValue, b: ListValue): Value {
  for (const each of a) if (b.contains(each) === true) return true
  return false
}

function equivalent(a: ListValue, b: ListValue): Value {
  const forth = containsAll(a, b)
  return forth === true ? containsAll(b, a) : forth
}

const T = listOf(param('T'))

export const sets: Library = {
  'sets.contains': [overload('list_sets_contains_list', [T, T], BOOL, containsAll)],
  'sets.equivalent': [overload('list_sets_equivalent_list', [T, T], BOOL, equivalent)],
  'sets.intersects': [overload('list_sets_intersects_list', [T, T], BOOL, intersects)],
}
