/**
 * Credentials by a program (`exec`) or by an identity provider (`auth-provider`): client-node knows them, and is loaded only
 * here, since it takes 70 MB.
 */

import { dirname, isAbsolute, resolve } from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Identity, Plugin } from './credentials.ts'
import type { Fields } from './kubeconfig-file.ts'

/** Keeps what the plugin gave until it expires. */
export function createPlugin(identity: Identity): Plugin {
  let loading: Promise<KubeConfig> | undefined
  return {
    async ask(fresh) {
      if (fresh) loading = undefined
      loading ??= load(identity)
      const options: { headers: Record<string, string>; cert?: string | Buffer; key?: string | Buffer } = { headers: {} }
      await (await loading).applyToHTTPSOptions(options as never)
      const authorization = options.headers['Authorization']
      return {
        ...(authorization !== undefined && { authorization }),
        ...(options.cert !== undefined && options.key !== undefined && { cert: options.cert, key: options.key }),
      }
    },
  }
}

async function load({ cluster, clusterName, user, userName }: Identity): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  config.loadFromOptions({
    clusters: [{ name: clusterName, server: cluster.server, skipTLSVerify: cluster.insecureSkipTlsVerify }],
    users: [{ name: userName, exec: user.exec && execOf(user.exec, user.file, cluster.server), authProvider: user.authProvider }],
    contexts: [{ name: 'context', cluster: clusterName, user: userName }],
    currentContext: 'context',
  })
  return config
}

/** A relative command starts at the kubeconfig's folder; and it is told what kubectl tells it (client-node does not). */
function execOf(exec: Fields, file: string, server: string | undefined): Fields {
  const command = String(exec['command'] ?? '')
  const isRelative = command.includes('/') && !isAbsolute(command)
  const info = {
    apiVersion: exec['apiVersion'] ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec['provideClusterInfo'] === true && { cluster: { server } }) },
  }
  const env = Array.isArray(exec['env']) ? exec['env'] : []
  return {
    ...exec,
    command: isRelative ? resolve(dirname(file), command) : command,
    env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }],
  }
}
