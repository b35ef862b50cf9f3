/**
 * The steps of `tsop uninstall`. Each may be repeated: what is gone already is none of its business, so a run that failed in the middle is
 * simply started again.
 */

import { convertedKinds } from '../admission/webhooks.ts'
import type { Client } from '../api/client.ts'
import { delay, systemClock } from '../api/clock.ts'
import { UnknownKindError } from '../api/discovery.ts'
import { isConflict, isForbidden, isNotFound, StatusError } from '../api/status-error.ts'
import { defaultFinalizer } from '../engine/finalizer.ts'
import { definitionsOf } from '../generate/crds.ts'
import { type DeployParts, deployParts } from '../generate/deploy.ts'
import type { Manifest, OperatorModel } from '../generate/operator.ts'
import { selectorOf } from '../generate/operator.ts'
import { webhookParts, webhookServiceName } from '../generate/webhooks.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import {
  type Condition,
  type CustomResourceDefinition,
  type KindRef,
  type KubeObject,
  keyOf,
  kind,
  kindName,
  type ObjectMeta,
  type ObjectRef,
} from '../resource/kind.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { patiently } from './patiently.ts'

export interface UninstallOptions {
  readonly client: Client
  readonly model: OperatorModel
  readonly keepData: boolean
  readonly onlyResources: boolean
  readonly abandon: boolean
  readonly timeoutMs: number
  readonly say: (line: string) => void
}

/** A kind that a class reconciles, and the finalizer it puts on its objects. */
interface Served {
  readonly ref: KindRef
  readonly finalizer: string | undefined
  /** The name of its definition, where that came with the operator. */
  readonly definition: string | undefined
}

type Dependent = KubeObject & { status?: { conditions?: Condition[] } }

const POLL_MS = 500
const TOLD_EVERY_MS = 10_000
const NAMED = 5
/** A pod that ends may take its grace, however little time the clean-up was given. */
const ENDS_WITHIN_MS = 60_000
/** An API server hears of changed webhooks and definitions a moment later. */
const HEARS_WITHIN_MS = 20_000

export class Uninstall {
  readonly #o: UninstallOptions
  readonly #served: readonly Served[]
  readonly #definitions: readonly string[]
  /** Those whose versions the operator converts. */
  readonly #converted: readonly string[]

  constructor(options: UninstallOptions) {
    this.#o = options
    const { specs } = options.model
    this.#definitions = definitionsOf(specs).map(({ metadata }) => metadata.name)
    this.#served = servedBy(specs)
    this.#converted = convertedKinds(specs).flatMap(({ crd }) => crd?.metadata.name ?? [])
  }

