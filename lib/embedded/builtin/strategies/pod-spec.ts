/** The specification of a pod, by itself or in a template. */
import { duplicate, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { between, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../names.ts'
import {
  count,
  type Errors,
  entries,
  labelSelector,
  labels,
  oneOf,
  type Part,
  requiredOneOf,
  requiredText,
  syntax,
  templateMetadata,
} from './common.ts'
import { userId, validateContainers, validateEphemeralContainers, validateInitContainers, validateSeccomp } from './containers.ts'
import { validateVolumes } from './volumes.ts'

/** `alsoMounts`: volumes that a controller will add. */
export function validateTemplate(errors: Errors, template: Part, field: string, alsoMounts: readonly string[] = []): void {
  if (!template) {
    errors.push(required(field))
    return
  }
  templateMetadata(errors, template.metadata, field)
  validatePodSpec(errors, template.spec ?? {}, `${field}.spec`, false, alsoMounts)
  if (count(template.spec?.ephemeralContainers) > 0) {
    errors.push(forbidden(`${field}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
  }
}

export function validatePodSpec(errors: Errors, spec: Part, field: string, pod: boolean, alsoMounts: readonly string[] = []): void {
  if (spec.terminationGracePeriodSeconds == null) errors.push(required(`${field}.terminationGracePeriodSeconds`))
  const own = (spec.volumes ?? []).filter((volume: Part) => !alsoMounts.includes(volume.name))
  const claims = alsoMounts.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  const volumes = validateVolumes(errors, [...claims, ...own], `${field}.volumes`)
  const context = { spec, volumes }
  validateContainers(errors, context, `${field}.containers`)
  validateInitContainers(errors, context, `${field}.initContainers`)
  validateEphemeralContainers(errors, context, `${field}.ephemeralContainers`)
  validateHostNetwork(errors, spec, field, pod)
  requiredOneOf(errors, spec.restartPolicy, `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never'])
  requiredOneOf(errors, spec.dnsPolicy, `${field}.dnsPolicy`, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'])
  labels(errors, spec.nodeSelector, `${field}.nodeSelector`)
  validatePodSecurity(errors, spec.securityContext, `${field}.securityContext`)
  validateAffinity(errors, spec.affinity, `${field}.affinity`)
  validateDns(errors, spec, `${field}.dnsConfig`)
  for (const [i, gate] of entries(spec.readinessGates))
    syntax(errors, gate.conditionType ?? '', `${field}.readinessGates[${i}].conditionType`, qualifiedName)
  validateSchedulingGates(errors, spec.schedulingGates, `${field}.schedulingGates`)
  validateSpread(errors, spec.topologySpreadConstraints, `${field}.topologySpreadConstraints`)
  if (spec.serviceAccountName) syntax(errors, spec.serviceAccountName, `${field}.serviceAccountName`, dnsSubdomain)
  if (spec.nodeName) syntax(errors, spec.nodeName, `${field}.nodeName`, dnsSubdomain)
  const deadline = spec.activeDeadlineSeconds
  if (deadline != null && (deadline < 1 || deadline > 2_147_483_647)) {
    errors.push(invalid(`${field}.activeDeadlineSeconds`, deadline, between(1, 2_147_483_647)))
  }
  if (spec.hostname) syntax(errors, spec.hostname, `${field}.hostname`, dnsLabel)
  if (spec.subdomain) syntax(errors, spec.subdomain, `${field}.subdomain`, dnsLabel)
  validateTolerations(errors, spec.tolerations, `${field}.tolerations`)
  for (const [i, alias] of entries(spec.hostAliases)) {
    for (const [j, name] of entries(alias.hostnames))
      syntax(errors, name as string, `${field}.hostAliases[${i}].hostnames[${j}]`, dnsSubdomain)
  }
  if (spec.priorityClassName) syntax(errors, spec.priorityClassName, `${field}.priorityClassName`, dnsSubdomain)
  if (spec.runtimeClassName != null) syntax(errors, spec.runtimeClassName, `${field}.runtimeClassName`, dnsSubdomain)
  oneOf(errors, spec.preemptionPolicy, `${field}.preemptionPolicy`, ['PreemptLowerPriority', 'Never'])
  if (spec.os) {
    if (!spec.os.name) errors.push(required(`${field}.os.name`, 'cannot be empty'))
    else oneOf(errors, spec.os.name, `${field}.os`, ['linux', 'windows'])
  }
}

function validateHostNetwork(errors: Errors, spec: Part, field: string, pod: boolean): void {
  if (spec.hostNetwork !== true) return
  for (const [i, container] of entries(spec.containers)) {
    for (const [j, port] of entries(container.ports)) {
      const hostPort = port.hostPort ?? 0
      if ((pod || hostPort !== 0) && hostPort !== (port.containerPort ?? 0)) {
        errors.push(
          invalid(`${field}.containers[${i}].ports[${j}].hostPort`, hostPort, 'must match `containerPort` when `hostNetwork` is true'),
        )
      }
    }
  }
}

function validatePodSecurity(errors: Errors, context: Part, field: string): void {
  if (!context) return
  userId(errors, context.fsGroup, `${field}.fsGroup`)
  userId(errors, context.runAsUser, `${field}.runAsUser`)
  userId(errors, context.runAsGroup, `${field}.runAsGroup`)
  for (const [i, group] of entries(context.supplementalGroups)) userId(errors, group as number, `${field}.supplementalGroups[${i}]`)
  oneOf(errors, context.fsGroupChangePolicy, `${field}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch'])
  validateSeccomp(errors, context.seccompProfile, `${field}.seccompProfile`)
}

function validateDns(errors: Errors, spec: Part, field: string): void {
  const config = spec.dnsConfig
  if (spec.dnsPolicy === 'None') {
    if (!config) {
      errors.push(required(field, 'must provide `dnsConfig` when `dnsPolicy` is None'))
      return
    }
    if (count(config.nameservers) === 0) {
      errors.push(required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'))
      return
    }
  }
  if (count(config?.nameservers) > 3)
    errors.push(invalid(`${field}.nameservers`, config.nameservers, 'must not have more than 3 nameservers'))
  if (count(config?.searches) > 32) errors.push(invalid(`${field}.searches`, config.searches, 'must not have more than 32 search paths'))
  for (const [i, option] of entries(config?.options)) if (!option.name) errors.push(required(`${field}.options[${i}]`, 'must not be empty'))
}

function validateSchedulingGates(errors: Errors, gates: Part[] | undefined, field: string): void {
  const seen = new Set<string>()
  for (const [i, { name = '' }] of entries(gates)) {
    syntax(errors, name, `${field}[${i}]`, qualifiedName)
    if (seen.has(name)) errors.push(duplicate(`${field}[${i}]`, name))
    seen.add(name)
  }
}

const NODE_OPERATORS = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'])

function validateAffinity(errors: Errors, affinity: Part, field: string): void {
  if (!affinity) return
  const node = affinity.nodeAffinity
  if (node) {
    const hard = node.requiredDuringSchedulingIgnoredDuringExecution
    const at = `${field}.nodeAffinity`
    if (hard) validateNodeSelector(errors, hard, `${at}.requiredDuringSchedulingIgnoredDuringExecution`)
    for (const [i, term] of entries(node.preferredDuringSchedulingIgnoredDuringExecution)) {
      const here = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${i}]`
      if (!(term.weight > 0 && term.weight <= 100)) errors.push(invalid(`${here}.weight`, term.weight ?? 0, 'must be in the range 1-100'))
      validateNodeTerm(errors, term.preference ?? {}, `${here}.preference`)
    }
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const own = affinity[kind]
    for (const [i, term] of entries(own?.requiredDuringSchedulingIgnoredDuringExecution)) {
      validatePodTerm(errors, term, `${field}.${kind}.requiredDuringSchedulingIgnoredDuringExecution[${i}]`)
    }
    for (const [i, term] of entries(own?.preferredDuringSchedulingIgnoredDuringExecution)) {
      const here = `${field}.${kind}.preferredDuringSchedulingIgnoredDuringExecution[${i}]`
      if (!(term.weight > 0 && term.weight <= 100)) errors.push(invalid(`${here}.weight`, term.weight ?? 0, 'must be in the range 1-100'))
      validatePodTerm(errors, term.podAffinityTerm ?? {}, `${here}.podAffinityTerm`)
    }
  }
}

export function validateNodeSelector(errors: Errors, selector: Part, field: string): void {
  if (count(selector.nodeSelectorTerms) === 0) {
    errors.push(required(`${field}.nodeSelectorTerms`, 'must have at least one node selector term'))
    return
  }
  for (const [i, term] of entries(selector.nodeSelectorTerms)) validateNodeTerm(errors, term, `${field}.nodeSelectorTerms[${i}]`)
}

function validateNodeTerm(errors: Errors, term: Part, field: string): void {
  for (const [i, { key = '', operator = '', values }] of entries(term.matchExpressions)) {
    const at = `${field}.matchExpressions[${i}]`
    if (operator === 'In' || operator === 'NotIn') {
      if (count(values) === 0) errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (count(values) > 0) errors.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (count(values) !== 1) errors.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    } else if (!NODE_OPERATORS.has(operator)) errors.push(invalid(`${at}.operator`, operator, 'not a valid selector operator'))
    syntax(errors, key, `${at}.key`, qualifiedName)
  }
}

function validatePodTerm(errors: Errors, term: Part, field: string): void {
  labelSelector(errors, term.labelSelector, `${field}.labelSelector`)
  labelSelector(errors, term.namespaceSelector, `${field}.namespaceSelector`)
  for (const [, name] of entries(term.namespaces)) syntax(errors, name as string, `${field}.namespace`, dnsLabel)
  if (!term.topologyKey) errors.push(required(`${field}.topologyKey`, 'can not be empty'))
  syntax(errors, term.topologyKey ?? '', `${field}.topologyKey`, qualifiedName)
}

function validateSpread(errors: Errors, constraints: Part[] | undefined, field: string): void {
  for (const [i, constraint] of entries(constraints)) {
    const at = `${field}[${i}]`
    if (!(constraint.maxSkew > 0)) errors.push(invalid(`${at}.maxSkew`, constraint.maxSkew ?? 0, 'must be greater than zero'))
    if (requiredText(errors, constraint.topologyKey, `${at}.topologyKey`, 'can not be empty')) {
      syntax(errors, constraint.topologyKey, `${at}.topologyKey`, qualifiedName)
    }
    if (!['DoNotSchedule', 'ScheduleAnyway'].includes(constraint.whenUnsatisfiable)) {
      errors.push(notSupported(`${at}.whenUnsatisfiable`, constraint.whenUnsatisfiable ?? '', ['DoNotSchedule', 'ScheduleAnyway']))
    }
    labelSelector(errors, constraint.labelSelector, `${at}.labelSelector`)
  }
}

export function validateTolerations(errors: Errors, tolerations: Part[] | undefined, field: string): void {
  for (const [i, { key = '', operator = '', value = '', effect = '', tolerationSeconds }] of entries(tolerations)) {
    const at = `${field}[${i}]`
    if (key !== '') syntax(errors, key, `${at}.key`, qualifiedName)
    else if (operator !== 'Exists') {
      errors.push(
        invalid(`${at}.operator`, operator, 'operator must be Exists when `key` is empty, which means "match all values and all keys"'),
      )
    }
    if (tolerationSeconds != null && effect !== 'NoExecute') {
      errors.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    }
    if (operator === 'Equal' || operator === '') {
      const problems = labelValue(value)
      if (problems.length > 0) errors.push(invalid(`${at}.operator`, value, problems.join(';')))
    } else if (operator === 'Exists') {
      if (value !== '') errors.push(invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"))
    } else if (operator === 'Lt' || operator === 'Gt') {
      errors.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt']))
    } else errors.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']))
    if (effect !== '') oneOf(errors, effect, `${at}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
  }
}
