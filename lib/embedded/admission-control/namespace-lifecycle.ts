/** Nothing is created in a namespace that is not there or is going; some namespaces stay. */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import { notFound } from '../status.ts'
import { refusal } from './refusal.ts'

const NAMESPACE = { group: '', resource: 'namespaces', kind: 'Namespace' }
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])
/** Says nothing of the namespace, so that nobody finds out by it which namespaces there are. */
const ACCESS_REVIEW = 'authorization.k8s.io/localsubjectaccessreviews'

export function namespaceLifecycle(core: Core): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    mutate: (request) => checkNamespace(core, request),
    validate(request) {
      if (request.operation === 'DELETE' && request.type.bucket === '/namespaces' && IMMORTAL.has(request.name)) {
        throw refusal(request, 'this namespace may not be deleted')
      }
      // Asked again: a webhook may have taken its time.
      checkNamespace(core, request)
    },
  }
}

function checkNamespace(core: Core, request: AdmissionRequest): void {
  const { type, operation, namespace } = request
  if (!type.namespaced || operation === 'DELETE' || operation === 'CONNECT' || type.bucket === ACCESS_REVIEW) return
  const found = core.lookup.get('', 'namespaces', '', namespace)
  if (found === undefined) throw notFound(NAMESPACE, namespace)
  if (operation !== 'CREATE' || request.subresource !== '' || found.status?.phase !== 'Terminating') return
  throw refusal(request, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
  ])
}
