/** What the closures of an expression share: one run with its variables and its cost. */
import type { Path } from './path.ts'
import { typeName, type Value } from './values.ts'

/** A variable that has no value in this run: `oldSelf` of a new object. */
export const ABSENT = Symbol('absent')
export type Slot = Value | typeof ABSENT | undefined

/** One run. */
export interface Frame {
  readonly variables: (name: string) => Value | typeof ABSENT
  readonly slots: Slot[]
  readonly limit: number
  cost: number
}

export type Step = (frame: Frame) => Value

/** Thrown through everything: nothing may go on. */
export class LimitExceeded extends Error {}

export interface Result {
  readonly value: Value
  readonly cost: number
}

export interface Program {
  /** `limit`: of the cost; above it the value is the error that says so. */
  run(variables: (name: string) => Value | typeof ABSENT, limit: number): Result
}

/** Where a constant part cannot be evaluated: `int("x")`. */
export class ProgramError extends Error {}

export const LIMIT_MESSAGE = 'operation cancelled: actual cost limit exceeded'

export function charge(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new LimitExceeded()
}

export interface Plan {
  readonly step: Step
  /** Set where the value is known without running. */
  readonly constant?: Value
  /** Set where `.x` and `[i]` only make the path longer. */
  readonly path?: Path
}

export const steps = (plans: readonly Plan[]): Step[] => plans.map((plan) => plan.step)
export const constant = (value: Value): Plan => ({ step: () => value, constant: value })

/** For what is evaluated before any run: nothing of it looks at variables. */
export const NO_FRAME: Frame = { variables: () => ABSENT, slots: [], limit: Number.POSITIVE_INFINITY, cost: 0 }

/** As Go names the type of a value, in some of its errors. */
const GO_TYPES: Readonly<Record<string, string>> = {
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  null_type: 'types.Null',
  type: '*types.Type',
  optional_type: '*types.Optional',
  'google.protobuf.Duration': 'types.Duration',
  'google.protobuf.Timestamp': 'types.Timestamp',
}

export const goType = (value: Value) => GO_TYPES[typeName(value)] ?? typeName(value)
