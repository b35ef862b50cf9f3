/**
 * ClusterRoles that are made of others: what their `aggregationRule` selects is put together in `rules`, whenever a
 * ClusterRole changes.
 */
import type { Core } from '../core.ts'
import { SYSTEM } from '../core.ts'
import { equalJson } from '../json.ts'
import { matchesLabelSelector } from '../selectors.ts'
import type { ApiObject } from '../types.ts'
import type { PolicyRule } from './rules.ts'

const GROUP = 'rbac.authorization.k8s.io'

export function startAggregation(core: Core): void {
  let waiting = false
  core.store.bucket(`${GROUP}/clusterroles`).watch(core.store.revision, () => {
    if (waiting) return
    waiting = true
    core.tasks.soon(async () => {
      waiting = false
      await aggregate(core)
    })
  })
}

async function aggregate(core: Core): Promise<void> {
  const roles = core.lookup.list(GROUP, 'clusterroles')
  const type = core.registry.find(GROUP, 'v1', 'clusterroles')
  if (type === undefined) return
  for (const role of roles) {
    if (role.aggregationRule === undefined) continue
    const rules = aggregated(role, roles)
    if (equalJson(rules, role.rules ?? [])) continue
    const name = role.metadata.name as string
    const patch = { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole', metadata: { name }, rules }
    const options = { user: SYSTEM, fieldManager: 'clusterrole-aggregation-controller' }
    await core.operations.patch(type, '', name, '', { type: 'apply', value: patch, force: true }, options)
  }
}

/** In the order of names, each rule once. */
export function aggregated(role: ApiObject, roles: readonly ApiObject[]): PolicyRule[] {
  const rules: PolicyRule[] = []
  const seen = new Set<string>()
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    for (const other of roles) {
      if (other.metadata.name === role.metadata.name || !matchesLabelSelector(selector, other.metadata.labels)) continue
      for (const rule of (other.rules ?? []) as PolicyRule[]) {
        const key = JSON.stringify(rule)
        if (seen.has(key)) continue
        seen.add(key)
        rules.push(rule)
      }
    }
  }
  return rules
}
