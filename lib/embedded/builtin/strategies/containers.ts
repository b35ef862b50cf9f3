/** What containers may look like: ports, environment, mounts, probes, resources, security. */
import { duplicate, forbidden, invalid, notFound, notSupported, required } from '../../field-error.ts'
import {
  between,
  configMapKey,
  dnsLabel,
  dnsSubdomain,
  environmentVariable,
  httpHeaderName,
  portName,
  portNumber,
  qualifiedName,
} from '../../names.ts'
import { canonicalQuantity } from '../../quantity.ts'
import {
  containerResourceName,
  count,
  type Errors,
  entries,
  isExtended,
  isHugePages,
  less,
  localName,
  nonNegative,
  type Part,
  requiredOneOf,
  requiredText,
  resourceValue,
  sameQuantity,
  syntax,
} from './common.ts'

/** Names of the volumes of a pod that are themselves valid, with their source. */
export type Volumes = ReadonlyMap<string, Part>

interface Pod {
  readonly volumes: Volumes
  readonly spec: Part
}

export function validateContainers(errors: Errors, pod: Pod, field: string): void {
  const containers = pod.spec.containers
  if (count(containers) === 0) {
    errors.push(required(field))
    return
  }
  const names = new Set<string>()
  for (const [i, container] of entries(containers)) {
    const at = `${field}[${i}]`
    validateContainer(errors, container, pod, at)
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name))
    names.add(container.name)
    validateLifecycle(errors, container, at)
    if (container.restartPolicy != null && !['Always', 'Never', 'OnFailure'].includes(container.restartPolicy)) {
      errors.push(notSupported(`${at}.restartPolicy`, container.restartPolicy, ['Always', 'Never', 'OnFailure']))
    }
  }
  uniqueHostPorts(errors, containers, field)
}

export function validateInitContainers(errors: Errors, pod: Pod, field: string): void {
  const names = new Set<string>((pod.spec.containers ?? []).map((container: Part) => container.name))
  for (const [i, container] of entries(pod.spec.initContainers)) {
    const at = `${field}[${i}]`
    validateContainer(errors, container, pod, at)
    if (container.restartPolicy != null && !['Always', 'Never', 'OnFailure'].includes(container.restartPolicy)) {
      errors.push(notSupported(`${at}.restartPolicy`, container.restartPolicy, ['Always', 'Never', 'OnFailure']))
    }
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name))
    else if (container.name) names.add(container.name)
    uniqueHostPorts(errors, [container], field)
    if (container.restartPolicy === 'Always') validateLifecycle(errors, container, at)
    else {
      for (const member of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
        if (container[member]) errors.push(forbidden(`${at}.${member}`, 'may not be set for init containers without restartPolicy=Always'))
      }
    }
  }
}

const EPHEMERAL_FORBIDDEN = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle']

export function validateEphemeralContainers(errors: Errors, pod: Pod, field: string): void {
  const others = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map((container: Part) => container.name)
  const names = new Set<string>(others)
  for (const [i, container] of entries(pod.spec.ephemeralContainers)) {
    const at = `${field}[${i}]`
    validateContainer(errors, container, pod, at)
    if (names.has(container.name)) errors.push(duplicate(`${at}.name`, container.name))
    names.add(container.name)
    if (container.targetContainerName && !others.includes(container.targetContainerName)) {
      errors.push(notFound(`${at}.targetContainerName`, container.targetContainerName))
    }
    for (const member of EPHEMERAL_FORBIDDEN) {
      if (container[member]) errors.push(forbidden(`${at}.${member}`, 'cannot be set for an Ephemeral Container'))
    }
    const { limits, requests } = container.resources ?? {}
    if (limits || requests) errors.push(forbidden(`${at}.resources`, 'cannot be set for an Ephemeral Container'))
  }
}

