/** Mutating and validating admission webhooks. */
import type { AdmissionPlugin, AdmissionRequest, Core } from '../core.ts'
import { goSyntaxError } from '../go-syntax-error.ts'
import { cloneJson, equalJson, isObject, type Json, type JsonObject } from '../json.ts'
import { newUid } from '../object-meta.ts'
import { writeContext } from '../operations/context.ts'
import { decodeObject } from '../operations/decode.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import type { LabelSelector } from '../selectors.ts'
import { ApiError, badRequest, internalError, type StatusDetails } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { convertObject, versioned } from './convert.ts'
import { type ExpressionSource, type MatchConditions, matchConditions } from './match-conditions.ts'
import { isExempt, matchedType, type Rule } from './matching.ts'
import { refusal } from './refusal.ts'
import { admissionReview } from './review.ts'
import type { CallWebhook, ClientConfig } from './webhook-call.ts'

interface Webhook {
  readonly name: string
  readonly clientConfig: ClientConfig
  readonly rules?: readonly Rule[]
  readonly failurePolicy?: string
  readonly matchPolicy?: string
  readonly namespaceSelector?: LabelSelector
  readonly objectSelector?: LabelSelector
  readonly matchConditions?: readonly ExpressionSource[]
  readonly reinvocationPolicy?: string
  readonly sideEffects?: string
  readonly timeoutSeconds?: number
  readonly admissionReviewVersions?: readonly string[]
}

interface Hook {
  readonly webhook: Webhook
  readonly conditions: MatchConditions
}

const GROUP = 'admissionregistration.k8s.io'
const TIMEOUT_SECONDS = 10

/** The call itself failed; `Ignore` forgives it. */
class CallError extends Error {}

export function mutatingWebhooks(core: Core, call: CallWebhook): AdmissionPlugin {
  const hooksOf = hookReader(core, 'mutatingwebhookconfigurations')
  const plugin: AdmissionPlugin = {
    name: 'MutatingAdmissionWebhook',
    mutate(request) {
      const hooks = hooksOf(request)
      return hooks.length === 0 ? undefined : mutateTwice(core, call, plugin, hooks, request)
    },
  }
  return plugin
}

/**
 * When a webhook changed the object, the plugins before it see it again, and then those webhooks once more that want to
 * (`reinvocationPolicy: IfNeeded`) and did not see the last change.
 */
async function mutateTwice(
  core: Core,
  call: CallWebhook,
  plugin: AdmissionPlugin,
  hooks: readonly Hook[],
  request: AdmissionRequest,
): Promise<void> {
  const again = new Set<Hook>()
  const willing = new Set<Hook>()
  const reinvoke = () => {
    for (const hook of willing) again.add(hook)
    willing.clear()
  }
  let changed = false
  for (const hook of hooks) {
    const called = await mutateOnce(core, call, hook, request)
    if (called === 'changed') {
      changed = true
      reinvoke()
    }
    if (called !== 'skipped' && hook.webhook.reinvocationPolicy === 'IfNeeded') willing.add(hook)
  }
  if (!changed) return
  const before = cloneJson(request.object)
  for (const earlier of core.admission.slice(0, core.admission.indexOf(plugin))) await earlier.mutate?.(request)
  if (!equalJson(before, request.object)) reinvoke()
  for (const hook of hooks) if (again.has(hook)) await mutateOnce(core, call, hook, request)
}

async function mutateOnce(core: Core, call: CallWebhook, hook: Hook, request: AdmissionRequest): Promise<'skipped' | 'same' | 'changed'> {
  const type = await typeFor(core, hook, request)
  if (type === undefined) return 'skipped'
  try {
    const response = await ask(core, call, hook.webhook, request, type, true)
    const patch = patchOf(response)
    if (patch === undefined) return 'same'
    if (request.object === undefined) {
      const text = `admission webhook ${JSON.stringify(hook.webhook.name)} attempted to modify the object, which is not supported for this operation`
      throw internalError(text)
    }
    const next = await patched(core, request, type, request.object, patch)
    const same = equalJson(next, request.object)
    request.object = next
    return same ? 'same' : 'changed'
  } catch (error) {
    forgive(hook.webhook, error)
    return 'same'
  }
}

