/**
 * What wakes a run: pure comparisons of an object with what it was before.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../resource/kind.ts'

/** Why a key is to be run. The order is that of urgency. */
export type Reason = 'deletion' | 'generation' | 'touched' | 'metadata' | 'related' | 'resync'

/**
 * Why a change of a primary object matters, or undefined where it does not (its own status, bookkeeping of others).
 * `touched` means labels or annotations: a person's way to say "try again".
 */
export function primaryReason(before: KubeObject, now: KubeObject): Reason | undefined {
  const a = before.metadata
  const b = now.metadata
  if (a.deletionTimestamp === undefined && b.deletionTimestamp !== undefined) return 'deletion'
  if (a.generation !== b.generation) return 'generation'
  if (!isDeepStrictEqual(a.labels, b.labels) || !isDeepStrictEqual(a.annotations, b.annotations)) return 'touched'
  if (!isDeepStrictEqual(a.finalizers, b.finalizers) || !isDeepStrictEqual(a.ownerReferences, b.ownerReferences)) return 'metadata'
  // Kinds without a generation (ConfigMap, Secret): the content itself is compared.
  if (b.generation === undefined && !sameContent(before, now)) return 'generation'
  return undefined
}

/** Whether two states of an object differ in more than the API server's bookkeeping. */
export function sameContent(before: KubeObject, now: KubeObject): boolean {
  return isDeepStrictEqual(withoutNoise(before), withoutNoise(now))
}

function withoutNoise(object: KubeObject): object {
  const { resourceVersion: _r, generation: _g, ...metadata } = object.metadata
  return { ...object, metadata }
}
