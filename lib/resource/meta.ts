/**
 * What `.meta()` of a zod type may say to the API server beside what zod itself says: extensions of OpenAPI, which go into the
 * definition as they are (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/).
 */

import type { Validation } from './crd-version.ts'
import { type Schema, SchemaError } from './schema.ts'

export interface KubernetesMeta {
  /** Rules in CEL; `self` is the value. */
  'x-kubernetes-validations'?: readonly Validation[]
  /** How server-side apply merges a list: as one value (`atomic`, the default), as a set of values, or by keys of its items. */
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  /** The fields that tell the items of a list of type `map` from each other. Each must be required, or have a default. */
  'x-kubernetes-list-map-keys'?: readonly string[]
  /** How server-side apply merges an object: field by field (`granular`, the default), or as one value. */
  'x-kubernetes-map-type'?: 'granular' | 'atomic'
  /** True: the object is a whole Kubernetes object, whose apiVersion, kind and metadata are checked. */
  'x-kubernetes-embedded-resource'?: boolean
  /** True: fields that the schema does not know are kept. */
  'x-kubernetes-preserve-unknown-fields'?: boolean
  /** True: a whole number or a text. `z.union([z.int(), z.string()])` says it by itself. */
  'x-kubernetes-int-or-string'?: boolean
}

declare module 'zod' {
  interface GlobalMeta extends KubernetesMeta {}
}

type Check = (value: unknown) => boolean

const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const isTexts: Check = (value) => Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
const isRules: Check = (value) => Array.isArray(value) && value.every((item) => typeof (item as Validation | null)?.rule === 'string')

const KNOWN: { readonly [Name in keyof KubernetesMeta]-?: { readonly expected: string; readonly check: Check; readonly of?: string } } = {
  'x-kubernetes-validations': { expected: "a list of rules, such as [{ rule: 'self.min <= self.max' }]", check: isRules },
  'x-kubernetes-list-type': { expected: "'atomic', 'set' or 'map'", check: oneOf('atomic', 'set', 'map'), of: 'array' },
  'x-kubernetes-list-map-keys': { expected: "a list of fields, such as ['name']", check: isTexts, of: 'array' },
  'x-kubernetes-map-type': { expected: "'granular' or 'atomic'", check: oneOf('granular', 'atomic'), of: 'object' },
  'x-kubernetes-embedded-resource': { expected: 'true', check: oneOf(true, false), of: 'object' },
  'x-kubernetes-preserve-unknown-fields': { expected: 'true', check: oneOf(true, false) },
  'x-kubernetes-int-or-string': { expected: 'true', check: oneOf(true, false) },
}

/** @throws SchemaError for an extension that the API server does not know, or that does not fit the type */
export function checkMeta(schema: Schema, path: string): void {
  for (const [name, value] of Object.entries(schema)) {
    if (!name.startsWith('x-kubernetes-')) continue
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name as keyof KubernetesMeta] : undefined
    if (known === undefined)
      throw new SchemaError(path, `.meta(): the API server does not know ${name}, but ${Object.keys(KNOWN).join(', ')}`)
    if (!known.check(value)) throw new SchemaError(path, `.meta(): ${name}: expected ${known.expected}, not ${JSON.stringify(value)}`)
    if (known.of !== undefined && schema.type !== known.of && !(known.of === 'object' && schema.type === undefined))
      throw new SchemaError(path, `.meta(): ${name} is for ${known.of === 'array' ? 'z.array()' : 'z.object() and z.record()'}`)
  }
  checkListMap(schema, path)
}

function checkListMap(schema: Schema, path: string): void {
  const keys = schema['x-kubernetes-list-map-keys'] as readonly string[] | undefined
  const type = schema['x-kubernetes-list-type']
  if (type === 'map' && keys === undefined)
    throw new SchemaError(path, ".meta(): a list of type map needs 'x-kubernetes-list-map-keys', such as ['name']")
  if (type !== 'map' && keys !== undefined)
    throw new SchemaError(path, ".meta(): 'x-kubernetes-list-map-keys' is for lists with 'x-kubernetes-list-type': 'map'")
  for (const key of keys ?? []) {
    const field = schema.items?.properties?.[key]
    if (field === undefined)
      throw new SchemaError(path, `.meta(): the items of the list have no field ${key}, which x-kubernetes-list-map-keys names`)
    if (field.default === undefined && schema.items?.required?.includes(key) !== true)
      throw new SchemaError(`${path}[].${key}`, 'a key of a list of type map must be given, or have a default')
  }
}
