/**
 * The status that an object should have after a run. Pure: from what is there, what the handler drafted and how the run ended.
 *
 * `Ready`, `Reconciling` and `Stalled` follow kstatus (https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md): the
 * last two exist only while they are true. `lastTransitionTime` moves only when a status flips.
 */
import type { Condition, StatusSupport } from '../resource/kind.ts'
import { TsopError } from './errors.ts'
import { type Outcome, REASON } from './outcome.ts'

export type Status = { conditions?: Condition[]; observedGeneration?: number; external?: unknown } & Record<string, unknown>

/** What the handler asked of conditions during the run. */
export interface ConditionDraft {
  /** Type → what it should be; undefined: gone. */
  readonly own: Map<string, { status: Condition['status']; reason: string; message: string } | undefined>
  ready: { reason?: string; message?: string }
}

export interface RunFacts {
  readonly outcome: Outcome
  /** Of the object that the run saw. */
  readonly generation: number | undefined
  readonly support: StatusSupport
  readonly draft: ConditionDraft
  /** RFC 3339 to the second. */
  readonly now: () => string
}

export const ENGINE_CONDITIONS: readonly string[] = ['Ready', 'Reconciling', 'Stalled']

/** `metav1.Condition.message` may be 32 KiB; what an error says is cut well before. */
const LONGEST_MESSAGE = 1024

type Wanted = { status: Condition['status']; reason: string; message: string } | undefined

/** The status to be, given the one that is there (`current`) and the handler's fields (`fields`). */
export function nextStatus(current: Status | undefined, fields: Record<string, unknown>, facts: RunFacts): Status {
  const next: Status = { ...fields }
  const { support } = facts
  // The engine's record, or a field of somebody else's schema: neither is the handler's.
  if (current?.external !== undefined) next.external = current.external
  if (support.observedGeneration && facts.generation !== undefined) next.observedGeneration = facts.generation
  else if (current?.observedGeneration !== undefined) next.observedGeneration = current.observedGeneration
  const conditions = support.conditions ? nextConditions(current?.conditions ?? [], facts) : current?.conditions
  if (conditions !== undefined) next.conditions = conditions
  return next
}

function nextConditions(current: readonly Condition[], facts: RunFacts): Condition[] {
  const wanted = new Map<string, Wanted>(facts.draft.own)
  for (const [type, condition] of engineConditions(facts)) wanted.set(type, condition)
  const next: Condition[] = []
  for (const old of current) {
    if (!wanted.has(old.type)) {
      next.push(old) // somebody else's
      continue
    }
    const condition = wanted.get(old.type)
    wanted.delete(old.type)
    if (condition) next.push(make(old.type, condition, old, facts))
  }
  for (const [type, condition] of wanted) if (condition) next.push(make(type, condition, undefined, facts))
  return next
}

function engineConditions({ outcome, draft }: RunFacts): [string, Wanted][] {
  switch (outcome.type) {
    case 'done':
      return engineSet(readyText(draft), undefined, undefined)
    case 'wait': {
      const { reason, message, ready } = outcome.wait
      if (ready) return engineSet(readyText(draft), undefined, undefined)
      return engineSet({ status: 'False', reason, message }, { status: 'True', reason, message }, undefined)
    }
    case 'terminal': {
      const { reason, message } = outcome
      return engineSet({ status: 'False', reason, message }, undefined, { status: 'True', reason, message })
    }
    case 'error': {
      const { reason, message } = outcome
      return engineSet({ status: 'False', reason, message }, { status: 'True', reason, message }, undefined)
    }
    case 'conflict':
      return []
  }
}

function readyText(draft: ConditionDraft): Wanted {
  return { status: 'True', reason: draft.ready.reason ?? 'Reconciled', message: draft.ready.message ?? '' }
}

function engineSet(ready: Wanted, reconciling: Wanted, stalled: Wanted): [string, Wanted][] {
  return [
    ['Ready', ready],
    ['Reconciling', reconciling],
    ['Stalled', stalled],
  ]
}

function make(type: string, wanted: NonNullable<Wanted>, old: Condition | undefined, facts: RunFacts): Condition {
  const condition: Condition = {
    type,
    status: wanted.status,
    reason: wanted.reason,
    message: cut(wanted.message),
    lastTransitionTime: old?.status === wanted.status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : facts.now(),
  }
  if (facts.generation !== undefined) condition.observedGeneration = facts.generation
  return condition
}

/** Cuts a text to 1 KiB of UTF-8, never within a character. */
export function cut(text: string): string {
  if (text.length <= LONGEST_MESSAGE / 3 || Buffer.byteLength(text) <= LONGEST_MESSAGE) return text
  const bytes = Buffer.from(text).subarray(0, LONGEST_MESSAGE - Buffer.byteLength('…'))
  // What is left of a character that was cut comes out as U+FFFD.
  return `${bytes.toString('utf8').replace(/\uFFFD$/, '')}…`
}

const TYPE = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/

/** @throws TsopError where the API server would refuse the condition, or where it is the engine's */
export function checkCondition(condition: { type: string; status: string; reason: string; message?: string }): void {
  const wrong = (what: string) =>
    new TsopError('TSOP_STATUS_INVALID', 'InvalidCondition', `condition ${JSON.stringify(condition.type)}: ${what}`)
  checkConditionType(condition.type)
  if (!['True', 'False', 'Unknown'].includes(condition.status))
    throw wrong(`status must be 'True', 'False' or 'Unknown', not ${JSON.stringify(condition.status)}`)
  if (typeof condition.reason !== 'string' || !REASON.test(condition.reason))
    throw wrong(`reason must be a CamelCase word, not ${JSON.stringify(condition.reason)}`)
  if (condition.message !== undefined && typeof condition.message !== 'string') throw wrong('message must be a text')
}

/** @throws TsopError where the type is no condition type, or is the engine's */
export function checkConditionType(type: string): void {
  const wrong = (what: string) => new TsopError('TSOP_STATUS_INVALID', 'InvalidCondition', `condition ${JSON.stringify(type)}${what}`)
  if (ENGINE_CONDITIONS.includes(type))
    throw wrong(' is set by the engine; use ctx.conditions.ready() for the text of Ready, or return and throw what the run came to')
  if (typeof type !== 'string' || type.length > 316 || !TYPE.test(type)) throw wrong(": expected a type such as 'BackupTaken'")
}
