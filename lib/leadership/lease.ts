/**
 * The Lease as far as an election needs it (https://kubernetes.io/docs/concepts/architecture/leases/).
 */

import { microTimestamp } from '../api/clock.ts'
import { type KubeObject, kind, type ObjectRef } from '../resource/kind.ts'
import type { LeaseDurations } from './durations.ts'

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
    [field: string]: unknown
  }
}

export const Lease = kind<Lease>('coordination.k8s.io/v1', 'Lease', { plural: 'leases', scope: 'Namespaced' })

/**
 * Tells apart processes that bear the same name: a container that was started anew in its pod, two copies on one machine, or a deployment where
 * every replica got the same POD_NAME. Each takes the others for strangers.
 */
export const PROCESS_ANNOTATION = 'tsop.dev/process'

export interface Candidate {
  /** The holder's name in the Lease: in a cluster that of the pod. */
  readonly identity: string
  /** Unlike that of any other process. */
  readonly process: string
}

export function holderOf(lease: Lease): string {
  return lease.spec?.holderIdentity ?? ''
}

export function isHeldBy(lease: Lease, { identity, process }: Candidate): boolean {
  return holderOf(lease) === identity && lease.metadata.annotations?.[PROCESS_ANNOTATION] === process
}

/** Whether its last holder has given it up, or it never had one. One that somebody emptied by hand still has the mark of its holder. */
export function isFree(lease: Lease): boolean {
  return holderOf(lease) === '' && lease.metadata.annotations?.[PROCESS_ANNOTATION] === undefined
}

/** How long the holder may go on after its last renewal, by its own words. */
export function durationMs(lease: Lease, { leaseMs }: LeaseDurations): number {
  const seconds = lease.spec?.leaseDurationSeconds
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : leaseMs
}

/** `live` as its (new) holder writes it; without `live` a new one. Carries the version that was read, so that of two only one succeeds. */
export function held(live: Lease | undefined, ref: ObjectRef, candidate: Candidate, { leaseMs }: LeaseDurations, nowMs: number): Lease {
  const renewTime = microTimestamp(nowMs)
  const { acquireTime, leaseTransitions } = live?.spec ?? {}
  const isNew = live === undefined || !isHeldBy(live, candidate)
  return {
    ...live,
    apiVersion: Lease.apiVersion,
    kind: Lease.kind,
    metadata: {
      ...(ref as KubeObject['metadata']),
      ...live?.metadata,
      annotations: { ...live?.metadata.annotations, [PROCESS_ANNOTATION]: candidate.process },
    },
    spec: {
      ...live?.spec,
      holderIdentity: candidate.identity,
      leaseDurationSeconds: leaseMs / 1000,
      acquireTime: isNew ? renewTime : (acquireTime ?? renewTime),
      renewTime,
      leaseTransitions: (leaseTransitions ?? 0) + (isNew && live !== undefined ? 1 : 0),
    },
  }
}

/** `live` without a holder: free for anybody at once. */
export function released(live: Lease, nowMs: number): Lease {
  const { [PROCESS_ANNOTATION]: _, ...annotations } = live.metadata.annotations ?? {}
  const time = microTimestamp(nowMs)
  return {
    ...live,
    metadata: { ...live.metadata, annotations },
    spec: { ...live.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time },
  }
}
