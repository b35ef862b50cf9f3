/** Trouble on request: what goes wrong between an operator and a real API server now and then. */
import type { Registry } from '../embedded/core.ts'
import type { Fault, FaultStatus, Faults, FaultVerb } from '../embedded/faults.ts'
import type { ApiRequest } from '../embedded/types.ts'
import { parseDuration } from '../resource/duration.ts'
import type { Duration } from '../resource/handler-spec.ts'
import { groupOf, type KindRef, kindName } from '../resource/kind.ts'
import { OPERATOR } from './requests.ts'

/** Which of the operator's requests: those that fit all that is given. Nothing given: all of them. */
export interface FaultTarget {
  readonly verb?: FaultVerb | readonly FaultVerb[]
  readonly kind?: KindRef<unknown>
  readonly namespace?: string
  readonly name?: string
  /** `'status'`, …; `''`: the object itself. */
  readonly subresource?: string
}

export interface FaultTimesTarget extends FaultTarget {
  /** How many requests it hits. Default: all, until `remove`. */
  readonly times?: number
  /** How many it lets pass before. Default 0. */
  readonly after?: number
}

/** They hit requests of the operator; the test's own client is spared. */
export interface TestFaults {
  /** Answers with this status instead of doing what was asked: 401, 403, 404, 409, 410, 429, 500, 503 or 504. */
  fail(
    status: FaultStatus,
    target?: FaultTimesTarget & {
      /** Default: what a real server says. */
      readonly message?: string
      readonly retryAfterSeconds?: number
    },
  ): Fault
  /** The answer comes later, by the cluster's clock; with `when: 'before'` the request is handled later. */
  delay(duration: Duration, target?: FaultTimesTarget & { readonly when?: 'before' | 'after' }): Fault
  /** The connection breaks before anything is done. */
  loseRequests(target?: FaultTimesTarget): Fault
  /** What was asked for is done, and then the connection breaks: the operator does not know. */
  loseResponses(target?: FaultTimesTarget): Fault
  /** Ends open watches now: the connection breaks (the default), the stream ends, or with 410. @returns how many */
  dropWatches(target?: FaultTarget & { readonly how?: 'break' | 'end' | 'expire' }): number
  /** Open watches hear nothing until `remove`, and then all of it: an operator that looks at the past. `settled()` does not wait for it. */
  holdWatches(target?: FaultTarget): Fault
  /** Takes all faults back. */
  clear(): void
}

export function testFaults(faults: Faults, registry: Registry): TestFaults {
  const matching = <T extends FaultTarget>(target: T | undefined) => {
    const { kind, ...rest } = target ?? ({} as T)
    const of = kind === undefined ? {} : { group: groupOf(kind.apiVersion), resource: pluralOf(kind, registry) }
    return { ...rest, ...of, where: isOperators }
  }
  return {
    fail: (status, target) => faults.fail(status, matching(target)),
    delay: (duration, target) => faults.delay(parseDuration(duration, 'faults.delay'), matching(target)),
    loseRequests: (target) => faults.loseRequests(matching(target)),
    loseResponses: (target) => faults.loseResponses(matching(target)),
    dropWatches: (target) => faults.dropWatches(matching(target)),
    holdWatches: (target) => faults.holdWatches(matching(target)),
    clear: () => faults.clear(),
  }
}

const isOperators = ({ headers }: ApiRequest) => headers['impersonate-user'] === OPERATOR

function pluralOf(kind: KindRef<unknown>, registry: Registry): string {
  const plural = kind.plural ?? registry.findKind(groupOf(kind.apiVersion), kind.kind)?.resource
  if (plural === undefined) throw new TypeError(`a fault for ${kindName(kind)}: the cluster does not know this kind`)
  return plural
}
