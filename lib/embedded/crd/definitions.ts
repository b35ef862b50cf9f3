/**
 * The life of CustomResourceDefinitions: defaults and validation where they are written, and what the server then does by
 * itself: it accepts their names, serves them, and clears up behind them.
 */
import { type Core, SYSTEM } from '../core.ts'
import { cloneJson, equalJson } from '../json.ts'
import { timestamp } from '../object-meta.ts'
import { isKnownFormat } from '../schema/formats.ts'
import type { ResourceType, Schema, StoreEvent, Strategy } from '../types.ts'
import { approvalCondition } from './approval.ts'
import { BUCKET, CLEANUP, type Condition, conditionOf, type Definition, isTrue, setCondition } from './definition.ts'
import { acceptNames, sameNames } from './names.ts'
import { type Converter, resourceTypes } from './resource-type.ts'
import { childrenOf } from './structural-rules.ts'
import { statusErrors, validateDefinition, validateDefinitionUpdate } from './validation.ts'
import { webhookConverter } from './webhook-conversion.ts'

export const definitionStrategy: Strategy = {
  allowUnconditionalUpdate: false,
  generation: true,
  resetFields: { '': [['status']], status: [['spec']] },
  defaults: (object) => setDefaults(object as Definition),
  prepareForCreate(object) {
    const definition = object as Definition
    definition.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: [] }
    addStoredVersion(definition)
  },
  prepareForUpdate(object, _old, { subresource }) {
    if (subresource === '') addStoredVersion(object as Definition)
  },
  prepareForDelete(object, now) {
    const definition = object as Definition
    const finalizers = definition.metadata.finalizers ?? []
    if (!finalizers.includes(CLEANUP)) definition.metadata.finalizers = [...finalizers, CLEANUP]
    setCondition(definition, DELETION_PENDING, now)
  },
  validate: (object) => validateDefinition(object as Definition),
  validateUpdate: (object, old, { subresource }) =>
    subresource === 'status' ? statusErrors(object as Definition) : validateDefinitionUpdate(object as Definition, old as Definition),
  warnings: (object, old) => formatWarnings(object as Definition, old as Definition | undefined),
}

function setDefaults(definition: Definition): void {
  const { spec } = definition
  spec.names ??= { plural: '', kind: '' }
  const { names } = spec
  if (!names.singular && names.kind) names.singular = names.kind.toLowerCase()
  if (!names.listKind && names.kind) names.listKind = `${names.kind}List`
  spec.conversion ??= { strategy: 'None' }
  const service = spec.conversion.webhook?.clientConfig?.service
  if (service !== undefined) service.port ??= 443
}

function addStoredVersion({ spec, status }: Definition): void {
  const storage = spec.versions?.find((version) => version.storage)?.name
  if (storage !== undefined && !status.storedVersions.includes(storage)) status.storedVersions = [...status.storedVersions, storage]
}

