/** The name that a process has in an election. */

import type { Credentials } from '../api/cluster.ts'

/**
 * The pod that a service account token is bound to: what an API server will take this process for, and so what a policy compares with the holder
 * of the Lease. Undefined where the credentials do not say.
 */
export function podOf({ headers }: Credentials): string | undefined {
  const [, token] = /^Bearer (\S+)$/i.exec(String(headers['authorization'] ?? '')) ?? []
  const payload = token?.split('.')[1]
  if (payload === undefined) return undefined
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { 'kubernetes.io'?: { pod?: { name?: unknown } } }
    const name = claims['kubernetes.io']?.pod?.name
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}
