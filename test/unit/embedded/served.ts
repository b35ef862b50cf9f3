/** A server's parts as discovery and OpenAPI see them: the built-in kinds, and custom ones as a test wants them. */
import { builtinTypes } from '../../../lib/embedded/builtin/types.ts'
import type { Core } from '../../../lib/embedded/core.ts'
import { createRegistry } from '../../../lib/embedded/registry.ts'
import { Requests } from '../../../lib/embedded/requests.ts'
import type { ResourceType, Schema } from '../../../lib/embedded/types.ts'

export function served(...custom: ResourceType[]): Core {
  const registry = createRegistry()
  register(builtinTypes(new Map()))
  register(custom)
  const clock = { now: () => Date.parse('2026-11-30T12:00:00Z') }
  return { registry, clock, requests: new Requests(), store: { revision: 7, buckets: () => [] } } as unknown as Core

  function register(types: readonly ResourceType[]) {
    const kinds = new Map<string, ResourceType[]>()
    for (const type of types) kinds.set(`${type.group}/${type.resource}`, [...(kinds.get(`${type.group}/${type.resource}`) ?? []), type])
    for (const [first, ...rest] of kinds.values()) if (first !== undefined) registry.set(first.group, first.resource, [first, ...rest])
  }
}

export function customType(
  group: string,
  version: string,
  kind: string,
  more: Partial<ResourceType> & { root?: Schema } = {},
): ResourceType {
  const { root = { type: 'object' }, ...rest } = more
  return {
    group,
    version,
    kind,
    resource: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    namespaced: true,
    custom: true,
    verbs: [],
    subresources: [],
    bucket: `${group}/${kind.toLowerCase()}s`,
    storageVersion: `${group}/${version}`,
    schema: { root, resolve: (schema) => schema },
    strategy: {},
    ...rest,
  }
}
