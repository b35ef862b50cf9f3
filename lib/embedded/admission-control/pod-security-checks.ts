/**
 * The Pod Security Standards `baseline` and `restricted` in their latest version: each check looks at a pod's specification and
 * says what is wrong with it. (Older versions of a standard, which a namespace may ask for by label, are answered by the latest.)
 */
import type { Metadata } from '../types.ts'

interface Profile {
  readonly type?: string
}

interface SecurityContext {
  readonly privileged?: boolean
  readonly allowPrivilegeEscalation?: boolean
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
  readonly procMount?: string
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly seccompProfile?: Profile
  readonly appArmorProfile?: Profile
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string }
  readonly windowsOptions?: { readonly hostProcess?: boolean }
  /** Only of a pod. */
  readonly sysctls?: readonly { readonly name: string }[]
}

interface Handler {
  readonly httpGet?: { readonly host?: string }
  readonly tcpSocket?: { readonly host?: string }
}

interface Container {
  readonly name: string
  readonly securityContext?: SecurityContext
  readonly ports?: readonly { readonly hostPort?: number }[]
  readonly livenessProbe?: Handler
  readonly readinessProbe?: Handler
  readonly startupProbe?: Handler
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler }
}

export interface PodSpec {
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly volumes?: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[]
  readonly securityContext?: SecurityContext
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly hostUsers?: boolean
  readonly os?: { readonly name?: string }
}

interface Pod {
  readonly spec: PodSpec
  readonly containers: readonly Container[]
  readonly metadata: Metadata
}

/** Undefined: nothing is wrong. */
type Check = (pod: Pod) => string | undefined

/** What is wrong, all together; undefined: nothing. */
export function violations(level: string, metadata: Metadata, spec: PodSpec): string | undefined {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
  const pod = { spec, containers, metadata }
  const checks = level === 'restricted' ? [...BOTH, ...RESTRICTED] : BASELINE
  const found = checks.flatMap((check) => check(pod) ?? [])
  return found.length === 0 ? undefined : found.join(', ')
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')
const sorted = (names: Iterable<string>) => [...new Set(names)].sort()
const plural = (word: string, count: number) => (count === 1 ? word : `${word}s`)
const containersOf = (names: readonly string[]) => `${plural('container', names.length)} ${quoted(names)}`
const namesOf = (containers: readonly Container[]) => containers.map(({ name }) => name)

/** `pod and containers "a", "b"`. */
function setters({ spec, containers }: Pod, sets: (context: SecurityContext) => boolean): string | undefined {
  const bad = namesOf(containers.filter(({ securityContext }) => securityContext !== undefined && sets(securityContext)))
  const parts = [
    ...(spec.securityContext !== undefined && sets(spec.securityContext) ? ['pod'] : []),
    ...(bad.length === 0 ? [] : [containersOf(bad)]),
  ]
  return parts.length === 0 ? undefined : parts.join(' and ')
}

const contextsOf = ({ spec, containers }: Pod): SecurityContext[] =>
  [spec.securityContext, ...containers.map((each) => each.securityContext)].flatMap((context) => context ?? [])

const isAllowedProfile = (profile: Profile) => profile.type === 'RuntimeDefault' || profile.type === 'Localhost'

const appArmor: Check = (pod) => {
  const prefix = 'container.apparmor.security.beta.kubernetes.io/'
  const bad = ({ appArmorProfile: profile }: SecurityContext) => profile !== undefined && !isAllowedProfile(profile)
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(prefix) && value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/'))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
  const values = [
    ...sorted(
      contextsOf(pod)
        .filter(bad)
        .map((context) => context.appArmorProfile?.type ?? ''),
    ),
    ...annotations,
  ]
  if (values.length === 0) return undefined
  const who = [setters(pod, bad) ?? [], annotations.length === 0 ? [] : plural('annotation', annotations.length)].flat().join(' and ')
  return `${plural('forbidden AppArmor profile', values.length)} (${who} must not set AppArmor profile type to ${quoted(values)})`
}

const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const capabilities: Check = ({ containers }) => {
  const added = (container: Container) =>
    (container.securityContext?.capabilities?.add ?? []).filter((each) => !DEFAULT_CAPABILITIES.has(each))
  const bad = containers.filter((container) => added(container).length > 0)
  if (bad.length === 0) return undefined
  const which = quoted(sorted(bad.flatMap(added)))
  return `non-default capabilities (${containersOf(namesOf(bad))} must not include ${which} in securityContext.capabilities.add)`
}

const hostNamespaces: Check = ({ spec }) => {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name] === true)
  return used.length === 0 ? undefined : `host namespaces (${used.map((name) => `${name}=true`).join(', ')})`
}

const hostPathVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => volume.hostPath !== undefined).map(({ name }) => name)
  return bad.length === 0 ? undefined : `hostPath volumes (${plural('volume', bad.length)} ${quoted(bad)})`
}

const hostPorts: Check = ({ containers }) => {
  const ports = (container: Container) => (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? String(hostPort) : []))
  const bad = containers.filter((container) => ports(container).length > 0)
  if (bad.length === 0) return undefined
  const all = sorted(bad.flatMap(ports))
  return `hostPort (${containersOf(namesOf(bad))} ${bad.length === 1 ? 'uses' : 'use'} ${plural('hostPort', all.length)} ${all.join(', ')})`
}

const hostProbes: Check = ({ containers }) => {
  const hosts = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container) =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
      [handler?.httpGet?.host, handler?.tcpSocket?.host].flatMap((host) => host || []),
    )
  const bad = sorted(namesOf(containers.filter((container) => hosts(container).length > 0)))
  if (bad.length === 0) return undefined
  const all = sorted(containers.flatMap(hosts))
  const what = plural('probe or lifecycle host', all.length)
  return `probe or lifecycle host (${containersOf(bad)} ${bad.length === 1 ? 'uses' : 'use'} ${what} ${quoted(all)})`
}

const privileged: Check = ({ containers }) => {
  const bad = namesOf(containers.filter(({ securityContext }) => securityContext?.privileged === true))
  return bad.length === 0 ? undefined : `privileged (${containersOf(bad)} must not set securityContext.privileged=true)`
}

const procMount =
  (relaxed: boolean): Check =>
  ({ spec, containers }) => {
    if (relaxed && spec.hostUsers === false) return undefined
    const bad = containers.filter(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default')
    if (bad.length === 0) return undefined
    const which = quoted(sorted(bad.map(({ securityContext }) => securityContext?.procMount ?? '')))
    return `procMount (${containersOf(namesOf(bad))} must not set securityContext.procMount to ${which})`
  }

const SELINUX_TYPES: ReadonlySet<string> = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'])

const seLinux: Check = (pod) => {
  const bad = ({ seLinuxOptions: options }: SecurityContext) =>
    options !== undefined && (!SELINUX_TYPES.has(options.type ?? '') || Boolean(options.user) || Boolean(options.role))
  const who = setters(pod, bad)
  if (who === undefined) return undefined
  const options = contextsOf(pod).flatMap((context) => context.seLinuxOptions ?? [])
  const types = sorted(options.map(({ type = '' }) => type).filter((type) => !SELINUX_TYPES.has(type)))
  const wrong = [
    ...(types.length === 0 ? [] : [`${plural('type', types.length)} ${quoted(types)}`]),
    ...(options.some(({ user }) => user) ? ['user may not be set'] : []),
    ...(options.some(({ role }) => role) ? ['role may not be set'] : []),
  ]
  return `seLinuxOptions (${who} set forbidden securityContext.seLinuxOptions: ${wrong.join('; ')})`
}

const seccomp: Check = (pod) => {
  const bad = ({ seccompProfile: profile }: SecurityContext) => profile !== undefined && !isAllowedProfile(profile)
  const who = setters(pod, bad)
  if (who === undefined) return undefined
  const types = quoted(
    sorted(
      contextsOf(pod)
        .filter(bad)
        .map((context) => context.seccompProfile?.type ?? ''),
    ),
  )
  return `seccompProfile (${who} must not set securityContext.seccompProfile.type to ${types})`
}

const SYSCTLS: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
])

