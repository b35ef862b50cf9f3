/** `ListOptions` of a list or a watch: read from the query, with the errors the API server gives for them. */
import type { Core } from './core.ts'
import { type FieldError, forbidden, notSupported, show } from './field-error.ts'
import { type LabelMatcher, type ObjectMatcher, parseFieldSelector, parseLabelSelector, selectedName } from './selectors.ts'
import { ApiError, badRequest, invalidError, plainError } from './status.ts'
import type { ResourceType } from './types.ts'

export interface ListOptions {
  /** Undefined: all. */
  readonly labels: LabelMatcher | undefined
  readonly fields: ObjectMatcher | undefined
  /** Where the field selector asks for one name. */
  readonly name: string | undefined
  /** 0: no limit. */
  readonly limit: number
  readonly continue: string
  /** As it was given: `''` and `'0'` mean different things. */
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  readonly sendInitialEvents: boolean | undefined
  readonly allowWatchBookmarks: boolean
  /** Undefined or 0: the server decides. */
  readonly timeoutSeconds: number | undefined
}

const SUBJECT = { group: 'meta.k8s.io', resource: 'ListOptions', kind: 'ListOptions' }

/** @throws ApiError 400 for what cannot be read, 422 for what does not go together */
export function parseListOptions(query: URLSearchParams, type: ResourceType, watch: boolean): ListOptions {
  const labelSelector = query.get('labelSelector') ?? ''
  const fieldSelector = query.get('fieldSelector') ?? ''
  const labels = labelSelector === '' ? undefined : parseLabelSelector(labelSelector)
  const name = selectedName(fieldSelector)
  const resourceVersion = query.get('resourceVersion') ?? ''
  let match = query.get('resourceVersionMatch') ?? ''
  let sendInitialEvents = boolean(query.get('sendInitialEvents'))
  const timeoutSeconds = int64(query.get('timeoutSeconds'))
  const limit = int64(query.get('limit')) ?? 0
  const continue_ = query.get('continue') ?? ''
  // A watch from nowhere in particular begins with the current state: one way to say so, whoever asks.
  if (watch && sendInitialEvents === undefined && match === '' && (resourceVersion === '' || resourceVersion === '0')) {
    sendInitialEvents = true
    match = 'NotOlderThan'
  }
  const given = { match, resourceVersion, sendInitialEvents, continue: continue_ }
  const errors = watch ? watchErrors(given) : listErrors(given)
  if (errors.length > 0) throw invalidError(SUBJECT, '', errors)
  return {
    labels,
    fields: fieldSelector === '' ? undefined : parseFieldSelector(fieldSelector, type),
    name,
    limit: Math.max(0, limit),
    continue: continue_,
    resourceVersion,
    match: match as ListOptions['match'],
    sendInitialEvents,
    allowWatchBookmarks: boolean(query.get('allowWatchBookmarks')) ?? false,
    timeoutSeconds,
  }
}

/** `?watch`, `?watch=1`, `?watch=true`, as the server reads a flag: everything but `0` and `false` is true. */
export function isWatch(query: URLSearchParams): boolean {
  return boolean(query.get('watch')) ?? false
}

/** The number of a resourceVersion; `''` is 0. @throws RangeError with the text that Go's parser gives */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0
  const problem = /^\d+$/.test(text) ? (BigInt(text) >= 2n ** 64n ? 'value out of range' : undefined) : 'invalid syntax'
  if (problem === undefined) return Number(text)
  throw new RangeError(`resourceVersion: Invalid value: ${show(text)}: strconv.ParseUint: parsing ${show(text)}: ${problem}`)
}

/** A list, get or watch from a revision that is still to come. */
export function tooLarge(wanted: string, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${BigInt(wanted)}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}

/** What a get may ask of the state it reads: any, or one not older than a revision. @throws ApiError 500, 504 */
export function notOlderThan(core: Core, resourceVersion: string): void {
  let revision: number
  try {
    revision = parseResourceVersion(resourceVersion)
  } catch (error) {
    throw plainError((error as Error).message)
  }
  if (revision > core.store.revision) throw tooLarge(resourceVersion, core.store.revision)
}

interface Given {
  readonly match: string
  readonly resourceVersion: string
  readonly sendInitialEvents: boolean | undefined
  readonly continue: string
}

const FIELD = 'resourceVersionMatch'
const withContinue = forbidden(FIELD, 'resourceVersionMatch is forbidden when continue is provided')

function listErrors(given: Given): FieldError[] {
  const { match, resourceVersion, sendInitialEvents } = given
  const errors: FieldError[] = []
  if (match !== '') {
    if (resourceVersion === '') errors.push(forbidden(FIELD, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (given.continue !== '') errors.push(withContinue)
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(FIELD, match, ['Exact', 'NotOlderThan', '']))
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(FIELD, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (sendInitialEvents !== undefined) errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return errors
}

function watchErrors(given: Given): FieldError[] {
  const { match, sendInitialEvents } = given
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(FIELD, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (match === '') return errors
  if (sendInitialEvents === undefined) {
    errors.push(forbidden(FIELD, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(FIELD, match, ['NotOlderThan']))
  if (given.continue !== '') errors.push(withContinue)
  return errors
}

function boolean(text: string | null): boolean | undefined {
  if (text === null) return undefined
  return text !== '0' && text.toLowerCase() !== 'false'
}

function int64(text: string | null): number | undefined {
  if (text === null) return undefined
  const problem = /^[-+]?\d+$/.test(text) ? (inRange(text) ? undefined : 'value out of range') : 'invalid syntax'
  if (problem !== undefined) throw badRequest(`strconv.ParseInt: parsing ${show(text)}: ${problem}`)
  return Number(text)
}

function inRange(text: string): boolean {
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value
}
