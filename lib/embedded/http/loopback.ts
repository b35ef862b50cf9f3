/**
 * Without TLS everybody is admin, so only this machine may speak to the server: not other machines, and not a page in a
 * browser on this one. A page cannot forge Host (unless a name of its own leads here) nor hide its Origin.
 */
import { ApiError } from '../status.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host) || host === '::1'
}

/** What to answer a request that did not come from a program on this machine. */
export function refusal(host: string | undefined, origin: string | undefined): ApiError | undefined {
  if (host !== undefined && !isLoopback(host.replace(/:\d*$/, ''))) return foreign(`the host ${JSON.stringify(host)}`)
  if (origin !== undefined && !isLocalOrigin(origin)) return foreign(`pages of ${JSON.stringify(origin)}`)
  return undefined
}

function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/(?<host>[^/]*?)(:\d+)?$/i.exec(origin)
  return match !== null && isLoopback(match.groups?.['host'] ?? '')
}

function foreign(what: string): ApiError {
  return new ApiError(403, 'Forbidden', `this API server has no authentication and answers to this machine only, not to ${what}`)
}
