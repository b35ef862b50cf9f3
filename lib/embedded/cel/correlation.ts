/**
 * Which part of an object was which before an update, and whether it is unchanged: then a rule that it breaks only warns. A
 * part that has no counterpart counts by its nearest parent that has one.
 */
import { equalJson, isObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { valueSchema } from './schema-type.ts'

/** The element of a list of type map that had the same keys; undefined where there is none. */
export function sameItem(schema: Schema, old: unknown, item: unknown): unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old) || !isObject(item)) return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  if (keys.length === 0 || !keys.every((key) => Object.hasOwn(item, key))) return undefined
  return old.find((each) => isObject(each) && keys.every((key) => Object.hasOwn(each, key) && equalJson(each[key], item[key])))
}

/** A value and its old one, with the schema of both. */
class Pair {
  readonly #schema: Schema
  readonly #data: unknown
  readonly #old: unknown
  readonly #children = new Map<string | number, Pair | undefined>()
  #equal: boolean | undefined

  constructor(schema: Schema, data: unknown, old: unknown) {
    this.#schema = schema
    this.#data = data
    this.#old = old
  }

  /** Members that the schema does not know are never equal: so has the server it. */
  get equal(): boolean {
    this.#equal ??= this.#isEqual()
    return this.#equal
  }

  #isEqual(): boolean {
    const [data, old] = [this.#data, this.#old]
    if (Array.isArray(data) && Array.isArray(old)) {
      if (data.length !== old.length) return false
      if (this.#schema['x-kubernetes-list-type'] !== 'map') return equalJson(data, old)
      return data.every((_, i) => this.index(i)?.equal ?? false)
    }
    if (isObject(data) && isObject(old)) {
      const keys = Object.keys(data)
      return keys.length === Object.keys(old).length && keys.every((key) => this.key(key)?.equal ?? false)
    }
    return equalJson(data, old)
  }

  key(name: string): Pair | undefined {
    return this.#child(name, () => {
      const [data, old] = [this.#data, this.#old]
      if (!isObject(data) || !isObject(old) || !Object.hasOwn(data, name) || !Object.hasOwn(old, name)) return undefined
      const { properties } = this.#schema
      const schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : valueSchema(this.#schema)
      return schema && new Pair(schema, data[name], old[name])
    })
  }

  index(i: number): Pair | undefined {
    return this.#child(i, () => {
      const { items } = this.#schema
      const item = Array.isArray(this.#data) ? this.#data[i] : undefined
      const old = sameItem(this.#schema, this.#old, item)
      return items === undefined || old === undefined || old === null ? undefined : new Pair(items, item, old)
    })
  }

  #child(name: string | number, make: () => Pair | undefined): Pair | undefined {
    if (!this.#children.has(name)) this.#children.set(name, make())
    return this.#children.get(name)
  }
}

export class Correlation {
  readonly #current: Pair | undefined
  readonly #parent: Pair | undefined

  private constructor(current: Pair | undefined, parent: Pair | undefined) {
    this.#current = current
    this.#parent = parent
  }

  /** Of a whole object. Without an old one nothing is unchanged. */
  static of(schema: Schema, data: unknown, old: unknown): Correlation {
    return new Correlation(old === undefined || old === null ? undefined : new Pair(schema, data, old), undefined)
  }

  isUnchanged(): boolean {
    return (this.#current ?? this.#parent)?.equal ?? false
  }

  /** Within `allOf` only the parent counts, as in the server. */
  parentOnly(): Correlation {
    return new Correlation(undefined, this.#parent)
  }

  key(name: string): Correlation {
    if (this.#current === undefined) return this
    // Objects come in another version than they are stored in, maybe.
    if (this.#parent === undefined && (name === 'apiVersion' || name === 'kind')) return new Correlation(undefined, undefined)
    return new Correlation(this.#current.key(name), this.#current)
  }

  index(i: number): Correlation {
    return this.#current === undefined ? this : new Correlation(this.#current.index(i), this.#current)
  }
}
