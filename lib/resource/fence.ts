/** Part of what the API server says when it refuses a write of a process that does not hold the lease: how the operator knows its fence. */
export const FENCED = 'fenced by the lease'
