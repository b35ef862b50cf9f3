/**
 * Which cluster, and as whom: found as kubectl does. First `--kubeconfig`, then the files of `$KUBECONFIG`, then
 * `~/.kube/config`; where none of them is there, the service account of the pod.
 */

import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { type Clock, systemClock } from './clock.ts'
import type { Cluster } from './cluster.ts'
import { ConfigError } from './config-error.ts'
import { CredentialSource, type Identity } from './credentials.ts'
import { type ClusterEntry, type Kubeconfig, readKubeconfig, type UserEntry } from './kubeconfig-file.ts'
import { proxyOf } from './proxy.ts'

export interface LoadOptions {
  /** One file; then no other place is looked at. */
  readonly kubeconfig?: string | undefined
  /** Default: the current context. */
  readonly context?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Tells when files are looked at again. Default: the system's. */
  readonly clock?: Clock
  /** The folder of `token`, `ca.crt` and `namespace` in a pod. */
  readonly serviceAccount?: string
}

/** There is no kubeconfig at all, and this is no pod. */
export class NoClusterError extends ConfigError {}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Reads everything that is needed to talk to the cluster. Throws a `ConfigError` of one line where something is missing or wrong. */
export async function loadCluster(options: LoadOptions): Promise<Cluster> {
  const { files, looked } = findFiles(options)
  const inPod = options.kubeconfig === undefined && isInPod(options.env)
  const kubeconfig = await readKubeconfig(files)
  if (kubeconfig.contexts.size > 0 || (files.length > 0 && !inPod)) return fromKubeconfig(kubeconfig, options)
  if (inPod) return fromServiceAccount(options)
  throw new NoClusterError(
    `no kubeconfig found: looked at ${looked.join(', ')}, and this is no pod (KUBERNETES_SERVICE_HOST is not set); name one with --kubeconfig or KUBECONFIG`,
  )
}

/** The files that are there, and for the error all places that were looked at. */
function findFiles({ kubeconfig, env }: LoadOptions): { files: string[]; looked: string[] } {
  if (kubeconfig !== undefined) {
    const file = resolve(kubeconfig)
    if (!existsSync(file)) throw new ConfigError(`the kubeconfig ${file} does not exist; check --kubeconfig`)
    return { files: [file], looked: [file] }
  }
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  const home = env['HOME'] || env['USERPROFILE'] || homedir()
  const candidates = named.length > 0 ? named.map((file) => resolve(file)) : [join(home, '.kube', 'config')]
  // kubectl does not mind files of the list that are missing.
  const files = candidates.filter((file) => existsSync(file))
  return { files, looked: candidates.map((file) => (named.length > 0 ? `${file} (from KUBECONFIG)` : file)) }
}

function fromKubeconfig(kubeconfig: Kubeconfig, options: LoadOptions): Cluster {
  const name = options.context ?? kubeconfig.currentContext
  const where = kubeconfig.files.join(', ')
  if (name === undefined) {
    throw new ConfigError(`the kubeconfig ${where} has no current-context; choose one with --context: ${known(kubeconfig.contexts)}`)
  }
  const { identity, clusterName, namespace } = identityOf(kubeconfig, name)
  const server = serverOf(identity.cluster, clusterName)
  const proxy = proxyUrl(identity.cluster.proxyUrl ?? proxyOf(options.env, server), identity.cluster)
  // Whatever the current context is by then: this process stays where it began.
  const again = async () => {
    const read = identityOf(await readKubeconfig(kubeconfig.files.filter((file) => existsSync(file))), name).identity
    if (read.cluster.server !== identity.cluster.server) {
      throw new ConfigError(`the context "${name}" of ${where} now names another server, ${read.cluster.server}; restart to follow it`)
    }
    return read
  }
  const source = new CredentialSource(identity, again, kubeconfig.files, options.clock ?? systemClock)
  return {
    name: clusterName,
    context: name,
    server: identity.cluster.server as string,
    ...(namespace !== undefined && { namespace }),
    source: 'kubeconfig',
    files: kubeconfig.files,
    insecure: identity.cluster.insecureSkipTlsVerify,
    ...(proxy !== undefined && { proxy }),
    credentials: () => source.current(),
    renew: (rejected) => source.renew(rejected),
  }
}

