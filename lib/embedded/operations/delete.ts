/** Deletion: at once, or marked and left to finalizers, the garbage collector or a grace period. */
import type { Core, DeleteOptions } from '../core.ts'
import { cloneJson } from '../json.ts'
import { FOREGROUND, ORPHAN, timestamp } from '../object-meta.ts'
import { conflict, notFound } from '../status.ts'
import type { ApiObject, ResourceType, Stored, WriteContext } from '../types.ts'
import { admissionRequest, mutate, read, toStorage, validate, type WriteOptions, warnAll, writeContext } from './context.ts'

export interface Deleted {
  readonly object: ApiObject
  readonly deleted: boolean
}

export async function remove(
  core: Core,
  type: ResourceType,
  namespace: string,
  name: string,
  deletion: DeleteOptions,
  options: WriteOptions,
): Promise<Deleted> {
  const bucket = core.store.bucket(type.bucket)
  const context = writeContext(core, type, namespace, 'update', '', options)
  const scope = type.bucket === '/namespaces' ? name : namespace
  const policy = deletion.propagationPolicy ?? deletion.orphanDependents
  if (policy === undefined && type.strategy.deletionWarning !== undefined) warnAll(options, [type.strategy.deletionWarning])
  for (;;) {
    const stored = bucket.get(type.namespaced ? namespace : '', name)
    if (stored === undefined) throw notFound(type, name)
    const live = await read(type, stored.object)
    checkPreconditions(type, live, deletion)
    if (core.admission.length > 0) {
      const request = admissionRequest('DELETE', type, '', scope, name, undefined, live, options)
      await mutate(core, request)
      await validate(core, request)
    }
    const next = marked(core, type, prepared(core, type, live), deletion)
    const done = next === 'pending' ? { object: live, deleted: false } : await commit(core, type, live, stored, next, context)
    if (done !== undefined) return done
  }
}

/** `undefined` of the promise: somebody else wrote in between. */
async function commit(
  core: Core,
  type: ResourceType,
  live: ApiObject,
  stored: Stored,
  next: Marked | undefined,
  context: WriteContext,
): Promise<Deleted | undefined> {
  const bucket = core.store.bucket(type.bucket)
  if (next?.waits) {
    if (context.dryRun) return { object: next.object, deleted: false }
    const now = await mark(core, type, next.object, stored)
    if (now === undefined) return undefined
    if (now.revision !== stored.revision) type.strategy.stored?.(now.object, stored.object, context)
    return { object: await read(type, now.object), deleted: false }
  }
  const last = next?.object ?? live
  if (context.dryRun) return { object: last, deleted: true }
  // A grace of zero is still written before the object goes: watches see both.
  const marked = next === undefined ? stored : await mark(core, type, next.object, stored)
  const event = marked === undefined ? undefined : bucket.delete(marked.namespace, marked.name, marked.revision)
  if (event === undefined) return undefined
  type.strategy.stored?.(event.object, stored.object, context)
  // Who is answered with the object sees the revision of its deletion.
  return { object: await read(type, event.object), deleted: true }
}

async function mark(core: Core, type: ResourceType, object: ApiObject, stored: Stored): Promise<Stored | undefined> {
  const converted = toStorage(type, object)
  const toStore = converted instanceof Promise ? await converted : converted
  return core.store.bucket(type.bucket).put(stored.namespace, stored.name, toStore, stored.revision)
}

function prepared(core: Core, type: ResourceType, live: ApiObject): ApiObject {
  if (type.strategy.prepareForDelete === undefined || live.metadata.deletionTimestamp) return live
  const copy = cloneJson(live)
  type.strategy.prepareForDelete(copy, timestamp(core.clock.now()))
  return copy
}

interface Marked {
  readonly object: ApiObject
  /** False: a grace of zero, so it goes at once though it was marked. */
  readonly waits: boolean
}

