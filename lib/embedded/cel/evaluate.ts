/**
 * A checked tree to a closure. Running it gives a value and its cost, the same to the unit as cel-go with the options of
 * Kubernetes: constants are folded, `in` of a constant list is a lookup, `&&`, `||` and `?:` run only what they need, a path
 * (`self.a.b[0]`) costs 1 for each step and 1 for itself.
 */
import type { Call, Comprehension, List, MapNode, Node, Select } from './ast.ts'
import { callCost, InternalError, LIST_COST, MAP_COST } from './call-cost.ts'
import type { Overload } from './environment.ts'
import { regexes } from './library/core.ts'
import { add, type Comparison, comparison, contains, divide, modulo, multiply, negate, not, subtract } from './operators.ts'
import { matchesType } from './runtime-types.ts'
import { unwrapOptional } from './schema-value.ts'
import {
  CelError,
  equal,
  errorOr,
  GrowingList,
  isError,
  keyText,
  ListValue,
  MapValue,
  NONE,
  noSuchOverload,
  OptionalValue,
  PlainList,
  PlainMap,
  showValue,
  typeName,
  Uint,
  type Value,
} from './values.ts'

/** A variable that has no value in this run: `oldSelf` of a new object. */
export const ABSENT = Symbol('absent')
type Slot = Value | typeof ABSENT | undefined

/** One run. */
interface Frame {
  readonly variables: (name: string) => Value | typeof ABSENT
  readonly slots: Slot[]
  readonly limit: number
  cost: number
}

type Step = (frame: Frame) => Value

/** Thrown through everything: nothing may go on. */
class LimitExceeded extends Error {}

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

/** @throws ProgramError */
export function compileProgram(node: Node): Program {
  const planner = new Planner()
  const { step } = planner.plan(node)
  const slotCount = planner.slotCount
  return {
    run(variables, limit) {
      const frame: Frame = { variables, slots: new Array(slotCount), limit, cost: 0 }
      try {
        return { value: step(frame), cost: frame.cost }
      } catch (error) {
        if (error instanceof LimitExceeded) return { value: new CelError(LIMIT_MESSAGE), cost: frame.cost }
        if (error instanceof InternalError) return { value: new CelError(error.message), cost: frame.cost }
        throw error
      }
    },
  }
}

function charge(frame: Frame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new LimitExceeded()
}

interface Plan {
  readonly step: Step
  /** Set where the value is known without running. */
  readonly constant?: Value
  /** Set where `.x` and `[i]` only make the path longer. */
  readonly path?: Path
}

/** One step of a path. */
interface Qualifier {
  readonly optional: boolean
  /** The value, or an error. */
  qualify(frame: Frame, object: Value): Value
  /** Undefined: it is not there. */
  qualifyIfPresent(frame: Frame, object: Value): Value | undefined
}

interface Path {
  /** Without the cost of the path itself. */
  readonly resolve: Step
  /** What reading it costs beside its steps. */
  readonly cost: 0 | 1
  readonly add: (qualifier: Qualifier) => void
}

class Planner {
  slotCount = 0
  /** Names of loops in scope, innermost last. */
  readonly #scope: { name: string; slot: number; initial: Step | undefined }[] = []

  plan(node: Node): Plan {
    switch (node.kind) {
      case 'literal':
        return constant(node.value)
      case 'ident':
        return node.constant === undefined ? pathPlan(this.#variable(node.name)) : constant(node.constant)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'comprehension':
        return this.#comprehension(node)
      case 'struct':
        throw new ProgramError(`unknown type: ${node.name}`)
    }
  }

  #variable(written: string): Path {
    const name = written.startsWith('.') ? written.slice(1) : written
    for (let i = this.#scope.length - 1; i >= 0; i--) {
      const found = this.#scope[i]
      if (found?.name === name) return basePath(loadSlot(found.slot, found.initial))
    }
    return basePath((frame) => {
      const value = frame.variables(name)
      return value === ABSENT ? new CelError(`no such attribute(s): ${name}`) : value
    })
  }

