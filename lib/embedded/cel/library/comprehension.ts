/** What `transformMap` and `transformMapEntry` build their maps with. The map belongs to the loop, so it may grow in place. */
import { type Library, overload } from '../environment.ts'
import { mapOf, param } from '../types.ts'
import { CelError, type MapValue, type PlainMap, showValue, type Value } from '../values.ts'

const K = param('K')
const V = param('V')
const MAP = mapOf(K, V)

function insert(map: MapValue, key: Value, value: Value): Value {
  if (map.find(key) !== undefined) return new CelError(`insert failed: key ${showValue(key)} already exists`)
  const target = map as PlainMap
  target.set(key, value)
  return target
}

function insertAll(map: MapValue, more: MapValue): Value {
  for (const key of more.keys()) {
    const result = insert(map, key, more.find(key) as Value)
    if (result instanceof CelError) return result
  }
  return map
}

export const comprehension: Library = {
  'cel.@mapInsert': [
    overload('@mapInsert_map_key_value', [MAP, K, V], MAP, insert),
    overload('@mapInsert_map_map', [MAP, MAP], MAP, insertAll),
  ],
}
