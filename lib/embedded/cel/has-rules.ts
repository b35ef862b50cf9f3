/** Whether a schema has rules: all that is known of them before one is needed. */
import type { Schema } from '../types.ts'

/** Rules only within `allOf` do not count, as in the server. */
export function hasRules(schema: Schema): boolean {
  if ((schema['x-kubernetes-validations'] ?? []).length > 0) return true
  const values = schema.additionalProperties
  if (typeof values === 'object' && hasRules(values)) return true
  if (schema.items !== undefined && hasRules(schema.items)) return true
  return Object.values(schema.properties ?? {}).some(hasRules)
}
