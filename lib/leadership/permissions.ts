/** Whether this process may do with its Lease what an election needs: asked at start, so that it is not found out when it matters. */

import type { Transport } from '../api/transport.ts'
import type { ObjectRef } from '../resource/kind.ts'

const VERBS = ['get', 'create', 'update'] as const

/** The verbs on the Lease that are missing. What cannot be found out is not missing. */
export async function missingLeaseVerbs(transport: Transport, lease: ObjectRef, signal: AbortSignal): Promise<readonly string[]> {
  const allowed = await Promise.all(VERBS.map((verb) => mayI(transport, verb, lease, signal)))
  return VERBS.filter((_, i) => allowed[i] === false)
}

/** Who may do what, so that the message can be acted on. */
export function describeMissing(verbs: readonly string[], lease: ObjectRef): string {
  const rule = `apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["${VERBS.join('", "')}"]`
  return (
    `leader election needs to ${verbs.join(', ')} leases.coordination.k8s.io in namespace ${lease.namespace} (Lease ${lease.name}), and may not; ` +
    `grant {${rule}} there, or run a single replica with --no-leader-elect`
  )
}

async function mayI(transport: Transport, verb: string, { namespace, name }: ObjectRef, signal: AbortSignal): Promise<boolean | undefined> {
  const resourceAttributes = {
    namespace,
    verb,
    group: 'coordination.k8s.io',
    resource: 'leases',
    // The name of what does not exist yet is not known to the authorizer.
    ...(verb === 'create' ? {} : { name }),
  }
  try {
    const { status, body } = await transport.request({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      }),
      timeoutMs: 10_000,
      signal,
    })
    if (status !== 201) return undefined
    const review = JSON.parse(body.toString()) as { status?: { allowed?: boolean } }
    return review.status?.allowed
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}
