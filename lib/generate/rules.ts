/** Permissions as the rules of roles: as few as say the same, in an order that does not depend on the handlers'. */

import type { Permission } from './permissions.ts'

export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** A rule for each set of verbs of a group. Namespaces are the caller's business. */
export function rulesOf(permissions: readonly Permission[]): Rule[] {
  const byResource = Map.groupBy(permissions, ({ group, resource, name }) => JSON.stringify([group, resource, name ?? '']))
  const resources = [...byResource].map(([key, all]) => {
    const [group, resource, name] = JSON.parse(key) as [string, string, string]
    return { group, resource, name, verbs: [...new Set(all.map(({ verb }) => verb))].sort(byUse) }
  })
  const rules = Map.groupBy(resources, ({ group, resource, name, verbs }) =>
    // What is limited to names does not share a rule with another resource: the names would hold for both.
    JSON.stringify([group, name === '' ? '' : resource, name, verbs]),
  )
  const merged = [...rules.values()].map((all) => {
    const { group, name, verbs } = all[0] as (typeof all)[number]
    return { group, name, verbs, resources: all.map(({ resource }) => resource).sort() }
  })
  return mergedNames(merged)
    .sort((a, b) => compare([a.group, a.resources[0], a.names[0]], [b.group, b.resources[0], b.names[0]]))
    .map(({ group, resources, names, verbs }) => ({
      apiGroups: [group],
      resources,
      ...(names.length === 0 ? {} : { resourceNames: names }),
      verbs,
    }))
}

interface Named {
  readonly group: string
  readonly name: string
  readonly verbs: readonly string[]
  readonly resources: readonly string[]
}

function mergedNames(rules: readonly Named[]) {
  const same = Map.groupBy(rules, ({ group, name, verbs, resources }) => JSON.stringify([group, resources, verbs, name === '']))
  return [...same.values()].map((all) => ({
    ...(all[0] as Named),
    names: all
      .map(({ name }) => name)
      .filter((name) => name !== '')
      .sort(),
  }))
}

/** As kubectl and the documentation of Kubernetes have them. */
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

function byUse(a: string, b: string): number {
  const [i, j] = [VERBS.indexOf(a), VERBS.indexOf(b)]
  if (i >= 0 && j >= 0) return i - j
  return i >= 0 ? -1 : j >= 0 ? 1 : a < b ? -1 : 1
}

function compare(a: readonly (string | undefined)[], b: readonly (string | undefined)[]): number {
  for (const [i, left = ''] of a.entries()) {
    const right = b[i] ?? ''
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** The reverse of `rulesOf`. */
export function permissionsIn(rules: readonly Rule[], namespace?: string): Permission[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          (resourceNames ?? [undefined]).map((name) => ({
            group,
            resource,
            verb,
            ...(name === undefined ? {} : { name }),
            ...(namespace === undefined ? {} : { namespace }),
          })),
        ),
      ),
    ),
  )
}
