/** Whether a webhook or a policy is about a request: rules, scope, selectors, equivalent resources. */
import type { AdmissionRequest, Core } from '../core.ts'
import { type LabelSelector, matchesLabelSelector } from '../selectors.ts'
import { ApiError, notFound } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'

export interface Rule {
  readonly operations?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  /** Only of policies. */
  readonly resourceNames?: readonly string[]
}

export interface Criteria {
  readonly rules: readonly Rule[]
  readonly excluded?: readonly Rule[]
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  /** No rules at all: everything matches, as in policies. Default: nothing does. */
  readonly allWithoutRules?: boolean
}

/** These could lock everybody out of repairing them. */
const EXEMPT: ReadonlySet<string> = new Set(
  [
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ].map((resource) => `admissionregistration.k8s.io/${resource}`),
)

export const isExempt = (type: ResourceType): boolean => EXEMPT.has(type.bucket)

/**
 * The type whose rule matches: that of the request, or another version of it where the policy is `Equivalent`. Undefined: the
 * request is none of theirs.
 * @throws ApiError 404 where the namespace is not there
 */
export function matchedType(core: Core, request: AdmissionRequest, criteria: Criteria): ResourceType | undefined {
  if (!matchesObject(criteria.objectSelector, request)) return undefined
  const namespace = matchesNamespace(core, request, criteria.namespaceSelector)
  if (namespace === false) return undefined
  const { excluded = [], rules, matchPolicy } = criteria
  if (excluded.length > 0 && typeByRules(core, request, excluded, matchPolicy) !== undefined) return undefined
  const all = rules.length === 0 && criteria.allWithoutRules === true
  const matched = all ? request.type : typeByRules(core, request, rules, matchPolicy)
  if (matched !== undefined && namespace instanceof ApiError) throw namespace
  return matched
}

function typeByRules(core: Core, request: AdmissionRequest, rules: readonly Rule[], policy: string | undefined): ResourceType | undefined {
  if (rules.some((rule) => ruleMatches(rule, request, request.type))) return request.type
  if (policy === 'Exact') return undefined
  const others = equivalents(core, request.type)
  for (const rule of rules) for (const type of others) if (ruleMatches(rule, request, type)) return type
  return undefined
}

/** The other versions of a resource; Event has another group as well. */
function equivalents(core: Core, type: ResourceType): ResourceType[] {
  const found: ResourceType[] = []
  for (const { group, versions } of core.registry.groups()) {
    if (group !== type.group && type.bucket !== '/events') continue
    for (const version of versions) {
      const other = core.registry.find(group, version, type.resource)
      if (other !== undefined && other !== type && other.bucket === type.bucket) found.push(other)
    }
  }
  return found
}

const anyOr = (values: readonly string[] | undefined, value: string) => values?.some((each) => each === '*' || each === value) === true

function ruleMatches(rule: Rule, request: AdmissionRequest, type: ResourceType): boolean {
  return (
    scopeMatches(rule.scope, type) &&
    anyOr(rule.operations, request.operation) &&
    anyOr(rule.apiGroups, type.group) &&
    anyOr(rule.apiVersions, type.version) &&
    (rule.resources ?? []).some((resource) => resourceMatches(resource, type.resource, request.subresource)) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(request.name))
  )
}

function scopeMatches(scope: string | undefined, type: ResourceType): boolean {
  if (scope === undefined || scope === '*') return true
  return scope === 'Namespaced' ? type.namespaced : scope === 'Cluster' && !type.namespaced
}

function resourceMatches(ruled: string, resource: string, subresource: string): boolean {
  const slash = ruled.indexOf('/')
  const ruledResource = slash < 0 ? ruled : ruled.slice(0, slash)
  const ruledSubresource = slash < 0 ? '' : ruled.slice(slash + 1)
  return (ruledResource === '*' || ruledResource === resource) && (ruledSubresource === '*' || ruledSubresource === subresource)
}

/** Old or new object will do. */
function matchesObject(selector: LabelSelector | undefined, { object, old }: AdmissionRequest): boolean {
  if (isEverything(selector)) return true
  const matches = (each: ApiObject | undefined) => each !== undefined && matchesLabelSelector(selector, each.metadata.labels)
  return matches(object) || matches(old)
}

function matchesNamespace(core: Core, request: AdmissionRequest, selector: LabelSelector | undefined): boolean | ApiError {
  const { type, namespace, operation, subresource, object } = request
  if (isEverything(selector)) return true
  const isNamespace = type.bucket === '/namespaces'
  // A selector of namespaces says nothing about cluster-scoped objects.
  if (!type.namespaced && !isNamespace) return true
  if (isNamespace && subresource === '' && operation !== 'DELETE') return matchesLabelSelector(selector, object?.metadata.labels)
  const name = isNamespace ? request.name : namespace
  const found = core.lookup.get('', 'namespaces', '', name)
  if (found === undefined) return notFound({ group: '', resource: 'namespaces', kind: 'Namespace' }, name)
  return matchesLabelSelector(selector, found.metadata.labels)
}

const isEverything = (selector: LabelSelector | undefined): boolean =>
  selector === undefined || (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0)
