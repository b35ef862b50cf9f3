import type { KubeObject } from '../../../lib/resource/kind.ts'

/** A ConfigMap for tests: `configMap('ns/name', '7')`. The uid is the name's unless given. */
export function configMap(
  key: string,
  resourceVersion: string | number,
  more: { uid?: string; owner?: string; labels?: Record<string, string>; data?: Record<string, string>; deleting?: boolean } = {},
): KubeObject & { data?: Record<string, string> } {
  const [namespace, name] = key.split('/') as [string, string]
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      uid: more.uid ?? `uid-${name}`,
      resourceVersion: `${resourceVersion}`,
      ...(more.labels === undefined ? {} : { labels: more.labels }),
      ...(more.deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ...(more.owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: more.owner, uid: more.owner, controller: true }] }),
    },
    ...(more.data === undefined ? {} : { data: more.data }),
  }
}
