/**
 * Whether a part of an object is what it was before the update: then a rule that it breaks only warns. A part that has no
 * counterpart counts by its nearest parent that has one.
 */
import { equalJson, isObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { valueSchema } from './schema-type.ts'

interface Pair {
  readonly schema: Schema | undefined
  readonly data: unknown
  readonly old: unknown
  /** Compared when first asked for. */
  equal?: boolean
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
    return new Correlation(old === undefined || old === null ? undefined : { schema, data, old }, undefined)
  }

  isUnchanged(): boolean {
    const pair = this.#current ?? this.#parent
    if (pair === undefined) return false
    pair.equal ??= equalJson(pair.data, pair.old)
    return pair.equal
  }

  /** Within `allOf` only the parent counts, as in the server. */
  parentOnly(): Correlation {
    return new Correlation(undefined, this.#parent)
  }

  key(name: string): Correlation {
    const current = this.#current
    if (current === undefined) return this
    if (this.#parent === undefined && (name === 'apiVersion' || name === 'kind')) return new Correlation(undefined, undefined)
    return new Correlation(keyPair(current, name), current)
  }

  index(i: number): Correlation {
    return this.#current === undefined ? this : new Correlation(indexPair(this.#current, i), this.#current)
  }
}

function keyPair({ schema, data, old }: Pair, name: string): Pair | undefined {
  if (schema === undefined || !isObject(data) || !isObject(old)) return undefined
  if (schema['x-kubernetes-map-type'] === 'atomic') return undefined
  if (!Object.hasOwn(old, name) || !Object.hasOwn(data, name)) return undefined
  const property = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : valueSchema(schema)
  return property === undefined ? undefined : { schema: property, data: data[name], old: old[name] }
}

function indexPair({ schema, data, old }: Pair, i: number): Pair | undefined {
  if (schema === undefined || !Array.isArray(data) || !Array.isArray(old)) return undefined
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const item = data[i]
  const same = old.find((each) => isObject(each) && isObject(item) && keys.every((key) => equalJson(each[key], item[key])))
  return same === undefined ? undefined : { schema: schema.items, data: item, old: same }
}
