/**
 * What the API server knows of a kind: its name in the URL, its scope, its verbs and subresources. Read from
 * `/api/v1` or `/apis/<group>/<version>` once, on the first question.
 */

import { type KindRef, kindKey } from '../resource/kind.ts'
import { isNotFound } from './status-error.ts'

export interface KindInfo {
  readonly plural: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  /** `status`, `scale`, … */
  readonly subresources: readonly string[]
}

/** The server does not serve the kind: most likely its CustomResourceDefinition is not installed. */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError'
  readonly apiVersion: string
  readonly kind: string

  constructor(kind: { apiVersion: string; kind: string }) {
    super(
      `the API server does not serve ${kind.kind} of ${kind.apiVersion}; is its CustomResourceDefinition installed and this version served?`,
    )
    this.apiVersion = kind.apiVersion
    this.kind = kind.kind
  }
}

interface ResourceList {
  readonly resources?: readonly { name: string; kind: string; namespaced: boolean; verbs: readonly string[] }[]
}

export class Discovery {
  readonly #get: (path: string) => Promise<unknown>
  readonly #known = new Map<string, KindInfo>()
  readonly #loading = new Map<string, Promise<void>>()

  /** `get` reads a path as JSON and throws a `StatusError` where it cannot. */
  constructor(get: (path: string) => Promise<unknown>) {
    this.#get = get
  }

  /**
   * Answers from memory once it knows; concurrent questions share a request. An unknown kind is asked for anew each time, since
   * its CRD may be installed meanwhile.
   *
   * Errors: `UnknownKindError`; `StatusError`, `TimeoutError`, `ConnectionError` of the request.
   */
  async resolve(kind: KindRef<unknown>): Promise<KindInfo> {
    const key = kindKey(kind)
    if (!this.#known.has(key)) await this.#load(kind)
    const info = this.#known.get(key)
    if (info === undefined) throw new UnknownKindError(kind)
    return info
  }

  /** The answer where it is known already. */
  known(kind: KindRef<unknown>): KindInfo | undefined {
    return this.#known.get(kindKey(kind))
  }

  /** Asks again next time: the CRD was installed anew and may have changed. */
  forget(kind: KindRef<unknown>): void {
    this.#known.delete(kindKey(kind))
  }

  #load(kind: KindRef<unknown>): Promise<void> {
    const { apiVersion } = kind
    let loading = this.#loading.get(apiVersion)
    if (loading === undefined) {
      loading = this.#read(kind).finally(() => this.#loading.delete(apiVersion))
      this.#loading.set(apiVersion, loading)
    }
    return loading
  }

  async #read(kind: KindRef<unknown>): Promise<void> {
    const { apiVersion } = kind
    let list: ResourceList
    try {
      list = (await this.#get(groupVersionPath(apiVersion))) as ResourceList
    } catch (error) {
      // The last kind of a group that goes takes the whole path along.
      if (isNotFound(error)) return
      throw error
    }
    const resources = list.resources ?? []
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes('/')) continue
      const subresources = resources.filter((other) => other.name.startsWith(`${name}/`)).map((other) => other.name.slice(name.length + 1))
      this.#known.set(kindKey({ apiVersion, kind }), { plural: name, namespaced, verbs, subresources })
    }
  }
}

/** `/api/v1`, `/apis/apps/v1` */
export function groupVersionPath(apiVersion: string): string {
  if (!/^[\w.-]+(?:\/[\w.-]+)?$/.test(apiVersion)) throw new TypeError(`"${apiVersion}" is no apiVersion; it looks like v1 or apps/v1`)
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}