function validateContainer(errors: Errors, container: Part, pod: Pod, at: string): void {
  if (requiredText(errors, container.name, `${at}.name`)) syntax(errors, container.name, `${at}.name`, dnsLabel)
  requiredText(errors, container.image, `${at}.image`)
  requiredOneOf(errors, container.terminationMessagePolicy, `${at}.terminationMessagePolicy`, ['File', 'FallbackToLogsOnError'])
  validatePorts(errors, container.ports, `${at}.ports`)
  validateEnvironment(errors, container.env, `${at}.env`)
  validateEnvironmentFrom(errors, container.envFrom, `${at}.envFrom`)
  validateMounts(errors, container, pod.volumes, at)
  requiredOneOf(errors, container.imagePullPolicy, `${at}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never'])
  validateResources(errors, container.resources, `${at}.resources`)
  validateSecurityContext(errors, container.securityContext, `${at}.securityContext`)
}

function validatePorts(errors: Errors, ports: Part[] | undefined, field: string): void {
  const names = new Set<string>()
  for (const [i, port] of entries(ports)) {
    const at = `${field}[${i}]`
    if (port.name) {
      const problems = portName(port.name)
      for (const problem of problems) errors.push(invalid(`${at}.name`, port.name, problem))
      if (problems.length === 0 && names.has(port.name)) errors.push(duplicate(`${at}.name`, port.name))
      names.add(port.name)
    }
    if (!port.containerPort) errors.push(required(`${at}.containerPort`))
    else for (const problem of portNumber(port.containerPort)) errors.push(invalid(`${at}.containerPort`, port.containerPort, problem))
    if (port.hostPort) for (const problem of portNumber(port.hostPort)) errors.push(invalid(`${at}.hostPort`, port.hostPort, problem))
    requiredOneOf(errors, port.protocol, `${at}.protocol`, ['SCTP', 'TCP', 'UDP'])
  }
}

function uniqueHostPorts(errors: Errors, containers: Part[], field: string): void {
  const used = new Set<string>()
  for (const [i, container] of entries(containers)) {
    for (const [j, port] of entries(container.ports)) {
      if (!port.hostPort) continue
      const key = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`
      if (used.has(key)) errors.push(duplicate(`${field}[${i}].ports[${j}].hostPort`, key))
      used.add(key)
    }
  }
}

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const CONTAINER_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const ENV_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

