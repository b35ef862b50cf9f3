/** The question that is put to a webhook, and the `request` that policies see: `admission.k8s.io/v1`. */

import { userInfo } from '../auth/reviews.ts'
import type { AdmissionRequest } from '../core.ts'
import type { ResourceType } from '../types.ts'
import { apiVersionOf, type Versioned } from './convert.ts'

const OPTIONS: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
}

/** Without the objects. */
export function describeRequest(request: AdmissionRequest, type: ResourceType): Record<string, unknown> {
  const { subresource, namespace, name, operation, user, dryRun } = request
  const kindOf = (each: ResourceType) => kindOfRequest(each, subresource)
  const resourceOf = ({ group, version, resource }: ResourceType) => ({ group, version, resource })
  return {
    kind: kindOf(type),
    resource: resourceOf(type),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindOf(request.type),
    requestResource: resourceOf(request.type),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfo(user),
    dryRun,
    options: optionsOf(request),
  }
}

function kindOfRequest({ group, version, kind }: ResourceType, subresource: string) {
  return subresource === 'scale' ? { group: 'autoscaling', version: 'v1', kind: 'Scale' } : { group, version, kind }
}

/** A patch comes as the options of an update, without `force`. */
function optionsOf({ operation, options }: AdmissionRequest): object | null {
  const kind = OPTIONS[operation]
  if (kind === undefined) return null
  const { kind: _, apiVersion: __, force: ___, ...rest } = options as { kind?: string; apiVersion?: string; force?: boolean }
  return { kind, apiVersion: 'meta.k8s.io/v1', ...rest }
}

export function admissionReview(
  request: AdmissionRequest,
  type: ResourceType,
  uid: string,
  { object, old }: Versioned,
  version = 'v1',
): object {
  const { dryRun, options, ...described } = describeRequest(request, type)
  return {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...described, object: shown(type, object), oldObject: shown(type, old), dryRun, options },
  }
}

/** With the kind first, as the server writes it. */
function shown(type: ResourceType, object: Versioned['object']): object | null {
  return object === undefined ? null : { ...object, kind: object.kind ?? type.kind, apiVersion: object.apiVersion ?? apiVersionOf(type) }
}