function formatWarnings(definition: Definition, old: Definition | undefined): string[] {
  const before = new Set(old === undefined ? [] : unknownFormats(old))
  return unknownFormats(definition)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`)
}

function unknownFormats({ spec }: Definition): string[] {
  const visit = (schema: Schema): string[] => {
    const own = schema.format && !isKnownFormat(schema.format, schema.type) ? [schema.format] : []
    return [...own, ...childrenOf(schema).flatMap(visit)]
  }
  const schemas = (spec.versions ?? []).map((version) => version.schema?.openAPIV3Schema)
  const [first] = schemas
  // One that all versions share is warned of once.
  const different = schemas.every((each) => equalJson(each, first)) ? [first] : schemas
  return different.flatMap((schema) => (schema === undefined ? [] : visit(schema)))
}

const DELETION_PENDING: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionPending',
  message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
}

/** Keeps registry, conditions and finalizers in step with what is stored. What is there already is served at once. */
export function startDefinitions(core: Core): void {
  const controller = new Definitions(core)
  const bucket = core.store.bucket(BUCKET)
  bucket.watch(core.store.revision, (event) => controller.observe(event))
  for (const { object } of bucket.list()) controller.start(object as Definition)
}

class Definitions {
  readonly #core: Core
  /** What of a definition its kinds were made from, by name. */
  readonly #served = new Map<string, string>()
  /** Ends the waiting for the last object of a kind, by name of the definition. */
  readonly #waiting = new Map<string, () => void>()

  constructor(core: Core) {
    this.#core = core
  }

  start(definition: Definition): void {
    this.#serve(definition)
    this.#soon(definition.metadata.name ?? '')
  }

  /** Changes of an established definition hold as soon as they are stored; the rest is work for later. */
  observe({ type, object, name }: StoreEvent): void {
    const definition = object as Definition
    if (type === 'DELETED') {
      this.#waiting.get(name)?.()
      this.#waiting.delete(name)
      if (this.#served.delete(name)) this.#core.registry.set(definition.spec.group, definition.spec.names.plural, [])
      this.#others(definition)
      return
    }
    this.#serve(definition)
    this.#soon(name)
  }

  #soon(name: string): void {
    this.#core.tasks.soon(() => this.#sync(name))
  }

  /** A name may have become free. */
  #others({ spec, metadata }: Definition): void {
    for (const { object, name } of this.#core.store.bucket(BUCKET).list()) {
      if (object.spec.group === spec.group && name !== metadata.name) this.#soon(name)
    }
  }

  #serve(definition: Definition): void {
    const { metadata, spec } = definition
    const name = metadata.name ?? ''
    if (!isTrue(definition, 'Established')) return
    const made = `${metadata.uid} ${metadata.generation} ${isTrue(definition, 'Terminating')}`
    if (this.#served.get(name) === made) return
    this.#served.set(name, made)
    const types = this.#types(definition)
    const served = types.filter((_, i) => spec.versions[i]?.served)
    this.#core.registry.set(spec.group, spec.names.plural, served)
  }

  #types(definition: Definition): ResourceType[] {
    return resourceTypes(definition, this.#converter(definition))
  }

  #converter({ spec }: Definition): Converter | undefined {
    return spec.conversion?.strategy === 'Webhook' ? webhookConverter(this.#core, spec.conversion) : undefined
  }

  async #sync(name: string): Promise<void> {
    const stored = this.#core.store.bucket(BUCKET).get('', name)
    if (stored === undefined) return
    const definition = stored.object as Definition
    if (definition.metadata.deletionTimestamp && definition.metadata.finalizers?.includes(CLEANUP)) return this.#finalize(definition)
    if (!sameNames(definition.spec.names, definition.status.acceptedNames)) return this.#accept(definition)
    if (isTrue(definition, 'NamesAccepted') && !isTrue(definition, 'Established')) return this.#establish(definition)
    const approval = approvalCondition(definition)
    const known = approval && conditionOf(definition, approval.type)
    if (approval !== undefined && (known?.reason !== approval.reason || known?.message !== approval.message)) {
      this.#update(definition, (next) => setCondition(next, approval, this.#now()))
    }
  }

  #accept(definition: Definition): void {
    const all = this.#core.store
      .bucket(BUCKET)
      .list()
      .map(({ object }) => object as Definition)
    const { names, condition } = acceptNames(definition, all)
    const known = conditionOf(definition, 'NamesAccepted')
    const settled = known?.status === condition.status && known.reason === condition.reason && known.message === condition.message
    if (settled && sameNames(names, definition.status.acceptedNames)) return
    this.#update(definition, (next) => {
      next.status.acceptedNames = names
      setCondition(next, condition, this.#now())
      if (isTrue(next, 'Established')) return
      const installing = { reason: 'Installing', message: 'the initial names have been accepted' }
      const refused = { reason: 'NotAccepted', message: 'not all names are accepted' }
      setCondition(next, { type: 'Established', status: 'False', ...(condition.status === 'True' ? installing : refused) }, this.#now())
    })
    this.#others(definition)
  }

  #establish(definition: Definition): void {
    const established: Condition = {
      type: 'Established',
      status: 'True',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    }
    this.#update(definition, (next) => setCondition(next, established, this.#now()))
  }

  async #finalize(definition: Definition): Promise<void> {
    const terminating = (status: 'True' | 'False', reason: string, message: string) => (next: Definition) =>
      setCondition(next, { type: 'Terminating', status, reason, message }, this.#now())
    if (conditionOf(definition, 'Terminating')?.reason === DELETION_PENDING.reason) {
      this.#update(definition, terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'))
      return
    }
    if (isTrue(definition, 'Established')) {
      if (!(await this.#deleteInstances(definition))) return
      this.#release(definition, terminating('False', 'InstanceDeletionCompleted', 'removed all instances'))
    } else this.#release(definition, terminating('False', 'NeverEstablished', 'resource was never established'))
  }

  /** True: there are none left. Else the last one to go brings us back. */
  async #deleteInstances(definition: Definition): Promise<boolean> {
    const name = definition.metadata.name ?? ''
    const [type] = this.#types(definition)
    if (type === undefined) return true
    const bucket = this.#core.store.bucket(type.bucket)
    for (const { object, namespace, name: instance } of bucket.list()) {
      if (object.metadata.deletionTimestamp) continue
      // It may go by itself in the meantime.
      await this.#core.operations.delete(type, namespace, instance, {}, { user: SYSTEM }).catch(ignoreMissing)
    }
    if (bucket.size === 0) return true
    if (!this.#waiting.has(name)) {
      const stop = bucket.watch(this.#core.store.revision, (event) => {
        if (event.type === 'DELETED' && bucket.size === 0) this.#soon(name)
      })
      this.#waiting.set(name, stop)
    }
    return false
  }

  /** Without its last finalizer it is gone. */
  #release(definition: Definition, change: (next: Definition) => void): void {
    const finalizers = definition.metadata.finalizers?.filter((each) => each !== CLEANUP) ?? []
    if (finalizers.length > 0) {
      this.#update(definition, (next) => {
        change(next)
        next.metadata.finalizers = finalizers
      })
      return
    }
    const last = cloneJson(definition)
    change(last)
    delete last.metadata.finalizers
    const bucket = this.#core.store.bucket(BUCKET)
    bucket.delete('', definition.metadata.name ?? '', Number(definition.metadata.resourceVersion), last)
  }

  /** When somebody else was faster, their write brings us here again. */
  #update(definition: Definition, change: (next: Definition) => void): void {
    const next = cloneJson(definition)
    change(next)
    this.#core.store.bucket(BUCKET).put('', definition.metadata.name ?? '', next, Number(definition.metadata.resourceVersion))
  }

  #now(): string {
    return timestamp(this.#core.clock.now())
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as { code?: unknown }).code !== 404) throw error
}
