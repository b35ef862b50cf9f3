/**
 * Bearer tokens of service accounts: JSON web tokens (ES256, as keys for it are made in no time), signed with a key that lives
 * as long as the server.
 */
import type { KeyObject } from 'node:crypto'
import type { Core } from '../core.ts'
import type { User } from '../types.ts'
import { AUTHENTICATED, serviceAccountGroups, serviceAccountName } from './service-account.ts'

export interface Claims {
  readonly aud: readonly string[]
  readonly exp: number
  readonly iat: number
  readonly iss: string
  readonly jti: string
  readonly 'kubernetes.io': {
    readonly namespace: string
    readonly node?: Reference
    readonly pod?: Reference
    readonly secret?: Reference
    readonly serviceaccount: Reference
    readonly warnafter?: number
  }
  readonly nbf: number
  readonly sub: string
}

export interface Reference {
  readonly name: string
  readonly uid: string
}

/** Who issues tokens, and the audience of those for this server. */
export const ISSUER = 'https://kubernetes.default.svc'

export interface TokenKeys {
  sign(claims: Claims): string
  /** Undefined: no token of ours, or changed by somebody. */
  open(token: string): Claims | undefined
}

const MAX_OPENED = 1000

/** The key is made when it is first needed. */
export function createTokenKeys(): TokenKeys {
  const crypto = process.getBuiltinModule('node:crypto')
  /** A signature is checked once; whether the token still holds, with every request. */
  const opened = new Map<string, Claims>()
  let made: { privateKey: KeyObject; publicKey: KeyObject; header: string } | undefined
  const keys = () => {
    if (made !== undefined) return made
    const pair = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const kid = crypto
      .createHash('sha256')
      .update(pair.publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url')
    made = { ...pair, header: encode({ alg: 'ES256', kid }) }
    return made
  }
  return {
    sign(claims) {
      const { privateKey, header } = keys()
      const signed = `${header}.${encode(claims)}`
      const signature = crypto.sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${signed}.${signature.toString('base64url')}`
    },
    open(token) {
      const digest = crypto.createHash('sha256').update(token).digest('base64')
      const known = opened.get(digest)
      if (known !== undefined) return known
      const [header, claims, signature, ...rest] = token.split('.')
      if (!claims || !signature || rest.length > 0 || header !== keys().header) return undefined
      const key = { key: keys().publicKey, dsaEncoding: 'ieee-p1363' as const }
      if (!crypto.verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))) return undefined
      const result = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims
      if (opened.size >= MAX_OPENED) opened.clear()
      opened.set(digest, result)
      return result
    },
  }
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** How long a deleted object still vouches for its tokens. */
const LEEWAY_MS = 60_000

/**
 * The user that a token with good signature stands for.
 * @throws Error with the text that a TokenReview shows
 */
export function userOfClaims(core: Core, claims: Claims): User {
  const now = core.clock.now()
  if (now / 1000 > claims.exp + LEEWAY_MS / 1000) throw new Error('service account token has expired')
  if (now / 1000 < claims.nbf - LEEWAY_MS / 1000) throw new Error('service account token is not valid yet')
  const { namespace, serviceaccount, secret, pod, node } = claims['kubernetes.io']
  const account = core.lookup.get('', 'serviceaccounts', namespace, serviceaccount.name)
  if (account === undefined) throw new Error(`serviceaccounts "${serviceaccount.name}" not found`)
  if (account.metadata.uid !== serviceaccount.uid) {
    throw new Error(`service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})`)
  }
  const bound = (resource: string, in_: string, kind: string, account_: string, reference: Reference) => {
    const object = core.lookup.get('', resource, in_, reference.name)
    const gone = object?.metadata.deletionTimestamp
    if (object === undefined || (gone !== undefined && Date.parse(gone) < now - LEEWAY_MS)) {
      throw new Error('service account token has been invalidated')
    }
    if (object.metadata.uid !== reference.uid) {
      throw new Error(`${kind} UID (${object.metadata.uid}) does not match service account ${account_} ref claim (${reference.uid})`)
    }
  }
  if (secret !== undefined) bound('secrets', namespace, 'secret', 'secret', secret)
  if (pod !== undefined) bound('pods', namespace, 'pod', 'pod', pod)
  else if (node !== undefined) bound('nodes', '', 'node', 'node', node)
  return {
    name: serviceAccountName(namespace, serviceaccount.name),
    uid: serviceaccount.uid,
    groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
    extra: extraOf(claims),
  }
}

function extraOf({ jti, 'kubernetes.io': { pod, node } }: Claims): Record<string, readonly string[]> {
  const named = (kind: string, reference: Reference | undefined) =>
    reference === undefined
      ? {}
      : {
          [`authentication.kubernetes.io/${kind}-name`]: [reference.name],
          ...(reference.uid === '' ? {} : { [`authentication.kubernetes.io/${kind}-uid`]: [reference.uid] }),
        }
  return { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`], ...named('node', node), ...named('pod', pod) }
}
