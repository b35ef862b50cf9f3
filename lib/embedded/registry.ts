/** What this server serves: built-in kinds from the start, custom ones while their definitions are established. */
import type { Registry } from './core.ts'
import type { ResourceType } from './types.ts'

/** Group and version of one kind's paths, as written in them. */
const versionKey = (group: string, version: string, resource: string) => `${group}/${version}/${resource}`

export function createRegistry(): Registry {
  // By `group/resource`, in the order of the first registration: the order of discovery within a group.
  const served = new Map<string, readonly ResourceType[]>()
  const byPath = new Map<string, ResourceType>()
  const listeners = new Set<(group: string, resource: string) => void>()
  let generation = 0
  let groups: readonly Group[] | undefined

  return {
    find: (group, version, resource) => byPath.get(versionKey(group, version, resource)),
    findKind(group, kind, version) {
      const preferred = version ?? groupsNow().find((each) => each.group === group)?.preferred
      let any: ResourceType | undefined
      for (const types of served.values()) {
        for (const type of types) {
          if (type.group !== group || type.kind !== kind) continue
          if (type.version === preferred) return type
          any ??= type
        }
      }
      return version === undefined ? any : undefined
    },
    *types() {
      for (const types of served.values()) yield* types
    },
    groups: groupsNow,
    set(group, resource, types) {
      const key = `${group}/${resource}`
      for (const old of served.get(key) ?? []) byPath.delete(versionKey(group, old.version, resource))
      if (types.length === 0) served.delete(key)
      else served.set(key, types)
      for (const type of types) byPath.set(versionKey(group, type.version, resource), type)
      generation++
      groups = undefined
      for (const f of [...listeners]) f(group, resource)
    },
    get generation() {
      return generation
    },
    onChange(f) {
      listeners.add(f)
      return () => void listeners.delete(f)
    },
  }

  function groupsNow(): readonly Group[] {
    groups ??= groupVersions(served.values())
    return groups
  }
}

interface Group {
  readonly group: string
  readonly versions: readonly string[]
  readonly preferred: string
}

function groupVersions(served: Iterable<readonly ResourceType[]>): Group[] {
  const versions = new Map<string, { order: string[]; custom: boolean }>()
  for (const types of served) {
    for (const type of types) {
      const known = versions.get(type.group) ?? { order: [], custom: true }
      versions.set(type.group, known)
      if (!known.order.includes(type.version)) known.order.push(type.version)
      if (!type.custom) known.custom = false
    }
  }
  return [...versions].map(([group, { order, custom }]) => {
    // Built-in groups keep the order of the recorded discovery; custom ones are sorted as Kubernetes ranks versions.
    const sorted = custom ? order.toSorted(compareVersions) : order
    return { group, versions: sorted, preferred: sorted[0] ?? '' }
  })
}

/** v2 before v1 before v1beta2 before v1alpha1 before anything else (`k8s.io/apimachinery/pkg/version`). */
export function compareVersions(a: string, b: string): number {
  const left = rank(a)
  const right = rank(b)
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1
    if (right !== undefined) return 1
    return a < b ? -1 : a > b ? 1 : 0
  }
  for (const [i, x] of left.entries()) {
    const y = right[i] ?? 0
    if (x !== y) return y - x
  }
  return 0
}

const STAGES: Readonly<Record<string, number>> = { alpha: 0, beta: 1 }

function rank(version: string): readonly number[] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (match === null) return undefined
  const [, major = '0', stage, minor = '0'] = match
  return [stage === undefined ? 2 : (STAGES[stage] ?? 0), Number(major), Number(minor)]
}
