/**
 * `Impersonate-*` headers (`kubectl --as`): the request is made as somebody else, if the sender may. Two ways lead there: the
 * constrained one of 1.36 (`impersonate-on:MODE:VERB` for the request, `impersonate:MODE` for the user) and the old one
 * (`impersonate` for the user). The first refusal is the one that is told.
 */
import type { Attributes, Authorizer } from '../core.ts'
import { type ApiError, badRequest } from '../status.ts'
import type { User } from '../types.ts'
import type { Headers } from './authenticate.ts'
import { forbiddenRequest } from './forbidden.ts'
import { ANONYMOUS, AUTHENTICATED, MASTERS, serviceAccountGroups, splitServiceAccount, UNAUTHENTICATED } from './service-account.ts'

const EXTRA = 'impersonate-extra-'
const NODE = 'system:node:'

interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/**
 * Who the request is made as; `request.user` itself without such headers.
 * @throws ApiError 400, 403
 */
export function impersonate(authorizer: Authorizer | undefined, request: Attributes, headers: Headers): User {
  const wanted = wantedUser(headers)
  if (wanted === undefined) return request.user
  let refusal: ApiError | undefined
  for (const mode of modesFor(wanted)) {
    const refused = refusedBy(authorizer, request, wanted, mode)
    if (refused === undefined) return actualUser(wanted, mode)
    refusal ??= refused
  }
  throw refusal
}

/** The constrained mode that fits the user, then the old one. */
function modesFor(wanted: Wanted): readonly string[] {
  const onlyName = wanted.uid === '' && wanted.groups.length === 0 && Object.keys(wanted.extra).length === 0
  if (wanted.name.startsWith(NODE)) return onlyName ? ['arbitrary-node', 'impersonate'] : ['impersonate']
  if (splitServiceAccount(wanted.name) !== undefined) return onlyName ? ['serviceaccount', 'impersonate'] : ['impersonate']
  return ['user-info', 'impersonate']
}

function refusedBy(authorizer: Authorizer | undefined, request: Attributes, wanted: Wanted, mode: string): ApiError | undefined {
  if (authorizer === undefined) return undefined
  for (const check of checks(request, wanted, mode)) {
    const { allowed, reason } = authorizer.authorize(check.attributes)
    if (!allowed || check.never !== undefined) return forbiddenRequest(check.attributes, check.never ?? reason)
  }
  return undefined
}

interface Check {
  readonly attributes: Attributes
  /** Refused whoever asks. */
  readonly never?: string
}

function* checks(request: Attributes, wanted: Wanted, mode: string): Generator<Check> {
  const legacy = mode === 'impersonate'
  const verb = legacy ? mode : `impersonate:${mode}`
  const authentication = { group: 'authentication.k8s.io', version: 'v1' }
  const core = legacy ? { group: '', version: 'v1' } : authentication
  const about = (gv: { group: string; version: string }, resource: string, name: string, rest: Partial<Attributes> = {}): Check => ({
    attributes: { user: request.user, verb, ...gv, resource, subresource: '', namespace: '', name, ...rest },
  })

  if (!legacy) yield { attributes: { ...request, verb: `impersonate-on:${mode}:${request.verb}` } }

  const account = splitServiceAccount(wanted.name)
  if (account !== undefined) yield about(core, 'serviceaccounts', account.name, { namespace: account.namespace })
  else if (mode === 'arbitrary-node') yield about(core, 'nodes', wanted.name.slice(NODE.length))
  else yield about(core, 'users', wanted.name)
  if (wanted.uid !== '') yield about(authentication, 'uids', wanted.uid)
  for (const group of wanted.groups) {
    const check = about(core, 'groups', group)
    yield !legacy && group === MASTERS ? { ...check, never: 'impersonating the system:masters group is not allowed' } : check
  }
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const value of values) yield about(authentication, 'userextras', value, { subresource: key })
  }
}

function actualUser({ name, uid, groups, extra }: Wanted, mode: string): User {
  const account = splitServiceAccount(name)
  const known = groups.length > 0 ? groups : account !== undefined ? serviceAccountGroups(account.namespace) : []
  const all = mode === 'arbitrary-node' ? ['system:nodes'] : [...known]
  if (name === ANONYMOUS.name) add(all, UNAUTHENTICATED)
  else if (!all.includes(UNAUTHENTICATED)) add(all, AUTHENTICATED)
  return { name, groups: all, ...(uid === '' ? {} : { uid }), ...(Object.keys(extra).length === 0 ? {} : { extra }) }
}

const add = (groups: string[], group: string) => {
  if (!groups.includes(group)) groups.push(group)
}

function wantedUser(headers: Headers): Wanted | undefined {
  const name = headers['impersonate-user'] ?? ''
  const uid = headers['impersonate-uid'] ?? ''
  const groups = split(headers['impersonate-group'])
  const extra: Record<string, string[]> = Object.create(null)
  for (const [header, value] of Object.entries(headers)) {
    if (header.startsWith(EXTRA)) extra[decodeKey(header.slice(EXTRA.length))] = split(value)
  }
  if (name !== '') return { name, uid, groups, extra }
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  const goStrings = (type: string, values: readonly string[]) =>
    values.length === 0 ? `${type}(nil)` : `${type}{${values.map((each) => JSON.stringify(each)).join(', ')}}`
  const goExtra = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${goStrings('[]string', values)}`)
  const shown = goExtra.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${goExtra.join(', ')}}`
  const user = `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goStrings('[]string', groups)}, Extra:${shown}}`
  throw badRequest(`requested ${user} without impersonating a user name`)
}

/** The same header several times comes as one, joined by `, `. */
const split = (value: string | undefined) => (value === undefined ? [] : value.split(', '))

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