  #select(node: Select): Plan {
    if (node.constant !== undefined) return constant(node.constant)
    if (node.ident !== undefined) return pathPlan(this.#variable(node.ident))
    const path = this.#pathOf(this.plan(node.operand))
    const qualifier = constantQualifier(node.field, false)
    if (!node.test) {
      path.add(qualifier)
      return pathPlan(path)
    }
    path.add(presenceQualifier(qualifier))
    return { step: presenceStep(path), path }
  }

  /** A path to go on with; anything else becomes the start of one. */
  #pathOf(plan: Plan): Path {
    return plan.path ?? basePath(plan.step)
  }

  #call(node: Call): Plan {
    const target = node.target === undefined ? undefined : this.plan(node.target)
    const args = node.args.map((each) => this.plan(each))
    const all = target === undefined ? args : [target, ...args]
    switch (node.name) {
      case '_&&_':
        return { step: logical(steps(all), false) }
      case '_||_':
        return { step: logical(steps(all), true) }
      case '_?_:_':
        return pathPlan(this.#conditional(all))
      case '_[_]':
        return this.#index(all, false)
      case '_[?_]':
      case '_?._':
        return this.#index(all, true)
      case 'or':
        if (isOptionalCall(node, 'optional_or_optional')) return { step: optionalOr(all, false) }
        break
      case 'orValue':
        if (isOptionalCall(node, 'optional_orValue_value')) return { step: optionalOr(all, true) }
    }
    return plannedCall(node, all)
  }

  /** The branches are resolved, not run: a path as a branch does not pay for itself. */
  #conditional([condition, yes, no]: readonly Plan[]): Path {
    const test = (condition as Plan).step
    const [left, right] = [this.#pathOf(yes as Plan), this.#pathOf(no as Plan)]
    return {
      cost: 0,
      resolve: (frame) => {
        const value = test(frame)
        if (value === true) return left.resolve(frame)
        return value === false ? right.resolve(frame) : errorOr(value)
      },
      add: (qualifier) => {
        left.add(qualifier)
        right.add(qualifier)
      },
    }
  }

  #index([operand, index]: readonly Plan[], optional: boolean): Plan {
    const path = this.#pathOf(operand as Plan)
    const { constant: key, path: indexPath, step } = index as Plan
    if (key !== undefined) path.add(constantQualifier(key, optional))
    else path.add(computedQualifier(indexPath?.resolve ?? step, optional))
    return pathPlan(path)
  }

  #list(node: List): Plan {
    const plans = node.elements.map((each) => this.plan(each))
    const elements = steps(plans)
    const build: Step = (frame) => {
      const items: Value[] = []
      for (let i = 0; i < elements.length; i++) {
        const value = (elements[i] as Step)(frame)
        if (isError(value)) return value
        if (!node.optional.has(i)) items.push(value)
        else if (!(value instanceof OptionalValue)) {
          return new CelError(`cannot initialize optional list element from non-optional value ${showValue(value)}`)
        } else if (value.value !== undefined) items.push(value.value)
      }
      return new PlainList(items)
    }
    return constructed(build, plans, LIST_COST)
  }

  #map(node: MapNode): Plan {
    const plans = node.entries.flatMap(({ key, value }) => [this.plan(key), this.plan(value)])
    const parts = steps(plans)
    const build: Step = (frame) => {
      const map = new PlainMap()
      for (let i = 0; i < node.entries.length; i++) {
        const key = (parts[2 * i] as Step)(frame)
        if (isError(key)) return key
        let value = (parts[2 * i + 1] as Step)(frame)
        if (isError(value)) return value
        if (node.entries[i]?.optional) {
          if (!(value instanceof OptionalValue)) {
            return new CelError(`cannot initialize optional entry '${showValue(key)}' from non-optional value ${showValue(value)}`)
          }
          if (value.value === undefined) continue
          value = value.value
        }
        if (keyText(key) === undefined) return new CelError(`unsupported key type: ${typeName(key)}`)
        map.set(key, value)
      }
      return map
    }
    return constructed(build, plans, MAP_COST)
  }

  #comprehension(node: Comprehension): Plan {
    const range = this.plan(node.range).step
    const initial = this.plan(node.initial).step
    const accumulator = this.slotCount++
    const variable = this.slotCount++
    const variable2 = this.slotCount++
    this.#scope.push({ name: node.accumulator, slot: accumulator, initial: lazyInitial(initial) })
    const depth = this.#scope.length
    this.#scope.push({ name: node.variable, slot: variable, initial: undefined })
    if (node.variable2 !== undefined) this.#scope.push({ name: node.variable2, slot: variable2, initial: undefined })
    const condition = this.plan(node.condition)
    const step = this.plan(node.step).step
    this.#scope.length = depth
    const result = this.plan(node.result).step
    this.#scope.length = depth - 1
    return {
      step: fold({
        range,
        condition: condition.constant === true ? undefined : condition.step,
        step,
        result,
        accumulator,
        variable,
        variable2: node.variable2 === undefined ? undefined : variable2,
      }),
    }
  }
}