const sysctls: Check = ({ spec }) => {
  const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !SYSCTLS.has(name))
  return bad.length === 0 ? undefined : `forbidden sysctls (${bad.join(', ')})`
}

const hostProcess: Check = (pod) => {
  const who = setters(pod, (context) => context.windowsOptions?.hostProcess === true)
  return who === undefined ? undefined : `hostProcess (${who} must not set securityContext.windowsOptions.hostProcess=true)`
}

const isWindows = ({ spec }: Pod) => spec.os?.name === 'windows'

const privilegeEscalation: Check = (pod) => {
  const bad = namesOf(pod.containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false))
  if (isWindows(pod) || bad.length === 0) return undefined
  return `allowPrivilegeEscalation != false (${containersOf(bad)} must set securityContext.allowPrivilegeEscalation=false)`
}

const restrictedCapabilities: Check = (pod) => {
  if (isWindows(pod)) return undefined
  const own = (container: Container) => container.securityContext?.capabilities
  const keeping = pod.containers.filter((container) => own(container)?.drop?.includes('ALL') !== true)
  const added = (container: Container) => (own(container)?.add ?? []).filter((each) => each !== 'NET_BIND_SERVICE')
  const adding = pod.containers.filter((container) => added(container).length > 0)
  const wrong = [
    ...(keeping.length === 0 ? [] : [`${containersOf(namesOf(keeping))} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${containersOf(namesOf(adding))} must not include ${quoted(sorted(adding.flatMap(added)))} in securityContext.capabilities.add`]),
  ]
  return wrong.length === 0 ? undefined : `unrestricted capabilities (${wrong.join('; ')})`
}

const VOLUMES = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret']

const restrictedVolumes: Check = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => !VOLUMES.some((type) => volume[type] !== undefined))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map((volume) => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'))
  const verb = bad.length === 1 ? 'uses' : 'use'
  const names = `${plural('volume', bad.length)} ${quoted(bad.map(({ name }) => name))}`
  return `restricted volume types (${names} ${verb} ${plural('restricted volume type', types.length)} ${quoted(types)})`
}

const nonRoot: Check = (pod) => {
  if (pod.spec.hostUsers === false) return undefined
  const who = setters(pod, (context) => context.runAsNonRoot === false)
  if (who !== undefined) return `runAsNonRoot != true (${who} must not set securityContext.runAsNonRoot=false)`
  const open =
    pod.spec.securityContext?.runAsNonRoot === true ? [] : pod.containers.filter((each) => each.securityContext?.runAsNonRoot === undefined)
  if (open.length === 0) return undefined
  return `runAsNonRoot != true (pod or ${containersOf(namesOf(open))} must set securityContext.runAsNonRoot=true)`
}

const rootUser: Check = (pod) => {
  const who = pod.spec.hostUsers === false ? undefined : setters(pod, (context) => context.runAsUser === 0)
  return who === undefined ? undefined : `runAsUser=0 (${who} must not set runAsUser=0)`
}

const restrictedSeccomp: Check = (pod) => {
  if (isWindows(pod)) return undefined
  const wrong = seccomp(pod)
  if (wrong !== undefined) return wrong
  const open =
    pod.spec.securityContext?.seccompProfile !== undefined
      ? []
      : pod.containers.filter((each) => each.securityContext?.seccompProfile === undefined)
  if (open.length === 0) return undefined
  const names = containersOf(namesOf(open))
  return `seccompProfile (pod or ${names} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`
}

/** In the order in which they are told: by the names of the checks. */
const BASELINE: readonly Check[] = [
  appArmor,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount(true),
  seLinux,
  seccomp,
  sysctls,
  hostProcess,
]
/** Those of baseline that `restricted` does not have its own for. */
const BOTH: readonly Check[] = [appArmor, hostNamespaces, hostPorts, hostProbes, privileged, seLinux, sysctls, hostProcess]
const RESTRICTED: readonly Check[] = [
  privilegeEscalation,
  restrictedCapabilities,
  procMount(false),
  restrictedVolumes,
  nonRoot,
  rootUser,
  restrictedSeccomp,
]
