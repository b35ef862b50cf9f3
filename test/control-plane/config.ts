/** The files and command lines of a control plane on 127.0.0.1. */
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './binaries.ts'

export interface Ports {
  readonly apiServer: number
  readonly etcd: number
  readonly etcdPeers: number
  readonly controllerManager: number
}

/** Both may do everything; two, so that an audit log can tell an operator's requests from a test's. */
export const USERS = ['admin', 'operator'] as const
export type User = (typeof USERS)[number]

export const tokenOf = (user: User): string => `${user}-token`
/** What the API server shows, made by itself when it starts for the first time. Nobody else has it. */
export const certificateOf = (dir: string): string => join(dir, 'certs', 'apiserver.crt')
export const kubeconfigOf = (dir: string, user: User = 'admin'): string => join(dir, `kubeconfig-${user}`)

/** Writes the signing key, the users' tokens and their kubeconfigs into `dir`. What is there already is kept. */
export function writeFiles(dir: string, ports: Ports): void {
  mkdirSync(dir, { recursive: true })
  if (!existsSync(join(dir, 'sa.key'))) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(join(dir, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
    writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
  }
  writeFileSync(join(dir, 'tokens.csv'), USERS.map((user) => `${tokenOf(user)},${user},${user},"system:masters"\n`).join(''), {
    mode: 0o600,
  })
  for (const user of USERS) writeFileSync(kubeconfigOf(dir, user), kubeconfig(dir, ports, user), { mode: 0o600 })
  writeFileSync(join(dir, 'kubeconfig'), kubeconfig(dir, ports, 'admin'), { mode: 0o600 })
}

function kubeconfig(dir: string, ports: Ports, user: User): string {
  return `apiVersion: v1
kind: Config
clusters:
  - name: local
    cluster:
      server: "https://127.0.0.1:${ports.apiServer}"
      certificate-authority: ${JSON.stringify(certificateOf(dir))}
users:
  - name: ${user}
    user:
      token: "${tokenOf(user)}"
contexts:
  - name: local
    context: { cluster: local, user: ${user} }
current-context: local
`
}

/** The arguments of each program, in the order they start. `apiServerFlags` go behind those of the API server. */
export function commandLines(dir: string, ports: Ports, apiServerFlags: readonly string[] = []): readonly (readonly [Program, string[]])[] {
  const etcdUrl = `http://127.0.0.1:${ports.etcd}`
  const peerUrl = `http://127.0.0.1:${ports.etcdPeers}`
  const etcd = {
    'data-dir': join(dir, 'etcd'),
    'listen-client-urls': etcdUrl,
    'advertise-client-urls': etcdUrl,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
    // Nobody mourns this data when the machine loses power.
    'unsafe-no-fsync': 'true',
    'log-level': 'error',
  }
  const apiServer = {
    'etcd-servers': etcdUrl,
    'bind-address': '127.0.0.1',
    'secure-port': ports.apiServer,
    'cert-dir': join(dir, 'certs'),
    'service-cluster-ip-range': '10.0.0.0/24',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': join(dir, 'sa.pub'),
    'service-account-signing-key-file': join(dir, 'sa.key'),
    'authorization-mode': 'RBAC',
    'token-auth-file': join(dir, 'tokens.csv'),
    'allow-privileged': 'true',
  }
  const controllerManager = {
    kubeconfig: kubeconfigOf(dir),
    'service-account-private-key-file': join(dir, 'sa.key'),
    'bind-address': '127.0.0.1',
    'secure-port': ports.controllerManager,
    'cert-dir': join(dir, 'certs'),
    'leader-elect': 'false',
    // Tests make and drop many namespaces; the default of 20 requests a second would let them pile up.
    'kube-api-qps': 200,
    'kube-api-burst': 400,
  }
  const flags = (values: Record<string, string | number>) => Object.entries(values).map(([name, value]) => `--${name}=${value}`)
  return [
    ['etcd', flags(etcd)],
    ['kube-apiserver', [...flags(apiServer), ...apiServerFlags]],
    ['kube-controller-manager', flags(controllerManager)],
  ]
}
