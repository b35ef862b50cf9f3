/** An AdmissionReview and its answer (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/). */

import type { Clock } from '../api/clock.ts'
import { matchesFields, matchesLabels } from '../api/selectors.ts'
import type { AdmissionContext, RequestUser } from '../resource/admission-context.ts'
import { breaksSchema } from '../resource/breaks-schema.ts'
import type { JsonPatchOperation } from '../resource/context-client.ts'
import { isConversionError } from '../resource/conversion.ts'
import { type Invalid, isRefusal } from '../resource/invalid.ts'
import { groupOf, type KubeObject, kindName } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { NoJsonError, plainJson } from '../resource/plain-json.ts'
import type { Schema } from '../resource/schema.ts'
import { jsonPatch } from './json-patch.ts'
import { isUntouched } from './untouched.ts'
import type { Operation, Webhook } from './webhooks.ts'

export interface AdmissionRequest {
  readonly uid: string
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly namespace?: string
  readonly name?: string
  readonly operation: string
  readonly userInfo?: Partial<RequestUser>
  readonly object?: KubeObject | null
  readonly oldObject?: KubeObject | null
  readonly dryRun?: boolean | null
}

export interface AdmissionResponse {
  readonly uid: string
  readonly allowed: boolean
  readonly status?: object
  readonly warnings?: readonly string[]
  readonly patchType?: 'JSONPatch'
  readonly patch?: string
}

export interface ReviewTools {
  readonly clock: Clock
  readonly log: Log
  /** Told where the method threw or was late, whatever the API server is told then. */
  readonly failed?: () => void
}

const LONGEST_WARNING = 256
const MOST_WARNINGS = 10

/** Never rejects: what goes wrong is an answer, too. */
export async function reviewed(
  webhook: Webhook,
  instance: object,
  request: AdmissionRequest,
  tools: ReviewTools,
): Promise<AdmissionResponse> {
  const { uid } = request
  const operation = operationOf(request)
  if (!isAbout(webhook, request)) return refused(uid, 400, 'BadRequest', `${called(webhook)} is not for ${request.resource?.resource}`)
  const sent = request.object ?? request.oldObject
  if (operation === undefined || !webhook.on.includes(operation) || sent === undefined || sent === null) return { uid, allowed: true }
  const log = tools.log.child({
    controller: kindName(webhook.spec.kind),
    namespace: request.namespace,
    name: nameOf(request, sent),
    operation,
    user: request.userInfo?.username,
    request: uid,
  })
  const abort = new AbortController()
  const warnings: string[] = []
  try {
    const answer = await within(webhook, tools.clock, () =>
      asked(webhook, instance, request, sent, operation, context(request, operation, abort.signal, warnings, log)),
    )
    return { uid, ...answer, ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) }
  } catch (error) {
    if (isRefusal(error))
      return { uid, ...denial(webhook, request, sent, [error]), ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) }
    tools.failed?.()
    return failed(webhook, uid, error, log)
  } finally {
    abort.abort()
    warnings.length = 0
  }
}

type Answer = Omit<AdmissionResponse, 'uid'>

async function asked(
  webhook: Webhook,
  instance: object,
  request: AdmissionRequest,
  sent: KubeObject,
  operation: Operation,
  context: AdmissionContext,
): Promise<Answer> {
  const old = declared(webhook, request.oldObject)
  // Where it is about to go, there is only what was.
  const object = declared(webhook, sent) as KubeObject
  if (!isSelected(webhook, object) && !(old !== undefined && isSelected(webhook, old))) return { allowed: true }
  if (operation === 'update' && old !== undefined && isUntouched(object, old)) return { allowed: true }
  const method = (instance as Record<string, (...args: unknown[]) => unknown>)[webhook.method]
  if (typeof method !== 'function') throw new TypeError(`${called(webhook)} is no method any more`)
  const call = (copy: KubeObject) => method.call(instance, copy, old === undefined ? undefined : plainJson(old), context)
  if (webhook.type === 'validate') return verdict(webhook, request, sent, await call(plainJson(object) as KubeObject))
  return changed(webhook, sent, object, call, context.log)
}

