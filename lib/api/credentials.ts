/**
 * Credentials made of a kubeconfig's cluster and user, and kept new: files are looked at at most once a second (tokens of service
 * accounts and certificates rotate), everything is read anew after a 401.
 */

import { readFileSync, statSync } from 'node:fs'
import type { Clock } from './clock.ts'
import type { Credentials, TlsSettings } from './cluster.ts'
import { ConfigError } from './config-error.ts'
import { type ClusterEntry, reasonOf, type UserEntry } from './kubeconfig-file.ts'

export interface Identity {
  readonly cluster: ClusterEntry
  readonly clusterName: string
  readonly user: UserEntry
  readonly userName: string
}

/** What a plugin or an identity provider gives; it may change with every asking. */
export interface Plugin {
  /** `fresh`: not what was given before. */
  ask(fresh: boolean): Promise<Pick<Partial<TlsSettings>, 'cert' | 'key'> & { readonly authorization?: string }>
}

const LOOK_EVERY_MS = 1000
/** A plugin's credentials: it knows itself when they expire, but asking is not free. */
const ASK_EVERY_MS = 10_000
/** After a plugin's credentials were refused, it is not asked for others more often. */
const RENEW_EVERY_MS = 5000

export class CredentialSource {
  #identity: Identity
  readonly #readAgain: () => Promise<Identity>
  readonly #kubeconfigs: readonly string[]
  readonly #clock: Clock
  #plugin: Plugin | undefined
  #credentials: Credentials | undefined
  #signature = ''
  #lookedAt = Number.NEGATIVE_INFINITY
  #renewedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<Credentials> | undefined

  /** Reads the files of `identity` at once; throws a `ConfigError`. `readAgain`: the identity as `kubeconfigs` say now. */
  constructor(identity: Identity, readAgain: () => Promise<Identity>, kubeconfigs: readonly string[], clock: Clock) {
    this.#identity = identity
    this.#readAgain = readAgain
    this.#kubeconfigs = kubeconfigs
    this.#clock = clock
    if (!needsPlugin(identity)) {
      this.#signature = this.#signatureNow()
      this.#credentials = credentialsOf(identity)
      this.#lookedAt = clock.monotonic()
    }
  }

