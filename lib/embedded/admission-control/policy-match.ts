/** `matchConstraints` of a policy and `matchResources` of a binding. */
import type { Criteria, Rule } from './matching.ts'

export function matchCriteria(resources: {
  readonly resourceRules?: readonly Rule[]
  readonly excludeResourceRules?: readonly Rule[]
  readonly matchPolicy?: string
  readonly namespaceSelector?: object
  readonly objectSelector?: object
}): Criteria {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy, namespaceSelector, objectSelector } = resources
  return {
    rules: resourceRules,
    excluded: excludeResourceRules,
    allWithoutRules: true,
    ...(matchPolicy === undefined ? {} : { matchPolicy }),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
  }
}
