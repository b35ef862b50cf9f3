/**
 * Effects outside the cluster that happen once: the intent is recorded on the object before the call, the result after it.
 *
 * The record is the truth, not the process: each state of it says what may have happened, so that a run which finds it (after a crash, a lost
 * response, on another replica) knows whether to call, to ask, or to return what is known.
 *
 * | record | what may have happened | next |
 * |---|---|---|
 * | none | nothing | record the intent, then `run` |
 * | `intended` | `run` may have had its effect | `lookup`; `run` again, with the same key, only where the service does not know the key |
 * | `running` | the job was started | `lookup` |
 * | `done` | the result is known | return it |
 * | `failed` | the service said the job failed | a new intent with a new key, once somebody asks for a new try |
 *
 * A record is written with the resourceVersion that the run has seen, so two processes cannot both believe that they were first.
 */
import { createHash } from 'node:crypto'
import { isConflict } from '../api/status-error.ts'
import type { External, ExternalCall, ExternalJob, ExternalState } from '../resource/context.ts'
import type { ContextClient, Patch } from '../resource/context-client.ts'
import type { Log } from '../resource/log.ts'
import { TerminalError, TsopError } from './errors.ts'
import { REASON, requeueAfter } from './outcome.ts'
import { EXTERNAL_ANNOTATION, type Primary } from './primary.ts'

export interface ExternalRecord {
  state: 'intended' | 'running' | 'done' | 'failed'
  /** 1 for the first intent; one more after each failure that the service reported. */
  attempt: number
  key: string
  /** RFC 3339. */
  since: string
  message?: string
  value?: unknown
  /** Of the object, when the job was reported as failed: a new one asks for a new try. */
  generation?: number
  /** The same for its labels and annotations. */
  touch?: string
}

const STEP = /^[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/
/** Conflicts that are answered in place. */
const TRIES = 3
const LARGEST_VALUE = 16 * 1024

export interface ExternalOptions {
  readonly primary: Primary
  readonly client: ContextClient
  readonly signal: AbortSignal
  readonly now: () => string
  readonly log: Log
  /** As `ctx.fencingToken`. */
  readonly fencingToken: () => string
  /** Throws where nothing may be done any more. */
  readonly check: () => void
  /** Failures that this process has seen reported for this object, so that a failed job is tried anew only by a later run. */
  readonly mayRetryFailed: boolean
  /** A text that changes with the object's labels and annotations. */
  readonly touch: () => string
  /** After a conflict: takes the newer version for ours where it is still what the run saw, but for metadata and status. */
  readonly rebase: () => Promise<boolean>
}

/** A text that is the same for every run over this very object, step and parts. */
export function idempotencyKey(uid: string, step: string, parts: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([uid, step, ...parts]))
    .digest('hex')
    .slice(0, 40)
}

export async function external<T>(step: string, job: ExternalJob<T>, options: ExternalOptions): Promise<External<T>> {
  if (!STEP.test(step)) {
    throw new TsopError(
      'TSOP_EXTERNAL_INVALID',
      'InvalidStep',
      `ctx.external: a step is named by letters, digits and dashes (63 at most), not ${JSON.stringify(step)}`,
    )
  }
  const records = new Records(options)
  let record = records.get(step)
  if (record?.state === 'done') return { done: true, value: record.value as T }
  const { generation } = options.primary
  // A new generation and a touch ask too, also those that came while no operator ran.
  const isAsked =
    options.mayRetryFailed ||
    (record?.generation ?? generation) !== generation ||
    (record?.touch !== undefined && record.touch !== options.touch())
  if (record?.state === 'failed' && !isAsked) throw failed(step, record)

  const known = record !== undefined && record.state !== 'failed'
  if (!known) {
    const attempt = (record?.attempt ?? 0) + 1
    record = { state: 'intended', attempt, key: idempotencyKey(options.primary.uid, step, [String(attempt)]), since: options.now() }
    await records.put(step, record)
  }
  const current = record as ExternalRecord
  const call: ExternalCall = {
    idempotencyKey: current.key,
    fencingToken: options.fencingToken(),
    signal: options.signal,
    attempt: current.attempt,
  }
  options.check()
  let state: ExternalState<T> | undefined
  if (known) state = checked(step, 'lookup', await job.lookup(call))
  // A run that was cut meanwhile may have a successor, and the answer of `lookup` may be old.
  options.signal.throwIfAborted()
  options.check()
  if (state === undefined) {
    if (current.state === 'running') {
      throw new TsopError(
        'TSOP_EXTERNAL_LOST',
        'ExternalJobLost',
        `the job of step ${step} was started and is no longer known under its key ${current.key}`,
      )
    }
    state = checked(step, 'run', await job.run(call))
    if (state === undefined)
      throw new TsopError(
        'TSOP_EXTERNAL_INVALID',
        'InvalidAnswer',
        `ctx.external(${step}): run() must say how the job stands: { done: true, value }, { done: false } or { failed }`,
      )
  }
  return settle(step, job, state, current, records)
}