const steps = (plans: readonly Plan[]): Step[] => plans.map((plan) => plan.step)
const constant = (value: Value): Plan => ({ step: () => value, constant: value })

function pathPlan(path: Path): Plan {
  const { resolve, cost } = path
  if (cost === 0) return { step: resolve, path }
  return {
    step: (frame) => {
      const value = resolve(frame)
      charge(frame, cost)
      return value
    },
    path,
  }
}

function basePath(load: Step): Path {
  const qualifiers: Qualifier[] = []
  return {
    cost: 1,
    resolve: (frame) => {
      const object = load(frame)
      return qualifiers.length === 0 || isError(object) ? object : applyQualifiers(frame, object, qualifiers)
    },
    add: (qualifier) => qualifiers.push(qualifier),
  }
}

/** After an optional step everything further may be absent too, and the whole is optional. */
function applyQualifiers(frame: Frame, start: Value, qualifiers: readonly Qualifier[]): Value {
  let object = start
  let optional = object instanceof OptionalValue
  if (object instanceof OptionalValue) {
    if (object.value === undefined) return object
    object = unwrapOptional(object.value)
  }
  for (const qualifier of qualifiers) {
    optional ||= qualifier.optional
    const next = optional ? qualifier.qualifyIfPresent(frame, object) : qualifier.qualify(frame, object)
    if (next === undefined) return NONE
    if (isError(next)) return next
    object = next
  }
  return optional ? new OptionalValue(object) : object
}

function constantQualifier(key: Value, optional: boolean): Qualifier {
  if (keyText(key) === undefined) throw new ProgramError(`invalid qualifier type: ${goType(key)}`)
  return {
    optional,
    qualify: (frame, object) => {
      const value = access(object, key)
      charge(frame, 1)
      return value === undefined ? missing(object, key) : value
    },
    qualifyIfPresent: (frame, object) => {
      const value = access(object, key)
      if (value !== undefined && !isError(value)) charge(frame, 1)
      return value
    },
  }
}

/** The key is a path or another expression; a path as a key does not pay for itself. */
function computedQualifier(resolve: Step, optional: boolean): Qualifier {
  return {
    optional,
    qualify: (frame, object) => {
      const key = resolve(frame)
      const value = isError(key) ? key : access(object, key)
      charge(frame, 1)
      return value === undefined ? missing(object, key) : value
    },
    qualifyIfPresent: (frame, object) => {
      const key = resolve(frame)
      const value = isError(key) ? key : access(object, key)
      if (value !== undefined && !isError(value)) charge(frame, 1)
      return value
    },
  }
}

/** The last step of `has(…)`: gives whether it is there. After an optional step, one that is not there costs nothing. */
function presenceQualifier(inner: Qualifier): Qualifier {
  return {
    optional: false,
    qualify: (frame, object) => {
      const before = frame.cost
      const value = inner.qualifyIfPresent(frame, object)
      if (frame.cost === before) charge(frame, 1)
      return value !== undefined && isError(value) ? value : value !== undefined
    },
    qualifyIfPresent: inner.qualifyIfPresent,
  }
}

/** A test costs its steps only; one of a conditional even takes 1 off, as in cel-go. */
function presenceStep({ resolve, cost }: Path): Step {
  return (frame) => {
    const value = resolve(frame)
    frame.cost += cost - 1
    return value instanceof OptionalValue ? value.value !== undefined : value
  }
}

/** A member of a map or list. Undefined: not there; an error where such a key cannot be. */
function access(object: Value, key: Value): Value | undefined {
  if (object instanceof MapValue) return object.find(key)
  if (!(object instanceof ListValue)) return undefined
  const index = listIndex(key)
  if (typeof index !== 'number') return index
  return index >= 0 && index < object.size ? object.at(index) : undefined
}

