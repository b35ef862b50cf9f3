/** A pod runs as a service account of its namespace, whose token it finds in a volume. */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import { generateName } from '../object-meta.ts'
import type { ApiObject } from '../types.ts'
import { isResource, refusal } from './refusal.ts'

const DEFAULT = 'default'
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const VOLUME_PREFIX = 'kube-api-access-'
const MIRROR = 'kubernetes.io/config.mirror'

/** `createDefault` makes the account `default` of a namespace that has not got it yet: a new one may be used at once. */
export function serviceAccounts(core: Core, createDefault: (namespace: string) => Promise<void>): AdmissionPlugin {
  const find = (namespace: string, name: string) => core.lookup.get('', 'serviceaccounts', namespace, name)
  const accountOf = (request: AdmissionRequest, name: string): ApiObject => {
    const { namespace } = request
    const account = find(namespace, name)
    if (account !== undefined) return account
    throw refusal(request, `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`)
  }
  const setUp = (request: AdmissionRequest, pod: ApiObject): void => {
    const { spec } = pod
    const account = accountOf(request, spec.serviceAccountName)
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(core, pod)
    if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length > 0) {
      spec.imagePullSecrets = account.imagePullSecrets.map(({ name }: { name: string }) => ({ name }))
    }
  }
  return {
    name: 'ServiceAccount',
    mutate(request) {
      const pod = request.object
      if (pod === undefined || request.operation !== 'CREATE' || !isResource(request, '/pods')) return
      const { spec } = pod
      if (pod.metadata.annotations?.[MIRROR] !== undefined) {
        if (spec.serviceAccountName) throw refusal(request, 'a mirror pod may not reference service accounts')
        return
      }
      if (!spec.serviceAccountName) {
        spec.serviceAccountName = DEFAULT
        // The older name of the field, which is kept equal.
        spec.serviceAccount = DEFAULT
      }
      const { namespace } = request
      if (spec.serviceAccountName !== DEFAULT || find(namespace, DEFAULT) !== undefined) return setUp(request, pod)
      return createDefault(namespace).then(() => setUp(request, pod))
    },
    validate(request) {
      const pod = request.object
      if (pod === undefined || request.operation !== 'CREATE' || !isResource(request, '/pods')) return
      if (pod.metadata.annotations?.[MIRROR] === undefined) accountOf(request, pod.spec.serviceAccountName || DEFAULT)
    },
  }
}

interface Mounting {
  volumeMounts?: { name: string; readOnly?: boolean; mountPath: string }[]
}

/** Containers that mount something there already are left alone. */
function mountToken(core: Core, { spec }: ApiObject): void {
  const volumes: { name: string }[] = spec.volumes ?? []
  const known = volumes.find((volume) => volume.name.startsWith(VOLUME_PREFIX))
  const name = known?.name ?? generateName(VOLUME_PREFIX, core.random)
  let used = false
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])] as Mounting[]) {
    container.volumeMounts ??= []
    if (container.volumeMounts.some((mount) => mount.mountPath === TOKEN_PATH)) continue
    container.volumeMounts.push({ name, readOnly: true, mountPath: TOKEN_PATH })
    used = true
  }
  if (used && known === undefined) spec.volumes = [...volumes, tokenVolume(name)]
}

const tokenVolume = (name: string) => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: 420,
  },
})
