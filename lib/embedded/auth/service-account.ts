/** Names and groups of the users that service accounts are. */
import type { User } from '../types.ts'

const PREFIX = 'system:serviceaccount:'

export const serviceAccountName = (namespace: string, name: string) => `${PREFIX}${namespace}:${name}`

export const serviceAccountGroups = (namespace: string): string[] => ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]

/** Undefined: the user is no service account. */
export function splitServiceAccount(username: string): { namespace: string; name: string } | undefined {
  if (!username.startsWith(PREFIX)) return undefined
  const [namespace, name, ...rest] = username.slice(PREFIX.length).split(':')
  if (!namespace || !name || rest.length > 0) return undefined
  return { namespace, name }
}

/** Adds the group every authenticated user is in. */
export function withAuthenticated(user: User): User {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] }
}

export const AUTHENTICATED = 'system:authenticated'
export const UNAUTHENTICATED = 'system:unauthenticated'
export const MASTERS = 'system:masters'

export const ANONYMOUS: User = { name: 'system:anonymous', groups: [UNAUTHENTICATED] }
