/** Kinds as controllers meet them: by bucket, or by what an owner reference says. */
import type { Core } from '../core.ts'
import type { ResourceType } from '../types.ts'

/** Some served version of the kind in a bucket (`apps/deployments`); undefined: no longer served. */
export function typeOfBucket(core: Core, bucket: string): ResourceType | undefined {
  const slash = bucket.lastIndexOf('/')
  const group = bucket.slice(0, slash)
  const resource = bucket.slice(slash + 1)
  for (const { group: known, preferred, versions } of core.registry.groups()) {
    if (known !== group) continue
    for (const version of [preferred, ...versions]) {
      const type = core.registry.find(group, version, resource)
      if (type !== undefined) return type
    }
  }
  return undefined
}

export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

export function typeOfReference(core: Core, reference: { readonly apiVersion: string; readonly kind: string }): ResourceType | undefined {
  const { group, version } = splitApiVersion(reference.apiVersion)
  return core.registry.findKind(group, reference.kind, version)
}

/** One type a bucket, of everything that is served. */
export function* namespacedTypes(core: Core): Iterable<ResourceType> {
  const seen = new Set<string>()
  for (const type of core.registry.types()) {
    if (!type.namespaced || seen.has(type.bucket) || !type.verbs.includes('delete')) continue
    seen.add(type.bucket)
    yield type
  }
}
