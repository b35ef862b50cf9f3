/** How a plugin says no. */
import type { AdmissionRequest } from '../core.ts'
import { type ApiError, forbiddenError, type StatusCause } from '../status.ts'

/** 403 `pods "a" is forbidden: DETAIL`. */
export const refusal = (request: AdmissionRequest, detail: string, causes?: readonly StatusCause[]): ApiError =>
  forbiddenError(request.type, nameOf(request), detail, causes)

/** What there is of a name yet. */
function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
}

export const isResource = ({ type, subresource }: AdmissionRequest, bucket: string): boolean => type.bucket === bucket && subresource === ''
