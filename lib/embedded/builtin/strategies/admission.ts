/** ValidatingAdmissionPolicy, MutatingAdmissionPolicy, their bindings, and webhook configurations. Expressions are compiled elsewhere. */
import { duplicate, type FieldError, invalid, notSupported, required } from '../../field-error.ts'
import { cIdentifier, dns1035Label, dnsSubdomain, qualifiedName } from '../../names.ts'
import type { Strategy } from '../../types.ts'
import { count, type Errors, entries, labelSelector, oneOf, type Part, requiredText, setDefault, syntax } from './common.ts'
import { keepMetadata, STATUS_ALONE } from './status.ts'

const FAILURE_POLICIES = ['Fail', 'Ignore']
const MATCH_POLICIES = ['Equivalent', 'Exact']
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const REVIEW_VERSIONS = ['v1', 'v1beta1']

const webhookStrategy = (mutating: boolean): Strategy => ({
  generation: true,
  allowUnconditionalUpdate: false,
  defaults({ webhooks }) {
    for (const [, hook] of entries(webhooks)) {
      setDefault(hook, 'failurePolicy', 'Fail')
      setDefault(hook, 'matchPolicy', 'Equivalent')
      hook.namespaceSelector ??= {}
      hook.objectSelector ??= {}
      hook.timeoutSeconds ??= 10
      if (mutating) setDefault(hook, 'reinvocationPolicy', 'Never')
      if (hook.clientConfig?.service) hook.clientConfig.service.port ??= 443
      defaultRules(hook.rules)
    }
  },
  validate: ({ webhooks }) => validateWebhooks(webhooks, mutating),
  validateUpdate: ({ webhooks }) => validateWebhooks(webhooks, mutating),
})

export const validatingWebhookConfiguration = webhookStrategy(false)
export const mutatingWebhookConfiguration = webhookStrategy(true)

function defaultRules(rules: Part[] | undefined): void {
  for (const [, rule] of entries(rules)) setDefault(rule, 'scope', '*')
}

function validateWebhooks(webhooks: Part[] | undefined, mutating: boolean): FieldError[] {
  const errors: Errors = []
  const names = new Set<string>()
  for (const [i, hook] of entries(webhooks)) {
    const at = `webhooks[${i}]`
    fullyQualifiedName(errors, hook.name ?? '', `${at}.name`)
    for (const [j, rule] of entries(hook.rules)) validateRule(errors, rule, `${at}.rules[${j}]`)
    oneOf(errors, hook.failurePolicy, `${at}.failurePolicy`, FAILURE_POLICIES)
    oneOf(errors, hook.matchPolicy, `${at}.matchPolicy`, MATCH_POLICIES)
    if (!hook.sideEffects) errors.push(required(`${at}.sideEffects`, 'must specify one of None, NoneOnDryRun'))
    else oneOf(errors, hook.sideEffects, `${at}.sideEffects`, ['None', 'NoneOnDryRun'])
    if (hook.timeoutSeconds > 30 || hook.timeoutSeconds < 1) {
      errors.push(invalid(`${at}.timeoutSeconds`, hook.timeoutSeconds, 'the timeout value must be between 1 and 30 seconds'))
    }
    labelSelector(errors, hook.namespaceSelector, `${at}.namespaceSelector`)
    labelSelector(errors, hook.objectSelector, `${at}.objectSelector`)
    if (mutating) oneOf(errors, hook.reinvocationPolicy, `${at}.reinvocationPolicy`, ['IfNeeded', 'Never'])
    validateClient(errors, hook.clientConfig ?? {}, `${at}.clientConfig`)
    validateConditions(errors, hook.matchConditions, `${at}.matchConditions`)
    validateReviewVersions(errors, hook.admissionReviewVersions, `${at}.admissionReviewVersions`)
    if (hook.name && names.has(hook.name)) errors.push(duplicate(`${at}.name`, hook.name))
    names.add(hook.name)
  }
  return errors
}

function fullyQualifiedName(errors: Errors, name: string, field: string): void {
  if (!requiredText(errors, name, field)) return
  const problems = dnsSubdomain(name)
  if (problems.length > 0) errors.push(invalid(field, name, problems.join(',')))
  else if (name.split('.').length < 3)
    errors.push(invalid(field, name, 'should be a domain with at least three segments separated by dots'))
}

function validateClient(errors: Errors, { url, service }: Part, at: string): void {
  if ((url == null) === (service == null)) {
    errors.push(required(at, 'exactly one of url or service is required'))
    return
  }
  if (url != null) {
    validateUrl(errors, url, `${at}.url`)
    return
  }
  requiredText(errors, service.name, `${at}.service.name`, 'service name is required')
  requiredText(errors, service.namespace, `${at}.service.namespace`, 'service namespace is required')
  if (service.port < 1 || service.port > 65_535)
    errors.push(invalid(`${at}.service.port`, service.port, 'port is not valid: must be between 1 and 65535, inclusive'))
  if (service.path != null && !service.path.startsWith('/')) {
    errors.push(invalid(`${at}.service.path`, service.path, "must start with a '/'"))
  }
}

