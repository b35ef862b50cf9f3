/**
 * The objects that a run makes for its primary: named, owned, applied only where something differs, and pruned when they are no
 * longer wanted. All by server-side apply under the operator's field manager.
 */
import { hash } from 'node:crypto'
import { isConflict, isInvalid, isObjectMissing, type StatusError } from '../api/status-error.ts'
import type { Source } from '../cache/cache.ts'
import type { Applied, ContextClient } from '../resource/context-client.ts'
import {
  type Desired,
  groupOf,
  type KindRef,
  type KubeObject,
  keyOf,
  kindKey,
  kindName,
  type ObjectRef,
  type OwnerReference,
} from '../resource/kind.ts'
import { canonicalJson, difference } from './diff.ts'
import { StaleError, TsopError } from './errors.ts'
import { foreignFields } from './foreign-fields.ts'
import type { Primary } from './primary.ts'

/** Which builder of the class made a child: the method's name. */
export const BUILDER_LABEL = 'tsop.dev/builder'
/** A hash of what was applied, so that a field which is no longer desired is noticed. */
export const APPLIED_ANNOTATION = 'tsop.dev/applied'
/** The builder label of children that the handler applies by itself. They are never pruned. */
export const HANDLER = 'ctx.apply'

const TRIES = 3
/**
 * What is applied as new must not be there: an apply ignores the resourceVersion of a missing object and answers 409 where it is an
 * old one of an existing object (tried on kube-apiserver 1.36). So nothing that the cache does not know yet is taken over unseen.
 */
const ABSENT = { uid: undefined, resourceVersion: '1' }
const LONGEST_NAME = 253
/** Names that become a label value, a DNS label or a part of pod names. */
const SHORT_NAMES: Readonly<Record<string, number>> = {
  Service: 63,
  Namespace: 63,
  Job: 63,
  CronJob: 52,
  // The name of a pod's controller revision hash label must fit too.
  StatefulSet: 52,
}

/**
 * Differences that applying did not remove (the server writes a quantity or a list in another way), by the child's uid: known ones are
 * not applied again.
 */
export type KnownDifferences = Map<string, { hash: string; difference: string }>

export interface ChildrenOptions {
  readonly primary: Primary
  readonly client: ContextClient
  readonly source: (kind: KindRef) => Source | undefined
  readonly clusterScoped: (kind: KindRef) => Promise<boolean>
  readonly known: KnownDifferences
  readonly fieldManager: string
  /** Takes what a live read has shown into the cache; `uid` is that of the object that was expected there. */
  readonly saw: (kind: KindRef, ref: ObjectRef, object: KubeObject | undefined, uid: string | undefined) => void
  /** The child's name is taken by somebody else; a run is wanted once it is free. */
  readonly blocked: (kind: KindRef, key: string) => void
  /** A child is as it should be: found so, or after an apply that changed nothing. */
  readonly kept: (what: 'saved' | 'unchanged') => void
  /** Told of each write of a child. */
  readonly wrote: (what: 'created' | 'changed' | 'deleted', kind: KindRef, key: string, builder: string) => void
}

export class Children {
  readonly #o: ChildrenOptions
  #ownerChecked = false
  /** What this run has made: kind and key → builder. */
  readonly #made = new Map<string, string>()

  constructor(options: ChildrenOptions) {
    this.#o = options
  }

  /** What a builder returned, as a list of named objects. */
  named(kind: KindRef, built: unknown, where: { method: string; suffix: string | undefined }): Desired<KubeObject>[] {
    if (built === undefined || built === null) return []
    const list = Array.isArray(built) ? built.filter((child) => child !== undefined && child !== null) : [built]
    const keys = new Set<string>()
    return list.map((child: unknown, i) => {
      if (typeof child !== 'object' || child === null || Array.isArray(child)) {
        throw new TsopError(
          'TSOP_CHILD_INVALID',
          'InvalidChild',
          `${where.method}() returned ${describe(child)} for a ${kind.kind}; return an object, an array of them, or nothing`,
        )
      }
      const desired = child as Desired<KubeObject>
      const name = desired.metadata?.name ?? this.#name(kind, [where.suffix, Array.isArray(built) ? String(i) : undefined])
      const key = keyOf({ name, namespace: desired.metadata?.namespace })
      if (keys.has(key))
        throw new TsopError(
          'TSOP_CHILD_INVALID',
          'InvalidChild',
          `${where.method}() returned two ${kind.kind} objects named ${key}; give each a metadata.name of its own`,
        )
      keys.add(key)
      return { ...desired, metadata: { ...desired.metadata, name } }
    })
  }

