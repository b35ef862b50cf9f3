/** Optional values. `or` and `orValue` are built into the evaluator: they only look at their argument when they need it. */
import { type Library, member, overload } from '../environment.ts'
import { BOOL, DYN, INT, listOf, mapOf, optionalOf, param, STRING } from '../types.ts'
import { CelError, isZero, type ListValue, NONE, OptionalValue, PlainList, showValue, type Value } from '../values.ts'

const K = param('K')
const V = param('V')
const OPTIONAL = optionalOf(V)

function unwrap(list: ListValue): Value {
  const values: Value[] = []
  for (const each of list) {
    if (!(each instanceof OptionalValue)) return new CelError(`value ${showValue(each)} is not optional`)
    if (each.value !== undefined) values.push(each.value)
  }
  return new PlainList(values)
}

const at = (list: ListValue, index: number): Value => (list.size === 0 ? NONE : new OptionalValue(list.at(index)))

export const optional: Library = {
  'optional.of': [overload('optional_of', [V], OPTIONAL, (value: Value) => new OptionalValue(value))],
  'optional.ofNonZeroValue': [
    overload('optional_ofNonZeroValue', [V], OPTIONAL, (value: Value) => (isZero(value) ? NONE : new OptionalValue(value))),
  ],
  'optional.none': [overload('optional_none', [], OPTIONAL, () => NONE)],
  'optional.unwrap': [overload('optional_unwrap', [listOf(OPTIONAL)], listOf(V), unwrap)],
  unwrapOpt: [member('optional_unwrapOpt', [listOf(OPTIONAL)], listOf(V), unwrap)],
  value: [
    member('optional_value', [OPTIONAL], V, (value: OptionalValue) =>
      value.value === undefined ? new CelError('optional.none() dereference') : value.value,
    ),
  ],
  hasValue: [member('optional_hasValue', [OPTIONAL], BOOL, (value: OptionalValue) => value.value !== undefined)],
  or: [member('optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL)],
  orValue: [member('optional_orValue_value', [OPTIONAL, V], V)],
  first: [member('list_first', [listOf(V)], OPTIONAL, (list: ListValue) => at(list, 0))],
  last: [member('list_last', [listOf(V)], OPTIONAL, (list: ListValue) => at(list, list.size - 1))],
  '_?._': [overload('select_optional_field', [DYN, STRING], OPTIONAL)],
  '_[?_]': [
    overload('list_optindex_optional_int', [listOf(V), INT], OPTIONAL),
    overload('optional_list_optindex_optional_int', [optionalOf(listOf(V)), INT], OPTIONAL),
    overload('map_optindex_optional_value', [mapOf(K, V), K], OPTIONAL),
    overload('optional_map_optindex_optional_value', [optionalOf(mapOf(K, V)), K], OPTIONAL),
  ],
  '_[_]': [
    overload('optional_list_index_int', [optionalOf(listOf(V)), INT], OPTIONAL),
    overload('optional_map_index_value', [optionalOf(mapOf(K, V)), K], OPTIONAL),
  ],
}
