/**
 * Kinds that are questions: a POST answers with a status, and nothing is stored. The handler finds them by their bucket.
 */
import type { Attributes, Core } from '../core.ts'
import { type FieldError, invalid } from '../field-error.ts'
import { type ApiError, badRequest, invalidError } from '../status.ts'
import type { ApiObject, User } from '../types.ts'
import type { Auth } from './authenticate.ts'
import { joinErrors } from './rbac.ts'
import { ISSUER } from './tokens.ts'

export interface ReviewContext {
  readonly user: User
  /** Of the path; `''` of a cluster-scoped kind. */
  readonly namespace: string
}

/** Gives the answer to a decoded question. @throws ApiError 400, 422 */
export type Review = (question: ApiObject, context: ReviewContext) => ApiObject

/** By the bucket of their kind (`authorization.k8s.io/selfsubjectaccessreviews`). */
export function createReviews(core: Core, auth: Auth): ReadonlyMap<string, Review> {
  const authorize = (attributes: Attributes) => core.authorizer?.authorize(attributes) ?? { allowed: true, reason: '' }
  const accessStatus = (user: User, spec: AccessSpec) => {
    const { allowed, reason } = authorize(attributesOf(user, spec))
    return { allowed, ...(reason === '' ? {} : { reason }) }
  }

  return new Map<string, Review>([
    [
      'authorization.k8s.io/selfsubjectaccessreviews',
      (question, { user }) => {
        const spec: AccessSpec = question.spec ?? {}
        refuse([...accessErrors(spec), ...metadataErrors(question)])
        return answer(question, spec, accessStatus(user, spec))
      },
    ],
    [
      'authorization.k8s.io/subjectaccessreviews',
      (question) => {
        const spec: AccessSpec = question.spec ?? {}
        refuse([...accessErrors(spec), ...subjectErrors(spec), ...metadataErrors(question)])
        return answer(question, spec, accessStatus(subjectOf(spec), spec))
      },
    ],
    [
      'authorization.k8s.io/localsubjectaccessreviews',
      (question, { namespace }) => {
        const spec: AccessSpec = question.spec ?? {}
        refuse([...localErrors(spec, namespace), ...subjectErrors(spec)])
        return answer(question, spec, accessStatus(subjectOf(spec), spec), { namespace })
      },
    ],
    [
      'authorization.k8s.io/selfsubjectrulesreviews',
      (question, { user }) => {
        const namespace: string = question.spec?.namespace ?? ''
        if (namespace === '') throw badRequest('no namespace on request')
        return answer(question, {}, rulesStatus(auth, core, user, namespace))
      },
    ],
    [
      'authentication.k8s.io/selfsubjectreviews',
      (question, { user }) => {
        const creationTimestamp = new Date(core.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
        return {
          kind: question.kind,
          apiVersion: question.apiVersion,
          metadata: { creationTimestamp },
          status: { userInfo: userInfo(user) },
        }
      },
    ],
    [
      'authentication.k8s.io/tokenreviews',
      (question) => {
        const { token = '', audiences = [] }: { token?: string; audiences?: string[] } = question.spec ?? {}
        if (token === '') throw badRequest('token is required for TokenReview in authentication')
        return answer(question, question.spec, tokenStatus(auth, token, audiences))
      },
    ],
  ])
}

/** As reviews and admission show a user. */
export function userInfo(user: User): {
  username: string
  uid?: string
  groups: readonly string[]
  extra?: Record<string, readonly string[]>
} {
  return {
    username: user.name,
    ...(user.uid ? { uid: user.uid } : {}),
    groups: user.groups,
    ...(user.extra === undefined || Object.keys(user.extra).length === 0 ? {} : { extra: { ...user.extra } }),
  }
}

interface AccessSpec {
  readonly resourceAttributes?: {
    readonly namespace?: string
    readonly verb?: string
    readonly group?: string
    readonly version?: string
    readonly resource?: string
    readonly subresource?: string
    readonly name?: string
  }
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  readonly user?: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

const answer = (question: ApiObject, spec: object, status: object, metadata: object = {}): ApiObject =>
  ({ kind: question.kind, apiVersion: question.apiVersion, metadata, spec, status }) as ApiObject

const subjectOf = ({ user = '', groups = [], uid, extra }: AccessSpec): User => ({
  name: user,
  groups,
  ...(uid === undefined ? {} : { uid }),
  ...(extra === undefined ? {} : { extra }),
})

function attributesOf(user: User, { resourceAttributes: resource, nonResourceAttributes: other }: AccessSpec): Attributes {
  const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
  if (other !== undefined) return { user, verb: other.verb ?? '', ...none, path: other.path ?? '' }
  return { ...none, ...resource, user, verb: resource?.verb ?? '' }
}

/** The server names neither kind nor object here. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  const error: ApiError = invalidError({ group: 'authorization.k8s.io', resource: '', kind: '' }, '', errors)
  delete error.details?.kind
  throw error
}

function accessErrors({ resourceAttributes: resource, nonResourceAttributes: other }: AccessSpec): FieldError[] {
  if (resource !== undefined && other !== undefined) {
    return [invalid('spec.nonResourceAttributes', goNonResource(other), 'cannot be specified in combination with resourceAttributes')]
  }
  if (resource !== undefined || other !== undefined) return []
  return [invalid('spec.resourceAttributes', undefined, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
}

function localErrors(spec: AccessSpec, namespace: string): FieldError[] {
  const errors = accessErrors(spec)
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec
  if (resource !== undefined && (resource.namespace ?? '') !== namespace) {
    return [...errors, invalid('spec.resourceAttributes.namespace', resource.namespace ?? '', 'must match metadata.namespace')]
  }
  if (other === undefined) return errors
  return [...errors, invalid('spec.nonResourceAttributes', goNonResource(other), 'disallowed on this kind of request')]
}

/** With the names of the Go type, as the error shows it. */
const goNonResource = ({ path = '', verb = '' }: { path?: string; verb?: string }) => ({ Path: path, Verb: verb })

const subjectErrors = ({ user = '', groups = [] }: AccessSpec): FieldError[] =>
  user === '' && groups.length === 0 ? [invalid('spec.user', user, 'at least one of user or group must be specified')] : []

function metadataErrors({ metadata }: ApiObject): FieldError[] {
  const { managedFields: _, ...rest } = metadata ?? {}
  return Object.keys(rest).length === 0 ? [] : [invalid('metadata', rest, 'must be empty')]
}

function rulesStatus(auth: Auth, core: Core, user: User, namespace: string): object {
  if (core.authorizer === undefined) return { resourceRules: [EVERYTHING], nonResourceRules: [ALL_PATHS], incomplete: false }
  const { rules, errors } = auth.rbac.rulesFor(user, namespace)
  const some = (values: readonly string[] | undefined) => values !== undefined && values.length > 0
  return {
    resourceRules: rules
      .filter((rule) => some(rule.resources))
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(some(resourceNames) ? { resourceNames } : {}),
      })),
    nonResourceRules: rules.filter((rule) => some(rule.nonResourceURLs)).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: errors.length > 0,
    ...(errors.length === 0 ? {} : { evaluationError: joinErrors(errors) }),
  }
}

const EVERYTHING = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
const ALL_PATHS = { verbs: ['*'], nonResourceURLs: ['*'] }

function tokenStatus(auth: Auth, token: string, audiences: readonly string[]): object {
  try {
    const found = auth.review(token, audiences.length === 0 ? [ISSUER] : audiences)
    return { authenticated: true, user: userInfo(found.user), audiences: found.audiences }
  } catch (error) {
    return { user: {}, error: (error as Error).message }
  }
}
