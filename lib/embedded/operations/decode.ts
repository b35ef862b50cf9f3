/**
 * From JSON to an object of a kind: what the kind does not have is removed and told, or refused, as `fieldValidation` says;
 * what has the wrong type is refused.
 */
import { summary, type UnreadableBody } from '../body.ts'
import { invalid } from '../field-error.ts'
import { encodeJson, isObject } from '../json.ts'
import { ApiError, badRequest, invalidError } from '../status.ts'
import type { ApiObject, ResourceType } from '../types.ts'
import { apiVersionOf, type WriteOptions, warnAll } from './context.ts'
import { decodeMetadata } from './decode-metadata.ts'
import { goType, noTypeMeta, TYPE_META } from './go-type.ts'

/** How what is wrong with an object is told: the text is Go's. */
type Refuse = (text: string) => ApiError

/**
 * Makes `value`, which is changed in place, an object of the kind, with the defaults of its schema.
 * @throws ApiError 400, and 422 where the kind of a custom object is another
 */
export function decodeObject(type: ResourceType, value: unknown, options: WriteOptions): ApiObject {
  const refuse: Refuse = (text) => decodeError(type, text)
  const source = () => options.source ?? encodeJson(value as object)
  const object = rightKind(type, value, source, refuse, (text) => unrecognized(type, text, source()))
  decodeFields(type, object, options, refuse)
  const expected = apiVersionOf(type)
  if (type.custom && object.apiVersion !== expected) {
    throw badRequest(`the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`)
  }
  return finished(type, object)
}

/** The same for the result of a patch: what does not decode is the patch's fault. `shown`: the patch as an error quotes it. */
export function decodePatched(
  type: ResourceType,
  value: unknown,
  options: WriteOptions,
  shown: () => string,
  said = (text: string) => text,
): ApiObject {
  const refuse: Refuse = (text) => invalidError(NOBODY, '', [invalid('patch', shown(), said(text))])
  try {
    const object = rightKind(type, value, shown, refuse, refuse)
    decodeFields(type, object, options, refuse)
    return finished(type, object)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error
    const { apiVersion, kind } = isObject(value) ? value : {}
    if (
      !type.custom &&
      kind === type.kind &&
      typeof apiVersion === 'string' &&
      error.message.includes('does not match the expected API version')
    ) {
      throw refuse(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
      )
    }
    throw refuse(error.message.replace(/^\S+ in version "[^"]*" cannot be handled as a \S+: /, ''))
  }
}

const NOBODY = { group: '', resource: '', kind: '' }

/** @throws ApiError */
function decodeFields(type: ResourceType, object: ApiObject, options: WriteOptions, refuse: Refuse): void {
  const problems: string[] = []
  const { managedFields } = object.metadata
  if (type.custom) problems.push(...decodeMetadata(object.metadata, refuse).map(unknownField))
  // The body of a version that there is not is read by no schema at all.
  const known = !type.custom || object.apiVersion === apiVersionOf(type) || options.knows?.(object.apiVersion) !== false
  const removed = known ? type.prune?.(object) : Object.keys(object).filter((key) => !TYPED.has(key))
  if (removed !== undefined) for (const path of removed) problems.push(unknownField(path))
  // An empty list says something: forget who owns what.
  if (Array.isArray(managedFields) && managedFields.length === 0) object.metadata.managedFields = []
  reportProblems(type, problems, options, refuse)
}

const TYPED = new Set(['apiVersion', 'kind', 'metadata'])

function finished(type: ResourceType, object: ApiObject): ApiObject {
  const expected = apiVersionOf(type)
  if (type.custom) {
    const wrong = []
    if (object.kind !== type.kind) wrong.push(invalid('kind', object.kind, `must be ${type.kind}`))
    if (object.apiVersion !== expected) wrong.push(invalid('apiVersion', object.apiVersion, `must be ${expected}`))
    if (wrong.length > 0) throw invalidError({ ...type, kind: object.kind }, object.metadata.name ?? '', wrong)
  }
  object.apiVersion = expected
  type.applySchemaDefaults?.(object)
  return object
}

/** Unknown fields and duplicates. Strict: refused; Warn: told; Ignore: forgotten. @throws ApiError 400 */
export function reportProblems(
  type: ResourceType,
  unknown: readonly string[],
  options: WriteOptions,
  refuse: Refuse = (text) => decodeError(type, text),
): void {
  const { fieldValidation, decodingErrors, strictErrors = decodingErrors } = options
  if (fieldValidation === 'Ignore' || (unknown.length === 0 && !decodingErrors?.length)) return
  if (fieldValidation === 'Strict') throw refuse(`strict decoding error: ${[...(strictErrors ?? []), ...unknown].join(', ')}`)
  warnAll(options, [...(decodingErrors ?? []), ...unknown])
}

function rightKind(type: ResourceType, value: unknown, source: () => string, refuse: Refuse, unrecognizable: Refuse): ApiObject {
  const object = (value ?? {}) as ApiObject
  if (!isObject(object)) throw unrecognizable(noTypeMeta(`${goType(value)} into Go value of type ${TYPE_META}`))
  for (const member of ['apiVersion', 'kind'] as const) {
    const found: unknown = object[member]
    if (found !== undefined && found !== null && typeof found !== 'string') {
      throw unrecognizable(noTypeMeta(`${goType(found)} into Go struct field .${member} of type string`))
    }
    if (!found) object[member] = type.custom ? '' : member === 'kind' ? type.kind : apiVersionOf(type)
  }
  if (object.kind === '') {
    throw unrecognizable(`Object 'Kind' is missing in '${source()}'`)
  }
  if (!type.custom && (object.kind !== type.kind || object.apiVersion !== apiVersionOf(type))) refuseOther(type, object)
  if (!isObject(object.metadata)) {
    if (object.metadata !== undefined && object.metadata !== null) {
      const into = type.custom ? 'Go value' : `Go struct field ${type.kind}.metadata`
      throw refuse(`json: cannot unmarshal ${goType(object.metadata)} into ${into} of type v1.ObjectMeta`)
    }
    object.metadata = {}
  }
  return object
}

/** @throws ApiError 400 for another built-in kind, or a version that is not served here */
function refuseOther(type: ResourceType, object: ApiObject): void {
  const version = object.apiVersion.split('/').at(-1) ?? ''
  if (object.kind === type.kind && object.apiVersion.split('/').length === apiVersionOf(type).split('/').length) {
    const expected = apiVersionOf(type)
    throw badRequest(`the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`)
  }
  const wanted = `${type.group === '' ? 'core' : (type.group.split('.')[0] ?? '')}.${type.kind}`
  throw badRequest(
    `${object.kind} in version ${JSON.stringify(version)} cannot be handled as a ${type.kind}: converting (${version}.${object.kind}) to (${wanted}): unknown conversion`,
  )
}

export const unknownField = (path: string) => `unknown field ${JSON.stringify(path)}`

export function decodeError({ kind, version }: ResourceType, text: string): ApiError {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${text}`)
}

const unrecognized = ({ kind }: Pick<ResourceType, 'kind'>, text: string, source: string) =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): ${text} (${summary(source)})`)

/** What is wrong with a text that is no JSON or YAML. @returns an ApiError 400 */
export function unreadable(type: ResourceType, error: UnreadableBody, source: string): ApiError {
  return error.kindKnown ? decodeError(type, error.message) : unrecognized(type, error.message, source)
}