function identityOf(kubeconfig: Kubeconfig, name: string): { identity: Identity; clusterName: string; namespace: string | undefined } {
  const where = kubeconfig.files.join(', ')
  const context = kubeconfig.contexts.get(name)
  if (context === undefined) {
    throw new ConfigError(`there is no context "${name}" in ${where}; there are: ${known(kubeconfig.contexts)}`)
  }
  const of = `the context "${name}" of ${context.file}`
  if (context.cluster === undefined) throw new ConfigError(`${of} names no cluster`)
  const cluster = kubeconfig.clusters.get(context.cluster)
  if (cluster === undefined) {
    throw new ConfigError(`${of} names the cluster "${context.cluster}", which is missing; there are: ${known(kubeconfig.clusters)}`)
  }
  const user = context.user === undefined ? { ...NOBODY, file: context.file } : kubeconfig.users.get(context.user)
  if (user === undefined) {
    throw new ConfigError(`${of} names the user "${context.user}", who is missing; there are: ${known(kubeconfig.users)}`)
  }
  const identity = { cluster, clusterName: context.cluster, user, userName: context.user ?? '' }
  return { identity, clusterName: context.cluster, namespace: context.namespace }
}

function serverOf(cluster: ClusterEntry, name: string): URL {
  if (cluster.server === undefined) throw new ConfigError(`the cluster "${name}" of ${cluster.file} has no server`)
  const url = URL.canParse(cluster.server) ? new URL(cluster.server) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new ConfigError(`the server "${cluster.server}" of the cluster "${name}" of ${cluster.file} is no URL with https:// or http://`)
  }
  return url
}

function proxyUrl(proxy: string | undefined, cluster: ClusterEntry): string | undefined {
  if (proxy === undefined) return undefined
  const protocol = URL.canParse(proxy) ? new URL(proxy).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return proxy
  const from = proxy === cluster.proxyUrl ? `proxy-url of ${cluster.file}` : 'the environment'
  throw new ConfigError(`the proxy "${proxy}" from ${from} cannot be used: only http:// and https:// proxies can`)
}

function known(entries: ReadonlyMap<string, unknown>): string {
  return entries.size === 0 ? '(none)' : [...entries.keys()].join(', ')
}

function isInPod(env: LoadOptions['env']): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST'] && env['KUBERNETES_SERVICE_PORT'])
}

function fromServiceAccount(options: LoadOptions): Cluster {
  const folder = options.serviceAccount ?? SERVICE_ACCOUNT
  if (options.context !== undefined) {
    throw new ConfigError(`there is no kubeconfig, and so no context "${options.context}": in a pod, leave out --context`)
  }
  const tokenFile = join(folder, 'token')
  if (!existsSync(tokenFile)) {
    throw new ConfigError(`this pod has no service account token at ${tokenFile}; is automountServiceAccountToken false?`)
  }
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port } = options.env
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`
  const ca = join(folder, 'ca.crt')
  const cluster: ClusterEntry = {
    file: folder,
    server,
    certificateAuthority: existsSync(ca) ? ca : undefined,
    certificateAuthorityData: undefined,
    insecureSkipTlsVerify: false,
    tlsServerName: undefined,
    proxyUrl: undefined,
  }
  const identity: Identity = { cluster, clusterName: 'in-cluster', user: { ...NOBODY, file: folder, tokenFile }, userName: 'in-cluster' }
  const source = new CredentialSource(identity, async () => identity, [], options.clock ?? systemClock)
  const namespaceFile = join(folder, 'namespace')
  const namespace = existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : ''
  const proxy = proxyUrl(proxyOf(options.env, new URL(server)), cluster)
  return {
    name: 'in-cluster',
    context: '',
    server,
    ...(namespace !== '' && { namespace }),
    source: 'in-cluster',
    files: [folder],
    insecure: false,
    ...(proxy !== undefined && { proxy }),
    credentials: () => source.current(),
    renew: (rejected) => source.renew(rejected),
  }
}

const NOBODY: Omit<UserEntry, 'file'> = {
  token: undefined,
  tokenFile: undefined,
  username: undefined,
  password: undefined,
  clientCertificate: undefined,
  clientCertificateData: undefined,
  clientKey: undefined,
  clientKeyData: undefined,
  as: undefined,
  asUid: undefined,
  asGroups: [],
  asUserExtra: {},
  exec: undefined,
  authProvider: undefined,
}
