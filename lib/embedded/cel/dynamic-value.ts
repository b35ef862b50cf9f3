/** Data without a schema as values of the language: `object` of an admission policy, what an optional holds. */
import { equalJson, isObject, type JsonObject } from '../json.ts'
import { ListValue, MapValue, type Value } from './values.ts'

export function dynamicValue(data: unknown): Value {
  switch (typeof data) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return data
    case 'number':
      return Number.isInteger(data) && Math.abs(data) < 2 ** 63 ? BigInt(data) : data
  }
  if (Array.isArray(data)) return new DynamicList(data)
  return isObject(data) ? new DynamicMap(data) : null
}

export class DynamicMap extends MapValue {
  readonly data: JsonObject

  constructor(data: JsonObject) {
    super()
    this.data = data
  }

  get size(): number {
    return this.#keys().length
  }

  #keys(): string[] {
    return Object.keys(this.data).filter((key) => this.data[key] !== undefined)
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.data, key)) return undefined
    const data = this.data[key]
    return data === undefined ? undefined : dynamicValue(data)
  }

  keys(): Iterable<Value> {
    return this.#keys()
  }

  override equals(other: Value): Value {
    return other instanceof DynamicMap ? equalJson(this.data, other.data) : super.equals(other)
  }
}

export class DynamicList extends ListValue {
  readonly data: readonly unknown[]

  constructor(data: readonly unknown[]) {
    super()
    this.data = data
  }

  get size(): number {
    return this.data.length
  }

  at(index: number): Value {
    return dynamicValue(this.data[index])
  }
}
