/**
 * Whether the API server fences: found out by what it does, not by what is installed. A policy can be there and not work, because it names another
 * Lease, or because the API server has stopped to read Leases for policies, which it does for good once the last such policy was deleted.
 */

import type { Client } from '../api/client.ts'
import { isForbidden } from '../api/status-error.ts'
import { FENCED } from '../resource/fence.ts'
import type { KindRef, ObjectRef } from '../resource/kind.ts'

/** An object that the operator may write. */
export interface FenceSample {
  readonly kind: KindRef
  readonly ref: ObjectRef
  readonly subresource?: 'status'
}

/** `unknown`: something else stood in the way. */
export type FenceAnswer = 'refused' | 'allowed' | 'unknown'

/** Tries a write that changes nothing and is kept nowhere, past every gate of this process. */
export async function tryFence(client: Client, { kind, ref, subresource }: FenceSample, signal: AbortSignal): Promise<FenceAnswer> {
  const options = { dryRun: true, timeoutMs: 10_000, retries: 0, signal, ...(subresource === undefined ? {} : { subresource }) }
  try {
    await client.patch(kind, ref, { type: 'merge', value: {} }, options)
    return 'allowed'
  } catch (error) {
    signal.throwIfAborted()
    return isForbidden(error) && error instanceof Error && error.message.includes(FENCED) ? 'refused' : 'unknown'
  }
}