function listIndex(key: Value): number | CelError {
  if (typeof key === 'bigint') return Number(key)
  if (key instanceof Uint) return Number(key.value)
  if (typeof key !== 'number') return new CelError(`unsupported index type '${typeName(key)}' in list`)
  return Number.isInteger(key) ? key : new CelError(`unsupported index value ${showValue(key)} in list`)
}

const missing = (object: Value, key: Value) =>
  new CelError(`${object instanceof ListValue ? 'index out of bounds' : 'no such key'}: ${showValue(key)}`)

function logical(terms: readonly Step[], decisive: boolean): Step {
  return (frame) => {
    let error: CelError | undefined
    for (const term of terms) {
      const value = term(frame)
      if (value === decisive) return decisive
      if (typeof value !== 'boolean') error ??= errorOr(value)
    }
    return error ?? !decisive
  }
}

const isOptionalCall = (node: Call, id: string) => node.overloads.length !== 1 || node.overloads[0]?.id === id

function optionalOr([left, right]: readonly Plan[], unwrap: boolean): Step {
  const [first, second] = [(left as Plan).step, (right as Plan).step]
  return (frame) => {
    const value = first(frame)
    if (!(value instanceof OptionalValue)) return value
    if (value.value === undefined) return second(frame)
    return unwrap ? value.value : value
  }
}

/** A list or map of constants is made once, and costs nothing. */
function constructed(build: Step, plans: readonly Plan[], cost: number): Plan {
  if (plans.every((plan) => plan.constant !== undefined)) {
    const value = build(NO_FRAME)
    return isError(value) ? { step: () => value } : constant(value)
  }
  return {
    step: (frame) => {
      const value = build(frame)
      charge(frame, cost)
      return value
    },
  }
}

/** For what is evaluated before any run: nothing of it looks at variables. */
const NO_FRAME: Frame = { variables: () => ABSENT, slots: [], limit: Number.POSITIVE_INFINITY, cost: 0 }

const CONVERSIONS = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint'])

function plannedCall(node: Call, plans: readonly Plan[]): Plan {
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

function loadSlot(slot: number, initial: Step | undefined): Step {
  if (initial === undefined) return (frame) => frame.slots[slot] as Value
  return (frame) => {
    const value = frame.slots[slot]
    if (value !== undefined) return value as Value
    const first = initial(frame)
    frame.slots[slot] = first
    return first
  }
}

/** What a loop collects may grow in place; nothing else sees it before the loop is done. */
function lazyInitial(initial: Step): Step {
  return (frame) => {
    const value = initial(frame)
    if (value instanceof ListValue && value.size === 0) return new GrowingList()
    return value instanceof MapValue && value.size === 0 ? new PlainMap() : value
  }
}

interface Fold {
  readonly range: Step
  /** Undefined: always true. */
  readonly condition: Step | undefined
  readonly step: Step
  readonly result: Step
  readonly accumulator: number
  readonly variable: number
  readonly variable2: number | undefined
}

function fold({ range, condition, step, result, accumulator, variable, variable2 }: Fold): Step {
  return (frame) => {
    const { slots } = frame
    slots[accumulator] = undefined
    const values = range(frame)
    if (isError(values)) return values
    const turn = (first: Value, second?: Value): boolean => {
      slots[variable] = first
      if (variable2 !== undefined) slots[variable2] = second
      if (condition?.(frame) === false) return false
      slots[accumulator] = step(frame)
      return true
    }
    if (values instanceof ListValue) {
      for (let i = 0; i < values.size; i++) {
        const item = values.at(i)
        if (!(variable2 === undefined ? turn(item) : turn(BigInt(i), item))) break
      }
    } else if (values instanceof MapValue) {
      for (const key of values.keys()) {
        if (!(variable2 === undefined ? turn(key) : turn(key, values.find(key)))) break
      }
    } else {
      return new CelError(`got '${goType(values)}', expected iterable type`)
    }
    const value = result(frame)
    return value instanceof GrowingList ? new PlainList(value.items) : value
  }
}

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

const goType = (value: Value) => GO_TYPES[typeName(value)] ?? typeName(value)