  /** `<owner>` with the given parts behind it, cut with a hash where the kind's names must be shorter. */
  #name(kind: KindRef, parts: (string | undefined)[]): string {
    const name = [this.#o.primary.ref.name, ...parts.filter((part) => part !== undefined)].join('-')
    const longest = SHORT_NAMES[kind.kind] ?? LONGEST_NAME
    if (name.length <= longest) return name
    return `${name.slice(0, longest - 9).replace(/[-.]+$/, '')}-${hash('sha256', name, 'hex').slice(0, 8)}`
  }

  /** Makes the child be as desired, and returns it as it is then. */
  async apply(kind: KindRef, desired: Desired<KubeObject>, builder: string): Promise<KubeObject> {
    const wanted = await this.#complete(kind, desired, builder)
    const ref = { name: wanted.metadata.name, namespace: wanted.metadata.namespace }
    this.#claim(kind, keyOf(ref), builder)
    const source = this.#o.source(kind)
    let live = source ? source.store.get(keyOf(ref)) : await this.#o.client.find(kind, ref)
    for (let attempt = 1; ; attempt++) {
      if (live) await this.#mayTake(kind, ref, live)
      if (live && this.#isAsDesired(wanted, live)) {
        this.#o.kept('saved')
        return live
      }
      try {
        const { uid, resourceVersion } = live?.metadata ?? ABSENT
        const metadata = { ...wanted.metadata, uid, resourceVersion }
        const object = await this.#o.client.apply(kind, { ...wanted, metadata }, { fieldManager: this.#o.fieldManager, force: true })
        this.#remember(wanted, live, object)
        if (resourceVersion === object.metadata.resourceVersion) this.#o.kept('unchanged')
        else this.#o.wrote(live ? 'changed' : 'created', kind, keyOf(ref), builder)
        return object
      } catch (error) {
        if (isInvalid(error) && live !== undefined) throw await this.#explained(error as StatusError, kind, ref)
        // Somebody changed, made or removed it meanwhile: look, decide anew. A 422 may say that another controller was there first.
        if (attempt >= TRIES || !(isConflict(error) || (isInvalid(error) && live === undefined))) throw error
        const seen = await this.#o.client.find(kind, ref)
        this.#o.saw(kind, ref, seen, live?.metadata.uid)
        if (isInvalid(error) && seen === undefined) throw error
        if (isInvalid(error) && seen?.metadata.ownerReferences?.every((owner) => owner.controller !== true)) throw error
        live = seen
      }
    }
  }

  /** The same error, with who else owns what the server finds fault with: their fields stay beside ours, whatever a builder returns. */
  async #explained(error: StatusError, kind: KindRef, ref: ObjectRef): Promise<StatusError> {
    // The cache has no managedFields. Where the read fails too, the first error is the one to tell.
    const live = await this.#o.client.find(kind, ref).catch(() => undefined)
    const others = live && foreignFields(error, live, this.#o.fieldManager, `${kindName(kind)} ${keyOf(ref)}`)
    if (others !== undefined) error.message += `; ${others}`
    return error
  }

