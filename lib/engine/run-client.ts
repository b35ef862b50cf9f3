/**
 * The API client of one run. It carries the run's signal, refuses to work once the run is over, and tells the journal of every
 * write, so that the cache never falls behind what this process has written.
 */
import type { Client } from '../api/client.ts'
import { ConnectionError, isObjectMissing, TimeoutError } from '../api/status-error.ts'
import type {
  Applied,
  ClientApplyOptions,
  ClientDeleteOptions,
  ClientGetOptions,
  ClientListOptions,
  ClientWriteOptions,
  ContextClient,
  Patch,
} from '../resource/context-client.ts'
import type { Desired, KindRef, KubeObject, ObjectRef } from '../resource/kind.ts'

export interface Journal {
  /** The server answered a write with this object. */
  wrote(kind: KindRef, object: KubeObject): void
  /** The server answered that the object with this uid is gone. */
  deleted(kind: KindRef, ref: ObjectRef, uid: string): void
  /** The uid of what the cache has under this name. */
  uidOf(kind: KindRef, ref: ObjectRef): string | undefined
  /** A write is on its way. Until the function returned is called it may or may not have happened. */
  sent(kind: KindRef, ref: ObjectRef): () => void
}

export interface RunClientOptions {
  readonly client: Client
  readonly fieldManager: string
  readonly journal: Journal
  /** Ends its calls. Absent: they end by themselves. */
  readonly signal?: AbortSignal
  /** Throws where no call may be made any more. */
  readonly check?: () => void
  /**
   * Whether these are the engine's own writes, whose warnings about unknown fields nobody would read: they are asked for without, which spares
   * the server a second, strict reading of each (docs/decisions/0010-child-applies.md). What an apply does not know it refuses all the same.
   */
  readonly engine?: boolean
}

export class RunClient implements ContextClient {
  readonly #client: Client
  readonly #signal: AbortSignal | undefined
  readonly #defaults: { fieldManager: string; fieldValidation?: 'Ignore' }
  readonly #journal: Journal
  readonly #check: (() => void) | undefined

  constructor({ client, signal, fieldManager, journal, check, engine }: RunClientOptions) {
    this.#client = client
    this.#signal = signal
    this.#defaults = engine === true ? { fieldManager, fieldValidation: 'Ignore' } : { fieldManager }
    this.#journal = journal
    this.#check = check
  }

  async get<C>(kind: KindRef<C>, ref: ObjectRef, options?: ClientGetOptions): Promise<C> {
    this.#check?.()
    return this.#client.get(kind, ref, this.#read(options))
  }

  async find<C>(kind: KindRef<C>, ref: ObjectRef, options?: ClientGetOptions): Promise<C | undefined> {
    this.#check?.()
    return this.#client.find(kind, ref, this.#read(options))
  }

  async list<C>(kind: KindRef<C>, options?: ClientListOptions): Promise<{ items: C[]; resourceVersion: string }> {
    this.#check?.()
    return this.#client.list(kind, this.#read(options))
  }

  create<C>(kind: KindRef<C>, object: Desired<C>, options?: ClientWriteOptions): Promise<C> {
    return this.#write(kind, nameOf(object), options, (o) => this.#client.create(kind, object, o))
  }

  update<C>(kind: KindRef<C>, object: C, options?: ClientWriteOptions): Promise<C> {
    return this.#write(kind, nameOf(object), options, (o) => this.#client.update(kind, object, o))
  }

  patch<C>(kind: KindRef<C>, ref: ObjectRef, patch: Patch, options?: ClientWriteOptions): Promise<C> {
    return this.#write(kind, ref, options, (o) => this.#client.patch(kind, ref, patch, o))
  }

  apply<C>(kind: KindRef<C>, object: Applied<C>, options?: ClientApplyOptions): Promise<C> {
    return this.#write(kind, object.metadata, options, (o) => this.#client.apply(kind, object, o))
  }

  async delete(kind: KindRef, ref: ObjectRef, options?: ClientDeleteOptions): Promise<KubeObject | undefined> {
    this.#check?.()
    const sent = this.#options(options)
    // A subresource that is deleted (an eviction undone) or is not there says nothing about the object.
    const isObject = sent.dryRun !== true && sent.subresource === undefined
    const uid = isObject ? (options?.uid ?? this.#journal.uidOf(kind, ref)) : undefined
    let left: KubeObject | undefined
    try {
      left = await this.#answered(kind, ref, this.#client.delete(kind, ref, sent))
    } catch (error) {
      if (uid !== undefined && isObjectMissing(error, ref.name)) this.#journal.deleted(kind, ref, uid)
      throw error
    }
    if (isObject && left !== undefined) this.#journal.wrote(kind, left)
    else if (uid !== undefined) this.#journal.deleted(kind, ref, uid)
    return left
  }

  get status(): ContextClient['status'] {
    const subresource = 'status'
    return {
      patch: (kind, ref, patch, options) => this.patch(kind, ref, patch, { ...options, subresource }),
      update: (kind, object, options) => this.update(kind, object, { ...options, subresource }),
      apply: (kind, object, options) => this.apply(kind, object, { ...options, subresource }),
    }
  }

  async #write<C, W extends ClientWriteOptions>(
    kind: KindRef<C>,
    ref: ObjectRef | undefined,
    options: W | undefined,
    send: (options: W & { fieldManager: string }) => Promise<C>,
  ): Promise<C> {
    this.#check?.()
    const sent = this.#options(options)
    const object = await this.#answered(kind, ref, send(sent))
    // The answer to a write of another subresource (scale, eviction) is of another kind.
    if (sent.dryRun !== true && (sent.subresource === undefined || sent.subresource === 'status')) {
      this.#journal.wrote(kind as unknown as KindRef, object as KubeObject)
    }
    return object
  }

  /** Notes the write from now until it is answered: a run that is cut ends before its writes do. */
  async #answered<T>(kind: object, ref: ObjectRef | undefined, answer: Promise<T>): Promise<T> {
    const answered = ref === undefined ? undefined : this.#journal.sent(kind as KindRef, ref)
    try {
      const value = await answer
      answered?.()
      return value
    } catch (error) {
      if (!(error instanceof TimeoutError || error instanceof ConnectionError || this.#signal?.aborted === true)) answered?.()
      throw error
    }
  }

  #read<T extends ClientGetOptions | ClientListOptions>(options: T | undefined): T {
    return this.#joined((options ?? {}) as T)
  }

  #options<W extends ClientWriteOptions>(options: W | undefined): W & { fieldManager: string } {
    return this.#joined({ ...this.#defaults, ...(options as W) })
  }

  /** With the run's signal, beside the call's own. */
  #joined<T extends { signal?: AbortSignal }>(options: T): T {
    if (this.#signal === undefined) return options
    return { ...options, signal: options.signal === undefined ? this.#signal : AbortSignal.any([this.#signal, options.signal]) }
  }
}

function nameOf(object: unknown): ObjectRef | undefined {
  const metadata = (object as { metadata?: { name?: string; namespace?: string } }).metadata
  return metadata?.name === undefined ? undefined : { name: metadata.name, namespace: metadata.namespace }
}
