/** The parameters that a binding gives to its policy: objects of any kind. */
import type { Core } from '../core.ts'
import { type LabelSelector, matchesLabelSelector } from '../selectors.ts'
import type { ApiObject, ResourceType } from '../types.ts'

export interface ParamKind {
  readonly apiVersion: string
  readonly kind: string
}

export interface ParamRef {
  readonly name?: string
  readonly namespace?: string
  readonly selector?: LabelSelector
  readonly parameterNotFoundAction?: string
}

/** The policy is evaluated for each of them; `undefined`: once, without. `error`: a fault of configuration. */
export type Params = { readonly params: readonly (ApiObject | undefined)[] } | { readonly error: string }

export function collectParams(core: Core, kind: ParamKind | undefined, ref: ParamRef | undefined, namespace: string): Params {
  const type = kind === undefined ? undefined : paramType(core, kind)
  if (type === undefined || ref === undefined) return { params: [undefined] }
  if (!type.namespaced && ref.namespace) return { error: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' }
  const in_ = type.namespaced ? ref.namespace || namespace : ''
  if (type.namespaced && in_ === '')
    return { error: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' }
  const params = find(core, type, in_, ref)
  if (params.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    return { error: 'no params found for policy binding with `Deny` parameterNotFoundAction' }
  }
  return { params }
}

/** Undefined: no such kind is served. */
export function paramType(core: Core, { apiVersion, kind }: ParamKind): ResourceType | undefined {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return core.registry.findKind(group, kind, apiVersion.slice(slash + 1))
}

function find(core: Core, type: ResourceType, namespace: string, { name, selector }: ParamRef): ApiObject[] {
  const slash = type.bucket.indexOf('/')
  const [group, resource] = [type.bucket.slice(0, slash), type.bucket.slice(slash + 1)]
  if (!name)
    return core.lookup.list(group, resource, namespace).filter((each) => matchesLabelSelector(selector ?? {}, each.metadata.labels))
  const found = core.lookup.get(group, resource, namespace, name)
  return found === undefined ? [] : [found]
}
