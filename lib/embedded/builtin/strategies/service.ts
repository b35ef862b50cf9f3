/** Services: defaults, addresses, node ports, and what their types allow. */
import { type FieldError, forbidden, invalid, notSupported, required } from '../../field-error.ts'
import { dnsLabel, dnsSubdomain, labelName, portNumber, qualifiedName } from '../../names.ts'
import { type ApiError, internalError, invalidError, plainError } from '../../status.ts'
import type { ApiObject, Strategy, WriteContext } from '../../types.ts'
import { freeAddress, freeNodePort, hasNodePorts, isInRange, isNodePort, usedAddresses, usedNodePorts } from './addresses.ts'
import {
  count,
  type Errors,
  entries,
  labels,
  oneOf,
  type Part,
  requiredOneOf,
  requiredText,
  setDefault,
  syntax,
  unknownLabel,
} from './common.ts'
import { portNumberOrName } from './containers.ts'
import { addressErrors, endpointAddressErrors, networkErrors } from './ip.ts'
import { validateServiceStatus } from './service-status.ts'

export const service: Strategy = {
  allowCreateOnUpdate: true,
  returnsDeleted: true,
  validateName: labelName,
  defaults({ spec, status }) {
    setDefault(spec, 'sessionAffinity', 'None')
    if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
    if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds == null) {
      spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } }
    }
    setDefault(spec, 'type', 'ClusterIP')
    for (const [, port] of entries(spec.ports)) {
      setDefault(port, 'protocol', 'TCP')
      if (port.targetPort == null || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port ?? 0
    }
    if (isExternal(spec)) setDefault(spec, 'externalTrafficPolicy', 'Cluster')
    if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster'
    if (spec.type === 'LoadBalancer') {
      spec.allocateLoadBalancerNodePorts ??= true
      for (const [, ingress] of entries(status?.loadBalancer?.ingress)) if (ingress.ip) ingress.ipMode ??= 'VIP'
    }
  },
  prepareForCreate(object, context) {
    normalizeAddresses(object.spec, undefined)
    allocate(object, undefined, context)
  },
  prepareForUpdate(object, old, context) {
    if (context.subresource !== '') return
    patchAllocated(object.spec, old.spec)
    normalizeAddresses(object.spec, old.spec)
    dropTypeFields(object.spec, old.spec)
    if (object.spec.type !== 'LoadBalancer') object.status = { ...object.status, loadBalancer: {} }
    allocate(object, old, context)
  },
  validate: (object) => validateService(object),
  validateUpdate(object, old, { subresource }) {
    if (subresource === 'status') return validateServiceStatus(object)
    const errors: Errors = []
    validateChanges(errors, object.spec, old.spec)
    errors.push(...validateService(object))
    return errors
  },
  warnings: serviceWarnings,
  unknownFieldSelector: unknownLabel,
  selectableFields: {
    'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '',
    'spec.type': ({ spec }) => spec?.type ?? '',
  },
}

const isExternal = (spec: Part) =>
  spec.type === 'NodePort' || spec.type === 'LoadBalancer' || (spec.type === 'ClusterIP' && count(spec.externalIPs) > 0)
const isHeadless = (spec: Part) => spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None'
const needsHealthCheck = (spec: Part) => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'

/** `clusterIP` and the first of `clusterIPs` are one. */
function normalizeAddresses(spec: Part, old: Part): void {
  if (old == null) {
    if (spec.clusterIP && count(spec.clusterIPs) === 0) spec.clusterIPs = [spec.clusterIP]
    return
  }
  if (spec.clusterIP === old.clusterIP) {
    // A client that knows only the old field leaves the new one out.
    if (count(spec.clusterIPs) === 0 && count(old.clusterIPs) > 0) spec.clusterIPs = [...old.clusterIPs]
    return
  }
  const unchanged = JSON.stringify(spec.clusterIPs) === JSON.stringify(old.clusterIPs)
  if (!spec.clusterIP && old.clusterIP && unchanged) delete spec.clusterIPs
  else if (spec.clusterIP && count(spec.clusterIPs) === 0) spec.clusterIPs = [spec.clusterIP]
  else if (spec.clusterIP && unchanged && old.clusterIP) spec.clusterIPs = [spec.clusterIP]
}

