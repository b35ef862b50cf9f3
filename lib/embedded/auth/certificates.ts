/** A certificate authority of its own and a certificate for the server, made when it starts. */
import { createAuthority, createServerCertificate } from '../../tls/certificates.ts'

export interface ServerCertificates {
  /** PEM: what clients must trust. */
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const DAY = 24 * 60 * 60 * 1000

/** Whose they are; by default an API server's, known by `localhost`, the loopback addresses and its names in a cluster. */
export interface CertificateSubject {
  readonly issuer: string
  readonly subject: string
  readonly names: readonly string[]
}

/** For the names of the subject and `hosts`; good for a year from `now`. */
export function createCertificates(
  now: number,
  hosts: readonly string[] = [],
  { issuer, subject, names }: CertificateSubject = API_SERVER,
): ServerCertificates {
  const validity = { from: now - DAY, to: now + 365 * DAY }
  const authority = createAuthority(issuer, validity)
  const pair = createServerCertificate(authority, { ...validity, commonName: subject, hosts: [...names, ...hosts] })
  return { ca: authority.cert, ...pair }
}

const API_SERVER: CertificateSubject = {
  issuer: 'tsop-embedded-ca',
  subject: 'kube-apiserver',
  names: [
    'localhost',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    '127.0.0.1',
    '::1',
    '10.0.0.1',
  ],
}