  /** What would be done, a line each. */
  async plan(): Promise<string[]> {
    const { client, keepData, onlyResources, model } = this.#o
    const { home } = model
    const lines: string[] = []
    for (const served of this.#served) {
      const objects = await this.#objects(served).catch((error: unknown) => {
        if (!this.#o.abandon || !isUnconverted(error)) throw error
        lines.push(`delete every ${kindName(served.ref)}; nobody answers conversions, so that they cannot be counted`)
        return undefined
      })
      if (objects === undefined) continue
      const held = objects.filter((object) => holds(object, served.finalizer)).length
      const name = kindName(served.ref)
      if (served.definition !== undefined && !keepData) {
        if (objects.length > 0) lines.push(`delete ${count(objects.length, name)}, with clean-up, and what they own`)
      } else if (!onlyResources && held > 0) lines.push(`free ${count(held, name)} of the finalizer ${served.finalizer}`)
    }
    if (onlyResources) return lines.length > 0 ? lines : ['delete nothing: there are no objects of its kinds']
    const deployment = await client.find(Deployment, { name: model.name, namespace: home })
    lines.push(
      deployment === undefined
        ? `delete the Lease and the roles of ${model.name}, if there are any; there is no Deployment ${home}/${model.name}`
        : `delete the operator ${model.name} in ${home}, its Lease and its roles`,
    )
    for (const name of keepData ? [] : this.#definitions)
      if ((await client.find(Definition, { name })) !== undefined) lines.push(`delete the definition ${name}`)
    if (await this.#isMadeForIt()) lines.push(`delete the namespace ${home}, unless it is used by others`)
    return lines
  }

  /** @throws CliError that says what is not gone, and what to do */
  async run(): Promise<void> {
    const { keepData, onlyResources } = this.#o
    if (!keepData) await this.#deleteResources()
    if (onlyResources) return
    // While somebody still converts what is stored in an older version.
    const kept: string[] = []
    for (const name of this.#converted) if ((await this.#stays(name)) && (await this.#storeAnew(name))) kept.push(name)
    // Before the operator: whom nobody answers any more, the API server would refuse.
    await this.#deleteWebhooks()
    await this.#deleteOperator()
    for (const name of this.#converted) await this.#endConversions(name, kept.includes(name))
    // Nobody puts one on any more, and nobody would take it off.
    for (const served of this.#served) await this.#free(served)
    await this.#deleteRest()
    if (!keepData) await this.#deleteDefinitions()
    await this.#deleteHome()
  }

  async #deleteResources(): Promise<void> {
    const { say, timeoutMs, abandon } = this.#o
    const own = this.#served.filter((served) => served.definition !== undefined)
    const end = systemClock.monotonic() + timeoutMs
    for (const { ref } of own) {
      const objects = await this.#readable({ ref })
      if (objects.length === 0) continue
      say(`deleting ${count(objects.length, kindName(ref))}`)
      for (const { metadata } of objects) {
        if (metadata.deletionTimestamp === undefined) await this.#deleteAsked(ref, metadata)
      }
    }
    let toldAt = systemClock.monotonic()
    for (;;) {
      const left = (
        await Promise.all(own.map(async (served) => (await this.#objects(served)).map((object) => ({ served, object }))))
      ).flat()
      if (left.length === 0) return
      const now = systemClock.monotonic()
      if (now > end) {
        const texts = left.slice(0, NAMED).map(({ object }) => `  ${describe(object)}`)
        const more = left.length > NAMED ? [`  and ${left.length - NAMED} more`] : []
        if (!abandon) {
          throw new CliError(
            exitCodes.failed,
            [
              `${left.length} ${left.length === 1 ? 'is' : 'are'} not gone; the operator, its roles and definitions are left as they are:`,
              ...texts,
              ...more,
              await this.#advice(),
            ].join('\n'),
          )
        }
        say(['abandoned without clean-up:', ...texts, ...more].join('\n'))
        return
      }
      if (now - toldAt >= TOLD_EVERY_MS) {
        toldAt = now
        say(
          `waiting for ${left.length}: ${left
            .slice(0, NAMED)
            .map(({ object }) => describe(object))
            .join('; ')}`,
        )
      }
      await delay(systemClock, POLL_MS)
    }
  }

  async #advice(): Promise<string> {
    const { name, home } = this.#o.model
    const deployment = await this.#o.client.find(Deployment, { name, namespace: home }).catch(() => undefined)
    const ready = deployment?.status?.readyReplicas ?? 0
    const runs =
      deployment === undefined
        ? `there is no operator ${home}/${name} to clean up after them: deploy or run it`
        : ready === 0
          ? `the operator ${home}/${name} does not run (no pod of it is ready): see kubectl -n ${home} logs deploy/${name}`
          : `see kubectl -n ${home} logs deploy/${name}`
    return `${runs}; or give the clean-up up with --abandon`
  }

  /** Where a webhook is against it, or does not answer, the webhooks end here for whom the clean-up is given up. */
  async #deleteAsked(ref: KindRef, { name, namespace, uid }: ObjectMeta): Promise<void> {
    try {
      await this.#delete(ref, { name, namespace }, { uid })
    } catch (error) {
      if (!isRefusedByWebhook(error)) throw error
      if (!this.#o.abandon) throw this.#failed(`delete ${ref.kind} ${keyOf({ name, namespace })}`, error, await this.#advice())
      await this.#deleteWebhooks()
      // An API server hears of it a moment later.
      await this.#patiently(isRefusedByWebhook, () => this.#delete(ref, { name, namespace }, { uid }))
    }
  }

  /** As `#objects`; conversions that nobody answers end here for whom the clean-up is given up. */
  async #readable(served: Pick<Served, 'ref'>): Promise<Dependent[]> {
    try {
      return await this.#objects(served)
    } catch (error) {
      if (!this.#o.abandon || !isUnconverted(error)) throw error
      for (const name of this.#converted) await this.#endConversions(name, false)
      return await this.#patiently(isUnconverted, () => this.#objects(served))
    }
  }

  /** Also what an earlier version of the handlers had, or a `tsop-run --webhook-url` that was killed. */
  async #deleteWebhooks(): Promise<void> {
    const own = this.#parts().services.filter(isWebhookConfiguration)
    for (const kindOf of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
      for (const suffix of ['webhook', 'tsop-run']) {
        const name = `${this.#o.model.name}-${suffix}`
        const deleted = await this.#delete(kind('admissionregistration.k8s.io/v1', kindOf), { name }).catch((error: unknown) => {
          // Who never had one may have no right to them either.
          if (own.length === 0 && isForbidden(causeOf(error))) return false
          throw error
        })
        if (deleted) this.#o.say(`deleted ${kindOf} ${name}`)
      }
    }
  }

  /** Whether a definition stays where it is, with objects. */
  async #stays(definition: string): Promise<boolean> {
    if (this.#o.keepData) return true
    const served = this.#served.find((each) => each.definition === definition)
    return served !== undefined && this.#o.model.namespaces !== undefined && (await this.#objects(served, 'everywhere')).length > 0
  }

  /**
   * Has all objects stored in the version in which they are stored now, so that nobody need convert them: an update that changes nothing is one
   * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#upgrade-existing-objects-to-a-new-stored-version).
   * False where the definition does not ask the operator.
   */
  async #storeAnew(name: string): Promise<boolean> {
    const { client, say } = this.#o
    const live = await this.#asking(name)
    if (live === undefined) return false
    const { ref, stored } = storage(live)
    const old = (live.status?.storedVersions ?? []).filter((version) => version !== stored)
    if (old.length === 0) return true
    const objects = await this.#objects({ ref }, 'everywhere')
    for (const { metadata } of objects) {
      try {
        await client.patch(ref, metadata, { type: 'merge', value: { metadata: { uid: metadata.uid } } })
      } catch (error) {
        // Gone, or another by now: then nothing is stored in an old version.
        if (!isNotFound(error) && !isConflict(error)) throw this.#failed(`store ${ref.kind} ${keyOf(metadata)} in version ${stored}`, error)
      }
    }
    await client.patch(Definition, { name }, { type: 'merge', value: { status: { storedVersions: [stored] } } }, { subresource: 'status' })
    say(`stored ${count(objects.length, kindName(ref))} in version ${stored}, no longer in ${old.join(' and ')}`)
    return true
  }

  /** What stays is served in the version that is stored, until the operator is back and its definition with it: in others it would lose fields. */
  async #endConversions(name: string, stays: boolean): Promise<void> {
    const live = await this.#asking(name)
    if (live === undefined) return
    const { stored } = storage(live)
    const versions = live.spec.versions.map((version) => ({ ...version, served: version.served && version.name === stored }))
    const value = {
      metadata: { resourceVersion: live.metadata.resourceVersion },
      spec: { conversion: { strategy: 'None', webhook: null }, ...(stays ? { versions } : {}) },
    }
    try {
      await this.#o.client.patch(Definition, { name }, { type: 'merge', value })
    } catch (error) {
      if (isConflict(error)) return this.#endConversions(name, stays)
      if (!isNotFound(error)) throw this.#failed(`end the conversions of ${name}`, error)
    }
    if (stays) this.#o.say(`of ${name} only version ${stored} is served from now on, in which its objects are stored`)
  }

  /** The definition, where it has the API server ask this operator, or a process that was given a URL, for conversions. */
  async #asking(name: string): Promise<LiveDefinition | undefined> {
    const live = await this.#o.client.find(Definition, { name })
    const { strategy, webhook } = live?.spec.conversion ?? {}
    if (strategy !== 'Webhook') return undefined
    const service = webhook?.clientConfig?.service
    const { home, name: own } = this.#o.model
    return service === undefined || (service.namespace === home && service.name === webhookServiceName({ name: own })) ? live : undefined
  }

