/** The body of a PATCH, by its media type. */
import { decodeBody, UnreadableBody } from '../body.ts'
import type { PatchType } from '../core.ts'
import { mediaType } from '../negotiate.ts'
import { ApiError, badRequest } from '../status.ts'
import type { ResourceType } from '../types.ts'
import type { Patch } from './patch.ts'
import type { QueryOptions } from './write-options.ts'

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

export interface PatchBody {
  readonly patch: Patch
  /** As of any body: what is there twice. */
  readonly problems: readonly string[]
}

/** @throws ApiError 400 */
export function decodePatch(type: PatchType, text: string, given: Pick<QueryOptions, 'force' | 'fieldValidation'>): PatchBody {
  const force = given.force === undefined ? {} : { force: given.force }
  const looks = given.fieldValidation !== 'Ignore'
  try {
    const { value, problems, strict } = decodeBody(text, type === 'apply' ? 'yaml' : 'json', looks && type !== 'json')
    if (type === 'apply' && strict.length > 0 && given.fieldValidation === 'Strict') {
      throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strict.join(', ')}`)
    }
    if (type === 'apply' && value === null) throw badRequest('invalid object type: /, Kind=')
    return { patch: { type, value, ...force }, problems }
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    if (type === 'apply') throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`)
    throw badRequest(`error decoding patch: ${error.message.replace("couldn't get version/kind; json parse error: ", '')}`)
  }
}
