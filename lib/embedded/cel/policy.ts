/**
 * Expressions of admission policies and match conditions. `object`, `oldObject` and `params` are values without a schema;
 * `request`, `namespaceObject`, `authorizer` and `variables` are checked by what the server knows of them.
 */
import { dynamicValue } from './dynamic-value.ts'
import { type ABSENT, LIMIT_MESSAGE } from './evaluate.ts'
import { compileExpression, isMistake } from './expression.ts'
import { policyTypes } from './policy-types.ts'
import { type CelType, DYN, nameType } from './types.ts'
import { CelError, ListValue, MapValue, Opaque, typeName, type Value } from './values.ts'

export interface PolicyEnvironment {
  /** Names that the expression may use. */
  readonly variables: readonly string[]
  /** What it must give; default anything. `text`: a string or null. */
  readonly returns?: 'bool' | 'string' | 'text' | 'any'
  /** Members of `variables` with the types of their expressions; default: they are not checked. */
  readonly members?: ReadonlyMap<string, CelType>
}

export type PolicyResult =
  | { readonly ok: true; readonly value: unknown; readonly cost: number }
  | { readonly ok: false; readonly message: string; readonly cost: number; readonly limitExceeded: boolean }

export interface PolicyProgram {
  /**
   * Why it cannot be used: `compilation failed: ERROR: <input>:1:1: …` or `must evaluate to bool but got int`; undefined where it
   * can.
   */
  readonly error: string | undefined
  /** Of what it gives; dyn where it cannot be used. */
  readonly type: CelType
  /** Names of those variables that it uses. */
  readonly uses: ReadonlySet<string>
  /**
   * `values`: JSON data, or functions that make it when it is first used (and then keep it themselves). One that is missing or
   * undefined is null. `limit`: of the cost; default 1,000,000, the server's.
   */
  evaluate(values: Readonly<Record<string, unknown>>, limit?: number): PolicyResult
  /** The same, as a value of the language: for another expression. */
  run(values: Readonly<Record<string, unknown>>, limit?: number): { readonly value: Value; readonly cost: number }
}

const CALL_LIMIT = 1_000_000

/** Kinds of types that an expression may give. */
const RETURNS: Readonly<Record<'bool' | 'string' | 'text', readonly string[]>> = {
  bool: ['bool'],
  string: ['string'],
  text: ['string', 'null'],
}

export function compilePolicyExpression(text: string, { variables, members, returns = 'any' }: PolicyEnvironment): PolicyProgram {
  const compiled = compileExpression(text, policyTypes(variables, members))
  if (isMistake(compiled)) {
    const stage = compiled.stage === 'compilation' ? 'compilation' : 'program instantiation'
    return unusable(`${stage} failed: ${compiled.message}`)
  }
  if (returns !== 'any' && !RETURNS[returns].includes(compiled.type.kind)) {
    const wanted = returns === 'text' ? 'one of [string null_type]' : returns
    return unusable(`must evaluate to ${wanted} but got ${nameType(compiled.type)}`)
  }
  return {
    error: undefined,
    type: compiled.type,
    uses: compiled.variables,
    run: (values, limit = CALL_LIMIT) => compiled.program.run((name) => lookup(values, name), limit),
    evaluate: (values, limit = CALL_LIMIT) => {
      const { value, cost } = compiled.program.run((name) => lookup(values, name), limit)
      if (!(value instanceof CelError)) return { ok: true, value: plain(value), cost }
      return { ok: false, message: value.message, cost, limitExceeded: value.message === LIMIT_MESSAGE }
    },
  }
}

function unusable(error: string): PolicyProgram {
  return {
    error,
    type: DYN,
    uses: new Set(),
    run: () => ({ value: new CelError(error), cost: 0 }),
    evaluate: () => ({ ok: false, message: error, cost: 0, limitExceeded: false }),
  }
}

function lookup(values: Readonly<Record<string, unknown>>, name: string): Value | typeof ABSENT {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  return celValue(typeof value === 'function' ? value() : value)
}

function celValue(value: unknown): Value {
  return value instanceof Opaque || value instanceof CelError || value instanceof MapValue ? value : dynamicValue(value)
}

/** A result as JSON data, where it is that. */
function plain(value: Value): unknown {
  if (value instanceof ListValue) return [...value].map(plain)
  if (value instanceof MapValue) return Object.fromEntries([...value.keys()].map((key) => [String(key), plain(value.find(key) as Value)]))
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  return value !== null && typeof value === 'object' && !(value instanceof Uint8Array) ? typeName(value) : value
}