  async #patiently<T>(mayPass: (error: unknown) => boolean, ask: () => Promise<T>): Promise<T> {
    return patiently(systemClock, new AbortController().signal, HEARS_WITHIN_MS, mayPass, ask)
  }

  #parts(): DeployParts {
    return deployParts({ ...this.#o.model, image: '', replicas: 0, drainSeconds: 0, metricsSecure: false })
  }

  /** Foreground: its pods have ended when it is gone. */
  async #deleteOperator(): Promise<void> {
    const { model, client, say, timeoutMs } = this.#o
    const { name, home: namespace } = model
    if (!(await this.#delete(Deployment, { name, namespace }, { propagationPolicy: 'Foreground' }))) {
      say(`there is no Deployment ${namespace}/${name}`)
      return
    }
    say(`stopping the operator ${namespace}/${name}`)
    const labels = selectorOf(model)
    const end = systemClock.monotonic() + Math.max(timeoutMs, ENDS_WITHIN_MS)
    for (;;) {
      const deployment = await client.find(Deployment, { name, namespace })
      const pods = (await client.list(Pod, { namespace, labels })).items
      if (deployment === undefined && pods.length === 0) return
      if (systemClock.monotonic() > end) {
        const names = pods.map(({ metadata }) => metadata.name).join(', ')
        throw new CliError(
          exitCodes.failed,
          `the operator does not end${names === '' ? '' : `: ${names}`}; its roles and definitions are left as they are`,
        )
      }
      await delay(systemClock, POLL_MS)
    }
  }

  /** Takes the class's own finalizer off; those of others stay. */
  async #free(served: Served): Promise<void> {
    const { finalizer, ref } = served
    if (finalizer === undefined) return
    let freed = 0
    for (const object of await this.#objects(served)) if (await this.#freeOne(ref, object, finalizer)) freed++
    if (freed > 0) this.#o.say(`freed ${count(freed, kindName(ref))} of the finalizer ${finalizer}`)
  }

  async #freeOne(ref: KindRef, given: KubeObject, finalizer: string): Promise<boolean> {
    const { client } = this.#o
    for (let object: KubeObject | undefined = given; object !== undefined && holds(object, finalizer); ) {
      const { uid, resourceVersion, finalizers = [] }: ObjectMeta = object.metadata
      const value = { metadata: { uid, resourceVersion, finalizers: finalizers.filter((each) => each !== finalizer) } }
      try {
        await client.patch(ref, object.metadata, { type: 'merge', value })
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        if (!isConflict(error)) throw this.#failed(`free ${ref.kind} ${keyOf(object.metadata)} of its finalizer`, error)
        const live: KubeObject | undefined = await client.find(ref, object.metadata)
        object = live?.metadata.uid === uid ? live : undefined
      }
    }
    return false
  }

  async #deleteRest(): Promise<void> {
    const { say } = this.#o
    const parts = this.#parts()
    const services = parts.services.filter((object) => !isWebhookConfiguration(object))
    // Before its Secret, which it would make again.
    const { certificate } = webhookParts(this.#o.model, { certManager: true })
    const rest = [
      ...certificate,
      ...parts.serviceMonitor,
      ...parts.podDisruptionBudget,
      ...parts.networkPolicy,
      ...services,
      ...parts.rbac,
      ...parts.fence,
    ]
    // Whoever keeps the data keeps the roles of the people who use it.
    const users = new Set(this.#definitions.flatMap((definition) => [`${definition}-view`, `${definition}-edit`]))
    let deleted = 0
    for (const { apiVersion, kind: kindOf, metadata } of rest) {
      if (this.#o.keepData && users.has(metadata.name)) continue
      if (await this.#delete(kind(apiVersion, kindOf), metadata)) deleted++
    }
    say(`deleted its service account, roles, Lease and the like (${deleted})`)
  }

  /** One whose objects another operator serves, in other namespaces, stays. */
  async #deleteDefinitions(): Promise<void> {
    const { client, say, timeoutMs } = this.#o
    const end = systemClock.monotonic() + timeoutMs
    const gone: string[] = []
    for (const { ref, definition } of this.#served) {
      if (definition === undefined) continue
      const others = this.#o.model.namespaces === undefined ? [] : await this.#objects({ ref }, 'everywhere')
      if (others.length > 0)
        say(
          `kept the definition ${definition}: there ${others.length === 1 ? 'is' : 'are'} ${count(others.length, kindName(ref))} elsewhere`,
        )
      else if (await this.#delete(Definition, { name: definition })) gone.push(definition)
    }
    for (const name of gone) {
      while ((await client.find(Definition, { name })) !== undefined) {
        if (systemClock.monotonic() > end) {
          const message = `the definition ${name} waits for its objects: somebody else's finalizers hold them; see kubectl get crd ${name} -o yaml`
          throw new CliError(exitCodes.failed, message)
        }
        await delay(systemClock, POLL_MS)
      }
      say(`deleted the definition ${name}`)
    }
  }

  /** Only where it was made for the operator, and nothing that is kept would go with it. */
  async #deleteHome(): Promise<void> {
    const { model, say } = this.#o
    if (!(await this.#isMadeForIt())) return
    const own = this.#served.filter(({ ref, definition }) => definition !== undefined && ref.scope !== 'Cluster')
    // Whoever names a namespace that others use as the operator's home has it marked as made for the operator.
    for (const ref of [...own.map((served) => served.ref), Pod, PersistentVolumeClaim]) {
      const live = (await this.#objects({ ref }, [model.home])).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      if (live.length > 0) return say(`kept the namespace ${model.home}: ${count(live.length, kindName(ref))} in it`)
    }
    if (await this.#delete(Namespace, { name: model.home })) say(`deleted the namespace ${model.home}`)
  }

  async #isMadeForIt(): Promise<boolean> {
    const { client, model } = this.#o
    const found = await client.find(Namespace, { name: model.home })
    return found?.metadata.labels?.['app.kubernetes.io/name'] === model.name
  }

  /** Those that the operator serves. Of a kind that is not there any more there are none. */
  async #objects(
    { ref }: Pick<Served, 'ref'>,
    where: 'everywhere' | readonly string[] | undefined = this.#o.model.namespaces,
  ): Promise<Dependent[]> {
    const { client } = this.#o
    const namespaces = where === 'everywhere' || ref.scope === 'Cluster' ? undefined : where
    try {
      const lists = (namespaces ?? [undefined]).map((namespace) => client.list(ref as KindRef<Dependent>, { namespace }))
      return (await Promise.all(lists)).flatMap(({ items }) => items)
    } catch (error) {
      if (error instanceof UnknownKindError || (error instanceof StatusError && error.status === 404)) return []
      throw this.#failed(`list ${kindName(ref)}`, error, isUnconverted(error) ? await this.#advice() : undefined)
    }
  }

  /** Whether there was one. */
  async #delete(ref: KindRef<unknown>, where: ObjectRef, options: object = {}): Promise<boolean> {
    try {
      await this.#o.client.delete(ref, { name: where.name, namespace: where.namespace }, options)
      return true
    } catch (error) {
      // A kind that this cluster does not have, or another object of the name by now.
      if (isNotFound(error) || isConflict(error) || error instanceof UnknownKindError) return false
      throw this.#failed(`delete ${ref.kind} ${keyOf(where)}`, error)
    }
  }

  #failed(what: string, error: unknown, advice?: string): CliError {
    if (advice !== undefined)
      return new CliError(exitCodes.cluster, `cannot ${what}: ${messageOf(causeOf(error))}\n${advice}`, { cause: error })
    const hint = isForbidden(error) && !isRefusedByWebhook(error) ? '; uninstalling needs the rights of who installed it' : ''
    return new CliError(exitCodes.cluster, `cannot ${what}: ${messageOf(error)}${hint}; start again when that is repaired`, {
      cause: error,
    })
  }
}

type DeploymentObject = KubeObject & { status?: { readyReplicas?: number } }
const Deployment = kind<DeploymentObject>('apps/v1', 'Deployment', { plural: 'deployments', scope: 'Namespaced' })
const Pod = kind('v1', 'Pod', { plural: 'pods', scope: 'Namespaced' })
const PersistentVolumeClaim = kind('v1', 'PersistentVolumeClaim', { plural: 'persistentvolumeclaims', scope: 'Namespaced' })
const Namespace = kind('v1', 'Namespace', { plural: 'namespaces', scope: 'Cluster' })
const Definition = kind<LiveDefinition>('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
})

