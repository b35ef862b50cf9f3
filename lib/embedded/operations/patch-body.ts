/** The body of a PATCH, by its media type. */
import { decodeBody, UnreadableBody } from '../body.ts'
import type { PatchType } from '../core.ts'
import { mediaType } from '../negotiate.ts'
import { ApiError, badRequest } from '../status.ts'
import type { ResourceType } from '../types.ts'
import type { Patch } from './patch.ts'

const TYPES: Readonly<Record<string, PatchType | undefined>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}
const OF_CUSTOM = 'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'

/** @throws ApiError 415 */
export function patchType(type: ResourceType, contentType = ''): PatchType {
  const found = TYPES[mediaType(contentType)]
  if (!type.custom) {
    if (found !== undefined) return found
    // Built-in kinds go through a router that refuses what it does not know.
    throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  }
  if (found !== undefined && found !== 'strategic') return found
  throw new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${OF_CUSTOM}`,
  )
}

/** @throws ApiError 400 */
export function decodePatch(type: PatchType, text: string, force: boolean | undefined): Patch {
  try {
    const { value } = decodeBody(text, type === 'apply' ? 'yaml' : 'json', false)
    return { type, value, ...(force === undefined ? {} : { force }) }
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    const reason = error.message.replace("couldn't get version/kind; json parse error: ", '')
    throw badRequest(type === 'apply' ? `error decoding YAML: ${reason}` : `error decoding patch: ${reason}`)
  }
}
