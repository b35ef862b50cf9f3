/** Fields of a schema by the paths that a CustomResourceDefinition names them with. */

import type { Schema } from './schema.ts'

/**
 * The field at a plain path such as `.spec.replicas`; `'missing'` where no object can have it; undefined where that cannot be told: in
 * metadata, below what is kept unknown or is a map, and for paths with filters and indices.
 */
export function fieldAt(schema: Schema, path: string): Schema | 'missing' | undefined {
  if (!/^(\.[A-Za-z_][\w-]*)+$/.test(path) || path.startsWith('.metadata')) return undefined
  let node = schema
  for (const name of path.slice(1).split('.')) {
    const next: Schema | undefined = Object.hasOwn(node.properties ?? {}, name) ? node.properties?.[name] : undefined
    if (next === undefined) {
      const open = node['x-kubernetes-preserve-unknown-fields'] === true || node.additionalProperties !== undefined
      return open ? undefined : 'missing'
    }
    node = next
  }
  return node
}
