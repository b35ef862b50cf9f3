/**
 * From JSON to an object of a kind: what the kind does not have is removed and told, or refused, as `fieldValidation` says;
 * what has the wrong type is refused.
 */
import { invalid } from '../field-error.ts'
import { isObject } from '../json.ts'
import { type ApiError, badRequest, invalidError } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { apiVersionOf, type WriteOptions, warnAll } from './context.ts'
import { decodeMetadata } from './decode-metadata.ts'

/**
 * Makes `object`, which is changed in place, an object of the kind.
 * @throws ApiError 400, and 422 where the kind of a custom object is another
 */
export function decodeObject(type: ResourceType, value: unknown, options: WriteOptions, refuse?: (text: string) => ApiError): ApiObject {
  const object = rightKind(type, value)
  const problems = [...(options.decodingErrors ?? [])]
  const { managedFields } = object.metadata
  if (type.custom) problems.push(...decodeMetadata(object))
  // The body of a version that there is not is read by no schema at all.
  const known = !type.custom || object.apiVersion === apiVersionOf(type) || options.knows?.(object.apiVersion) !== false
  const removed = known ? type.prune?.(object) : Object.keys(object).filter((key) => !TYPED.has(key))
  if (removed !== undefined) for (const path of removed) problems.push(unknownField(path))
  // An empty list says something: forget who owns what.
  if (Array.isArray(managedFields) && managedFields.length === 0) object.metadata.managedFields = []
  if (problems.length > 0) reportProblems(type, problems, options, refuse)
  const expected = apiVersionOf(type)
  if (object.apiVersion !== expected && !equivalent(type, object.apiVersion)) {
    throw badRequest(`the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`)
  }
  object.apiVersion = expected
  if (type.custom && object.kind !== type.kind) {
    const subject = { ...type, kind: object.kind }
    throw invalidError(subject, object.metadata.name ?? '', [invalid('kind', object.kind, `must be ${type.kind}`)])
  }
  type.applySchemaDefaults?.(object)
  return object
}

const TYPED = new Set(['apiVersion', 'kind', 'metadata'])

/** Strict: refused; Warn: told; Ignore: forgotten. */
export function reportProblems(
  type: ResourceType,
  problems: readonly string[],
  options: WriteOptions,
  refuse = (text: string) => decodeError(type, text),
): void {
  if (options.fieldValidation === 'Ignore') return
  if (options.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${problems.join(', ')}`)
  warnAll(options, problems)
}

function rightKind(type: ResourceType, value: unknown): ApiObject {
  if (!isObject(value)) {
    const shown = Array.isArray(value) ? 'array' : typeof value
    throw badRequest(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${shown} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    )
  }
  const object = value as ApiObject
  for (const member of ['apiVersion', 'kind'] as const) {
    const found: unknown = object[member]
    if (found === undefined || found === null || found === '') {
      object[member] = member === 'kind' ? type.kind : apiVersionOf(type)
      if (type.custom) throw missingType(member, object)
    } else if (typeof found !== 'string') {
      throw badRequest(
        `couldn't get version/kind; json parse error: json: cannot unmarshal ${goType(found)} into Go struct field .${member} of type string`,
      )
    }
  }
  if (!type.custom && object.kind !== type.kind && object.kind !== 'DeleteOptions') throw wrongKind(type, object)
  if (!isObject(object.metadata)) {
    if (object.metadata !== undefined && object.metadata !== null)
      throw decodeError(
        type,
        `json: cannot unmarshal ${goType(object.metadata)} into Go struct field ${type.kind}.metadata of type v1.ObjectMeta`,
      )
    object.metadata = {}
  }
  return object
}

function missingType(member: string, object: ApiObject) {
  const shown = JSON.stringify({ ...object, [member]: undefined })
  return badRequest(`Object '${member === 'kind' ? 'Kind' : 'apiVersion'}' is missing in '${shown}'`)
}

function wrongKind(type: ResourceType, object: ApiObject) {
  const version = object.apiVersion.split('/').at(-1) ?? ''
  const wanted = `${type.group === '' ? 'core' : (type.group.split('.')[0] ?? '')}.${type.kind}`
  return badRequest(
    `${object.kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: converting (${version}.${object.kind}) to (${wanted}): unknown conversion`,
  )
}

/** Events of both groups, and built-in kinds that are served in several versions, take each other's bodies. */
function equivalent(type: ResourceType, apiVersion: string): boolean {
  return !type.custom && apiVersion === ''
}

export const unknownField = (path: string) => `unknown field ${JSON.stringify(path)}`

export function decodeError(type: ResourceType, text: string) {
  return badRequest(`${type.kind} in version ${JSON.stringify(type.version)} cannot be handled as a ${type.kind}: ${text}`)
}

/** A JSON value's type as `encoding/json` names it. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return typeof value
}