export function validateEnvironment(errors: Errors, variables: Part[] | undefined, field: string): void {
  for (const [i, { name, value, valueFrom }] of entries(variables)) {
    const at = `${field}[${i}]`
    if (requiredText(errors, name, `${at}.name`)) syntax(errors, name, `${at}.name`, environmentVariable)
    if (!valueFrom) continue
    const from = `${at}.valueFrom`
    const sources = ENV_SOURCES.filter((source) => valueFrom[source])
    if (valueFrom.fieldRef) validateFieldRef(errors, valueFrom.fieldRef, `${from}.fieldRef`, ENV_FIELDS)
    if (valueFrom.resourceFieldRef) validateResourceFieldRef(errors, valueFrom.resourceFieldRef, `${from}.resourceFieldRef`, false)
    for (const source of ['configMapKeyRef', 'secretKeyRef']) {
      const reference = valueFrom[source]
      if (!reference) continue
      syntax(errors, reference.name ?? '', `${from}.${source}.name`, dnsSubdomain)
      if (requiredText(errors, reference.key, `${from}.${source}.key`)) syntax(errors, reference.key, `${from}.${source}.key`, configMapKey)
    }
    if (sources.length === 0) {
      errors.push(
        invalid(from, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'),
      )
    } else if (value) errors.push(invalid(from, '', 'may not be specified when `value` is not empty'))
    else if (sources.length > 1) errors.push(invalid(from, '', 'may not have more than one field specified at a time'))
  }
}

function validateEnvironmentFrom(errors: Errors, sources: Part[] | undefined, field: string): void {
  for (const [i, source] of entries(sources)) {
    const at = `${field}[${i}]`
    if (source.prefix) syntax(errors, source.prefix, `${at}.prefix`, environmentVariable)
    if (source.configMapRef) localName(errors, source.configMapRef.name, `${at}.configMapRef.name`)
    if (source.secretRef) localName(errors, source.secretRef.name, `${at}.secretRef.name`)
    if (!source.configMapRef && !source.secretRef) errors.push(invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`'))
    if (source.configMapRef && source.secretRef) errors.push(invalid(field, '', 'may not have more than one field specified at a time'))
  }
}

const SUBSCRIPTED = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/
const FIELD_LABELS = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
  'spec.host',
])

export function validateFieldRef(errors: Errors, reference: Part, field: string, supported: readonly string[]): void {
  if (!requiredText(errors, reference.apiVersion, `${field}.apiVersion`)) return
  if (!requiredText(errors, reference.fieldPath, `${field}.fieldPath`)) return
  const path = reference.fieldPath as string
  const subscripted = SUBSCRIPTED.exec(path)
  if (subscripted !== null) {
    const key = subscripted[2] ?? ''
    const checked = subscripted[1] === 'metadata.annotations' ? key.toLowerCase() : key
    for (const problem of qualifiedName(checked)) errors.push(invalid(field, checked, problem))
  } else if (!FIELD_LABELS.has(path)) {
    errors.push(invalid(`${field}.fieldPath`, path, `error converting fieldPath: field label not supported: ${path}`))
  } else if (!supported.includes(path)) errors.push(notSupported(`${field}.fieldPath`, path, supported))
}

export function validateResourceFieldRef(errors: Errors, reference: Part, field: string, volume: boolean): void {
  if (volume && !reference.containerName) errors.push(required(`${field}.containerName`))
  else if (!reference.resource) errors.push(required(`${field}.resource`))
  else if (!CONTAINER_FIELDS.includes(reference.resource) && !/^(limits|requests)\.hugepages-/.test(reference.resource)) {
    errors.push(notSupported(`${field}.resource`, reference.resource, CONTAINER_FIELDS))
  }
}

function validateMounts(errors: Errors, container: Part, volumes: Volumes, at: string): void {
  const devices = new Map<string, string>((container.volumeDevices ?? []).map((device: Part) => [device.name, device.devicePath]))
  const paths = new Set<string>()
  for (const [i, mount] of entries(container.volumeMounts)) {
    const field = `${at}.volumeMounts[${i}]`
    requiredText(errors, mount.name, `${field}.name`)
    if (!volumes.has(mount.name)) errors.push(notFound(`${field}.name`, mount.name ?? ''))
    requiredText(errors, mount.mountPath, `${field}.mountPath`)
    if (paths.has(mount.mountPath)) errors.push(invalid(`${field}.mountPath`, mount.mountPath, 'must be unique'))
    paths.add(mount.mountPath)
    if (devices.has(mount.name)) errors.push(invalid(`${field}.name`, mount.name, 'must not already exist in volumeDevices'))
    if (mount.subPath) descendingPath(errors, mount.subPath, `${at}.volumeMounts.subPath`)
    if (mount.subPathExpr && mount.subPath) {
      errors.push(invalid(`${field}.subPathExpr`, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive'))
    }
    if (mount.subPathExpr) descendingPath(errors, mount.subPathExpr, `${at}.volumeMounts.subPathExpr`)
  }
  for (const [i, device] of entries(container.volumeDevices)) {
    const field = `${at}.volumeDevices[${i}]`
    requiredText(errors, device.name, `${field}.name`)
    requiredText(errors, device.devicePath, `${field}.devicePath`)
    if (device.name && !volumes.has(device.name)) errors.push(notFound(`${field}.name`, device.name))
  }
}

/** Relative, and never up. */
export function descendingPath(errors: Errors, path: string, field: string): void {
  if (path.startsWith('/')) errors.push(invalid(field, path, 'must be a relative path'))
  noBacksteps(errors, path, field)
}

export function noBacksteps(errors: Errors, path: string, field: string): void {
  if (path.split('/').includes('..')) errors.push(invalid(field, path, "must not contain '..'"))
}

function validateLifecycle(errors: Errors, container: Part, at: string): void {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container
  if (lifecycle?.postStart) validateHandler(errors, lifecycle.postStart, `${at}.lifecycle.postStart`)
  if (lifecycle?.preStop) validateHandler(errors, lifecycle.preStop, `${at}.lifecycle.preStop`)
  if (lifecycle?.stopSignal) {
    errors.push(forbidden(`${at}.lifecycle.stopSignal`, 'may not be set for containers with empty `spec.os.name`'))
  }
  validateProbe(errors, livenessProbe, `${at}.livenessProbe`, true)
  validateProbe(errors, readinessProbe, `${at}.readinessProbe`, false)
  if (readinessProbe?.terminationGracePeriodSeconds != null) {
    const seconds = readinessProbe.terminationGracePeriodSeconds
    errors.push(invalid(`${at}.readinessProbe.terminationGracePeriodSeconds`, seconds, 'must not be set for readinessProbes'))
  }
  validateProbe(errors, startupProbe, `${at}.startupProbe`, true)
}

function validateProbe(errors: Errors, probe: Part, field: string, once: boolean): void {
  if (!probe) return
  validateHandler(errors, probe, field)
  for (const member of ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']) {
    nonNegative(errors, probe[member], `${field}.${member}`)
  }
  const grace = probe.terminationGracePeriodSeconds
  if (grace != null && grace <= 0) errors.push(invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'))
  if (once && probe.successThreshold !== 1) errors.push(invalid(`${field}.successThreshold`, probe.successThreshold ?? 0, 'must be 1'))
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']

function validateHandler(errors: Errors, handler: Part, field: string): void {
  const [first, ...more] = HANDLERS.filter((type) => handler[type])
  if (first == null) {
    errors.push(required(field, 'must specify a handler type'))
    return
  }
  for (const type of more) errors.push(forbidden(`${field}.${type}`, 'may not specify more than 1 handler type'))
  const action = handler[first]
  const at = `${field}.${first}`
  if (first === 'exec' && count(action.command) === 0) errors.push(required(`${at}.command`))
  if (first === 'httpGet') {
    requiredText(errors, action.path, `${at}.path`)
    portNumberOrName(errors, action.port, `${at}.port`)
    if (!['HTTP', 'HTTPS'].includes(action.scheme)) errors.push(notSupported(`${at}.scheme`, action.scheme, ['HTTP', 'HTTPS']))
    for (const [, header] of entries(action.httpHeaders)) {
      for (const problem of httpHeaderName(header.name ?? '')) errors.push(invalid(`${at}.httpHeaders`, header.name ?? '', problem))
    }
  }
  if (first === 'tcpSocket' || first === 'grpc') portNumberOrName(errors, action.port ?? 0, `${at}.port`)
}

export function portNumberOrName(errors: Errors, port: number | string, field: string): void {
  const problems = typeof port === 'number' ? portNumber(port) : portName(port)
  for (const problem of problems) errors.push(invalid(field, port, problem))
}

const isOvercommitAllowed = (name: string) => !isExtended(name) && !isHugePages(name)

export function validateResources(errors: Errors, resources: Part, field: string): void {
  if (!resources) return
  const limits: Record<string, string> = resources.limits ?? {}
  const requests: Record<string, string> = resources.requests ?? {}
  for (const [name, value] of Object.entries(limits)) {
    containerResourceName(errors, name, `${field}.limits[${name}]`)
    resourceValue(errors, name, value, `${field}.limits[${name}]`)
  }
  for (const [name, value] of Object.entries(requests)) {
    containerResourceName(errors, name, `${field}.requests[${name}]`)
    resourceValue(errors, name, value, `${field}.requests[${name}]`)
    const limit = Object.hasOwn(limits, name) ? limits[name] : undefined
    if (limit == null) {
      if (!isOvercommitAllowed(name)) errors.push(required(`${field}.limits`, 'Limit must be set for non overcommitable resources'))
    } else if (!isOvercommitAllowed(name) && !sameQuantity(value, limit)) {
      errors.push(invalid(`${field}.requests`, canonicalQuantity(value), `must be equal to ${name} limit of ${canonicalQuantity(limit)}`))
    } else if (less(limit, value)) {
      errors.push(
        invalid(
          `${field}.requests`,
          canonicalQuantity(value),
          `must be less than or equal to ${name} limit of ${canonicalQuantity(limit)}`,
        ),
      )
    }
  }
}

const LARGEST_ID = 2_147_483_647

export function userId(errors: Errors, id: number | undefined, field: string): void {
  if (id != null && (id < 0 || id > LARGEST_ID)) errors.push(invalid(field, id, between(0, LARGEST_ID)))
}

export function validateSecurityContext(errors: Errors, context: Part, field: string): void {
  if (!context) return
  userId(errors, context.runAsUser, `${field}.runAsUser`)
  userId(errors, context.runAsGroup, `${field}.runAsGroup`)
  if (context.procMount != null) {
    if (!['Default', 'Unmasked'].includes(context.procMount)) {
      errors.push(notSupported(`${field}.procMount`, context.procMount, ['Default', 'Unmasked']))
    } else if (context.procMount === 'Unmasked') {
      errors.push(invalid(`${field}.procMount`, context.procMount, '`hostUsers` must be false to use `Unmasked`'))
    }
  }
  validateSeccomp(errors, context.seccompProfile, `${field}.seccompProfile`)
  if (context.allowPrivilegeEscalation === false && context.privileged === true) {
    errors.push(invalid(field, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
  }
}

export function validateSeccomp(errors: Errors, profile: Part, field: string): void {
  if (!profile) return
  if (!profile.type) errors.push(required(`${field}.type`, 'type is required when seccompProfile is set'))
  else if (!['Localhost', 'RuntimeDefault', 'Unconfined'].includes(profile.type)) {
    errors.push(notSupported(`${field}.type`, profile.type, ['Localhost', 'RuntimeDefault', 'Unconfined']))
  }
  if (profile.type === 'Localhost' && !profile.localhostProfile) {
    errors.push(required(`${field}.localhostProfile`, 'must be set when seccomp type is Localhost'))
  } else if (profile.type !== 'Localhost' && profile.localhostProfile) {
    errors.push(invalid(`${field}.localhostProfile`, profile.localhostProfile, 'can only be set when seccomp type is Localhost'))
  }
}
