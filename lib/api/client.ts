/**
 * The typed client: one request a call, the object back. No cache, no models: what the server sends is what the caller
 * gets, unknown fields included.
 */

import type { Applied, Patch } from '../resource/context-client.ts'
import type { Desired, KindRef, KubeObject, ObjectRef } from '../resource/kind.ts'
import type { FieldSelector, Selector } from '../resource/selector.ts'
import { type Clock, delay, type Random, systemRandom } from './clock.ts'
import { Discovery, type KindInfo } from './discovery.ts'
import { collectionPath, objectPath, query } from './paths.ts'
import { retryDelayMs } from './retry.ts'
import { toFieldSelector, toLabelSelector } from './selectors.ts'
import { isGone, isObjectMissing, type StatusError, statusError } from './status-error.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'
import { openGate, type WriteGate } from './write-gate.ts'

export interface ClientOptions {
  readonly transport: Transport
  readonly clock: Clock
  /** For the jitter of retries. Default: the system's. */
  readonly random?: Random
  /** Asked before each mutating request, and by the transport once more right before it leaves. Default: always open. */
  readonly gate?: WriteGate
  /** Milliseconds a call may take, each try by itself. Default 30,000. */
  readonly timeoutMs?: number
  /** Default `tsop`. The API server takes the part before `/` as field manager where a write names none. */
  readonly userAgent?: string
}

export interface CallOptions {
  /** Rejects the call with the signal's reason. A write may have been done nevertheless. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds; default that of the client. */
  readonly timeoutMs?: number | undefined
  /**
   * How often a call is repeated by itself; default 4. Reads: after a lost connection, 429 and 503. Writes: after 429 only, with which the
   * server says that it did nothing.
   */
  readonly retries?: number | undefined
}

export interface GetOptions extends CallOptions {
  readonly subresource?: string | undefined
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined
  readonly labels?: Selector | undefined
  readonly fields?: FieldSelector | undefined
  /** As `resourceVersion` of the API: absent the newest, `'0'` whatever the server has at hand. */
  readonly resourceVersion?: string | undefined
  /** Objects a page; default 500. The answer has all pages in any case. */
  readonly limit?: number | undefined
}

export interface WriteOptions extends CallOptions {
  /** The server checks and answers, but keeps nothing. */
  readonly dryRun?: boolean | undefined
  readonly fieldManager?: string | undefined
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined
  /** `'status'`, `'scale'`, … */
  readonly subresource?: string | undefined
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string
  /** Takes over fields that another manager set. Default false: 409 `Conflict`. */
  readonly force?: boolean | undefined
}

export interface DeleteOptions extends WriteOptions {
  /** Only this very object: another of the same name answers 409. */
  readonly uid?: string | undefined
  /** Only this very version of it. */
  readonly resourceVersion?: string | undefined
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined
  readonly gracePeriodSeconds?: number | undefined
}

const PAGE = 500
const RETRIES = 4

/**
 * Errors of every call: `StatusError` where the server refused, `TimeoutError` and `ConnectionError` where it gave no answer,
 * the signal's reason where it was aborted, `UnknownKindError` where a kind had to be looked up and is not served,
 * `TypeError` where name or namespace are missing or cannot be part of a path, and what the write gate throws.
 */
export class Client {
  readonly transport: Transport
  readonly discovery: Discovery
  readonly #clock: Clock
  readonly #random: Random
  readonly #gate: WriteGate
  readonly #checkGate: () => void
  readonly #timeoutMs: number
  /** One object a content type, so that a call need not build its headers. */
  readonly #headers: Readonly<Record<ContentType, Readonly<Record<string, string>>>>