function verdict(webhook: Webhook, request: AdmissionRequest, sent: KubeObject, result: unknown): Answer {
  if (result === undefined || result === null) return { allowed: true }
  const found: readonly unknown[] = Array.isArray(result) ? result : [result]
  if (!found.every(isRefusal)) {
    const one = found.find((each) => !isRefusal(each))
    // An error that was made and returned was meant as one.
    throw one instanceof Error
      ? one
      : new TypeError(`${called(webhook)} returned ${named(one)}; it must return nothing, Invalid, or a list of Invalid`)
  }
  return found.length === 0 ? { allowed: true } : denial(webhook, request, sent, found)
}

async function changed(
  webhook: Webhook,
  sent: KubeObject,
  object: KubeObject,
  call: (copy: KubeObject) => unknown,
  log: Log,
): Promise<Answer> {
  const copy = plainJson(object) as KubeObject
  let result: unknown
  try {
    result = (await call(copy)) ?? copy
  } catch (error) {
    if (isRefusal(error) || !isBroken(webhook, object)) throw error
    log.debug({ err: error }, `${called(webhook)} failed on an object that breaks its schema; the API server says how it does`)
    return { allowed: true }
  }
  if (typeof result !== 'object' || Array.isArray(result))
    throw new TypeError(`${called(webhook)} returned ${named(result)}; it must return the object, or nothing`)
  let next: KubeObject
  try {
    next = plainJson(result) as KubeObject
  } catch (error) {
    throw error instanceof NoJsonError ? new TypeError(`${called(webhook)}: ${error.path}: ${error.message}`) : error
  }
  const wrong = jsonPatch(object, next).find(({ path }) => !mayChange(path))
  if (wrong !== undefined) {
    throw new TypeError(
      `${called(webhook)} changed ${dotted(wrong.path)}; it may change what the object asks for, labels and annotations only`,
    )
  }
  const version = versionOf(sent)
  const back = versionOf(next) === version ? next : converted(webhook, next, version)
  const patch = jsonPatch(sent, back)
  return patch.length === 0 ? { allowed: true } : { allowed: true, patchType: 'JSONPatch', patch: base64(patch) }
}

/** Below metadata only what its author may say. The status is another write's business: here the API server would drop it. */
function mayChange(path: string): boolean {
  if (path === '/metadata/labels' || path.startsWith('/metadata/labels/')) return true
  if (path === '/metadata/annotations' || path.startsWith('/metadata/annotations/')) return true
  return !/^\/(apiVersion|kind|metadata|status)(\/|$)/.test(path)
}

const dotted = (path: string) => path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
const base64 = (patch: readonly JsonPatchOperation[]) => Buffer.from(JSON.stringify(patch)).toString('base64')

function isBroken({ spec }: Webhook, object: KubeObject): boolean {
  const version = versionOf({ ...object, apiVersion: spec.kind.apiVersion })
  const schema = spec.kind.crd?.spec.versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema
  return schema !== undefined && breaksSchema(object, schema as Schema)
}

/** In the version of the class. The API server converts before it asks, unless it was told not to. */
function declared(webhook: Webhook, object: KubeObject | null | undefined): KubeObject | undefined {
  if (object === null || object === undefined) return undefined
  const { apiVersion } = webhook.spec.kind
  return object.apiVersion === apiVersion ? object : converted(webhook, object, versionOf({ ...object, apiVersion }))
}

function converted({ spec: { kind } }: Webhook, object: KubeObject, version: string): KubeObject {
  if (kind.conversion !== undefined) return kind.conversion.convert(object, version)
  const group = groupOf(kind.apiVersion)
  return { ...object, apiVersion: group === '' ? version : `${group}/${version}` }
}

const versionOf = ({ apiVersion = '' }: KubeObject) => apiVersion.slice(apiVersion.indexOf('/') + 1)

/** As the class serves it: an operator beside this one may serve others of the kind. */
function isSelected({ spec }: Webhook, object: KubeObject): boolean {
  const { labels, fields, namespaces } = spec.reconcile.options
  const { namespace } = object.metadata
  if (namespaces !== undefined && namespace !== undefined && !namespaces.includes(namespace)) return false
  if (labels !== undefined && !matchesLabels(labels, object.metadata.labels)) return false
  return fields === undefined || matchesFields(fields, object)
}

