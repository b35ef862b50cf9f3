/** What a request may not exceed, whatever way it comes. */
import { ApiError } from '../status.ts'
import type { ApiResponse } from '../types.ts'

/** Bytes of a body: the API server's limit, which is etcd's with room for the encoding. */
export const BODY_LIMIT = 3 * 1024 * 1024
/** Bytes of the request line and the headers, as Go's server has it; tokens and selectors can be long. */
export const HEADER_LIMIT = 1024 * 1024

export function tooLargeBody(): ApiResponse {
  return statusResponse(new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${BODY_LIMIT}`))
}

/** An error that is answered before the request reaches the handler. */
export function statusResponse(error: ApiError): ApiResponse {
  const retryAfter = error.details?.retryAfterSeconds
  return {
    status: error.code,
    headers: {
      'cache-control': 'no-cache, private',
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: `${JSON.stringify(error.toStatus())}\n`,
  }
}