export function validatingWebhooks(core: Core, call: CallWebhook): AdmissionPlugin {
  const hooksOf = hookReader(core, 'validatingwebhookconfigurations')
  return {
    name: 'ValidatingAdmissionWebhook',
    validate(request) {
      const hooks = hooksOf(request)
      return hooks.length === 0 ? undefined : validateAll(core, call, hooks, request)
    },
  }
}

/** All at once; the first that says no (in their order) is the one that is told. */
async function validateAll(core: Core, call: CallWebhook, hooks: readonly Hook[], request: AdmissionRequest): Promise<void> {
  const relevant: { webhook: Webhook; type: ResourceType }[] = []
  for (const hook of hooks) {
    const type = await typeFor(core, hook, request)
    if (type !== undefined) relevant.push({ webhook: hook.webhook, type })
  }
  const answers = await Promise.allSettled(
    relevant.map(async ({ webhook, type }) => {
      try {
        await ask(core, call, webhook, request, type, false)
      } catch (error) {
        forgive(webhook, error)
      }
    }),
  )
  for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
}

/** The configurations in the order of their names, each compiled once. */
function hookReader(core: Core, resource: string): (request: AdmissionRequest) => readonly Hook[] {
  const compiled = new WeakMap<ApiObject, readonly Hook[]>()
  const compile = (configuration: ApiObject): readonly Hook[] =>
    ((configuration.webhooks ?? []) as Webhook[]).map((webhook) => ({
      webhook,
      conditions: matchConditions(webhook.matchConditions ?? [], false),
    }))
  const bucket = core.store.bucket(`${GROUP}/${resource}`)
  return ({ type }) => {
    if (bucket.size === 0 || isExempt(type)) return []
    return core.lookup.list(GROUP, resource).flatMap((configuration) => {
      const known = compiled.get(configuration)
      if (known !== undefined) return known
      const hooks = compile(configuration)
      compiled.set(configuration, hooks)
      return hooks
    })
  }
}

/** Undefined: the webhook is not to be called. @throws ApiError 403 where its conditions cannot be told */
async function typeFor(core: Core, { webhook, conditions }: Hook, request: AdmissionRequest): Promise<ResourceType | undefined> {
  const { rules = [], matchPolicy, namespaceSelector, objectSelector } = webhook
  const type = matchedType(core, request, {
    rules,
    ...(matchPolicy === undefined ? {} : { matchPolicy }),
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
  })
  if (type === undefined || conditions.none) return type
  const match = await conditions.match({ core, request, type, objects: await versioned(request, type) })
  if (match.error === undefined) return match.matches ? type : undefined
  if (webhook.failurePolicy === 'Ignore') return undefined
  throw refusal(request, match.error)
}

/** @throws CallError; ApiError where it says no */
async function ask(
  core: Core,
  call: CallWebhook,
  webhook: Webhook,
  request: AdmissionRequest,
  type: ResourceType,
  mutating: boolean,
): Promise<JsonObject> {
  if (request.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  }
  const version = (webhook.admissionReviewVersions ?? ['v1']).find((each) => each === 'v1' || each === 'v1beta1')
  if (version === undefined) {
    throw new CallError('could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)')
  }
  const uid = newUid(core.random)
  const question = admissionReview(request, type, uid, await versioned(request, type), version)
  let answer: JsonObject
  try {
    answer = await call(webhook.clientConfig, question, webhook.timeoutSeconds ?? TIMEOUT_SECONDS)
  } catch (error) {
    throw new CallError(`failed to call webhook: ${(error as Error).message}`)
  }
  const response = verified(answer, uid, version, mutating)
  for (const warning of Array.isArray(response.warnings) ? response.warnings : []) {
    if (typeof warning === 'string' && !/[\n\r\0]/.test(warning)) request.warn(warning)
  }
  if (response.allowed !== true) throw denial(webhook.name, response.status)
  return response
}

