/**
 * What goes wrong with a real server now and then, on request: late answers, errors, watches that break, writes that happen
 * though the client never hears of it. They hold for requests that come through a socket or the in-process transport; the server's
 * own controllers are spared.
 */

import { statusResponse } from './http/limits.ts'
import { LostConnection } from './http/lost-connection.ts'
import { parseResourcePath } from './request-path.ts'
import { ApiError, internalError, MODIFIED } from './status.ts'
import type { ServerClock } from './tasks.ts'
import type { ApiRequest, ApiResponse, ResponseStream } from './types.ts'

export type FaultVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** Which requests: those that fit all that is given. Nothing given: all. */
export interface FaultMatch {
  readonly verb?: FaultVerb | readonly FaultVerb[]
  readonly group?: string
  /** Plural: `configmaps`. */
  readonly resource?: string
  /** `''`: only requests for objects themselves. */
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** Whatever else decides. */
  readonly where?: (request: ApiRequest) => boolean
}

export interface FaultTimes extends FaultMatch {
  /** How many requests it hits. Default: all, until `remove`. */
  readonly times?: number
  /** How many it lets pass before. Default 0. */
  readonly after?: number
}

export interface Fault {
  /** How many requests it has hit. */
  readonly hits: number
  remove(): void
}

export type FaultStatus = 401 | 403 | 404 | 409 | 410 | 429 | 500 | 503 | 504

export interface Faults {
  /** Answers come `ms` milliseconds later; with `when: 'before'` the request is handled later. Default: the answer is late. */
  delay(ms: number, match?: FaultTimes & { readonly when?: 'before' | 'after' }): Fault
  /** Answers with this status instead of handling the request. */
  fail(status: FaultStatus, match?: FaultTimes & { readonly message?: string; readonly retryAfterSeconds?: number }): Fault
  /** The connection breaks before the request is handled: nothing happens. */
  loseRequests(match?: FaultTimes): Fault
  /** The request is handled and then the connection breaks: a write has happened, and the client does not know. */
  loseResponses(match?: FaultTimes): Fault
  /** Ends open watches now. `how`: the connection breaks (default), the stream just ends, or with an ERROR event of 410. @returns how many */
  dropWatches(match?: FaultMatch & { readonly how?: 'break' | 'end' | 'expire' }): number
  /** Open watches hear nothing until `remove`, and then all of it: a client with a stale view of the world. */
  holdWatches(match?: FaultMatch): Fault
  /** Requests that `delay` holds up now. */
  readonly delayed: number
  /** Takes all faults back. */
  clear(): void
  /** The handler with these faults. `answered` hears of requests that a fault answers in its place. */
  wrap(
    handle: (request: ApiRequest) => Promise<ApiResponse>,
    answered?: (request: ApiRequest, status: number) => void,
  ): (request: ApiRequest) => Promise<ApiResponse>
}

/** `clock`: for `delay`. */
export function createFaults(clock: Pick<ServerClock, 'after'>): Faults {
  const before: Active[] = []
  const after: Active[] = []
  const holds = new Set<Active>()
  const watches = new Set<OpenWatch>()
  let delayed = 0

  return {
    delay: (ms, match = {}) => add(match.when === 'before' ? before : after, match, () => sleep(ms)),
    fail: (status, match = {}) => add(before, match, (request) => failure(status, request, match)),
    loseRequests: (match = {}) =>
      add(before, match, () => {
        throw new LostConnection('lost on request')
      }),
    loseResponses: (match = {}) =>
      add(after, match, () => {
        throw new LostConnection('lost on request')
      }),
    dropWatches(match = {}) {
      const dropped = [...watches].filter(({ request }) => matches(match, request))
      for (const watch of dropped) watch.drop(match.how ?? 'break')
      return dropped.length
    },
    holdWatches(match = {}) {
      const hold: Active = { match, left: Number.POSITIVE_INFINITY, skip: 0, hits: 0, act: () => undefined }
      holds.add(hold)
      return {
        get hits() {
          return hold.hits
        },
        remove() {
          holds.delete(hold)
          for (const watch of watches) watch.release()
        },
      }
    },
    get delayed() {
      return delayed
    },
    clear() {
      before.length = 0
      after.length = 0
      holds.clear()
      for (const watch of watches) watch.release()
    },
    wrap(handle, answered) {
      return async (request) => {
        if (before.length > 0) {
          const instead = await run(before, request)
          if (instead !== undefined) {
            answered?.(request, instead.status)
            return instead
          }
        }
        const response = await handle(request)
        if (after.length > 0) await run(after, request)
        const { body } = response
        if (typeof body === 'string' || Buffer.isBuffer(body)) return response
        return { ...response, body: tracked(request, body) }
      }
    },
  }

  function sleep(ms: number): Promise<undefined> {
    delayed++
    return new Promise((resolve) => {
      clock.after(ms, () => {
        delayed--
        resolve(undefined)
      })
    })
  }

  function tracked(request: ApiRequest, body: ResponseStream): ResponseStream {
    return {
      start(sink) {
        const watch = new OpenWatch(request, sink, () => held(request))
        watches.add(watch)
        const stream = body.start(watch)
        const stop = () => {
          watches.delete(watch)
          stream.stop()
        }
        watch.onOver = stop
        return { stop }
      },
    }
  }

  function held(request: ApiRequest): boolean {
    for (const hold of holds) {
      if (!matches(hold.match, request)) continue
      hold.hits++
      return true
    }
    return false
  }
}