function isAbout({ spec: { kind } }: Webhook, { resource }: AdmissionRequest): boolean {
  return resource?.group === groupOf(kind.apiVersion) && resource.resource === kind.plural
}

function operationOf({ operation, subResource = '' }: AdmissionRequest): Operation | undefined {
  if (subResource === 'status') return operation === 'UPDATE' ? 'status' : undefined
  if (subResource !== '') return undefined
  return ({ CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const)[operation]
}

function context(
  { userInfo = {}, dryRun }: AdmissionRequest,
  operation: Operation,
  signal: AbortSignal,
  warnings: string[],
  log: Log,
): AdmissionContext {
  const { username = '', groups = [], uid, extra } = userInfo
  return {
    operation: operation === 'status' ? 'update' : operation,
    subresource: operation === 'status' ? 'status' : '',
    user: { username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) },
    dryRun: dryRun === true,
    warn(text) {
      if (signal.aborted || warnings.length >= MOST_WARNINGS) return
      // In a header of the answer.
      const line = String(text)
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
      warnings.push(line.length > LONGEST_WARNING ? `${line.slice(0, LONGEST_WARNING - 1)}…` : line)
    },
    log,
    signal,
  }
}

class LateError extends Error {}

async function within<T>({ limitMs, ...webhook }: Webhook, clock: Clock, call: () => Promise<T>): Promise<T> {
  let late: (error: Error) => void = () => {}
  const deadline = new Promise<never>((_, reject) => {
    late = reject
  })
  const timer = clock.after(limitMs, () => late(new LateError(`${called(webhook)} did not answer within ${limitMs / 1000} s`)))
  try {
    const running = call()
    // Nobody waits for it after the deadline.
    running.catch(() => {})
    return await Promise.race([running, deadline])
  } finally {
    timer.cancel()
  }
}

/** What a Status of the API server says of it. */
function denial({ spec: { kind } }: Webhook, request: AdmissionRequest, sent: KubeObject, found: readonly Invalid[]): Answer {
  const fields = found.filter(({ field }) => field !== undefined)
  const texts = found.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
  const [only] = texts
  if (fields.length === 0) return { allowed: false, status: status(403, 'Forbidden', texts.join('; ')) }
  const name = nameOf(request, sent)
  const message = `${kindName(kind)} ${JSON.stringify(name)} is invalid: ${texts.length === 1 ? only : `[${texts.join(', ')}]`}`
  const causes = found.map(({ reason, message: text, field }) => ({ reason, message: text, ...(field === undefined ? {} : { field }) }))
  return { allowed: false, status: status(422, 'Invalid', message, { name, group: groupOf(kind.apiVersion), kind: kind.kind, causes }) }
}

/** What the code of the operator says of it stays in the operator's log. */
function failed(webhook: Webhook, uid: string, error: unknown, log: Log): AdmissionResponse {
  const late = error instanceof LateError
  const isConversion = isConversionError(error)
  log.error({ err: isConversion ? (error.cause ?? error) : error }, late ? error.message : `${called(webhook)} failed`)
  if (webhook.failurePolicy === 'Ignore')
    return {
      uid,
      allowed: true,
      warnings: [`${called(webhook)} ${late ? 'did not answer in time' : 'failed'}; the object was not looked at`],
    }
  if (late) return refused(uid, 504, 'Timeout', error.message)
  if (isConversion) return refused(uid, 500, 'InternalError', error.message)
  return refused(uid, 500, 'InternalError', `${called(webhook)} failed; the operator's log says why (request ${uid})`)
}

const refused = (uid: string, code: number, reason: string, message: string): AdmissionResponse => ({
  uid,
  allowed: false,
  status: status(code, reason, message),
})

function status(code: number, reason: string, message: string, details?: object): object {
  return { status: 'Failure', code, reason, message, ...(details === undefined ? {} : { details }) }
}

function nameOf({ name }: AdmissionRequest, { metadata }: KubeObject): string {
  return name || metadata.name || metadata.generateName || ''
}

const called = ({ spec, method }: Pick<Webhook, 'spec' | 'method'>) => `${spec.className}.${method}()`

function named(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
