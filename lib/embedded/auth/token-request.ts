/** `POST …/serviceaccounts/NAME/token` (`kubectl create token`): a token for a service account, bound to a pod perhaps. */
import type { Core } from '../core.ts'
import { invalid } from '../field-error.ts'
import { ApiError, badRequest, conflict, invalidError, notFound } from '../status.ts'
import type { ApiObject } from '../types.ts'
import type { Auth } from './authenticate.ts'
import { ISSUER, type Reference } from './tokens.ts'

const SUBJECT = { group: 'authentication.k8s.io', resource: 'TokenRequest', kind: 'TokenRequest' }
const SECONDS = 3600
/** What the volume of a pod asks for: such a token lives a year, so that old clients that never read it again go on. */
const PROJECTED_SECONDS = 3607
const YEAR_SECONDS = 365 * 24 * 60 * 60

interface Bound {
  readonly apiVersion?: string
  readonly kind?: string
  readonly name?: string
  readonly uid?: string
}

/** @throws ApiError 400, 404, 409, 422 */
export function requestToken(core: Core, auth: Auth, namespace: string, name: string, request: ApiObject): ApiObject {
  const { metadata = {}, spec = {} } = request
  const mustMatch = (field: string, value: string | undefined, wanted: string, what: string) => {
    if (value === undefined || value === '' || value === wanted) return
    throw invalidError(SUBJECT, name, [invalid(`metadata.${field}`, value, `must match the service account ${what} if specified`)])
  }
  mustMatch('name', metadata.name, name, 'name')
  mustMatch('namespace', metadata.namespace, namespace, 'namespace')
  const account = core.lookup.get('', 'serviceaccounts', namespace, name)
  if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts', kind: 'ServiceAccount' }, name)
  const uid = account.metadata.uid as string
  if (metadata.uid && metadata.uid !== uid) {
    throw conflict(SUBJECT, name, `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`)
  }
  const seconds = validSeconds(spec.expirationSeconds ?? SECONDS)
  const audiences: string[] = spec.audiences?.length > 0 ? spec.audiences : [ISSUER]
  const ref: Bound | null = spec.boundObjectRef ?? null
  const bound = ref === null ? {} : bind(core, namespace, name, ref)
  const extended = bound.pod !== undefined && seconds === PROJECTED_SECONDS && audiences.every((audience) => audience === ISSUER)
  const now = Math.floor(core.clock.now() / 1000) * 1000
  const time = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid, creationTimestamp: time(now) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: ref },
    status: {
      token: auth.issue(account, {
        audiences,
        ...bound,
        ...(extended ? { seconds: YEAR_SECONDS, warnAfterSeconds: seconds } : { seconds }),
      }),
      expirationTimestamp: time(now + seconds * 1000),
    },
  }
}

function validSeconds(seconds: number): number {
  const wrong = (detail: string) => invalidError(SUBJECT, '', [invalid('spec.expirationSeconds', seconds, detail)])
  if (seconds < 10 * 60) throw wrong('may not specify a duration less than 10 minutes')
  if (seconds > 2 ** 32) throw wrong('may not specify a duration larger than 2^32 seconds')
  return Number(seconds)
}

function bind(core: Core, namespace: string, account: string, ref: Bound): { pod?: Reference; node?: Reference; secret?: Reference } {
  const { apiVersion = '', kind = '', name = '' } = ref
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  const find = (resource: string, in_: string): ApiObject => {
    const object = core.lookup.get('', resource, in_, name)
    if (object === undefined) throw notFound({ group: '', resource, kind }, name)
    return object
  }
  const bound = (object: ApiObject): Reference => {
    const uid = object.metadata.uid as string
    if (ref.uid && ref.uid !== uid) {
      const detail = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`
      throw conflict({ group, resource: kind, kind }, name, detail)
    }
    return { name, uid }
  }
  if (group === '' && kind === 'Pod') {
    const pod = find('pods', namespace)
    if (pod.spec?.serviceAccountName !== account) {
      throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`)
    }
    const node: string | undefined = pod.spec.nodeName
    if (!node) return { pod: bound(pod) }
    return { pod: bound(pod), node: { name: node, uid: core.lookup.get('', 'nodes', '', node)?.metadata.uid ?? '' } }
  }
  if (group === '' && kind === 'Node') return { node: bound(find('nodes', '')) }
  if (group === '' && kind === 'Secret') return { secret: bound(find('secrets', namespace)) }
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  throw new ApiError(400, 'BadRequest', `cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
}
