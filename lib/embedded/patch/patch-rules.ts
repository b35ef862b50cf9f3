/** How the schema wants a member patched: `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key`. */
import type { Schema, SchemaSource } from '../types.ts'

export interface MapRule {
  readonly schema: Schema | undefined
  readonly strategy: string
}

export interface ListRule {
  readonly element: Schema | undefined
  readonly strategy: string
  /** `''` for lists of primitives. */
  readonly mergeKey: string
}

export function mapSchema(schemas: SchemaSource, parent: Schema | undefined, key: string): MapRule {
  const member = memberSchema(schemas, parent, key)
  return { schema: member === undefined ? undefined : schemas.resolve(member), strategy: strategyOf(member) }
}

export function listRule(schemas: SchemaSource, parent: Schema | undefined, key: string): ListRule {
  const member = memberSchema(schemas, parent, key)
  const items = member === undefined ? undefined : schemas.resolve(member).items
  return {
    element: items === undefined ? undefined : schemas.resolve(items),
    strategy: strategyOf(member),
    mergeKey: member?.['x-kubernetes-patch-merge-key'] ?? '',
  }
}

function memberSchema(schemas: SchemaSource, parent: Schema | undefined, key: string): Schema | undefined {
  if (parent === undefined) return undefined
  const { properties, additionalProperties } = schemas.resolve(parent)
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** Without `retainKeys`: the directive in the patch says that, whatever the schema says. */
function strategyOf(schema: Schema | undefined): string {
  const strategies = schema?.['x-kubernetes-patch-strategy']?.split(',') ?? []
  return strategies.find((strategy) => strategy !== 'retainKeys') ?? ''
}
