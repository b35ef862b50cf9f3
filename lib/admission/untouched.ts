/** Changes that no method is asked about, lest an object that is wrong by now could neither be looked after nor go. */

import { equalJson } from '../api/patch.ts'
import type { KubeObject } from '../resource/kind.ts'

/** Nobody's wish: written by the server, or by those who look after the object. */
const HOUSEKEEPING = new Set(['resourceVersion', 'generation', 'managedFields', 'finalizers', 'ownerReferences'])

/** Whether an update leaves alone what a method may have an opinion on. While the object is being deleted, that is its desired state only. */
export function isUntouched(object: KubeObject, old: KubeObject): boolean {
  const { metadata, ...state } = withoutStatus(object)
  const { metadata: oldMetadata, ...oldState } = withoutStatus(old)
  if (!equalJson(state, oldState)) return false
  return oldMetadata.deletionTimestamp !== undefined || equalJson(wishes(metadata), wishes(oldMetadata))
}

function withoutStatus(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown }
  return rest
}

function wishes(metadata: KubeObject['metadata']): object {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !HOUSEKEEPING.has(name)))
}