const FORM = '; desired format: https://host[/path]'

function validateUrl(errors: Errors, text: string, field: string): void {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    errors.push(required(field, `url must be a valid URL${FORM}`))
    return
  }
  if (url.protocol !== 'https:') errors.push(invalid(field, url.protocol.slice(0, -1), `'https' is the only allowed URL scheme${FORM}`))
  if (url.host === '') errors.push(invalid(field, url.host, `host must be specified${FORM}`))
  if (url.username !== '') {
    const user = url.password === '' ? url.username : `${url.username}:${url.password}`
    errors.push(invalid(field, user, 'user information is not permitted in the URL'))
  }
  if (url.hash !== '') errors.push(invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL'))
  if (url.search !== '') errors.push(invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL'))
}

function validateReviewVersions(errors: Errors, versions: string[] | undefined, field: string): void {
  if (versions == null || versions.length === 0) {
    errors.push(required(field, `must specify one of ${REVIEW_VERSIONS.join(', ')}`))
    return
  }
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalid(`${field}[${i}]`, version, 'duplicate version'))
    else syntax(errors, version, `${field}[${i}]`, dns1035Label)
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalid(field, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`))
  }
}

function validateRule(errors: Errors, { operations, apiGroups, apiVersions, resources, scope }: Part, at: string): void {
  if (count(operations) === 0) errors.push(required(`${at}.operations`))
  if (count(operations) > 1 && operations.includes('*')) {
    errors.push(invalid(`${at}.operations`, operations, "if '*' is present, must not specify other operations"))
  }
  for (const [i, operation] of entries(operations)) oneOf(errors, operation as string, `${at}.operations[${i}]`, OPERATIONS)
  list(errors, apiGroups, `${at}.apiGroups`, 'API groups')
  list(errors, apiVersions, `${at}.apiVersions`, 'API versions')
  for (const [i, version] of entries(apiVersions)) if ((version as string) === '') errors.push(required(`${at}.apiVersions[${i}]`))
  validateResources(errors, resources, `${at}.resources`)
  oneOf(errors, scope, `${at}.scope`, ['*', 'Cluster', 'Namespaced'])
}

function list(errors: Errors, values: string[] | undefined, field: string, what: string): void {
  if (count(values) === 0) errors.push(required(field))
  if (count(values) > 1 && values?.includes('*')) errors.push(invalid(field, values, `if '*' is present, must not specify other ${what}`))
}

function validateResources(errors: Errors, resources: string[] | undefined, field: string): void {
  if (resources == null || resources.length === 0) {
    errors.push(required(field))
    return
  }
  for (const [i, resource] of resources.entries()) if (resource === '') errors.push(required(`${field}[${i}]`))
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalid(field, resources, "if '*/*' is present, must not specify other resources"))
  if (resources.includes('*') && resources.some((resource) => resource !== '*' && !resource.includes('/'))) {
    errors.push(invalid(field, resources, "if '*' is present, must not specify other resources without subresources"))
  }
}

function validateConditions(errors: Errors, conditions: Part[] | undefined, field: string): void {
  if (count(conditions) > 64) errors.push({ type: 'TooMany', field, message: `Too many: ${count(conditions)}: must have at most 64 items` })
  const names = new Set<string>()
  for (const [i, { name, expression }] of entries(conditions)) {
    const at = `${field}[${i}]`
    if (!(expression ?? '').trim()) errors.push(required(`${at}.expression`))
    if (!name) errors.push(required(`${at}.name`))
    else {
      syntax(errors, name, `${at}.name`, qualifiedName)
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    }
    names.add(name)
  }
}

function defaultMatch(match: Part): void {
  if (!match) return
  setDefault(match, 'matchPolicy', 'Equivalent')
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  defaultRules(match.resourceRules)
  defaultRules(match.excludeResourceRules)
}

export const admissionPolicy: Strategy = {
  generation: true,
  allowUnconditionalUpdate: false,
  prepareForUpdate: keepMetadata,
  resetFields: STATUS_ALONE,
  defaults({ spec }) {
    setDefault(spec, 'failurePolicy', 'Fail')
    defaultMatch(spec.matchConstraints)
  },
  validate: ({ spec }) => validatePolicy(spec),
  validateUpdate: ({ spec }, _old, { subresource }) => (subresource === 'status' ? [] : validatePolicy(spec)),
}

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']

function validatePolicy(spec: Part): FieldError[] {
  const errors: Errors = []
  oneOf(errors, spec.failurePolicy, 'spec.failurePolicy', FAILURE_POLICIES)
  if (spec.paramKind) {
    requiredText(errors, spec.paramKind.apiVersion, 'spec.paramKind.apiVersion')
    requiredText(errors, spec.paramKind.kind, 'spec.paramKind.kind')
  }
  if (!spec.matchConstraints) errors.push(required('spec.matchConstraints'))
  else {
    validateMatch(errors, spec.matchConstraints, 'spec.matchConstraints')
    if (count(spec.matchConstraints.resourceRules) === 0) errors.push(required('spec.matchConstraints.resourceRules'))
  }
  validateConditions(errors, spec.matchConditions, 'spec.matchConditions')
  validateVariables(errors, spec.variables)
  if (spec.mutations != null || spec.reinvocationPolicy != null) {
    if (count(spec.mutations) === 0) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
    return errors
  }
  if (count(spec.validations) === 0 && count(spec.auditAnnotations) === 0) {
    errors.push(
      required('spec.validations', 'validations or auditAnnotations must contain at least one item'),
      required('spec.auditAnnotations', 'validations or auditAnnotations must contain at least one item'),
    )
  }
  for (const [i, { expression, message, messageExpression, reason }] of entries(spec.validations)) {
    const at = `spec.validations[${i}]`
    if (!(expression ?? '').trim()) errors.push(required(`${at}.expression`, 'expression is not specified'))
    if (message != null && messageExpression == null && !message.trim() && message.length > 0) {
      errors.push(invalid(`${at}.message`, message, 'must be non-empty if specified'))
    }
    if (message?.includes('\n')) errors.push(invalid(`${at}.message`, message, 'must not contain line breaks'))
    if (expression?.includes('\n') && !message)
      errors.push(required(`${at}.message`, 'message must be specified if expression contains line breaks'))
    if (reason != null && !REASONS.includes(reason)) errors.push(notSupported(`${at}.reason`, reason, REASONS))
  }
  return errors
}

function validateVariables(errors: Errors, variables: Part[] | undefined): void {
  for (const [i, { name, expression }] of entries(variables)) {
    const at = `spec.variables[${i}]`
    if (!name) errors.push(required(`${at}.name`, 'name is not specified'))
    else if (cIdentifier(name).length > 0) errors.push(invalid(`${at}.name`, name, 'must be a valid CEL identifier'))
    if (!(expression ?? '').trim()) errors.push(required(`${at}.expression`, 'expression is not specified'))
  }
}

function validateMatch(errors: Errors, match: Part, field: string): void {
  oneOf(errors, match.matchPolicy, `${field}.matchPolicy`, MATCH_POLICIES)
  labelSelector(errors, match.namespaceSelector, `${field}.namespaceSelector`)
  labelSelector(errors, match.objectSelector, `${field}.objectSelector`)
  for (const name of ['resourceRules', 'excludeResourceRules']) {
    for (const [i, rule] of entries(match[name])) validateRule(errors, rule, `${field}.${name}[${i}]`)
  }
}

const ACTIONS = ['Audit', 'Deny', 'Warn']

export const admissionPolicyBinding = (validating: boolean): Strategy => ({
  generation: true,
  allowUnconditionalUpdate: false,
  defaults({ spec }) {
    defaultMatch(spec?.matchResources)
  },
  validate: ({ spec }) => validateBinding(spec ?? {}, validating),
  validateUpdate: ({ spec }) => validateBinding(spec ?? {}, validating),
})

function validateBinding({ policyName, paramRef, matchResources, validationActions }: Part, validating: boolean): FieldError[] {
  const errors: Errors = []
  if (requiredText(errors, policyName, 'spec.policyName')) syntax(errors, policyName, 'spec.policyName', dnsSubdomain)
  if (paramRef) {
    if (paramRef.name && paramRef.selector) {
      const message = 'Forbidden: name and selector are mutually exclusive'
      errors.push(
        { type: 'Forbidden', field: 'spec.paramRef.name', message },
        { type: 'Forbidden', field: 'spec.paramRef.selector', message },
      )
    }
    if (!paramRef.name && !paramRef.selector) errors.push(required('spec.paramRef', 'one of name or selector must be specified'))
    labelSelector(errors, paramRef.selector, 'spec.paramRef.selector')
    if (paramRef.parameterNotFoundAction == null) errors.push(required('spec.paramRef.parameterNotFoundAction'))
    else oneOf(errors, paramRef.parameterNotFoundAction, 'spec.paramRef.parameterNotFoundAction', ['Deny', 'Allow'])
  }
  if (matchResources) validateMatch(errors, matchResources, 'spec.matchResouces')
  if (!validating) return errors
  if (count(validationActions) === 0) errors.push(required('spec.validationActions', 'at least one validation action is required'))
  const seen = new Set<string>()
  for (const [i, action] of entries(validationActions)) {
    oneOf(errors, action as string, `spec.validationActions[${i}]`, ACTIONS)
    if (seen.has(action as string)) errors.push(duplicate(`spec.validationActions[${i}]`, action))
    seen.add(action as string)
  }
  if (seen.has('Deny') && seen.has('Warn'))
    errors.push(
      invalid(
        'spec.validationActions',
        validationActions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    )
  return errors
}