  /** Two makers of one child would undo each other's work in every run. */
  #claim(kind: KindRef, key: string, builder: string): void {
    const child = `${kindKey(kind)}/${key}`
    const other = this.#made.get(child)
    if (other !== undefined && other !== builder) {
      const makers = [other, builder].map((maker) => (maker === HANDLER ? 'ctx.apply' : `${maker}()`)).join(' and ')
      throw new TsopError(
        'TSOP_CHILD_INVALID',
        'InvalidChild',
        `${makers} both make ${kindName(kind)} ${key}; give one of them another name`,
      )
    }
    this.#made.set(child, builder)
  }

  /** Deletes the children of this kind that builders have made and no longer return. To be called when all of them have been applied. */
  async prune(kind: KindRef): Promise<void> {
    const { source, primary, client } = this.#o
    for (const child of source(kind)?.store.ownedBy(primary.uid) ?? []) {
      const { labels, deletionTimestamp, uid, resourceVersion } = child.metadata
      const builder = labels?.[BUILDER_LABEL]
      if (builder === undefined || builder === HANDLER || deletionTimestamp !== undefined) continue
      if (this.#made.has(`${kindKey(kind)}/${keyOf(child.metadata)}`)) continue
      await this.checkOwner()
      await deleteObject(client, kind, child.metadata, { uid, resourceVersion })
      this.#o.wrote('deleted', kind, keyOf(child.metadata), builder)
    }
  }

  /**
   * Reads the owner live, once a run, before something is destroyed or taken over: a list after a restart may be old.
   * @throws StaleError where the run has seen an older state of it
   */
  async checkOwner(): Promise<void> {
    const { primary, client, saw } = this.#o
    if (this.#ownerChecked || primary.deleting) return
    const live = await client.find(primary.kind, primary.ref)
    saw(primary.kind, primary.ref, live, primary.uid)
    const same =
      live?.metadata.uid === primary.uid && live.metadata.generation === primary.generation && live.metadata.deletionTimestamp === undefined
    // Kinds without a generation: only the very version that was seen will do.
    if (!same || (primary.generation === undefined && live.metadata.resourceVersion !== primary.resourceVersion)) {
      throw new StaleError(`${primary.kind.kind} ${primary.key} has changed since this run saw it`)
    }
    this.#ownerChecked = true
  }

  async #complete(kind: KindRef, desired: Desired<KubeObject>, builder: string): Promise<Applied<KubeObject>> {
    const { primary } = this.#o
    const name = desired.metadata?.name ?? this.#name(kind, [])
    const namespace = await this.#namespace(kind, name, desired.metadata?.namespace)
    const owner: OwnerReference = {
      apiVersion: primary.kind.apiVersion,
      kind: primary.kind.kind,
      name: primary.ref.name,
      uid: primary.uid,
      controller: true,
      blockOwnerDeletion: true,
    }
    for (const field of ['apiVersion', 'kind'] as const) {
      if (desired[field] === undefined || desired[field] === kind[field]) continue
      const maker = builder === HANDLER ? 'ctx.apply' : `${builder}()`
      throw new TsopError(
        'TSOP_CHILD_INVALID',
        'InvalidChild',
        `${maker} gave an object with ${field} ${desired[field]} for a ${kindName(kind)} (${kind[field]})`,
      )
    }
    // What a builder copied from a live object and may not be applied.
    const { status: _s, ...rest } = desired as Desired<KubeObject> & { status?: unknown }
    const { labels, annotations } = desired.metadata ?? {}
    const metadata = {
      name,
      namespace,
      labels: { ...labels, [BUILDER_LABEL]: builderLabel(builder) },
      annotations: { ...annotations },
      ownerReferences: [owner],
    }
    const complete = { ...rest, apiVersion: kind.apiVersion, kind: kind.kind, metadata }
    metadata.annotations[APPLIED_ANNOTATION] = hash('sha256', canonicalJson(complete), 'base64url').slice(0, 22)
    return complete
  }

  async #namespace(kind: KindRef, name: string, asked: string | undefined): Promise<string | undefined> {
    const { primary } = this.#o
    const wayOut = 'owner references cannot express that; make it with ctx.client, mark it with labels, and remove it in @onDelete'
    if (await this.#o.clusterScoped(kind)) {
      if (primary.ref.namespace === undefined) return undefined
      throw new TsopError(
        'TSOP_CHILD_SCOPE',
        'InvalidChild',
        `${primary.kind.kind} is namespaced and cannot own the cluster-scoped ${kind.kind} ${name}: ${wayOut}`,
      )
    }
    if (primary.ref.namespace === undefined) {
      if (asked === undefined) {
        throw new TsopError(
          'TSOP_CHILD_SCOPE',
          'InvalidChild',
          `${kind.kind} ${name}: ${primary.kind.kind} is cluster-scoped, so its child needs a metadata.namespace`,
        )
      }
      if (this.#o.source(kind)?.covers(asked) === false) {
        throw new TsopError(
          'TSOP_CHILD_SCOPE',
          'InvalidChild',
          `${kind.kind} ${asked}/${name} is in a namespace that is not served, so that nobody would watch over it; serve it too (--namespace ${asked})`,
        )
      }
      return asked
    }
    if (asked !== undefined && asked !== primary.ref.namespace) {
      throw new TsopError(
        'TSOP_CHILD_SCOPE',
        'InvalidChild',
        `${kind.kind} ${asked}/${name} is in another namespace than its owner ${primary.key}: ${wayOut}`,
      )
    }
    return primary.ref.namespace
  }

  /** Throws where the live object is not ours to change. */
  async #mayTake(kind: KindRef, ref: ObjectRef, live: KubeObject): Promise<void> {
    const { primary } = this.#o
    const controller = live.metadata.ownerReferences?.find((owner) => owner.controller === true)
    const what = `${kindName(kind)} ${keyOf(ref)}`
    const formerOwner =
      controller?.kind === primary.kind.kind &&
      groupOf(controller.apiVersion) === groupOf(primary.kind.apiVersion) &&
      controller.name === primary.ref.name &&
      controller.uid !== primary.uid
    if (live.metadata.deletionTimestamp !== undefined || formerOwner) {
      this.#o.blocked(kind, keyOf(ref))
      throw new TsopError(
        'TSOP_CHILD_TERMINATING',
        'WaitingForChild',
        `${what} of ${formerOwner ? 'a former owner of this name' : 'this name'} is still being deleted`,
      )
    }
    if (controller === undefined) return this.checkOwner() // nobody's: adopted
    if (controller.uid === primary.uid) return
    this.#o.blocked(kind, keyOf(ref))
    throw new TsopError(
      'TSOP_CHILD_CONTROLLED',
      'ChildNotOwned',
      `${what} belongs to ${controller.kind} ${controller.name}; it is left alone`,
    )
  }

  #isAsDesired(wanted: Applied<KubeObject>, live: KubeObject): boolean {
    const hash = wanted.metadata.annotations?.[APPLIED_ANNOTATION]
    if (live.metadata.annotations?.[APPLIED_ANNOTATION] !== hash) return false
    const found = difference(wanted, live)
    if (found === '') return true
    const known = this.#o.known.get(live.metadata.uid)
    return known !== undefined && known.hash === hash && known.difference === found
  }

  #remember(wanted: Applied<KubeObject>, before: KubeObject | undefined, after: KubeObject): void {
    const { known } = this.#o
    const left = difference(wanted, after)
    const hash = wanted.metadata.annotations?.[APPLIED_ANNOTATION]
    if (left === '' || hash === undefined) known.delete(before?.metadata.uid ?? after.metadata.uid)
    else known.set(after.metadata.uid, { hash, difference: left })
  }
}

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** A method's name as a label value: those that are none (`$map`, 70 letters) by their hash. */
function builderLabel(method: string): string {
  return LABEL_VALUE.test(method) ? method : hash('sha256', method, 'hex').slice(0, 32)
}

/** Deletes this very object, or the one of this name where no uid is known. One that is gone already is no error. */
export async function deleteObject(
  client: ContextClient,
  kind: KindRef,
  { name, namespace }: ObjectRef,
  precondition: { uid?: string; resourceVersion?: string } = {},
): Promise<void> {
  try {
    await client.delete(kind, { name, namespace }, { propagationPolicy: 'Background', ...precondition })
  } catch (error) {
    if (!isObjectMissing(error, name)) throw error
  }
}

function describe(value: unknown): string {
  return Array.isArray(value) ? 'an array within an array' : `a ${typeof value}`
}