/** What the deletion makes of the object; `undefined`: nothing, it simply goes. */
function marked(core: Core, type: ResourceType, live: ApiObject, deletion: DeleteOptions): Marked | 'pending' | undefined {
  if (type.bucket === '/namespaces') return markedNamespace(core, live, deletion)
  const grace = gracePeriod(core, type, live, deletion)
  if (grace === 'pending') return 'pending'
  const finalizers = deletionFinalizers(type, live, deletion)
  const had = live.metadata.finalizers ?? []
  if (grace === undefined && finalizers.length === 0) return undefined
  const metadata = { ...live.metadata }
  const object = { ...live, metadata }
  if (finalizers.length > 0) metadata.finalizers = finalizers
  else if (had.length > 0) delete metadata.finalizers
  if (grace !== undefined) {
    metadata.deletionTimestamp = grace.timestamp
    metadata.deletionGracePeriodSeconds = grace.seconds
    if (grace.first && (metadata.generation ?? 0) > 0) metadata.generation = (metadata.generation ?? 0) + 1
    return { object, waits: finalizers.length > 0 || grace.seconds > 0 }
  }
  // Marked by hand of the registry: no kind of its own grace.
  const now = core.clock.now()
  // A kind that prepares its deletion itself counts no generation for it.
  const counts = type.strategy.prepareForDelete === undefined && (metadata.generation ?? 0) > 0
  if (!metadata.deletionTimestamp && counts) metadata.generation = (metadata.generation ?? 0) + 1
  if (!metadata.deletionTimestamp || Date.parse(metadata.deletionTimestamp) > now) metadata.deletionTimestamp = timestamp(now)
  metadata.deletionGracePeriodSeconds = 0
  return { object, waits: true }
}

/** A namespace ends in its own way: it turns Terminating and stays until the finalizers of its spec are gone. */
function markedNamespace(core: Core, live: ApiObject, deletion: DeleteOptions): Marked | 'pending' | undefined {
  if (live.metadata.deletionTimestamp) {
    const waits = (live.spec?.finalizers ?? []).length > 0 || (live.metadata.finalizers ?? []).length > 0
    return waits ? 'pending' : undefined
  }
  const orphans = deletion.orphanDependents === true || deletion.propagationPolicy === 'Orphan'
  const had = live.metadata.finalizers ?? []
  const finalizers = orphans && !had.includes(ORPHAN) ? [...had, ORPHAN] : had
  const metadata = { ...live.metadata, deletionTimestamp: timestamp(core.clock.now()), ...(finalizers.length > 0 ? { finalizers } : {}) }
  return { object: { ...live, metadata, status: { ...live.status, phase: 'Terminating' } }, waits: true }
}

interface Grace {
  readonly seconds: number
  readonly timestamp: string
  /** Not marked before. */
  readonly first: boolean
}

/** `undefined`: the kind knows no grace, or it is over. */
function gracePeriod(core: Core, type: ResourceType, live: ApiObject, deletion: DeleteOptions): Grace | 'pending' | undefined {
  const own = type.strategy.gracePeriodSeconds
  if (own === undefined) return undefined
  const asked = deletion.gracePeriodSeconds === undefined ? undefined : deletion.gracePeriodSeconds < 0 ? 1 : deletion.gracePeriodSeconds
  const { deletionTimestamp, deletionGracePeriodSeconds: running = 0 } = live.metadata
  const now = core.clock.now()
  if (!deletionTimestamp) {
    // A kind may shorten what was asked for: a pod that no node runs has nothing to end.
    const seconds = own(live) === 0 ? 0 : (asked ?? own(live))
    return { seconds, timestamp: timestamp(now + seconds * 1000), first: true }
  }
  if (running === 0) return undefined
  if (asked === undefined || asked >= running) return 'pending'
  const moved = Date.parse(deletionTimestamp) - running * 1000 + asked * 1000
  if (moved >= now) return { seconds: asked, timestamp: timestamp(moved), first: false }
  return { seconds: asked === 0 ? 0 : 1, timestamp: timestamp(now), first: false }
}

/** The finalizers the object has once the deletion's propagation is written into them. */
function deletionFinalizers(type: ResourceType, live: ApiObject, deletion: DeleteOptions): string[] {
  const had = live.metadata.finalizers ?? []
  const others = had.filter((each) => each !== ORPHAN && each !== FOREGROUND)
  const policy = propagation(type, had, deletion)
  const wanted = policy === 'Orphan' ? [...others, ORPHAN] : policy === 'Foreground' ? [...others, FOREGROUND] : others
  const same = wanted.length === had.length && wanted.every((each) => had.includes(each))
  return same ? had : wanted
}

function propagation(type: ResourceType, finalizers: readonly string[], deletion: DeleteOptions): string {
  if (type.bucket === '/events') return 'Background'
  if (deletion.orphanDependents !== undefined) return deletion.orphanDependents ? 'Orphan' : 'Background'
  if (deletion.propagationPolicy !== undefined) return deletion.propagationPolicy
  if (finalizers.includes(ORPHAN)) return 'Orphan'
  if (finalizers.includes(FOREGROUND)) return 'Foreground'
  return type.strategy.defaultPropagation ?? 'Background'
}

function checkPreconditions(type: ResourceType, live: ApiObject, { preconditions }: DeleteOptions): void {
  if (preconditions === undefined) return
  const { uid = '', resourceVersion = '', name = '' } = live.metadata
  const subject = { ...type, resource: type.kind }
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}
