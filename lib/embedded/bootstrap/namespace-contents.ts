/**
 * What every namespace has: the service account `default` and the config map with the certificate authority. They come soon
 * after the namespace, and come back when somebody deletes them.
 */
import { type Core, SYSTEM } from '../core.ts'
import type { ApiObject } from '../types.ts'

const ROOT_CA = 'kube-root-ca.crt'
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

interface Content {
  readonly bucket: string
  readonly resource: string
  readonly name: string
  make(namespace: string, ca: string): ApiObject
}

const SERVICE_ACCOUNT: Content = {
  bucket: '/serviceaccounts',
  resource: 'serviceaccounts',
  name: 'default',
  make: (namespace) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } }),
}

const CERTIFICATES: Content = {
  bucket: '/configmaps',
  resource: 'configmaps',
  name: ROOT_CA,
  make: (namespace, ca) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: ROOT_CA, namespace, annotations: { 'kubernetes.io/description': DESCRIPTION } },
    data: { 'ca.crt': ca },
  }),
}

export const NAMESPACE_CONTENTS: readonly Content[] = [SERVICE_ACCOUNT, CERTIFICATES]

/** Makes them for each namespace from now on. */
export function startNamespaceContents(core: Core, ca: string): void {
  const { revision } = core.store
  core.store.bucket('/namespaces').watch(revision, ({ type, name }) => {
    if (type === 'ADDED') core.tasks.soon(() => createContents(core, name, ca))
  })
  for (const content of NAMESPACE_CONTENTS) {
    core.store.bucket(content.bucket).watch(revision, ({ type, name, namespace }) => {
      if (type === 'DELETED' && name === content.name) core.tasks.soon(() => createContents(core, namespace, ca))
    })
  }
}

/** Those that a namespace lacks, unless it is on its way out. */
export async function createContents(core: Core, namespace: string, ca: string): Promise<void> {
  for (const content of NAMESPACE_CONTENTS) await createContent(core, content, namespace, ca)
}

export const createDefaultAccount = (core: Core, namespace: string): Promise<void> => createContent(core, SERVICE_ACCOUNT, namespace, '')

async function createContent(core: Core, content: Content, namespace: string, ca: string): Promise<void> {
  if (core.lookup.get('', 'namespaces', '', namespace)?.status?.phase === 'Terminating') return
  if (core.lookup.get('', 'namespaces', '', namespace) === undefined) return
  if (core.lookup.get('', content.resource, namespace, content.name) !== undefined) return
  const type = core.registry.find('', 'v1', content.resource)
  if (type === undefined) return
  try {
    await core.operations.create(type, namespace, content.make(namespace, ca), { user: SYSTEM, fieldManager: 'kube-controller-manager' })
  } catch (error) {
    // Somebody was faster, or a policy does not want it: neither is a fault.
    if (!(error instanceof Error) || error.name !== 'ApiError') throw error
  }
}