/** A fault that waits for requests. */
interface Active {
  readonly match: FaultMatch
  left: number
  skip: number
  hits: number
  readonly act: (request: ApiRequest) => ApiResponse | undefined | Promise<undefined>
}

function add(list: Active[], match: FaultTimes, act: Active['act']): Fault {
  const fault: Active = { match, left: match.times ?? Number.POSITIVE_INFINITY, skip: match.after ?? 0, hits: 0, act }
  list.push(fault)
  return {
    get hits() {
      return fault.hits
    },
    remove() {
      const at = list.indexOf(fault)
      if (at !== -1) list.splice(at, 1)
    },
  }
}

/** All that fit, in the order they were made; the first answer ends it. */
async function run(faults: readonly Active[], request: ApiRequest): Promise<ApiResponse | undefined> {
  for (const fault of [...faults]) {
    if (fault.left <= 0 || !matches(fault.match, request)) continue
    if (fault.skip-- > 0) continue
    fault.left--
    fault.hits++
    const answer = await fault.act(request)
    if (answer !== undefined) return answer
  }
  return undefined
}

interface Target {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

function matches(match: FaultMatch, request: ApiRequest): boolean {
  const { verb, where } = match
  const target = targetOf(request)
  if (verb !== undefined && !(typeof verb === 'string' ? [verb] : verb).includes(target.verb as FaultVerb)) return false
  for (const key of ['group', 'resource', 'subresource', 'namespace', 'name'] as const) {
    if (match[key] !== undefined && match[key] !== target[key]) return false
  }
  return where === undefined || where(request)
}

const VERBS: Readonly<Record<string, string | undefined>> = { POST: 'create', PUT: 'update', PATCH: 'patch' }

function targetOf({ method, url }: ApiRequest): Target {
  const [path = '', query = ''] = url.split('?', 2)
  const found = parseResourcePath(path)
  const name = found?.name ?? ''
  const watch = found?.watch === true || /(^|&)watch(=(?!0|false)|&|$)/.test(query)
  const verb =
    method === 'GET'
      ? watch
        ? 'watch'
        : name === ''
          ? 'list'
          : 'get'
      : method === 'DELETE'
        ? name === ''
          ? 'deletecollection'
          : 'delete'
        : (VERBS[method] ?? '')
  return {
    verb: found === undefined ? '' : verb,
    group: found?.group ?? '',
    resource: found?.resource ?? '',
    subresource: found?.subresource ?? '',
    namespace: found?.namespace ?? '',
    name,
  }
}

function failure(
  status: FaultStatus,
  request: ApiRequest,
  { message, retryAfterSeconds }: { message?: string; retryAfterSeconds?: number },
): ApiResponse {
  const { group, resource, name } = targetOf(request)
  const about = { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), ...(resource === '' ? {} : { kind: resource }) }
  const what = `${resource}${group === '' ? '' : `.${group}`} "${name}"`
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  const make = (reason: string, text: string, details: object = retry) =>
    new ApiError(status, reason, message ?? text, Object.keys(details).length === 0 ? undefined : details)
  const errors: Readonly<Record<FaultStatus, () => ApiError>> = {
    401: () => make('Unauthorized', 'Unauthorized'),
    403: () => make('Forbidden', `${what} is forbidden: asked for by a fault`, about),
    404: () => make('NotFound', `${what} not found`, about),
    409: () => make('Conflict', `Operation cannot be fulfilled on ${what}: ${MODIFIED}`, about),
    410: () => make('Expired', EXPIRED),
    429: () => make('TooManyRequests', 'Too many requests, please try again later.', { retryAfterSeconds: retryAfterSeconds ?? 1 }),
    500: () =>
      message === undefined && retryAfterSeconds === undefined
        ? internalError('asked for by a fault')
        : make('InternalError', message ?? 'asked for by a fault'),
    503: () => make('ServiceUnavailable', 'the server is currently unable to handle the request'),
    504: () => make('Timeout', 'Timeout: request did not complete within requested timeout'),
  }
  return statusResponse(errors[status]())
}

const EXPIRED = 'The resourceVersion for the provided list is too old.'

/** A watch's way to the client, where it can be held and broken. */
class OpenWatch {
  readonly request: ApiRequest
  onOver = () => {}
  readonly #sink: Parameters<ResponseStream['start']>[0]
  readonly #isHeld: () => boolean
  #kept = ''
  #ended = false

  constructor(request: ApiRequest, sink: Parameters<ResponseStream['start']>[0], isHeld: () => boolean) {
    this.request = request
    this.#sink = sink
    this.#isHeld = isHeld
  }

  get pending(): number {
    return this.#sink.pending
  }

  write(chunk: string): boolean {
    if (this.#kept === '' && !this.#isHeld()) return this.#sink.write(chunk)
    this.#kept += chunk
    return true
  }

  drained(f: () => void): void {
    this.#sink.drained(f)
  }

  end(): void {
    this.#ended = true
    if (this.#kept === '') this.#sink.end()
  }

  destroy(): void {
    this.#sink.destroy()
  }

  release(): void {
    if (this.#kept === '' || this.#isHeld()) return
    this.#sink.write(this.#kept)
    this.#kept = ''
    if (this.#ended) this.#sink.end()
  }

  drop(how: 'break' | 'end' | 'expire'): void {
    this.onOver()
    if (how === 'break') {
      this.#sink.destroy()
      return
    }
    if (how === 'expire')
      this.#sink.write(
        `${JSON.stringify({ type: 'ERROR', object: new ApiError(410, 'Expired', 'too old resource version').toStatus() })}\n`,
      )
    this.#sink.end()
  }
}