/** What the server has chosen is kept by a client that does not send it. */
function patchAllocated(spec: Part, old: Part): void {
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    if (!spec.clusterIP && count(spec.clusterIPs) === 0) {
      if (old.clusterIP != null) spec.clusterIP = old.clusterIP
      if (old.clusterIPs != null) spec.clusterIPs = [...old.clusterIPs]
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(old)) {
    // By name: a client may have changed all else of a port.
    const before = new Map<string, number>((old.ports ?? []).map(({ name = '', nodePort }: Part) => [name, nodePort]))
    const kept = new Set((spec.ports ?? []).map((port: Part) => port.nodePort).filter(Boolean))
    for (const [, port] of entries(spec.ports)) {
      const nodePort = before.get(port.name ?? '')
      if (port.nodePort || !nodePort || kept.has(nodePort)) continue
      port.nodePort = nodePort
    }
  }
  if (needsHealthCheck(spec) && needsHealthCheck(old) && !spec.healthCheckNodePort) spec.healthCheckNodePort = old.healthCheckNodePort
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    if (spec.ipFamilyPolicy == null && old.ipFamilyPolicy != null) spec.ipFamilyPolicy = old.ipFamilyPolicy
    if (count(spec.ipFamilies) === 0 && old.ipFamilies != null) spec.ipFamilies = [...old.ipFamilies]
  }
}

/** Fields that the old type needed and the new one forbids, where the client has not touched them. */
function dropTypeFields(spec: Part, old: Part): void {
  if (spec.type === old.type) return
  if (spec.type === 'ExternalName') {
    for (const member of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) delete spec[member]
  }
  if (!hasNodePorts(spec) && spec.type !== 'LoadBalancer') {
    if (noNewNodePorts(spec, old)) for (const [, port] of entries(spec.ports)) delete port.nodePort
  }
  if (spec.type === 'ExternalName' && spec.internalTrafficPolicy === old.internalTrafficPolicy) delete spec.internalTrafficPolicy
  if (!isExternal(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy) delete spec.externalTrafficPolicy
  if (!needsHealthCheck(spec) && spec.healthCheckNodePort === old.healthCheckNodePort) delete spec.healthCheckNodePort
  if (spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts) delete spec.allocateLoadBalancerNodePorts
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass
  }
}

function allocate(object: ApiObject, old: ApiObject | undefined, context: WriteContext): void {
  const { spec } = object
  if (!['ClusterIP', 'NodePort', 'LoadBalancer'].includes(spec.type)) return
  const ipv6 = count(spec.ipFamilies) > 0 && spec.ipFamilies[0] === 'IPv6'
  const headless = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0
  if (!headless && (spec.ipFamilyPolicy === 'RequireDualStack' || ipv6)) throw notConfigured(object, context, ipv6 ? 'IPv6' : 'dual')
  // Whoever makes the endpoints of a headless service without selector decides on their families.
  const anyFamily = headless
  spec.ipFamilyPolicy ??= anyFamily ? 'RequireDualStack' : 'SingleStack'
  if (count(spec.ipFamilies) === 0) spec.ipFamilies = anyFamily ? ['IPv4', 'IPv6'] : ['IPv4']
  if (!isHeadless(spec)) allocateAddress(object, old, context)
  if (hasNodePorts(spec)) allocateNodePorts(object, old, context)
}