  constructor(options: ClientOptions) {
    this.transport = options.transport
    this.#clock = options.clock
    this.#random = options.random ?? systemRandom
    this.#gate = options.gate ?? openGate
    this.#checkGate = () => this.#gate.check()
    this.#timeoutMs = options.timeoutMs ?? 30_000
    this.#headers = headersFor(options.userAgent ?? 'tsop')
    this.discovery = new Discovery((path) => this.#read(path, {}))
  }

  /** Throws `StatusError` 404 where it is not there. */
  async get<O>(kind: KindRef<O>, ref: ObjectRef, options: GetOptions = {}): Promise<O> {
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    return (await this.#read(objectPath(kind, place, ref, options.subresource), options)) as O
  }

  /** `undefined` where it is not there. */
  async find<O>(kind: KindRef<O>, ref: ObjectRef, options: GetOptions = {}): Promise<O | undefined> {
    try {
      return await this.get(kind, ref, options)
    } catch (error) {
      if (isObjectMissing(error, ref.name)) return undefined
      throw error
    }
  }

  /** All of them, page by page. Each item gets the `apiVersion` and `kind` that a list's items lack. */
  async list<O>(kind: KindRef<O>, options: ListOptions = {}): Promise<{ items: O[]; resourceVersion: string }> {
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    const path = collectionPath(kind, place, options.namespace)
    try {
      return await this.#pages<O>(kind, path, options)
    } catch (error) {
      // A list that takes longer than the server keeps its versions loses its place: once more from the start.
      if (!(error instanceof ContinueExpired)) throw error
      try {
        return await this.#pages<O>(kind, path, options)
      } catch (again) {
        throw again instanceof ContinueExpired ? again.cause : again
      }
    }
  }

  /** `metadata.namespace` says where. Throws `StatusError` 409 `AlreadyExists`. */
  async create<O>(kind: KindRef<O>, object: Desired<O>, options: WriteOptions = {}): Promise<O> {
    const { name, generateName, namespace } = metadataOf(object)
    if (options.subresource === undefined && !name && !generateName) throw new TypeError(`create ${kind.kind}: metadata.name is missing`)
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    const path =
      options.subresource === undefined
        ? collectionPath(kind, place, namespace, true)
        : objectPath(kind, place, { name: name ?? '', namespace }, options.subresource)
    return (await this.#write('POST', path + writeQuery(options), 'object', bodyOf(kind, object), options)) as O
  }

  /** Replaces it. With `metadata.resourceVersion` (as read) a change in between answers 409 `Conflict`. */
  async update<O>(kind: KindRef<O>, object: O, options: WriteOptions = {}): Promise<O> {
    const { name, namespace } = metadataOf(object as Desired<O>)
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    const path = objectPath(kind, place, { name: name ?? '', namespace }, options.subresource)
    return (await this.#write('PUT', path + writeQuery(options), 'object', bodyOf(kind, object as object), options)) as O
  }

  async patch<O>(kind: KindRef<O>, ref: ObjectRef, patch: Patch, options: WriteOptions = {}): Promise<O> {
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    const path = objectPath(kind, place, ref, options.subresource)
    return (await this.#write('PATCH', path + writeQuery(options), patch.type, JSON.stringify(patch.value), options)) as O
  }

  /** Server-side apply: the object as far as `fieldManager` wants to own it. Creates it where it is missing, unless it carries a `uid`. */
  async apply<O>(kind: KindRef<O>, object: Applied<O> | Desired<O>, options: ApplyOptions): Promise<O> {
    const { name, namespace } = metadataOf(object)
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    const path = objectPath(kind, place, { name: name ?? '', namespace }, options.subresource)
    const search = writeQuery(options, options.force === true)
    return (await this.#write('PATCH', path + search, 'apply', bodyOf(kind, object), options)) as O
  }

  /**
   * Gives the object where it is still there, waiting for its finalizers or its grace period, and `undefined` where it is gone.
   * Throws `StatusError` 404 where it was not there, 409 where `uid` or `resourceVersion` differ.
   */
  async delete(kind: KindRef<unknown>, ref: ObjectRef, options: DeleteOptions = {}): Promise<KubeObject | undefined> {
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    const path = objectPath(kind, place, ref, options.subresource)
    const answer = await this.#write('DELETE', path, 'object', deleteBody(options), options)
    return isStillThere(answer) ? answer : undefined
  }

  /** Where the API has an object, or, without a name, all objects of a kind (of a namespace). */
  async pathOf(
    kind: KindRef<unknown>,
    ref: ObjectRef | { readonly namespace?: string | undefined },
    subresource?: string,
  ): Promise<string> {
    const place = this.#placeOf(kind) ?? (await this.discovery.resolve(kind))
    return 'name' in ref ? objectPath(kind, place, ref, subresource) : collectionPath(kind, place, ref.namespace)
  }

  /** A kind that says where it lives costs no discovery; without a wait where the answer is known, for this is the hot path. */
  #placeOf(kind: KindRef<unknown>): Place | undefined {
    if (kind.plural !== undefined && kind.scope !== undefined) return { plural: kind.plural, namespaced: kind.scope === 'Namespaced' }
    return this.discovery.known(kind)
  }

  async #pages<O>(kind: KindRef<O>, path: string, options: ListOptions): Promise<{ items: O[]; resourceVersion: string }> {
    const search = {
      labelSelector: options.labels === undefined ? undefined : toLabelSelector(options.labels),
      fieldSelector: options.fields === undefined ? undefined : toFieldSelector(options.fields),
      limit: String(options.limit ?? PAGE),
    }
    let items: KubeObject[] | undefined
    let next: string | undefined
    for (;;) {
      // The token stands for the version as well; the server refuses both together.
      const at = next === undefined ? { resourceVersion: options.resourceVersion } : { continue: next }
      const page = (await this.#read(path + query({ ...search, ...at }), options).catch((error) => {
        throw next !== undefined && isGone(error) ? new ContinueExpired(error) : error
      })) as List
      const found = page.items ?? []
      for (const item of found) {
        item.apiVersion ??= kind.apiVersion
        item.kind ??= kind.kind
      }
      if (items === undefined) items = found
      else for (const item of found) items.push(item)
      next = page.metadata.continue || undefined
      if (next === undefined) return { items: items as O[], resourceVersion: page.metadata.resourceVersion ?? '' }
    }
  }

  #read(path: string, options: CallOptions): Promise<unknown> {
    return this.#call(
      {
        method: 'GET',
        path,
        headers: this.#headers.none,
        timeoutMs: options.timeoutMs ?? this.#timeoutMs,
        signal: options.signal,
      },
      options,
    )
  }

