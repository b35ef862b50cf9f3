/**
 * A certificate that the operator looks after itself. It is kept in a Secret, so that all replicas serve the same one, and its authority is
 * written to where the API server looks for it. Each certificate has an authority of its own, whose key is thrown away: nothing that lies around
 * can sign another one.
 *
 * A new one is made when a third of the time is left. Its authority is added to the old one before anybody serves it, and those that were
 * told of it by the Secret wait a moment, so that there is no time at which an API server trusts only the other.
 *
 * Who writes: the leader, by its own client, which writes nothing any more once it does not lead. The very first certificate anybody may make who has
 * none to serve, because the API server may have to ask before there is a leader; of several the Secret takes one.
 */

import type { X509Certificate } from 'node:crypto'
import type { Client } from '../api/client.ts'
import { type Clock, delay, type Timer, timestamp } from '../api/clock.ts'
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../api/status-error.ts'
import { type KindRef, type KubeObject, keyOf, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { createAuthority, createServerCertificate, type KeyPair } from '../tls/certificates.ts'

export interface CertificateStoreOptions {
  /** Reads, and writes the very first certificate. */
  readonly client: Client
  readonly clock: Clock
  readonly log: Log
  readonly secret: ObjectRef
  /** Names that the API server calls the operator by. */
  readonly hosts: readonly string[]
  /** What the leader writes with; undefined where this process does not lead. */
  readonly leader: () => Client | undefined
  /** Writes the authorities (PEM) to where the API server looks for them. Called often; it writes only what differs. */
  readonly publish: (authorities: string, client: Client) => Promise<void>
  /** Called with the first certificate, and with each new one. */
  readonly renewed: (pair: KeyPair) => void | Promise<void>
}

type Secret = KubeObject & { type?: string; data?: Record<string, string> }
const Secret: KindRef<Secret> = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', scope: 'Namespaced' }

const DAY = 86_400_000
const VALID_MS = 90 * DAY
const RENEW_MS = 30 * DAY
/** For clocks that go differently. */
const EARLIER_MS = DAY
/** Of those who only serve it: a new one is served by the leader first. */
const LOOK_MS = 60_000
/** Of the leader: a configuration that somebody has replaced trusts nobody until it is seen, and what it is about fails. */
const LEADER_LOOK_MS = 10_000
/** While there is none to serve: the Service leads to this replica as well, and whatever the API server asks it fails. */
const MISSING_LOOK_MS = 2_000
/** After a look that failed: an API server that has not been told whom to trust refuses what it would ask about. */
const FAILED_LOOK_MS = 10_000
/** An API server hears of a change to a configuration within a second; a busy one within a few. */
const SPREAD_MS = 10_000

interface Stored extends KeyPair {
  readonly authorities: string
  /** Milliseconds since 1970. */
  readonly until: number
}

export class CertificateStore {
  readonly #o: CertificateStoreOptions
  readonly #stop = new AbortController()
  #timer: Timer | undefined
  #served: string | undefined
  #looking: Promise<void> | undefined
  #again = false
  #complaint: string | undefined

  constructor(options: CertificateStoreOptions) {
    this.#o = options
  }

  /** Resolves after the first look, whether or not there is a certificate by then. Looks again every 10 s as leader, else every minute, and sooner where there is none, or something failed. */
  async start(): Promise<void> {
    await this.look()
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#stop.abort(new Error('the certificate is not looked after any more'))
    await this.#looking
  }

  /** Resolves after a look that began after this call. Never rejects: what goes wrong is logged, and tried again. */
  look(): Promise<void> {
    // One under way may have asked already who leads.
    this.#again = this.#looking !== undefined
    this.#looking ??= this.#looks().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #looks(): Promise<void> {
    do {
      this.#again = false
      await this.#look()
    } while (this.#again && !this.#stop.signal.aborted)
  }

  async #look(): Promise<void> {
    const { clock, secret } = this.#o
    this.#timer?.cancel()
    try {
      const first = this.#served === undefined
      const { stored, by } = await this.#current()
      if (stored === undefined) this.#complain(`waiting for the leader to make a certificate (Secret ${keyOf(secret)})`)
      else {
        // Nobody has trusted another one yet: it can be served at once.
        if (first) await this.#serve(stored)
        if (by !== undefined) await this.#o.publish(stored.authorities, by)
        if (stored.cert !== this.#served) {
          await delay(clock, SPREAD_MS, this.#stop.signal)
          await this.#serve(stored)
        }
        this.#complaint = undefined
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#complain(`cannot look after the certificate of the webhooks: ${explained(error)}`, error)
    }
    if (!this.#stop.signal.aborted) this.#timer = clock.after(this.#pauseMs(), () => void this.look())
  }

  #pauseMs(): number {
    if (this.#served === undefined) return MISSING_LOOK_MS
    if (this.#complaint !== undefined) return FAILED_LOOK_MS
    return this.#o.leader() === undefined ? LOOK_MS : LEADER_LOOK_MS
  }

  async #serve({ cert, key, until }: Stored): Promise<void> {
    await this.#o.renewed({ cert, key })
    this.#served = cert
    this.#o.log.info({ keptIn: keyOf(this.#o.secret), until: timestamp(until) }, 'the webhooks have a certificate')
  }

  /** Once for each trouble, not every minute. */
  #complain(text: string, err?: unknown): void {
    if (this.#complaint !== text) this.#o.log.warn(err === undefined ? {} : { err }, text)
    this.#complaint = text
  }

  /** `by`: what to publish it with, where that is up to this process. `stored` is undefined where there is none, and this process may not make one. */
  async #current(): Promise<{ stored?: Stored; by?: Client | undefined }> {
    const { client, clock, secret } = this.#o
    const options = { signal: this.#stop.signal }
    const found = await client.find(Secret, secret, options)
    const stored = found === undefined ? undefined : readStored(found)
    const now = clock.now()
    const usable = stored !== undefined && stored.until > now && this.#isFor(stored)
    const leader = this.#o.leader()
    if (usable && stored.until - now > RENEW_MS) return { stored, by: leader }
    // Whoever serves one can wait for the leader, also where somebody has emptied the Secret.
    const by = leader ?? (stored === undefined && this.#served === undefined ? client : undefined)
    if (by === undefined) return usable ? { stored } : {}
    const next = this.#make(usable ? stored : undefined)
    if (usable) await this.#o.publish(next.authorities, by)
    const data = Object.fromEntries(
      Object.entries({ 'tls.crt': next.cert, 'tls.key': next.key, 'ca.crt': next.authorities }).map(([name, text]) => [name, base64(text)]),
    )
    try {
      // As it was read, so that one of several wins.
      if (found === undefined) await by.create(Secret, { metadata: { ...secret } as never, type: 'Opaque', data }, options)
      else await by.update(Secret, { ...found, data: { ...found.data, ...data } }, options)
      return { stored: next, by }
    } catch (error) {
      // Where only the leader may write (tsop generate fence), it will.
      if (isForbidden(error) && leader === undefined) return {}
      if (!isConflict(error) && !isAlreadyExists(error)) throw error
      const theirs = readStored(await client.get(Secret, secret, options))
      return theirs === undefined ? {} : { stored: theirs, by: leader }
    }
  }

  #isFor({ cert }: Stored): boolean {
    const { subjectAltName = '' } = x509(cert)
    const names = subjectAltName.split(', ')
    return this.#o.hosts.every((host) => names.includes(`DNS:${host}`) || names.includes(`IP Address:${host}`))
  }

  #make(before: Stored | undefined): Stored {
    const now = this.#o.clock.now()
    const validity = { from: now - EARLIER_MS, to: now + VALID_MS }
    const [commonName = 'webhooks'] = this.#o.hosts
    const authority = createAuthority(`${commonName.slice(0, 40)} ${timestamp(now).slice(0, 10)}`, validity)
    const pair = createServerCertificate(authority, { ...validity, commonName: commonName.slice(0, 64), hosts: this.#o.hosts })
    // Of the old ones only the one that is being served.
    const [old = ''] = before?.authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/) ?? []
    return { ...pair, authorities: authority.cert + old, until: validity.to }
  }
}

/** Undefined where it holds no pair of certificate and key, or no authority by which an API server could trust it. */
function readStored({ data = {} }: Secret): Stored | undefined {
  const [cert, key, authorities] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => Buffer.from(data[name] ?? '', 'base64').toString())
  if (!cert || !key || !authorities) return undefined
  try {
    const certificate = x509(cert)
    const { createPrivateKey } = process.getBuiltinModule('node:crypto')
    if (!certificate.checkPrivateKey(createPrivateKey(key)) || !isIssued(certificate, authorities)) return undefined
    return { cert, key, authorities, until: certificate.validToDate.getTime() }
  } catch {
    return undefined
  }
}

function isIssued(certificate: X509Certificate, authorities: string): boolean {
  const all = authorities.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return all.map(x509).some((authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey))
}

const x509 = (pem: string) => new (process.getBuiltinModule('node:crypto').X509Certificate)(pem)
const base64 = (text: string) => Buffer.from(text).toString('base64')

function explained(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  if (isForbidden(error)) return `${text}; tsop generate webhooks writes the rights it needs`
  return isNotFound(error) ? `${text}; tsop generate webhooks writes what must be there` : text
}