interface LiveDefinition extends KubeObject {
  readonly spec: CustomResourceDefinition['spec'] & {
    readonly conversion?: {
      readonly strategy: string
      readonly webhook?: { readonly clientConfig?: { readonly service?: { readonly namespace: string; readonly name: string } } }
    }
  }
  readonly status?: { readonly storedVersions?: readonly string[] }
}

function storage({ spec: { group, names, scope, versions } }: Pick<CustomResourceDefinition, 'spec'>): { ref: KindRef; stored: string } {
  const stored = versions.find((version) => version.storage)?.name ?? ''
  return { stored, ref: kind(`${group}/${stored}`, names.kind, { plural: names.plural, scope }) }
}

/** What the API server says of webhooks, whether they are against it or do not answer. */
const isRefusedByWebhook = (error: unknown) => /admission webhook ".*" denied|failed calling webhook/.test(messageOf(causeOf(error)))
const isUnconverted = (error: unknown) => /conversion webhook for /.test(messageOf(causeOf(error)))

/** Of what was told to the user. */
const causeOf = (error: unknown) => (error instanceof CliError && error.cause !== undefined ? error.cause : error)
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

const isWebhookConfiguration = ({ kind: kindOf }: Manifest) => kindOf.endsWith('WebhookConfiguration')

