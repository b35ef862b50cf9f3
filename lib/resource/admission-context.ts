/** What methods of `@validates` and `@defaults` get beside the object. */

import type { Log } from './log.ts'

/** Who asks, as the API server knows him (https://kubernetes.io/docs/reference/access-authn-authz/authentication/). */
export interface RequestUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface AdmissionContext {
  /** `delete`: `object` and `old` are both what is about to go. */
  readonly operation: 'create' | 'update' | 'delete'
  /** `status` for a write to the status alone, which only a method that names it in `on` is asked about. */
  readonly subresource: '' | 'status'
  readonly user: RequestUser
  /** True: the API server stores nothing. The answer must be the same; what a method does beside answering must not be done. */
  readonly dryRun: boolean
  /** For whoever asks: kubectl prints it. One line; longer than 256 characters is cut. */
  warn(text: string): void
  /** Adds kind, namespace, name, operation and user to every line. */
  readonly log: Log
  /** Aborted when the time is up. */
  readonly signal: AbortSignal
}