/** @throws CallError */
function verified(answer: JsonObject, uid: string, version: string, mutating: boolean): JsonObject {
  const bad = (why: string) => new CallError(`received invalid webhook response: ${why}`)
  const { apiVersion = '', kind = '', response } = answer
  if ((kind !== '' && kind !== 'AdmissionReview') || (apiVersion !== '' && !String(apiVersion).startsWith('admission.k8s.io/'))) {
    throw new CallError(
      `failed to call webhook: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme`,
    )
  }
  if (apiVersion !== '' && apiVersion !== `admission.k8s.io/${version}`) {
    const short = String(apiVersion).slice('admission.k8s.io/'.length)
    throw new CallError(`failed to call webhook: converting (${short}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`)
  }
  if (!isObject(response)) throw bad('webhook response was absent')
  if (version === 'v1') {
    if (response.uid !== uid) throw bad(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`)
    if (apiVersion === '' || kind === '') throw bad('expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=')
  }
  const patch = typeof response.patch === 'string' && response.patch !== ''
  const patchType = response.patchType !== undefined && response.patchType !== null
  if (!mutating) {
    if (patch) throw bad('validating webhook may not return response.patch')
    if (patchType) throw bad('validating webhook may not return response.patchType')
  } else if (version === 'v1') {
    if (patch && !patchType) throw bad('webhook returned response.patch but not response.patchType')
    if (!patch && patchType) throw bad('webhook returned response.patchType but not response.patch')
    if (response.patchType === '') throw bad('webhook returned invalid response.patchType of ""')
  }
  return response
}

/** The error that the webhook wants to be told, or what there is of it. */
function denial(name: string, status: Json | undefined): ApiError {
  const given = isObject(status) ? status : {}
  const code = typeof given.code === 'number' && given.code >= 400 ? given.code : 400
  const reason = typeof given.reason === 'string' ? given.reason : ''
  const why = given.message || reason
  const text = `admission webhook ${JSON.stringify(name)} denied the request${why ? `: ${why}` : ' without explanation'}`
  return new ApiError(code, reason, text, isObject(given.details) ? (given.details as unknown as StatusDetails) : undefined)
}

/** Undefined: no change. @throws CallError */
function patchOf({ patch, patchType }: JsonObject): Json[] | undefined {
  if (typeof patch !== 'string' || patch === '') return undefined
  const text = Buffer.from(patch, 'base64').toString()
  let operations: unknown
  try {
    operations = JSON.parse(text)
  } catch {
    throw new CallError(`received undecodable patch in webhook response: ${goSyntaxError(text)}`)
  }
  if (!Array.isArray(operations))
    throw new CallError(
      'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    )
  if (operations.length === 0) return undefined
  if (patchType !== undefined && patchType !== 'JSONPatch') throw new CallError(`unsupported patch type ${JSON.stringify(patchType)}`)
  return operations
}

/** With defaults filled in again. A patch that does not apply, or makes no object of the kind, is the server's fault: 500. */
async function patched(
  core: Core,
  request: AdmissionRequest,
  type: ResourceType,
  object: ApiObject,
  operations: Json[],
): Promise<ApiObject> {
  try {
    const seen = await convertObject(type, object)
    const result = applyJsonPatch(seen as unknown as Json, operations)
    const next = decodeObject(type, result, { user: request.user, fieldValidation: 'Ignore' })
    const operation = request.operation === 'CREATE' ? 'create' : 'update'
    const context = writeContext(core, type, request.namespace, operation, request.subresource, {
      user: request.user,
      dryRun: request.dryRun,
    })
    type.strategy.defaults?.(next, context)
    return await convertObject(request.type, next)
  } catch (error) {
    throw error instanceof ApiError ? internalError(error.message.replace(CANNOT_HANDLE, '')) : error
  }
}

/** What decoding a request's body says before what is wrong. */
const CANNOT_HANDLE = /^\w+ in version "\w+" cannot be handled as a \w+: /

/** Throws on, except where the webhook may be missed. */
function forgive({ name, failurePolicy }: Webhook, error: unknown): void {
  if (!(error instanceof CallError)) throw error
  if (failurePolicy === 'Ignore') return
  throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`)
}
