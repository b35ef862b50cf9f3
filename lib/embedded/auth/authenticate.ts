/**
 * Who sends a request: the static token of the kubeconfig's admin, tokens of service accounts, or nobody. Tokens are compared in
 * constant time and never written anywhere.
 */
import { ADMIN, type Core } from '../core.ts'
import { ApiError } from '../status.ts'
import type { ApiObject, User } from '../types.ts'
import { createRbac, type Rbac } from './rbac.ts'
import { ANONYMOUS } from './service-account.ts'
import { type Claims, createTokenKeys, ISSUER, type Reference, userOfClaims } from './tokens.ts'

export interface AuthOptions {
  /** The token of the admin; made up where it is not given. */
  readonly adminToken?: string
  readonly admin?: User
  /** False: everybody is the admin, and nothing is forbidden. Service account tokens can be made and reviewed all the same. */
  readonly enforce: boolean
}

export interface Auth {
  readonly adminToken: string
  readonly rbac: Rbac
  readonly enforced: boolean
  /** @throws ApiError 401 */
  authenticate(headers: Headers): User
  /**
   * The user and audiences of a token.
   * @throws Error why it is not good; the text is for TokenReview, not for the sender
   */
  review(token: string, audiences: readonly string[]): { user: User; audiences: readonly string[] }
  issue(account: ApiObject, options: IssueOptions): string
}

export type Headers = Readonly<Record<string, string | undefined>>

export interface IssueOptions {
  readonly audiences?: readonly string[]
  /** Default 3600. */
  readonly seconds?: number
  readonly warnAfterSeconds?: number
  readonly pod?: Reference
  readonly node?: Reference
  readonly secret?: Reference
}

export const unauthorized = () => new ApiError(401, 'Unauthorized', 'Unauthorized')

export function createAuth(core: Core, options: AuthOptions): Auth {
  const crypto = process.getBuiltinModule('node:crypto')
  const keys = createTokenKeys()
  const admin = options.admin ?? ADMIN
  const adminToken = options.adminToken ?? crypto.randomBytes(24).toString('base64url')
  const digest = (token: string) => crypto.createHash('sha256').update(token).digest()
  const adminDigest = digest(adminToken)

  const review: Auth['review'] = (token, audiences) => {
    // Equal lengths, so that the time does not tell how much of a guess is right.
    if (crypto.timingSafeEqual(digest(token), adminDigest)) {
      if (!audiences.includes(ISSUER)) throw new Error('invalid bearer token')
      return { user: admin, audiences: [ISSUER] }
    }
    const claims = keys.open(token)
    if (claims === undefined) throw new Error('invalid bearer token')
    const wanted = claims.aud.filter((audience) => audiences.includes(audience))
    const list = (all: readonly string[]) => `[${all.map((each) => JSON.stringify(each)).join(' ')}]`
    if (wanted.length === 0) throw rejected(`token audiences ${list(claims.aud)} is invalid for the target audiences ${list(audiences)}`)
    try {
      return { user: userOfClaims(core, claims), audiences: wanted }
    } catch (error) {
      throw rejected((error as Error).message)
    }
  }

  return {
    adminToken,
    rbac: createRbac(core),
    enforced: options.enforce,
    review,
    authenticate(headers) {
      if (!options.enforce) return admin
      const token = bearer(headers.authorization)
      if (token === undefined) return ANONYMOUS
      try {
        return review(token, [ISSUER]).user
      } catch {
        throw unauthorized()
      }
    },
    issue(account, { audiences = [ISSUER], seconds = 3600, warnAfterSeconds, pod, node, secret }) {
      const now = Math.floor(core.clock.now() / 1000)
      const { namespace = '', name = '', uid = '' } = account.metadata
      const claims: Claims = {
        aud: audiences,
        exp: now + seconds,
        iat: now,
        iss: ISSUER,
        jti: crypto.randomUUID(),
        'kubernetes.io': {
          namespace,
          ...(node === undefined ? {} : { node }),
          ...(pod === undefined ? {} : { pod }),
          ...(secret === undefined ? {} : { secret }),
          serviceaccount: { name, uid },
          ...(warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds }),
        },
        nbf: now,
        sub: `system:serviceaccount:${namespace}:${name}`,
      }
      return keys.sign(claims)
    },
  }
}

const rejected = (why: string) => new Error(`[invalid bearer token, ${why}]`)

function bearer(authorization: string | undefined): string | undefined {
  const [scheme, token] = (authorization ?? '').trim().split(' ')
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined
}
