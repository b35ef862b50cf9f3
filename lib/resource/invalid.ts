/** How a method of `@validates` or `@defaults`, or a conversion, says no. */

const INVALID = Symbol.for('tsop.Invalid')

/** As the API server's own causes (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/). */
export type InvalidReason =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueForbidden'
  | 'FieldValueDuplicate'
  | 'FieldValueNotSupported'

export interface InvalidOptions {
  /** The field that is wrong, such as `spec.storage` or `spec.users[0].name`. Absent: the request as such is refused, with 403. */
  readonly field?: string
  /** Default `FieldValueInvalid`. */
  readonly reason?: InvalidReason
}

/**
 * What is wrong with an object, in words for whoever wrote it. With a field the request ends as 422 Invalid, without one as 403 Forbidden.
 *
 * @example
 * throw new Invalid('storage cannot shrink', { field: 'spec.storage' })
 */
export class Invalid extends Error {
  readonly [INVALID] = true
  readonly field: string | undefined
  readonly reason: InvalidReason

  constructor(message: string, { field, reason = 'FieldValueInvalid' }: InvalidOptions = {}) {
    super(message)
    this.name = 'Invalid'
    this.field = field?.replace(/^\./, '')
    this.reason = reason
  }
}

/** Also true for one of another copy of the package. */
export function isRefusal(error: unknown): error is Invalid {
  return typeof error === 'object' && error !== null && INVALID in error
}
