/** A certificate authority of its own and a certificate for the server, made when it starts. */
import { createAuthority, createServerCertificate } from '../../tls/certificates.ts'

export interface ServerCertificates {
  /** PEM: what clients must trust. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const DAY = 24 * 60 * 60 * 1000

/** For `localhost`, the loopback addresses, the in-cluster names of the API server, and `hosts`; good for a year from `now`. */
export function createCertificates(now: number, hosts: readonly string[] = []): ServerCertificates {
  const validity = { from: now - DAY, to: now + 365 * DAY }
  const authority = createAuthority('tsop-embedded-ca', validity)
  const pair = createServerCertificate(authority, { ...validity, commonName: 'kube-apiserver', hosts: [...NAMES, ...hosts] })
  return { ca: authority.cert, ...pair }
}

const NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
  '10.0.0.1',
]