async function settle<T>(
  step: string,
  job: ExternalJob<T>,
  state: ExternalState<T>,
  record: ExternalRecord,
  records: Records,
): Promise<External<T>> {
  if ('failed' in state) {
    const after: ExternalRecord = { ...record, state: 'failed', message: state.failed, ...records.asks() }
    await records.put(step, after)
    throw failed(step, after)
  }
  if (state.done) {
    const { message: _, ...rest } = record
    await records.put(step, { ...rest, state: 'done', value: state.value })
    return { done: true, value: state.value }
  }
  const message = state.message ?? `${step} is under way`
  if (record.state !== 'running' || record.message !== state.message) {
    const { message: _, ...rest } = record
    await records.put(step, { ...rest, state: 'running', ...(state.message === undefined ? {} : { message: state.message }) })
  }
  const reason = job.reason ?? `WaitingFor${camelCase(step)}`
  return {
    done: false,
    message,
    requeue: requeueAfter(job.poll ?? '10s', { reason: REASON.test(reason) ? reason : 'WaitingForExternal', message }),
  }
}

function failed(step: string, record: ExternalRecord): TerminalError {
  return new TerminalError('ExternalFailed', `${step}: ${record.message ?? 'failed'}`)
}

/** The answer of a handler's `lookup` or `run`, if it can be recorded. */
function checked<T>(step: string, from: 'lookup' | 'run', state: ExternalState<T> | undefined): ExternalState<T> | undefined {
  if (state === undefined || state === null) return undefined
  const wrong = (what: string) => new TsopError('TSOP_EXTERNAL_INVALID', 'InvalidAnswer', `ctx.external(${step}): ${from}() ${what}`)
  if (typeof state !== 'object')
    throw wrong(`answered ${JSON.stringify(state)}; expected { done: true, value }, { done: false } or { failed }`)
  if ('failed' in state) {
    if (typeof state.failed !== 'string') throw wrong('answered { failed } without a text')
    return state
  }
  if (typeof state.done !== 'boolean') throw wrong('answered neither `done` nor `failed`')
  if (!state.done) return state
  let text: string | undefined
  try {
    text = JSON.stringify(state.value) ?? 'null'
  } catch (error) {
    throw wrong(`answered a value that is no JSON (${(error as Error).message})`)
  }
  if (Buffer.byteLength(text) > LARGEST_VALUE) {
    throw wrong(
      `answered a value of ${Buffer.byteLength(text)} bytes; the object keeps at most ${LARGEST_VALUE}. Keep an id, not the thing`,
    )
  }
  // A merge patch takes null for "remove": what the next run would not see, this one does not either.
  return { done: true, value: withoutNulls(JSON.parse(text)) as T }
}

/** The records of one object, in its status or, where that is somebody else's, in an annotation. */
class Records {
  readonly #o: ExternalOptions
  constructor(options: ExternalOptions) {
    this.#o = options
  }

  /** What a new try is told by. */
  asks(): { generation?: number; touch: string } {
    const { generation } = this.#o.primary
    return { touch: this.#o.touch(), ...(generation === undefined ? {} : { generation }) }
  }

  get(step: string): ExternalRecord | undefined {
    const all = this.#all()
    return Object.hasOwn(all, step) ? all[step] : undefined
  }

  /** Others may write to the object meanwhile: as long as it is the same one and nobody touched this step, that is no reason to stop. */
  async put(step: string, record: ExternalRecord): Promise<void> {
    const before = JSON.stringify(this.get(step))
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#write(step, record)
      } catch (error) {
        if (attempt >= TRIES || !isConflict(error) || !(await this.#o.rebase()) || JSON.stringify(this.get(step)) !== before) throw error
      }
    }
  }

  async #write(step: string, record: ExternalRecord): Promise<void> {
    const { primary, client } = this.#o
    const metadata = { uid: primary.uid, resourceVersion: primary.resourceVersion }
    if (primary.kind.status?.external) {
      // A merge patch merges: what the new state no longer has must be taken away by name.
      const gone = Object.fromEntries(
        Object.keys(this.get(step) ?? {})
          .filter((field) => !(field in record))
          .map((field) => [field, null]),
      )
      const patch: Patch = { type: 'merge', value: { metadata, status: { external: { [step]: { ...gone, ...record } } } } }
      await client.status.patch(primary.kind, primary.ref, patch)
    } else {
      const all = JSON.stringify({ ...this.#all(), [step]: record })
      const patch: Patch = { type: 'merge', value: { metadata: { ...metadata, annotations: { [EXTERNAL_ANNOTATION]: all } } } }
      await client.patch(primary.kind, primary.ref, patch)
    }
  }

  #all(): Record<string, ExternalRecord | undefined> {
    const { primary } = this.#o
    if (primary.kind.status?.external) return (primary.status?.external ?? {}) as Record<string, ExternalRecord>
    if (primary.externalAnnotation === undefined) return {}
    try {
      return JSON.parse(primary.externalAnnotation) as Record<string, ExternalRecord>
    } catch {
      // Guessing could start a job twice.
      throw new TerminalError(
        'ExternalRecordUnreadable',
        `the annotation ${EXTERNAL_ANNOTATION} is no JSON any more; restore it, or remove it to start anew`,
      )
    }
  }
}

function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([name, field]) => [name, withoutNulls(field)]),
  )
}

function camelCase(step: string): string {
  return step.replace(/(^|-)+([A-Za-z0-9])/g, (_, _dash, letter: string) => letter.toUpperCase())
}
