/** Ingress, IngressClass and NetworkPolicy. */
import { isIP } from 'node:net'
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../field-error.ts'
import { dnsLabel, dnsSubdomain, domainPath, pathSegment, portName, portNumber, wildcardSubdomain } from '../../names.ts'
import type { ApiObject, Strategy } from '../../types.ts'
import { count, type Errors, entries, immutable, labelSelector, oneOf, type Part, requiredText, setDefault, syntax } from './common.ts'
import { isInside, networkErrors } from './ip.ts'

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

export const ingress: Strategy = {
  generation: true,
  validate(object) {
    const errors = validateIngress(object)
    const annotation = object.metadata.annotations?.[CLASS_ANNOTATION]
    if (annotation != null && object.spec.ingressClassName != null && annotation !== object.spec.ingressClassName) {
      errors.push(invalid(`annotations.${CLASS_ANNOTATION}`, annotation, 'must match `ingressClassName` when both are specified'))
    }
    return errors
  },
  validateUpdate: (object, _old, { subresource }) => (subresource === 'status' ? [] : validateIngress(object)),
  warnings({ metadata }) {
    if (metadata.annotations?.[CLASS_ANNOTATION] == null) return []
    return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
  },
}

function validateIngress({ spec }: ApiObject): FieldError[] {
  const errors: Errors = []
  if (count(spec.rules) === 0 && !spec.defaultBackend) {
    errors.push(invalid('spec', spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified'))
  }
  if (spec.defaultBackend) validateBackend(errors, spec.defaultBackend, 'spec.defaultBackend')
  for (const [i, rule] of entries(spec.rules)) validateRule(errors, rule, `spec.rules[${i}]`)
  for (const [i, { hosts, secretName }] of entries(spec.tls)) {
    for (const [j, host] of entries(hosts)) {
      const text = host as string
      syntax(errors, text, `spec.tls[${i}].hosts[${j}]`, text.includes('*') ? wildcardSubdomain : dnsSubdomain)
    }
    if (secretName) syntax(errors, secretName, `spec.tls[${i}].secretName`, dnsSubdomain)
  }
  if (spec.ingressClassName != null) syntax(errors, spec.ingressClassName, 'spec.ingressClassName', dnsSubdomain)
  return errors
}

function validateRule(errors: Errors, { host, http }: Part, at: string): void {
  if (host) {
    if (isIP(host) !== 0) errors.push(invalid(`${at}.host`, host, 'must be a DNS name, not an IP address'))
    syntax(errors, host, `${at}.host`, host.includes('*') ? wildcardSubdomain : dnsSubdomain)
  }
  if (!http) return
  if (count(http.paths) === 0) errors.push(required(`${at}.http.paths`))
  for (const [i, path] of entries(http.paths)) validatePath(errors, path, `${at}.http.paths[${i}]`)
}

const FORBIDDEN_PARTS = ['//', '/./', '/../', '%2f', '%2F']
const FORBIDDEN_ENDS = ['/..', '/.']

function validatePath(errors: Errors, { path = '', pathType, backend }: Part, at: string): void {
  if (pathType == null) {
    errors.push(required(`${at}.pathType`, 'pathType must be specified'))
    return
  }
  const absolute = () => {
    if (!path.startsWith('/')) errors.push(invalid(`${at}.path`, path, 'must be an absolute path'))
  }
  if (pathType === 'Exact' || pathType === 'Prefix') {
    absolute()
    for (const part of FORBIDDEN_PARTS) if (path.includes(part)) errors.push(invalid(`${at}.path`, path, `must not contain '${part}'`))
    for (const end of FORBIDDEN_ENDS) if (path.endsWith(end)) errors.push(invalid(`${at}.path`, path, `cannot end with '${end}'`))
  } else if (pathType === 'ImplementationSpecific') {
    if (path !== '') absolute()
  } else errors.push(notSupported(`${at}.pathType`, pathType, ['Exact', 'ImplementationSpecific', 'Prefix']))
  validateBackend(errors, backend ?? {}, `${at}.backend`)
}

function validateBackend(errors: Errors, { resource, service }: Part, at: string): void {
  if (resource && service) errors.push(invalid(at, '', 'cannot set both resource and service backends'))
  else if (resource) reference(errors, resource, `${at}.resource`)
  else if (service) {
    if (requiredText(errors, service.name, `${at}.service.name`)) syntax(errors, service.name, `${at}.service.name`, dnsLabel)
    const { name, number } = service.port ?? {}
    if (name && number) errors.push(invalid(at, '', 'cannot set both port name & port number'))
    else if (name) for (const problem of portName(name)) errors.push(invalid(`${at}.service.port.name`, name, problem))
    else if (number) for (const problem of portNumber(number)) errors.push(invalid(`${at}.service.port.number`, number, problem))
    else errors.push(required(at, 'port name or number is required'))
  } else errors.push(invalid(at, '', 'resource or service backend is required'))
}

function reference(errors: Errors, { apiGroup, kind, name }: Part, at: string): void {
  if (apiGroup != null) syntax(errors, apiGroup, `${at}.apiGroup`, dnsSubdomain)
  if (requiredText(errors, kind, `${at}.kind`)) syntax(errors, kind, `${at}.kind`, pathSegment)
  if (requiredText(errors, name, `${at}.name`)) syntax(errors, name, `${at}.name`, pathSegment)
}

export const ingressClass: Strategy = {
  generation: true,
  defaults({ spec }) {
    if (spec?.parameters) setDefault(spec.parameters, 'scope', 'Cluster')
  },
  validate: ({ spec }) => validateIngressClass(spec),
  validateUpdate({ spec }, old) {
    const errors: Errors = []
    immutable(errors, spec.controller, old.spec.controller, 'spec.controller')
    errors.push(...validateIngressClass(spec))
    return errors
  },
}

function validateIngressClass(spec: Part): FieldError[] {
  const errors: Errors = []
  const controller: string = spec?.controller ?? ''
  if (controller.length > 250) errors.push(tooLong('spec.controller', 250))
  domainPrefixedPath(errors, controller, 'spec.controller')
  const { parameters } = spec ?? {}
  if (!parameters) return errors
  reference(errors, parameters, 'spec.parameters')
  const { scope, namespace } = parameters
  if (scope !== 'Cluster' && scope !== 'Namespace') oneOf(errors, scope, 'spec.parameters.scope', ['Cluster', 'Namespace'])
  if (scope === 'Namespace' && !namespace) errors.push(required('spec.parameters.namespace', "`parameters.scope` is set to 'Namespace'"))
  if (scope === 'Cluster' && namespace != null)
    errors.push(forbidden('spec.parameters.namespace', "`parameters.scope` is set to 'Cluster'"))
  return errors
}

export function domainPrefixedPath(errors: Errors, value: string, field: string): void {
  if (!requiredText(errors, value, field)) return
  const slash = value.indexOf('/')
  const [host, path] = [value.slice(0, slash), value.slice(slash + 1)]
  if (slash <= 0 || path === '') {
    errors.push(invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")'))
    return
  }
  syntax(errors, host, field, dnsSubdomain)
  syntax(errors, path, field, domainPath)
}

export const networkPolicy: Strategy = {
  generation: true,
  defaults({ spec }) {
    if (!spec) return
    if (count(spec.policyTypes) === 0) spec.policyTypes = count(spec.egress) > 0 ? ['Ingress', 'Egress'] : ['Ingress']
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
      for (const [, port] of entries(rule.ports)) setDefault(port, 'protocol', 'TCP')
  },
  validate: ({ spec }) => validatePolicy(spec),
  validateUpdate: ({ spec }) => validatePolicy(spec),
}

function validatePolicy(spec: Part): FieldError[] {
  const errors: Errors = []
  labelSelector(errors, spec.podSelector, 'spec.podSelector')
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [i, rule] of entries(spec[direction])) {
      const at = `spec.${direction}[${i}]`
      for (const [j, port] of entries(rule.ports)) validatePolicyPort(errors, port, `${at}.ports[${j}]`)
      for (const [j, peer] of entries(rule[peers])) validatePeer(errors, peer, `${at}.${peers}[${j}]`)
    }
  }
  if (count(spec.policyTypes) > 2) {
    errors.push(invalid('spec.policyTypes', spec.policyTypes, 'may not specify more than two policyTypes'))
    return errors
  }
  for (const [i, type] of entries(spec.policyTypes)) oneOf(errors, type as string, `spec.policyTypes[${i}]`, ['Ingress', 'Egress'])
  return errors
}

function validatePolicyPort(errors: Errors, { protocol, port, endPort }: Part, at: string): void {
  oneOf(errors, protocol, `${at}.protocol`, ['TCP', 'UDP', 'SCTP'])
  if (port == null) {
    if (endPort != null) errors.push(invalid(`${at}.endPort`, endPort, 'may not be specified when `port` is not specified'))
  } else if (typeof port === 'number') {
    for (const problem of portNumber(port)) errors.push(invalid(`${at}.port`, port, problem))
    if (endPort == null) return
    if (endPort < port) errors.push(invalid(`${at}.endPort`, port, 'must be greater than or equal to `port`'))
    for (const problem of portNumber(endPort)) errors.push(invalid(`${at}.endPort`, endPort, problem))
  } else {
    if (endPort != null) errors.push(invalid(`${at}.endPort`, endPort, 'may not be specified when `port` is non-numeric'))
    for (const problem of portName(port)) errors.push(invalid(`${at}.port`, port, problem))
  }
}

function validatePeer(errors: Errors, { podSelector, namespaceSelector, ipBlock }: Part, at: string): void {
  labelSelector(errors, podSelector, `${at}.podSelector`)
  labelSelector(errors, namespaceSelector, `${at}.namespaceSelector`)
  if (ipBlock) {
    if (requiredText(errors, ipBlock.cidr, `${at}.ipBlock.cidr`)) {
      errors.push(...networkErrors(ipBlock.cidr, `${at}.ipBlock.cidr`))
      for (const [i, each] of entries(ipBlock.except)) {
        const except = each as string
        const problems = networkErrors(except, `${at}.ipBlock.except[${i}]`)
        errors.push(...problems)
        if (problems.length === 0 && !isInside(except, ipBlock.cidr)) {
          errors.push(invalid(`${at}.ipBlock.except[${i}]`, except, 'must be a strict subset of `cidr`'))
        }
      }
    }
    if (podSelector || namespaceSelector) errors.push(forbidden(at, 'may not specify both ipBlock and another peer'))
  } else if (!podSelector && !namespaceSelector) errors.push(required(at, 'must specify a peer'))
}