  current(): Credentials | Promise<Credentials> {
    const credentials = this.#credentials
    const every = needsPlugin(this.#identity) ? ASK_EVERY_MS : LOOK_EVERY_MS
    if (credentials !== undefined && this.#clock.monotonic() - this.#lookedAt < every) return credentials
    if (credentials !== undefined && !needsPlugin(this.#identity) && this.#signatureNow() === this.#signature) {
      this.#lookedAt = this.#clock.monotonic()
      return credentials
    }
    return this.#load(false)
  }

  async renew(rejected: Credentials): Promise<Credentials> {
    if (this.#credentials !== undefined && this.#credentials !== rejected) return this.#credentials
    if (needsPlugin(this.#identity)) {
      if (this.#clock.monotonic() - this.#renewedAt < RENEW_EVERY_MS && this.#loading === undefined) return rejected
      this.#renewedAt = this.#clock.monotonic()
    }
    return await this.#load(true)
  }

  /** Once for all who ask at the same time. */
  #load(fresh: boolean): Promise<Credentials> {
    this.#loading ??= this.#read(fresh).finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #read(fresh: boolean): Promise<Credentials> {
    const before = this.#credentials
    try {
      this.#lookedAt = this.#clock.monotonic()
      const signature = this.#signatureNow()
      if (fresh || signature !== this.#signature) this.#identity = await this.#readAgain()
      const next = needsPlugin(this.#identity) ? await this.#askPlugin(fresh) : credentialsOf(this.#identity)
      this.#signature = signature
      this.#credentials = before === undefined ? next : keepSame(before, next)
    } catch (error) {
      // A file is just being written, or gone for a moment: those we have may still be good, and a 401 says if not.
      if (before === undefined || needsPlugin(this.#identity)) throw error
    }
    return this.#credentials as Credentials
  }

  async #askPlugin(fresh: boolean): Promise<Credentials> {
    if (this.#plugin === undefined || fresh) {
      const { createPlugin } = await import('./credential-plugin.ts')
      this.#plugin = createPlugin(this.#identity)
    }
    const { authorization, ...tls } = await this.#plugin.ask(fresh).catch((cause) => {
      throw pluginError(this.#identity, cause)
    })
    const base = credentialsOf(this.#identity)
    return {
      headers: { ...base.headers, ...(authorization !== undefined && { authorization }) },
      tls: { ...base.tls, ...tls },
    }
  }

  /** Changes when one of the files does. A missing one counts as well: it may come back. */
  #signatureNow(): string {
    const { cluster, user } = this.#identity
    let text = ''
    for (const file of [...this.#kubeconfigs, user.tokenFile, cluster.certificateAuthority, user.clientCertificate, user.clientKey]) {
      if (file === undefined) continue
      const stat = statSync(file, { throwIfNoEntry: false })
      text += stat === undefined ? 'gone ' : `${stat.mtimeMs}:${stat.size}:${stat.ino} `
    }
    return text
  }
}

function needsPlugin({ user }: Identity): boolean {
  return user.exec !== undefined || user.authProvider !== undefined
}

/** What is equal stays the same object, so that nobody does anything about it. */
function keepSame(before: Credentials, next: Credentials): Credentials {
  const tls = JSON.stringify(before.tls) === JSON.stringify(next.tls) ? before.tls : next.tls
  if (tls === before.tls && JSON.stringify(before.headers) === JSON.stringify(next.headers)) return before
  return { headers: next.headers, tls }
}

function credentialsOf(identity: Identity): Credentials {
  return { headers: headersOf(identity), tls: tlsOf(identity) }
}

function headersOf({ user, userName }: Identity): Credentials['headers'] {
  const headers: Record<string, string | readonly string[]> = {}
  const token = tokenOf(user, userName)
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  else if (user.username !== undefined) {
    headers['authorization'] = `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`
  }
  if (user.as !== undefined) headers['impersonate-user'] = user.as
  if (user.asUid !== undefined) headers['impersonate-uid'] = user.asUid
  if (user.asGroups.length > 0) headers['impersonate-group'] = user.asGroups
  for (const [key, values] of Object.entries(user.asUserExtra)) headers[`impersonate-extra-${headerName(key)}`] = values
  return headers
}

/** The file wins over the token in the kubeconfig, which only stands in while the file cannot be read. */
function tokenOf(user: UserEntry, name: string): string | undefined {
  let token = user.token
  let where = `the token of the user "${name}" of ${user.file}`
  if (user.tokenFile !== undefined) {
    try {
      token = readFileSync(user.tokenFile, 'utf8').trim()
      where = `the token in ${user.tokenFile}`
      if (token === '') throw new ConfigError(`the token file ${user.tokenFile} is empty`)
    } catch (error) {
      token = user.token
      if (token === undefined) throw unreadable(error, 'token file', user.tokenFile, `user "${name}" of ${user.file}`)
    }
  }
  if (token !== undefined && /[^\x21-\x7e]/.test(token)) throw new ConfigError(`${where} has a character that no token can have`)
  return token
}

/** Keys may have any character, header names may not: the API server decodes what is percent-encoded. */
function headerName(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9!#$&'*+.^_`|~-]/g, (character) => encodeURIComponent(character))
}

function tlsOf({ cluster, clusterName, user, userName }: Identity): TlsSettings {
  const ofCluster = `cluster "${clusterName}" of ${cluster.file}`
  const ofUser = `user "${userName}" of ${user.file}`
  const ca = pem(cluster.certificateAuthorityData, cluster.certificateAuthority, 'certificate-authority', ofCluster)
  const cert = pem(user.clientCertificateData, user.clientCertificate, 'client-certificate', ofUser)
  const key = pem(user.clientKeyData, user.clientKey, 'client-key', ofUser)
  if ((cert === undefined) !== (key === undefined)) {
    const [there, missing] = cert === undefined ? ['client-key', 'client-certificate'] : ['client-certificate', 'client-key']
    throw new ConfigError(`the ${ofUser} has a ${there} but no ${missing}`)
  }
  return {
    ...(ca !== undefined && { ca: [ca] }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    ...(cluster.tlsServerName !== undefined && { servername: cluster.tlsServerName }),
    rejectUnauthorized: !cluster.insecureSkipTlsVerify,
  }
}

/** Data wins over a file. */
function pem(data: string | undefined, file: string | undefined, field: string, whose: string): string | undefined {
  let text: string
  if (data !== undefined) text = Buffer.from(data, 'base64').toString('latin1')
  else if (file !== undefined) {
    try {
      text = readFileSync(file, 'latin1')
    } catch (error) {
      throw unreadable(error, field, file, whose)
    }
  } else return undefined
  if (!text.includes('-----BEGIN ')) {
    throw new ConfigError(
      data !== undefined
        ? `${field}-data of the ${whose} is no base64 of a PEM text`
        : `${file}, the ${field} of the ${whose}, is no PEM file`,
    )
  }
  return text
}

function pluginError({ user, userName }: Identity, cause: Error): ConfigError {
  const command = user.exec?.['command'] ?? user.authProvider?.['name']
  const why = cause.message.trim().split('\n', 1)[0] || 'it failed'
  return new ConfigError(`the credential plugin "${command}" of the user "${userName}" of ${user.file} gave no credentials: ${why}`, {
    cause,
  })
}

function unreadable(error: unknown, what: string, file: string, whose: string): ConfigError {
  if (error instanceof ConfigError) return error
  return new ConfigError(`cannot read ${file}, the ${what} of the ${whose}: ${reasonOf(error)}`, { cause: error })
}
