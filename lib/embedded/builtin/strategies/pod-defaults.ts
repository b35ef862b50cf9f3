/** What the server fills into pods and pod templates (`apis/core/v1/defaults.go`, and the markers of the API types). */
import { entries, type Part, setDefault } from './common.ts'

/** Of a template and of a pod. */
export function defaultPodSpec(spec: Part): void {
  setDefault(spec, 'dnsPolicy', 'ClusterFirst')
  setDefault(spec, 'restartPolicy', 'Always')
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= 30
  setDefault(spec, 'schedulerName', 'default-scheduler')
  // The old name of the field is kept in step.
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName
  else if (spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount
  for (const [, volume] of entries(spec.volumes)) defaultVolume(volume)
  for (const [, container] of entries(spec.containers)) defaultContainer(container)
  for (const [, container] of entries(spec.initContainers)) defaultContainer(container)
  for (const [, container] of entries(spec.ephemeralContainers)) defaultContainer(container)
}

/** Of a pod only. */
export function defaultPod(spec: Part): void {
  // Of pods only: a template keeps what its author wrote.
  if (spec.hostNetwork === true) defaultHostPorts(spec)
  defaultRequests(spec.containers)
  defaultRequests(spec.initContainers)
  spec.enableServiceLinks ??= true
}

/** The image's tag decides; the latest one may change, so it is pulled always. */
export function pullPolicyOf(image: string | undefined): string {
  const name = image ?? ''
  if (name.includes('@')) return 'IfNotPresent'
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

function defaultContainer(container: Part): void {
  setDefault(container, 'imagePullPolicy', pullPolicyOf(container.image))
  setDefault(container, 'terminationMessagePath', '/dev/termination-log')
  setDefault(container, 'terminationMessagePolicy', 'File')
  for (const [, port] of entries(container.ports)) setDefault(port, 'protocol', 'TCP')
  for (const [, { valueFrom }] of entries(container.env)) {
    if (valueFrom?.fieldRef) setDefault(valueFrom.fieldRef, 'apiVersion', 'v1')
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) if (probe) defaultProbe(probe)
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop])
    if (handler?.httpGet) defaultHttpGet(handler.httpGet)
}

function defaultProbe(probe: Part): void {
  if (!probe.timeoutSeconds) probe.timeoutSeconds = 1
  if (!probe.periodSeconds) probe.periodSeconds = 10
  if (!probe.successThreshold) probe.successThreshold = 1
  if (!probe.failureThreshold) probe.failureThreshold = 3
  if (probe.httpGet) defaultHttpGet(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

function defaultHttpGet(action: Part): void {
  setDefault(action, 'path', '/')
  setDefault(action, 'scheme', 'HTTP')
}

function defaultRequests(containers: Part[] | undefined): void {
  for (const [, container] of entries(containers)) {
    const resources = container.resources
    if (!resources?.limits) continue
    resources.requests = { ...resources.limits, ...resources.requests }
  }
}

function defaultHostPorts(spec: Part): void {
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    for (const [, port] of entries(container.ports)) if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort
  }
}

const DEFAULT_MODE = 0o644

function defaultVolume(volume: Part): void {
  if (Object.keys(volume).every((member) => member === 'name' || volume[member] == null)) volume.emptyDir = {}
  for (const source of [volume.secret, volume.configMap, volume.downwardAPI, volume.projected])
    if (source) source.defaultMode ??= DEFAULT_MODE
  defaultItems(volume.downwardAPI?.items)
  for (const [, source] of entries(volume.projected?.sources)) {
    defaultItems(source.downwardAPI?.items)
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600
  }
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.image?.reference != null) setDefault(volume.image, 'pullPolicy', pullPolicyOf(volume.image.reference))
  if (volume.ephemeral?.volumeClaimTemplate?.spec) setDefault(volume.ephemeral.volumeClaimTemplate.spec, 'volumeMode', 'Filesystem')
  defaultVolumeSource(volume)
}

function defaultItems(items: Part[] | undefined): void {
  for (const [, item] of entries(items)) if (item.fieldRef) setDefault(item.fieldRef, 'apiVersion', 'v1')
}

/** Of the sources that pods and persistent volumes share. */
export function defaultVolumeSource(source: Part): void {
  if (source.iscsi) setDefault(source.iscsi, 'iscsiInterface', 'default')
  if (source.rbd) {
    setDefault(source.rbd, 'pool', 'rbd')
    setDefault(source.rbd, 'user', 'admin')
    setDefault(source.rbd, 'keyring', '/etc/ceph/keyring')
  }
  if (source.scaleIO) {
    setDefault(source.scaleIO, 'storageMode', 'ThinProvisioned')
    setDefault(source.scaleIO, 'fsType', 'xfs')
  }
  if (source.azureDisk) {
    setDefault(source.azureDisk, 'cachingMode', 'ReadWrite')
    setDefault(source.azureDisk, 'fsType', 'ext4')
    source.azureDisk.readOnly ??= false
    setDefault(source.azureDisk, 'kind', 'Shared')
  }
}