function servedBy(specs: readonly HandlerSpec[]): Served[] {
  const primary = specs.map(({ kind: ref, onDelete }) => ({
    // As it is stored: then nobody has to convert it.
    ref: ref.crd === undefined || ref.foreign === true ? ref : storage(ref.crd).ref,
    finalizer: onDelete === undefined ? undefined : (onDelete.finalizer ?? defaultFinalizer(ref)),
    definition: ref.foreign === true ? undefined : ref.crd?.metadata.name,
  }))
  // Objects of other definitions that come with the operator: they go with these, and nobody has to clean up after them.
  const named = new Set(primary.map(({ ref }) => kindName(ref)))
  const rest = definitionsOf(specs).flatMap(({ metadata, spec: { group, names, scope, versions } }) => {
    const version = versions.find(({ served }) => served)?.name
    const ref = kind(`${group}/${version}`, names.kind, { plural: names.plural, scope })
    return version === undefined || named.has(kindName(ref)) ? [] : [{ ref, finalizer: undefined, definition: metadata.name }]
  })
  return [...primary, ...rest]
}

function holds({ metadata }: KubeObject, finalizer: string | undefined): boolean {
  return finalizer !== undefined && metadata.finalizers?.includes(finalizer) === true
}

/** What it waits for, as far as it says so itself. */
function describe({ kind: kindOf, metadata, status }: Dependent): string {
  const condition = status?.conditions?.find(({ type, status: value }) => type === 'Ready' && value !== 'True')
  const why = condition === undefined ? '' : `: ${[condition.reason, condition.message].filter(Boolean).join(', ')}`
  const holders = metadata.finalizers === undefined ? '' : ` (held by ${metadata.finalizers.join(', ')})`
  return `${kindOf} ${keyOf(metadata)}${holders}${why}`
}

function count(number: number, name: string): string {
  return `${number} ${name}`
}
