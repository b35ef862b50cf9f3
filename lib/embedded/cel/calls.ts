/** Calls of functions and operators: what runs, with which arguments, and what it costs. */
import type { Call } from './ast.ts'
import { callCost } from './call-cost.ts'
import type { Overload } from './environment.ts'
import { charge, constant, type Plan, ProgramError, type Step, steps } from './frame.ts'
import { regexes } from './library/core.ts'
import { add, type Comparison, comparison, contains, divide, modulo, multiply, negate, not, subtract } from './operators.ts'
import { matchesType } from './runtime-types.ts'
import { CelError, equal, isError, keyText, ListValue, noSuchOverload, typeName, type Value } from './values.ts'

const CONVERSIONS = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint'])

export function plannedCall(node: Call, plans: readonly Plan[]): Plan {
  const only = node.overloads.length === 1 ? node.overloads[0] : undefined
  const [first, second] = plans
  const implementation = implementationOf(node)
  if (plans.length === 1 && CONVERSIONS.has(node.name) && first?.constant !== undefined) {
    const value = implementation([first.constant])
    if (isError(value)) throw new ProgramError(value.message)
    return constant(value)
  }
  if (only?.id === 'in_list' && second?.constant instanceof ListValue) {
    const lookup = constantMembership(second.constant)
    if (lookup === false) return constant(false)
    if (lookup !== undefined) return { step: membership((first as Plan).step, lookup) }
  }
  const knownPattern = checkPattern(node.name, second?.constant)
  const cost = callCost(node.name, only?.id)
  const eager = plans.length > 2 || knownPattern || node.name === 'format'
  const operator = operatorOf(node.name)
  if (operator !== undefined && plans.length === 2) return { step: operatorStep(steps(plans), operator, cost) }
  return { step: callStep(steps(plans), implementation, cost, node.name === '@not_strictly_false', eager) }
}

/** The same as `callStep` for what rules do most: no lists of arguments. */
function operatorStep([left, right]: readonly Step[], operator: Binary, cost: ReturnType<typeof callCost>): Step {
  const [first, second] = [left as Step, right as Step]
  return (frame) => {
    const a = first(frame)
    const b = second(frame)
    const result = a instanceof CelError ? a : b instanceof CelError ? b : operator(a, b)
    charge(frame, typeof cost === 'number' || (typeof a === 'bigint' && typeof b === 'bigint') ? 1 : cost([a, b], result))
    return result
  }
}

/** `lenient`: errors are arguments too. `eager`: an error ends the call before the arguments after it, and nothing is paid. */
function callStep(
  args: readonly Step[],
  implementation: Implementation,
  cost: ReturnType<typeof callCost>,
  lenient: boolean,
  eager: boolean,
): Step {
  return (frame) => {
    const values: Value[] = []
    let error: Value | undefined
    for (const arg of args) {
      const value = arg(frame)
      values.push(value)
      if (!isError(value) || lenient) continue
      error ??= value
      if (eager && values.length < args.length) return error
    }
    const result = error ?? implementation(values)
    charge(frame, typeof cost === 'number' ? cost : cost(values, result))
    return result
  }
}

/** A pattern that is known is looked at before any run. */
function checkPattern(name: string, pattern: Value | undefined): boolean {
  if (typeof pattern !== 'string' || !['matches', 'find', 'findAll'].includes(name)) return false
  const regex = regexes.compile(pattern)
  if (typeof regex === 'string') throw new ProgramError(regex)
  return true
}

type Implementation = (args: readonly Value[]) => Value

const UNARY: Readonly<Record<string, (value: Value) => Value>> = {
  '!_': not,
  '-_': negate,
  '@not_strictly_false': (value) => value !== false,
}

type Binary = (a: Value, b: Value) => Value

const BINARY: Readonly<Record<string, Binary>> = {
  '_==_': equal,
  '_!=_': (a, b) => equal(a, b) !== true,
  '_+_': add,
  '_-_': subtract,
  '_*_': multiply,
  '_/_': divide,
  '_%_': modulo,
  '@in': contains,
}

function implementationOf(node: Call): Implementation {
  const { name } = node
  if (Object.hasOwn(UNARY, name)) {
    const unary = UNARY[name] as (value: Value) => Value
    return ([value]) => unary(value as Value)
  }
  const binary = operatorOf(name)
  if (binary !== undefined) return ([a, b]) => binary(a as Value, b as Value)
  return dispatch(name, node.overloads)
}

function operatorOf(name: string): Binary | undefined {
  if (Object.hasOwn(BINARY, name)) return BINARY[name]
  return /^_[<>]=?_$/.test(name) ? comparison(name as Comparison) : undefined
}

/** The first overload whose types the arguments have. */
function dispatch(name: string, overloads: readonly Overload[]): Implementation {
  const only = overloads[0]
  if (only === undefined) return () => noSuchOverload()
  const run = ({ call }: Overload, args: readonly Value[]) =>
    call === undefined ? noSuchOverload() : (call as (...all: readonly Value[]) => Value)(...args)
  if (only.loose) return (args) => run(only, args)
  return (args) => {
    for (const overload of overloads) {
      if (overload.args.every((type, i) => matchesType(type, args[i] as Value))) return run(overload, args)
    }
    return new CelError(`no such overload: ${name}(${args.map(typeName).join(', ')})`)
  }
}

/** Undefined: values that cannot be looked up; false: an empty list, which contains nothing. */
function constantMembership(list: ListValue): ReadonlySet<string> | false | undefined {
  if (list.size === 0) return false
  const keys = new Set<string>()
  for (const each of list) {
    const key = keyText(each)
    if (key === undefined) return undefined
    keys.add(key)
  }
  return keys
}

function membership(step: Step, keys: ReadonlySet<string>): Step {
  return (frame) => {
    const value = step(frame)
    if (isError(value)) return value
    const key = keyText(value)
    return key !== undefined && keys.has(key)
  }
}
