/** Role, ClusterRole and their bindings. */
import { type FieldError, invalid, notSupported, required } from '../../field-error.ts'
import { dnsSubdomain, pathSegment, pathSegmentName } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import { count, type Errors, entries, labelSelector, type Part, requiredText, sameSemantically, setDefault, syntax } from './common.ts'

const GROUP = 'rbac.authorization.k8s.io'

const roleStrategy = (namespaced: boolean): Strategy => ({
  allowCreateOnUpdate: true,
  validateName: pathSegmentName,
  validate: (object) => validateRole(object, namespaced),
  validateUpdate: (object) => validateRole(object, namespaced),
})

export const role = roleStrategy(true)
export const clusterRole = roleStrategy(false)

function validateRole({ rules, aggregationRule }: ApiObject, namespaced: boolean): FieldError[] {
  const errors: Errors = []
  for (const [i, rule] of entries(rules)) validateRule(errors, rule, `rules[${i}]`, namespaced)
  if (aggregationRule && count(aggregationRule.clusterRoleSelectors) === 0) {
    errors.push(required('aggregationRule.clusterRoleSelectors', 'at least one clusterRoleSelector required if aggregationRule is non-nil'))
  }
  for (const [i, selector] of entries(aggregationRule?.clusterRoleSelectors))
    labelSelector(errors, selector, `aggregationRule.clusterRoleSelectors[${i}]`)
  return errors
}

function validateRule(
  errors: Errors,
  { verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Part,
  at: string,
  namespaced: boolean,
): void {
  if (count(verbs) === 0) errors.push(required(`${at}.verbs`, 'verbs must contain at least one value'))
  if (count(nonResourceURLs) > 0) {
    if (namespaced) errors.push(invalid(`${at}.nonResourceURLs`, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'))
    if (count(apiGroups) + count(resources) + count(resourceNames) > 0) {
      errors.push(invalid(`${at}.nonResourceURLs`, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'))
    }
    return
  }
  if (count(apiGroups) === 0) errors.push(required(`${at}.apiGroups`, 'resource rules must supply at least one api group'))
  if (count(resources) === 0) errors.push(required(`${at}.resources`, 'resource rules must supply at least one resource'))
}

const bindingStrategy = (namespaced: boolean): Strategy => ({
  allowCreateOnUpdate: true,
  validateName: pathSegmentName,
  defaults({ roleRef, subjects }) {
    setDefault(roleRef, 'apiGroup', GROUP)
    for (const [, subject] of entries(subjects)) {
      if (subject.kind === 'User' || subject.kind === 'Group') setDefault(subject, 'apiGroup', GROUP)
    }
  },
  validate: (object) => validateBinding(object, namespaced),
  validateUpdate(object, old) {
    const errors = validateBinding(object, namespaced)
    if (!sameSemantically(object.roleRef, old.roleRef)) errors.push(invalid('roleRef', inOrder(object.roleRef), 'cannot change roleRef'))
    return errors
  },
})

export const roleBinding = bindingStrategy(true)
export const clusterRoleBinding = bindingStrategy(false)

/** As the internal type shows itself: Go's names of the fields. */
const inOrder = ({ apiGroup = '', kind = '', name = '' }: Part) => ({ APIGroup: apiGroup, Kind: kind, Name: name })

function validateBinding({ roleRef, subjects }: ApiObject, namespaced: boolean): FieldError[] {
  const errors: Errors = []
  if (roleRef.apiGroup !== GROUP) errors.push(notSupported('roleRef.apiGroup', roleRef.apiGroup, [GROUP]))
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (!kinds.includes(roleRef.kind)) errors.push(notSupported('roleRef.kind', roleRef.kind ?? '', kinds))
  if (requiredText(errors, roleRef.name, 'roleRef.name')) syntax(errors, roleRef.name, 'roleRef.name', pathSegment)
  for (const [i, subject] of entries(subjects)) validateSubject(errors, subject, `subjects[${i}]`, namespaced)
  return errors
}

function validateSubject(errors: Errors, { kind = '', name, namespace, apiGroup = '' }: Part, at: string, namespaced: boolean): void {
  requiredText(errors, name, `${at}.name`)
  switch (kind) {
    case 'ServiceAccount':
      if (name) syntax(errors, name, `${at}.name`, dnsSubdomain)
      if (apiGroup !== '') errors.push(notSupported(`${at}.apiGroup`, apiGroup, ['']))
      if (!namespaced && !namespace) errors.push(required(`${at}.namespace`))
      return
    case 'User':
    case 'Group':
      if (apiGroup !== GROUP) errors.push(notSupported(`${at}.apiGroup`, apiGroup, [GROUP]))
      return
    default:
      errors.push(notSupported(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']))
  }
}
