/** Verbs that are not about what is stored, or not only: by bucket, subresource and verb. */
import type { Auth } from '../auth/authenticate.ts'
import { createReviews } from '../auth/reviews.ts'
import { requestToken } from '../auth/token-request.ts'
import { builtinShape } from '../builtin/shapes/shape.ts'
import type { Core } from '../core.ts'
import { invalid } from '../field-error.ts'
import { isObject } from '../json.ts'
import { reportProblems, unknownField } from '../operations/decode.ts'
import { track } from '../operations/managed-fields.ts'
import { update } from '../operations/update.ts'
import { badRequest, invalidError } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import type { Extension, ExtensionAnswer, ExtensionCall } from '../verbs.ts'
import { bind } from './binding.ts'
import { evict } from './eviction.ts'

export function createExtensions(core: Core, auth: Auth): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>([
    ['/namespaces/finalize update', finalize],
    ['/bindings create', (call) => boundByBody(call, body(call, '', 'v1', 'Binding'))],
    ['/pods/binding create', (call) => bound(call, body(call, '', 'v1', 'Binding'))],
    ['/pods/log get', log],
    ['/pods/eviction create', (call) => evict(call, body(call, 'policy', 'v1', 'Eviction'))],
    [
      '/serviceaccounts/token create',
      (call) => {
        const request = body(call, 'authentication.k8s.io', 'v1', 'TokenRequest')
        return { status: 201, object: requestToken(core, auth, call.namespace, call.name, request) }
      },
    ],
  ])
  for (const [bucket, review] of createReviews(core, auth)) {
    extensions.set(`${bucket} create`, (call) => {
      const { type, user, namespace } = call
      const question = body(call, type.group, type.version, type.kind)
      return { status: 201, object: owned(call, question, review(question, { user, namespace })) }
    })
  }
  return extensions
}

/** An answer that repeats the question tells, as all that is written, whose fields these are. */
function owned({ core, type, options }: ExtensionCall, question: ApiObject, answer: ApiObject): ApiObject {
  if (question.spec === undefined || answer.spec !== question.spec) return answer
  // At once: only a conversion by a webhook would have to be waited for, and a review has none.
  void track(core, type, undefined, question, '', options)
  const { managedFields } = question.metadata
  return managedFields === undefined ? answer : { ...answer, metadata: { ...answer.metadata, managedFields } }
}

function bound({ core, type, namespace, name, options }: ExtensionCall, { target, metadata }: ApiObject) {
  if (options.dryRun !== true) bind(core, type, namespace, name, target?.name ?? '', metadata.uid)
  return { status: 201, object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } }
}

/** The old form, without the pod in the path. */
function boundByBody(call: ExtensionCall, binding: ApiObject) {
  const type = call.core.registry.find('', 'v1', 'pods') ?? call.type
  return bound({ ...call, type, name: binding.metadata.name ?? '' }, binding)
}

/** Nothing runs here, so nothing was logged; of a pod without a node a real server says nothing, either. @throws ApiError 400, 404 */
async function log({ core, type, namespace, name, query }: ExtensionCall): Promise<ExtensionAnswer> {
  const { spec } = await core.operations.get(type, namespace, name)
  const containers: readonly { name: string }[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  const wanted = query.get('container')
  if (wanted !== null && !containers.some((each) => each.name === wanted)) {
    throw badRequest(`container ${wanted} is not valid for pod ${name}`)
  }
  if (wanted === null && containers.length > 1) {
    const names = containers.map((each) => each.name).join(' ')
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names}]`)
  }
  return { status: 200, text: spec.nodeName ? `pod ${name} is simulated: no container runs, so nothing is logged\n` : '' }
}

async function finalize({ core, type, namespace, name, object, options }: ExtensionCall) {
  refuseUnqualified(type, name, (object?.spec?.finalizers ?? []) as readonly unknown[])
  const { object: result } = await update(core, type, namespace, name, 'finalize', object, options)
  return { status: 200, object: result }
}

/** @throws ApiError 422 */
function refuseUnqualified(type: ResourceType, name: string, finalizers: readonly unknown[]): void {
  const errors = finalizers.flatMap((each, i) =>
    each === 'kubernetes' || String(each).includes('/')
      ? []
      : [invalid(`spec.finalizers[${i}]`, each, 'name is neither a standard finalizer name nor is it fully qualified')],
  )
  if (errors.length > 0) throw invalidError(type, name, errors)
}

/** The decoded body, of another kind than the resource. @throws ApiError 400 */
function body({ object, type, options }: ExtensionCall, group: string, version: string, kind: string): ApiObject {
  if (!isObject(object)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  const decoded = object as ApiObject
  const apiVersion = group === '' ? version : `${group}/${version}`
  decoded.kind ??= kind
  decoded.apiVersion ??= apiVersion
  if (decoded.kind !== kind) {
    const given = decoded.apiVersion.split('/').at(-1) ?? ''
    throw badRequest(
      `${decoded.kind} in version ${JSON.stringify(given)} cannot be handled as a ${kind}: converting (${given}.${decoded.kind}) to (${group.split('.')[0]}.${kind}): unknown conversion`,
    )
  }
  decoded.metadata ??= {}
  const unknown = builtinShape(group, version, kind)?.decode(decoded) ?? []
  const problems = [...(options.decodingErrors ?? []), ...unknown.map(unknownField)]
  if (problems.length > 0) reportProblems({ ...type, kind, version }, problems, options)
  return decoded
}