function notConfigured(object: ApiObject, { type }: WriteContext, what: string): ApiError {
  const error =
    what === 'dual'
      ? invalid('spec.ipFamilyPolicy', object.spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services')
      : invalid('spec.ipFamilies[0]', 'IPv6', 'not configured on this cluster')
  return invalidError(type, object.metadata.name ?? '', [error])
}

function allocateAddress(object: ApiObject, old: ApiObject | undefined, context: WriteContext): void {
  const { spec } = object
  const used = usedAddresses(object, context)
  if (!spec.clusterIP) {
    const address = freeAddress(object, used)
    if (address == null) throw internalError(`failed to allocate a serviceIP: range is full`)
    spec.clusterIP = address
    spec.clusterIPs = [address]
    return
  }
  if (old?.spec.clusterIP === spec.clusterIP || addressErrors(spec.clusterIP, '').length > 0) return
  const problem = !isInRange(spec.clusterIP)
    ? `failed to allocate IP ${spec.clusterIP}: the provided network does not match the current range`
    : used.has(spec.clusterIP)
      ? `failed to allocate IP ${spec.clusterIP}: provided IP is already allocated`
      : undefined
  if (problem != null) throw invalidError(context.type, object.metadata.name ?? '', [invalid('spec.clusterIPs', [spec.clusterIP], problem)])
}

/** A client that changes the type and knows nothing of node ports sends back those that it got, or some of them. */
function noNewNodePorts(spec: Part, old: Part): boolean {
  const before = new Set((old.ports ?? []).map((port: Part) => port.nodePort))
  return (spec.ports ?? []).every((port: Part) => !port.nodePort || before.has(port.nodePort))
}

/** Ports of a service that have one on the nodes, in their order. */
type NodePorts = { readonly port: number; readonly protocol: string; readonly nodePort: number }[]

/** A dry run takes none: it answers with numbers that cannot be ports on nodes. */
const dryRunNodePort = (mine: NodePorts) => Math.max(32_768, ...mine.map(({ nodePort }) => nodePort)) + 1

function allocateNodePorts(object: ApiObject, old: ApiObject | undefined, context: WriteContext): void {
  const { spec } = object
  const creates = context.operation === 'create'
  const others = usedNodePorts(object, context)
  const kept = new Set((old?.spec.ports ?? []).map((port: Part) => port.nodePort))
  const mine: NodePorts = []
  for (const [i, port] of entries(spec.ports)) {
    const refuse = (text: string) =>
      invalidError(context.type, object.metadata.name ?? '', [invalid(`spec.ports[${i}].nodePort`, port.nodePort, text)])
    // One number of a new service, whatever its protocol, has one port on the nodes; not one that is added later.
    const same = creates ? mine.find((each) => each.port === port.port)?.nodePort : undefined
    if (port.nodePort) {
      if (!isNodePort(port.nodePort)) throw refuse('provided port is not in the valid range. The range of valid ports is 30000-32767')
      const doubled = creates && same !== port.nodePort && mine.some(({ nodePort }) => nodePort === port.nodePort)
      if (others.has(port.nodePort) || doubled) throw refuse('provided port is already allocated')
    } else {
      const free =
        same ??
        (context.dryRun ? dryRunNodePort(mine.filter(({ nodePort }) => !kept.has(nodePort))) : freeNodePort(object, taken(others, mine)))
      if (free == null) throw internalError('failed to allocate a nodePort: range is full')
      port.nodePort = free
    }
    // A merge of lists by number may leave two that were one; a real server notices here, before it validates.
    const [protocol, nodePort] = [port.protocol, port.nodePort]
    if (!creates && mine.some((each) => each.protocol === protocol && each.nodePort === nodePort)) {
      throw plainError(`duplicate nodePort: {${protocol} ${nodePort}}`)
    }
    mine.push({ port: port.port, protocol, nodePort })
  }
  if (needsHealthCheck(spec) && !spec.healthCheckNodePort) spec.healthCheckNodePort = freeNodePort(object, taken(others, mine))
}

const taken = (others: ReadonlySet<number>, mine: NodePorts) => new Set([...others, ...mine.map(({ nodePort }) => nodePort)])

function validateService(object: ApiObject): FieldError[] {
  const { spec } = object
  const errors: Errors = []
  const headless = isHeadless(spec)
  if (count(spec.ports) === 0 && !headless && spec.type !== 'ExternalName') errors.push(required('spec.ports'))
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && headless) {
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`))
  }
  if (spec.type === 'ExternalName') validateExternalName(errors, spec)
  validatePorts(errors, spec)
  labels(errors, spec.selector, 'spec.selector')
  requiredOneOf(errors, spec.sessionAffinity, 'spec.sessionAffinity', ['ClientIP', 'None'])
  if (spec.sessionAffinity === 'ClientIP') {
    const timeout = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds
    if (timeout != null && (timeout <= 0 || timeout > 86_400)) {
      errors.push(invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', timeout, 'must be greater than 0 and less than 86400'))
    }
  }
  if (spec.type !== 'ExternalName') validateAddresses(errors, spec)
  for (const [i, address] of entries(spec.externalIPs)) errors.push(...endpointAddressErrors(address as string, `spec.externalIPs[${i}]`))
  requiredOneOf(errors, spec.type, 'spec.type', ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'])
  validateTypeFields(errors, spec)
  return errors
}

function validateExternalName(errors: Errors, spec: Part): void {
  for (const member of ['clusterIPs', 'ipFamilies']) {
    if (count(spec[member]) > 0) errors.push(forbidden(`spec.${member}`, 'may not be set for ExternalName services'))
  }
  if (spec.ipFamilyPolicy != null) errors.push(forbidden('spec.ipFamilyPolicy', 'may not be set for ExternalName services'))
  const name = (spec.externalName ?? '').replace(/\.$/, '')
  if (requiredText(errors, name, 'spec.externalName')) syntax(errors, name, 'spec.externalName', dnsSubdomain)
}

function validatePorts(errors: Errors, spec: Part): void {
  const names = new Set<string>()
  const nodePorts = new Set<string>()
  const ports = new Set<string>()
  for (const [i, port] of entries(spec.ports)) {
    const at = `spec.ports[${i}]`
    if (!port.name && spec.ports.length > 1) errors.push(required(`${at}.name`))
    else if (port.name) {
      syntax(errors, port.name, `${at}.name`, dnsLabel)
      if (names.has(port.name))
        errors.push({ type: 'Duplicate', field: `${at}.name`, message: `Duplicate value: ${JSON.stringify(port.name)}` })
      names.add(port.name)
    }
    for (const problem of portNumber(port.port ?? 0)) errors.push(invalid(`${at}.port`, port.port ?? 0, problem))
    requiredOneOf(errors, port.protocol, `${at}.protocol`, ['SCTP', 'TCP', 'UDP'])
    portNumberOrName(errors, port.targetPort, `${at}.targetPort`)
    if (port.appProtocol != null) syntax(errors, port.appProtocol, `${at}.appProtocol`, qualifiedName)
    if (spec.type === 'ClusterIP' && port.nodePort) errors.push(forbidden(`${at}.nodePort`, "may not be used when `type` is 'ClusterIP'"))
    const nodePort = `${port.protocol}/${port.nodePort}`
    if (port.nodePort && nodePorts.has(nodePort))
      errors.push({ type: 'Duplicate', field: `${at}.nodePort`, message: `Duplicate value: ${port.nodePort}` })
    nodePorts.add(nodePort)
    const key = `${port.protocol}/${port.port}`
    if (ports.has(key)) errors.push({ type: 'Duplicate', field: at, message: `Duplicate value: ${portKey(port)}` })
    ports.add(key)
  }
}

/** As the internal type writes itself. */
const portKey = ({ protocol, port }: Part) =>
  JSON.stringify({ Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 })

function validateAddresses(errors: Errors, spec: Part): void {
  const addresses: string[] = spec.clusterIPs ?? []
  if (spec.clusterIP) {
    if (addresses.length === 0) errors.push(required('spec.clusterIPs'))
    else if (addresses[0] !== spec.clusterIP) errors.push(invalid('spec.clusterIPs', addresses, 'first value must match `clusterIP`'))
  } else if (addresses.length > 0) errors.push(invalid('spec.clusterIPs', addresses, 'must be empty when `clusterIP` is not specified'))
  for (const [i, family] of entries(spec.ipFamilies)) oneOf(errors, family as string, `spec.ipFamilies[${i}]`, ['IPv4', 'IPv6'])
  oneOf(errors, spec.ipFamilyPolicy, 'spec.ipFamilyPolicy', ['PreferDualStack', 'RequireDualStack', 'SingleStack'])
  for (const [i, address] of addresses.entries()) {
    if (i === 0 && address === 'None') {
      if (addresses.length > 1) errors.push(invalid('spec.clusterIPs', addresses, "'None' must be the first and only value"))
      continue
    }
    errors.push(...addressErrors(address, `spec.clusterIPs[${i}]`))
  }
}

function validateTypeFields(errors: Errors, spec: Part): void {
  if (count(spec.loadBalancerSourceRanges) > 0 && spec.type !== 'LoadBalancer') {
    errors.push(forbidden('spec.LoadBalancerSourceRanges', "may only be used when `type` is 'LoadBalancer'"))
  }
  for (const [i, range] of entries(spec.loadBalancerSourceRanges)) {
    errors.push(...networkErrors((range as string).trim(), `spec.LoadBalancerSourceRanges[${i}]`))
  }
  for (const member of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) {
    if (spec[member] != null && spec.type !== 'LoadBalancer')
      errors.push(forbidden(`spec.${member}`, "may only be used when `type` is 'LoadBalancer'"))
  }
  if (!isExternal(spec)) {
    if (spec.externalTrafficPolicy) {
      errors.push(invalid('spec.externalTrafficPolicy', spec.externalTrafficPolicy, 'may only be set for externally-accessible services'))
    }
  } else requiredOneOf(errors, spec.externalTrafficPolicy, 'spec.externalTrafficPolicy', ['Cluster', 'Local'])
  if (!needsHealthCheck(spec) && spec.healthCheckNodePort) {
    errors.push(
      invalid(
        'spec.healthCheckNodePort',
        spec.healthCheckNodePort,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    )
  }
  oneOf(errors, spec.internalTrafficPolicy, 'spec.internalTrafficPolicy', ['Cluster', 'Local'])
  const distribution = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
  if (spec.trafficDistribution != null && !distribution.includes(spec.trafficDistribution)) {
    errors.push(notSupported('spec.trafficDistribution', spec.trafficDistribution, distribution))
  }
}

function validateChanges(errors: Errors, spec: Part, old: Part): void {
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    if (old.clusterIP && spec.clusterIPs?.[0] !== old.clusterIPs?.[0]) {
      errors.push(invalid('spec.clusterIPs[0]', spec.clusterIPs ?? null, 'may not change once set'))
    }
    if (count(old.ipFamilies) > 0 && spec.ipFamilies?.[0] !== old.ipFamilies[0]) {
      errors.push(invalid('spec.ipFamilies[0]', spec.ipFamilies ?? null, 'may not change once set'))
    }
  }
  if (spec.type === 'LoadBalancer' && old.type === 'LoadBalancer' && spec.loadBalancerClass !== old.loadBalancerClass) {
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set'))
  }
  if (needsHealthCheck(spec) && needsHealthCheck(old) && spec.healthCheckNodePort !== old.healthCheckNodePort) {
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'))
  }
}

function serviceWarnings({ metadata, spec }: ApiObject): string[] {
  const warnings: string[] = []
  const headless = spec.type === 'ClusterIP' && spec.clusterIP === 'None'
  const external = spec.type === 'ExternalName'
  if (metadata.annotations?.['service.kubernetes.io/topology-aware-hints'] != null) {
    warnings.push(
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    )
  }
  if (headless && spec.loadBalancerIP) warnings.push('spec.loadBalancerIP is ignored for headless services')
  if (headless && count(spec.externalIPs) > 0) warnings.push('spec.externalIPs is ignored for headless services')
  if (headless && spec.sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services')
  if (count(spec.externalIPs) > 0 && !headless && !external) {
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  }
  if (external && count(spec.externalIPs) > 0) warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (!external && spec.externalName) warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose') {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  }
  return warnings
}
