/** What a write gets instead of an answer where this process does not lead, or may not be leading any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  readonly code = 'TSOP_LEASE_LOST'
  readonly reason = 'LeaseLost'
}