  #write(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    type: ContentType,
    body: string | undefined,
    options: CallOptions,
  ): Promise<unknown> {
    const request: TransportRequest = {
      method,
      path,
      headers: this.#headers[body === undefined ? 'none' : type],
      timeoutMs: options.timeoutMs ?? this.#timeoutMs,
      signal: options.signal,
      beforeSend: this.#checkGate,
      ...(body !== undefined && { body }),
    }
    return this.#call(request, options)
  }

  /** The first try without the cost of a loop that awaits: nearly all calls end with it. */
  #call(request: TransportRequest, options: CallOptions): Promise<unknown> {
    return this.#send(request).then(
      (response) => (response.status < 300 ? parsed(request, response) : this.#again(request, options, refused(request, response))),
      (error) => this.#again(request, options, error),
    )
  }

  /** After a failure: waits and repeats, or throws the last one. */
  async #again(request: TransportRequest, options: CallOptions, first: unknown): Promise<unknown> {
    let failure = first
    for (let tries = 1; ; tries++) {
      const wait = tries > (options.retries ?? RETRIES) ? undefined : retryDelayMs(request.method, failure, tries, this.#random)
      if (wait === undefined) throw failure
      await delay(this.#clock, wait, options.signal)
      try {
        const response = await this.#send(request)
        if (response.status < 300) return parsed(request, response)
        failure = refused(request, response)
      } catch (error) {
        failure = error
      }
    }
  }

  #send(request: TransportRequest): Promise<TransportResponse> {
    try {
      if (request.method !== 'GET') this.#gate.check()
    } catch (error) {
      return Promise.reject(error)
    }
    return this.transport.request(request)
  }
}

type ContentType = 'none' | 'object' | Patch['type'] | 'apply'
type Place = Pick<KindInfo, 'plural' | 'namespaced'>

interface List {
  readonly items?: KubeObject[] | null
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
}

class ContinueExpired extends Error {
  constructor(cause: unknown) {
    super('the continue token has expired', { cause })
  }
}

function headersFor(userAgent: string): Record<ContentType, Readonly<Record<string, string>>> {
  const none = { accept: 'application/json', 'user-agent': userAgent }
  return {
    none,
    object: { ...none, 'content-type': 'application/json' },
    merge: { ...none, 'content-type': 'application/merge-patch+json' },
    strategic: { ...none, 'content-type': 'application/strategic-merge-patch+json' },
    json: { ...none, 'content-type': 'application/json-patch+json' },
    // JSON is YAML.
    apply: { ...none, 'content-type': 'application/apply-patch+yaml' },
  }
}

function refused({ method, path }: TransportRequest, { status, headers, body }: TransportResponse): StatusError {
  return statusError(method, path, status, headers, body)
}

function parsed(request: TransportRequest, { body }: TransportResponse): unknown {
  if (body.length === 0) return undefined
  const text = body.toString()
  try {
    return JSON.parse(text)
  } catch {
    // Neither the beginning of an object nor what the parser says of it, which quotes it: it may be a Secret.
    const what = /^\s*[{[]/.test(text) ? 'broken or cut short' : `no JSON but "${text.slice(0, 100)}"; is this an API server?`
    throw new Error(`${request.method} ${request.path}: the answer is ${what}`)
  }
}

function writeQuery(options: WriteOptions, force = false): string {
  const { dryRun, fieldManager, fieldValidation } = options
  if (dryRun !== true && fieldManager === undefined && fieldValidation === undefined && !force) return ''
  return query({ dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation, force: force ? 'true' : undefined })
}

function metadataOf(object: object): { name?: string; generateName?: string; namespace?: string } {
  return (object as { metadata?: object }).metadata ?? {}
}

function bodyOf(kind: KindRef<unknown>, object: object): string {
  const { apiVersion, kind: name } = object as { apiVersion?: string; kind?: string }
  if (apiVersion !== undefined && name !== undefined) return JSON.stringify(object)
  return JSON.stringify({ ...object, apiVersion: apiVersion ?? kind.apiVersion, kind: name ?? kind.kind })
}

/** `dryRun` goes here as well: the server looks at no query where there is a body. */
function deleteBody(options: DeleteOptions): string | undefined {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options
  const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion }
  const dry = dryRun === true ? ['All'] : undefined
  if (preconditions === undefined && propagationPolicy === undefined && gracePeriodSeconds === undefined && dry === undefined)
    return undefined
  return JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy, gracePeriodSeconds, dryRun: dry })
}

/** The answer to a DELETE is a Status, or the object: as it was last seen (some built-in kinds), or as it is now that it waits. */
/** Whether an object that was deleted waits for finalizers or its grace period. */
export function isStillThere(answer: unknown): answer is KubeObject {
  const { kind, metadata, spec } = (answer ?? {}) as Partial<KubeObject> & { spec?: { finalizers?: string[] } }
  if (kind === 'Status' || metadata?.deletionTimestamp === undefined) return false
  // A namespace waits for those of its spec.
  const finalizers = metadata.finalizers ?? (kind === 'Namespace' ? spec?.finalizers : undefined) ?? []
  return finalizers.length > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0
}
