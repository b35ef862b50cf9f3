/** Whether a value may be the argument of an overload. */
import type { CelType } from './types.ts'
import { ListValue, MapValue, OptionalValue, TypeValue, typeName, type Value } from './values.ts'

export function matchesType(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint'
    case 'double':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'list':
      return value instanceof ListValue && (value.size === 0 || matchesType(type.params[0] as CelType, value.at(0)))
    case 'map':
      return value instanceof MapValue
    case 'type':
      return value instanceof TypeValue
    case 'opaque':
      return type.name === 'optional_type' ? value instanceof OptionalValue : typeName(value) === type.name
    case 'null':
      return value === null
    default:
      return typeName(value) === type.name
  }
}
