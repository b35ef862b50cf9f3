/** What one RBAC rule allows, and whether some rules allow all that others do (the escalation check). */
import type { Attributes } from '../core.ts'

export interface PolicyRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export function ruleAllows(rule: PolicyRule, request: Attributes): boolean {
  if (!allOr(rule.verbs, request.verb)) return false
  if (request.path !== undefined) return (rule.nonResourceURLs ?? []).some((url) => pathCovers(url, request.path as string))
  return (
    allOr(rule.apiGroups, request.group) &&
    (rule.resources ?? []).some((resource) => resourceMatches(resource, request)) &&
    (isEmpty(rule.resourceNames) || rule.resourceNames?.includes(request.name) === true)
  )
}

/** The parts of `wanted` that none of `held` allows: each with one verb, one resource and one name. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !held.some((rule) => covers(rule, part)))
}

/** Rules about the same resource (and at most one name) become one with all their verbs. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const others: PolicyRule[] = []
  const simple = new Map<string, { rule: PolicyRule; verbs: string[] }>()
  for (const rule of rules) {
    if (!isEmpty(rule.nonResourceURLs) || rule.apiGroups?.length !== 1 || rule.resources?.length !== 1) {
      others.push(rule)
      continue
    }
    const key = JSON.stringify([rule.apiGroups[0], rule.resources[0], rule.resourceNames?.[0] ?? null])
    const known = simple.get(key)
    if (known === undefined) simple.set(key, { rule, verbs: [...(rule.verbs ?? [])] })
    else known.verbs.push(...(rule.verbs ?? []))
  }
  return [...others, ...[...simple.values()].map(({ rule, verbs }) => ({ ...rule, verbs }))]
}

/** As an error shows it: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`. */
export function describeRule(rule: PolicyRule): string {
  const part = (name: string, values: readonly string[] | undefined) => (isEmpty(values) ? [] : [`${name}:${quoteAll(values ?? [])}`])
  const parts = [
    ...part('APIGroups', rule.apiGroups),
    ...part('Resources', rule.resources),
    ...part('NonResourceURLs', rule.nonResourceURLs),
    ...part('ResourceNames', rule.resourceNames),
    ...part('Verbs', rule.verbs),
  ]
  return `{${parts.join(', ')}}`
}

/** Go's `%q` of a list of strings. */
export const quoteAll = (values: readonly string[]) => `[${values.map((value) => JSON.stringify(value)).join(' ')}]`

const isEmpty = (values: readonly string[] | undefined) => values === undefined || values.length === 0
const allOr = (values: readonly string[] | undefined, value: string) => values?.some((each) => each === '*' || each === value) === true

function resourceMatches(ruled: string, { resource, subresource }: Attributes): boolean {
  if (ruled === '*') return true
  if (subresource === '') return ruled === resource
  return ruled === `${resource}/${subresource}` || ruled === `*/${subresource}`
}

/** A trailing `*` stands for any rest. */
function pathCovers(ruled: string, path: string): boolean {
  if (ruled === '*' || ruled === path) return true
  return ruled.endsWith('*') && path.startsWith(ruled.replace(/\*+$/, ''))
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = []
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs ?? []) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (isEmpty(rule.resourceNames)) parts.push(part)
        else for (const name of rule.resourceNames ?? []) parts.push({ ...part, resourceNames: [name] })
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? []) for (const verb of rule.verbs ?? []) parts.push({ nonResourceURLs: [url], verbs: [verb] })
  return parts
}

/** `part` has one value a member, as `breakDown` makes it. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  const each = (values: readonly string[] | undefined, has: (value: string) => boolean) => (values ?? []).every(has)
  return (
    each(part.verbs, (verb) => allOr(rule.verbs, verb)) &&
    each(part.apiGroups, (group) => allOr(rule.apiGroups, group)) &&
    each(part.resources, (resource) => coversResource(rule.resources ?? [], resource)) &&
    each(part.nonResourceURLs, (url) => (rule.nonResourceURLs ?? []).some((ruled) => pathCovers(ruled, url))) &&
    (isEmpty(rule.resourceNames) ||
      (!isEmpty(part.resourceNames) && each(part.resourceNames, (name) => rule.resourceNames?.includes(name) === true)))
  )
}

function coversResource(ruled: readonly string[], resource: string): boolean {
  if (ruled.includes('*') || ruled.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash > 0 && ruled.includes(`*/${resource.slice(slash + 1)}`)
}
