/** Errors as the API server answers them: a `Status` body, its code, and what belongs in headers. */
import { CAUSE_REASON, type FieldError } from './field-error.ts'

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: readonly StatusCause[]
  retryAfterSeconds?: number
}

/** Thrown anywhere below the request handler, which turns it into the answer. */
export class ApiError extends Error {
  readonly code: number
  readonly reason: string
  readonly details: StatusDetails | undefined
  /** Of the `metadata` of the Status: the continue token of an expired list. */
  readonly continue: string | undefined

  constructor(code: number, reason: string, message: string, details?: StatusDetails, continue_?: string) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.reason = reason
    this.details = details
    this.continue = continue_
  }

  /** The body, its members in the order of `metav1.Status`. */
  toStatus(): object {
    const metadata = this.continue === undefined ? {} : { continue: this.continue }
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    }
  }
}

/** What an error is about: `resource` for 403, 404 and 409, `kind` for 422 (the real server does so). */
export interface Subject {
  readonly group: string
  readonly resource: string
  readonly kind: string
}

const qualified = (name: string, group: string) => (group === '' ? name : `${name}.${group}`)

function about(subject: Subject, name: string, kind = subject.resource): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(subject.group === '' ? {} : { group: subject.group }), ...(kind === '' ? {} : { kind }) }
}

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message)
export const internalError = (message: string) =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })
/** A 500 without a reason: what a plain Go error becomes. */
export const plainError = (message: string) => new ApiError(500, '', message)
export const notFound = (subject: Subject, name: string) =>
  new ApiError(404, 'NotFound', `${qualified(subject.resource, subject.group)} "${name}" not found`, about(subject, name))
/** A resource that the group does not have. */
export const unknownResource = () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
export const alreadyExists = (subject: Subject, name: string) =>
  new ApiError(409, 'AlreadyExists', `${qualified(subject.resource, subject.group)} "${name}" already exists`, about(subject, name))
export const conflict = (subject: Subject, name: string, detail: string) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(subject.resource, subject.group)} "${name}": ${detail}`,
    about(subject, name),
  )
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'
export const forbiddenError = (subject: Subject, name: string, detail: string, causes?: readonly StatusCause[]) =>
  new ApiError(
    403,
    'Forbidden',
    `${qualified(subject.resource, subject.group)}${name === '' ? '' : ` "${name}"`} is forbidden: ${detail}`,
    {
      ...about(subject, name),
      ...(causes === undefined ? {} : { causes }),
    },
  )
export const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

/** 422 with a cause for each error; `details.kind` is the Kind. */
export function invalidError(subject: Subject, name: string, errors: readonly FieldError[]): ApiError {
  const texts = errors.map((error) => `${error.field}: ${error.message}`)
  const unique = [...new Set(texts)]
  const all = unique.length === 1 ? unique[0] : `[${unique.join(', ')}]`
  return new ApiError(422, 'Invalid', `${qualified(subject.kind, subject.group)} "${name}" is invalid: ${all}`, {
    ...about(subject, name, subject.kind),
    causes: errors.map((error) => ({ reason: CAUSE_REASON[error.type], message: error.message, field: error.field })),
  })
}
