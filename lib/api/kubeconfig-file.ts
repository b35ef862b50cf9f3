/**
 * Kubeconfig files as data: read, checked for shape, and merged as kubectl does
 * (https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files).
 */

import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { parseYaml, YamlError } from '../resource/yaml.ts'
import { ConfigError } from './config-error.ts'

export interface Kubeconfig {
  /** The files it was read from, in order. */
  readonly files: readonly string[]
  readonly currentContext: string | undefined
  readonly contexts: ReadonlyMap<string, ContextEntry>
  readonly clusters: ReadonlyMap<string, ClusterEntry>
  readonly users: ReadonlyMap<string, UserEntry>
}

interface ContextEntry {
  readonly file: string
  readonly cluster: string | undefined
  readonly user: string | undefined
  readonly namespace: string | undefined
}

/** Paths are absolute. */
export interface ClusterEntry {
  readonly file: string
  readonly server: string | undefined
  readonly certificateAuthority: string | undefined
  readonly certificateAuthorityData: string | undefined
  readonly insecureSkipTlsVerify: boolean
  readonly tlsServerName: string | undefined
  readonly proxyUrl: string | undefined
}

/** Paths are absolute. */
export interface UserEntry {
  readonly file: string
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly clientCertificate: string | undefined
  readonly clientCertificateData: string | undefined
  readonly clientKey: string | undefined
  readonly clientKeyData: string | undefined
  readonly as: string | undefined
  readonly asUid: string | undefined
  readonly asGroups: readonly string[]
  readonly asUserExtra: Readonly<Record<string, readonly string[]>>
  /** As it stands in the file: for a plugin. */
  readonly exec: Fields | undefined
  readonly authProvider: Fields | undefined
}

export type Fields = Readonly<Record<string, unknown>>

/** The files one after the other; what is named twice counts as the first one says. Throws a `ConfigError`. */
export async function readKubeconfig(files: readonly string[]): Promise<Kubeconfig> {
  const contexts = new Map<string, ContextEntry>()
  const clusters = new Map<string, ClusterEntry>()
  const users = new Map<string, UserEntry>()
  let currentContext: string | undefined
  for (const file of files) {
    const reader = new Reader(file, parseFile(file))
    currentContext ??= reader.text('current-context')
    for (const [name, entry] of reader.named('contexts', 'context')) keepFirst(contexts, name, contextEntry(entry))
    for (const [name, entry] of reader.named('clusters', 'cluster')) keepFirst(clusters, name, clusterEntry(entry))
    for (const [name, entry] of reader.named('users', 'user')) keepFirst(users, name, userEntry(entry))
  }
  return { files, currentContext, contexts, clusters, users }
}

function keepFirst<T>(map: Map<string, T>, name: string, value: T): void {
  if (!map.has(name)) map.set(name, value)
}

function contextEntry(entry: Reader): ContextEntry {
  return { file: entry.file, cluster: entry.text('cluster'), user: entry.text('user'), namespace: entry.text('namespace') }
}

function clusterEntry(entry: Reader): ClusterEntry {
  return {
    file: entry.file,
    server: entry.text('server'),
    certificateAuthority: entry.path('certificate-authority'),
    certificateAuthorityData: entry.text('certificate-authority-data'),
    insecureSkipTlsVerify: entry.flag('insecure-skip-tls-verify'),
    tlsServerName: entry.text('tls-server-name'),
    proxyUrl: entry.text('proxy-url'),
  }
}

function userEntry(entry: Reader): UserEntry {
  return {
    file: entry.file,
    token: entry.text('token'),
    tokenFile: entry.path('tokenFile'),
    username: entry.text('username'),
    password: entry.text('password'),
    clientCertificate: entry.path('client-certificate'),
    clientCertificateData: entry.text('client-certificate-data'),
    clientKey: entry.path('client-key'),
    clientKeyData: entry.text('client-key-data'),
    as: entry.text('as'),
    asUid: entry.text('as-uid'),
    asGroups: entry.texts('as-groups'),
    asUserExtra: entry.textsByName('as-user-extra'),
    exec: entry.fields('exec'),
    authProvider: entry.fields('auth-provider'),
  }
}

/** JSON is read without loading the YAML parser. */
function parseFile(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`cannot read the kubeconfig ${file}: ${reasonOf(error)}`, { cause: error })
  }
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text)
    } catch {
      // YAML may begin with a brace, too; and its parser says in which line an error is.
    }
  }
  try {
    // Verbatim: but for a few switches all values of a kubeconfig are texts, and a token of digits is no number.
    const [only, ...others] = parseYaml(text, { verbatim: true })
    if (others.length > 0) throw new ConfigError(`the kubeconfig ${file} is no kubeconfig: it has ${1 + others.length} YAML documents`)
    return only?.value ?? {}
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new ConfigError(`the kubeconfig ${file}:${error.line}:${error.column} is not valid YAML: ${error.message}`, { cause: error })
  }
}

/** Fields by their kinds, with an error that names file and field where one is of another kind. */
class Reader {
  readonly file: string
  readonly #where: string
  readonly #fields: Fields

  constructor(file: string, value: unknown, where = '') {
    this.file = file
    this.#where = where
    if (!isFields(value)) throw this.#wrong(where === '' ? 'it' : where, 'a mapping')
    this.#fields = value
  }

  /** The pairs of a list such as `users: [{ name, user: {…} }]`. */
  *named(list: string, inner: string): Generator<[string, Reader]> {
    const entries = this.#fields[list] ?? []
    if (!Array.isArray(entries)) throw this.#wrong(list, 'a list')
    for (const [i, entry] of entries.entries()) {
      const named = new Reader(this.file, entry, `${list}[${i}]`)
      const name = named.text('name')
      if (name === undefined) throw this.#wrong(`${list}[${i}].name`, 'a text')
      yield [name, new Reader(this.file, named.#fields[inner] ?? {}, `${inner} "${name}"`)]
    }
  }

  text(name: string): string | undefined {
    const value = this.#fields[name]
    if (value === undefined || value === null || value === '') return undefined
    // A token of digits is a number to JSON.
    if (typeof value !== 'string' && typeof value !== 'number') throw this.#wrong(name, 'a text')
    return String(value)
  }

  flag(name: string): boolean {
    const value = this.#fields[name] ?? false
    if (typeof value !== 'boolean') throw this.#wrong(name, 'true or false')
    return value
  }

  /** A relative one starts at the file's folder. */
  path(name: string): string | undefined {
    const value = this.text(name)
    return value === undefined || isAbsolute(value) ? value : resolve(dirname(this.file), value)
  }

  texts(name: string): string[] {
    const value = this.#fields[name] ?? []
    if (!Array.isArray(value)) throw this.#wrong(name, 'a list')
    return value.map(String)
  }

  textsByName(name: string): Record<string, string[]> {
    const map = new Reader(this.file, this.#fields[name] ?? {}, `${this.#where}.${name}`)
    return Object.fromEntries(Object.keys(map.#fields).map((key) => [key, map.texts(key)]))
  }

  fields(name: string): Fields | undefined {
    const value = this.#fields[name] ?? undefined
    if (value !== undefined && !isFields(value)) throw this.#wrong(name, 'a mapping')
    return value
  }

  #wrong(name: string, expected: string): ConfigError {
    const where = this.#where === '' || this.#where === name ? name : `${name} of ${this.#where}`
    return new ConfigError(`the kubeconfig ${this.file} is no kubeconfig: ${where} must be ${expected}`)
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'no such file'
  if (code === 'EACCES') return 'permission denied'
  if (code === 'EISDIR') return 'it is a folder'
  return message
}
