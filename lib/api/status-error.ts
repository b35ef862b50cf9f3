/**
 * What can go wrong with a request: the server refused (`StatusError`), it did not answer in time (`TimeoutError`), or it
 * could not be reached (`ConnectionError`). After the last two nobody knows whether a write was done.
 */

/** The API server answered with an error: a `metav1.Status`, or plain text from something on the way. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  /** The HTTP code. */
  readonly status: number
  /** `NotFound`, `Conflict`, `Invalid`, …; `''` where the answer was no `metav1.Status`. */
  readonly reason: string
  readonly details?: StatusDetails
  /** How long the server asks to stay away, in milliseconds. */
  readonly retryAfterMs?: number
  /** `PATCH /apis/…`, without the query. */
  readonly request: string

  constructor(from: {
    status: number
    reason: string
    message: string
    request: string
    details?: StatusDetails | undefined
    retryAfterMs?: number | undefined
  }) {
    super(`${from.message} (${from.request}: ${from.status}${from.reason === '' ? '' : ` ${from.reason}`})`)
    this.status = from.status
    this.reason = from.reason
    this.request = from.request
    if (from.details !== undefined) this.details = from.details
    if (from.retryAfterMs !== undefined) this.retryAfterMs = from.retryAfterMs
  }
}

/** `metav1.StatusDetails` */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly retryAfterSeconds?: number
  readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
}

/** No answer within the time given to the request. Whether a write was done is unknown. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** The server could not be reached, or the connection broke before the whole answer was there. `cause` says why. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** By name, so that two copies of the package in one process (an installed one and that of a handler's project) agree. */
function isStatusError(error: unknown): error is StatusError {
  return error instanceof Error && error.name === 'StatusError' && 'status' in error
}

export function isNotFound(error: unknown): boolean {
  return hasStatus(error, 404)
}

/**
 * 404 for this very object. The same code without its name comes from a path that is not served (a CRD or version that went, a proxy):
 * that says nothing of the object.
 */
export function isObjectMissing(error: unknown, name: string): boolean {
  return isNotFound(error) && (error as StatusError).details?.name === name
}

/** 409: somebody changed the object in between, or it exists already (see `isAlreadyExists`). */
export function isConflict(error: unknown): boolean {
  return hasStatus(error, 409)
}

/** 409 of server-side apply without `force`: another manager owns a field. Reading anew does not help. */
export function isFieldManagerConflict(error: unknown): boolean {
  return isConflict(error) && (error as StatusError).details?.causes?.some((cause) => cause.reason === 'FieldManagerConflict') === true
}

export function isAlreadyExists(error: unknown): boolean {
  return isStatusError(error) && error.reason === 'AlreadyExists'
}

/** The asked resourceVersion or continue token is too old. A watch says it as an ERROR event whose reason may be either word. */
export function isGone(error: unknown): boolean {
  return isStatusError(error) && (error.status === 410 || error.reason === 'Expired' || error.reason === 'Gone')
}

export function isForbidden(error: unknown): boolean {
  return hasStatus(error, 403)
}

export function isUnauthorized(error: unknown): boolean {
  return hasStatus(error, 401)
}

/** 422: the object breaks the schema or a rule of its kind. */
export function isInvalid(error: unknown): boolean {
  return hasStatus(error, 422)
}

/** Nothing can be created in a namespace that is being deleted; the server says so with 403 and this cause. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    isStatusError(error) && error.status === 403 && error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true
  )
}

/** Worth trying again later without any change: overload, trouble inside the server, no answer, no connection. */
export function isTransient(error: unknown): boolean {
  if (isStatusError(error)) return error.status === 429 || error.status >= 500
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'ConnectionError')
}

/** The error in an answer of status 400 and above. `path` may carry a query. */
export function statusError(
  method: string,
  path: string,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer | string,
): StatusError {
  const text = body.toString()
  const object = statusObject(text)
  const ofSecret = isOfSecrets(path)
  const details = (ofSecret ? withheldCauses(object?.details) : object?.details) ?? undefined
  const message = object?.message || firstLine(text) || 'the server gave no reason'
  return new StatusError({
    status,
    reason: object?.reason ?? '',
    message: ofSecret ? withheld(message) : message,
    request: `${method} ${withoutQuery(path)}`,
    details,
    retryAfterMs: retryAfter(headers['retry-after'], details),
  })
}

function isOfSecrets(path: string): boolean {
  return /\/secrets(?:[/?]|$)/.test(path)
}

/**
 * What the server says of a Secret it refused, without the values it quotes: `Invalid value: "…"`, the surroundings of a place in JSON
 * (`|…|`), and anything that looks like an object.
 */
function withheld(message: string): string {
  return message
    .replace(/\b(Invalid|Unsupported|Duplicate) value: (?:"(?:[^"\\]|\\.)*"|[^\s:]+)/g, '$1 value: (withheld)')
    .replace(/\|[^|]*\|/g, '|(withheld)|')
    .replace(/\{[\s\S]*|\["[\s\S]*/, '(withheld)')
}

function withheldCauses(details: StatusDetails | null | undefined): StatusDetails | undefined {
  if (details?.causes === undefined) return details ?? undefined
  const causes = details.causes.map((cause) => (cause.message === undefined ? cause : { ...cause, message: withheld(cause.message) }))
  return { ...details, causes }
}

/** The error in a `metav1.Status` that came as an object, such as that of a watch's ERROR event. */
export function statusErrorOf(
  object: { code?: number; reason?: string; message?: string; details?: StatusDetails },
  method: string,
  path: string,
): StatusError {
  return new StatusError({
    status: object.code ?? 500,
    reason: object.reason ?? '',
    message: object.message || 'the server gave no reason',
    request: `${method} ${withoutQuery(path)}`,
    details: object.details,
    retryAfterMs: retryAfter(undefined, object.details),
  })
}

function hasStatus(error: unknown, status: number): boolean {
  return isStatusError(error) && error.status === status
}

function statusObject(text: string): { reason?: string; message?: string; details?: StatusDetails } | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const object = JSON.parse(text)
    return object.kind === 'Status' ? object : undefined
  } catch {
    return undefined
  }
}

/** Whole seconds, as the API server sends them; its `details` say the same where a proxy dropped the header. */
function retryAfter(header: string | undefined, details: StatusDetails | undefined): number | undefined {
  const seconds = header !== undefined && /^\d+$/.test(header.trim()) ? Number(header) : details?.retryAfterSeconds
  return seconds !== undefined && seconds > 0 ? seconds * 1000 : undefined
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

function withoutQuery(path: string): string {
  const mark = path.indexOf('?')
  return mark < 0 ? path : path.slice(0, mark)
}
