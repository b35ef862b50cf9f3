/**
 * X.509 certificates of a certificate authority that is made on the spot. Keys are P-256: made in a millisecond. The extensions are
 * those that strict clients want (Go, Python's OpenSSL with VERIFY_X509_STRICT).
 */
import type { KeyObject } from 'node:crypto'
import * as der from './der.ts'

export interface Authority {
  readonly name: string
  /** PEM: what clients must trust. */
  readonly cert: string
  readonly key: KeyObject
}

/** PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** Milliseconds since 1970. */
export interface Validity {
  readonly from: number
  readonly to: number
}

const ECDSA_SHA256 = '1.2.840.10045.4.3.2'
const COMMON_NAME = '2.5.4.3'
const SUBJECT_KEY = '2.5.29.14'
const KEY_USAGE = '2.5.29.15'
const ALTERNATIVE_NAMES = '2.5.29.17'
const BASIC_CONSTRAINTS = '2.5.29.19'
const AUTHORITY_KEY = '2.5.29.35'
const EXTENDED_USAGE = '2.5.29.37'
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

export function createAuthority(commonName: string, validity: Validity): Authority {
  const { publicKey, privateKey } = keys()
  const cert = certificate({
    subject: commonName,
    issuer: commonName,
    ...validity,
    publicKey,
    signingKey: privateKey,
    extensions: [
      extension(BASIC_CONSTRAINTS, true, der.sequence(der.boolean(true))),
      // keyCertSign, cRLSign
      extension(KEY_USAGE, true, der.bits(Buffer.of(0x06), 1)),
      extension(SUBJECT_KEY, false, der.octets(keyId(publicKey))),
    ],
  })
  return { name: commonName, cert, key: privateKey }
}

/** `hosts`: names and IP addresses that clients reach the server by. */
export function createServerCertificate(
  authority: Authority,
  { commonName, hosts, ...validity }: Validity & { readonly commonName: string; readonly hosts: readonly string[] },
): KeyPair {
  const { publicKey, privateKey } = keys()
  const cert = certificate({
    subject: commonName,
    issuer: authority.name,
    ...validity,
    publicKey,
    signingKey: authority.key,
    extensions: [
      extension(BASIC_CONSTRAINTS, true, der.sequence()),
      // digitalSignature
      extension(KEY_USAGE, true, der.bits(Buffer.of(0x80), 7)),
      extension(EXTENDED_USAGE, false, der.sequence(der.objectId(SERVER_AUTH))),
      extension(SUBJECT_KEY, false, der.octets(keyId(publicKey))),
      extension(AUTHORITY_KEY, false, der.sequence(der.implicit(0, keyId(publicKeyOf(authority.key))))),
      extension(ALTERNATIVE_NAMES, false, der.sequence(...hosts.map(alternativeName))),
    ],
  })
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

/** Not imported: it must cost nothing where no certificate is made. */
const crypto = () => process.getBuiltinModule('node:crypto')
const keys = () => crypto().generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicKeyOf = (key: KeyObject) => crypto().createPublicKey(key)

function certificate(options: {
  subject: string
  issuer: string
  from: number
  to: number
  publicKey: KeyObject
  signingKey: KeyObject
  extensions: readonly der.Der[]
}): string {
  const { randomBytes, sign } = crypto()
  const algorithm = der.sequence(der.objectId(ECDSA_SHA256))
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const body = der.sequence(
    // Version 3.
    der.explicit(0, der.integer(Buffer.of(2))),
    der.integer(serial),
    algorithm,
    name(options.issuer),
    der.sequence(der.time(options.from), der.time(options.to)),
    name(options.subject),
    spki(options.publicKey),
    der.explicit(3, der.sequence(...options.extensions)),
  )
  const signature = sign('sha256', body, options.signingKey)
  const base64 = der.sequence(body, algorithm, der.bits(signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`
}

const name = (common: string) => der.sequence(der.set(der.sequence(der.objectId(COMMON_NAME), der.utf8(common))))

const extension = (id: string, critical: boolean, value: der.Der) =>
  der.sequence(der.objectId(id), ...(critical ? [der.boolean(true)] : []), der.octets(value))

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' })

/** RFC 5280, 4.2.1.2: the hash of the key's bits, which are the last 65 bytes of a P-256 key. */
const keyId = (key: KeyObject): Buffer => crypto().createHash('sha1').update(spki(key).subarray(-65)).digest()

function alternativeName(host: string): der.Der {
  const address = addressBytes(host)
  return address === undefined ? der.implicit(2, Buffer.from(host)) : der.implicit(7, address)
}

function addressBytes(host: string): Buffer | undefined {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return Buffer.from(host.split('.').map(Number))
  if (!host.includes(':')) return undefined
  const [head = '', tail = ''] = host.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const before = groups(head)
  const after = groups(tail)
  const all = [...before, ...Array(8 - before.length - after.length).fill(0), ...after]
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
