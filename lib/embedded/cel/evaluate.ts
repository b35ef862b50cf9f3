/**
 * A checked tree to a closure. Running it gives a value and its cost, the same to the unit as cel-go with the options of
 * Kubernetes: constants are folded, `in` of a constant list is a lookup, `&&`, `||` and `?:` run only what they need, a path
 * (`self.a.b[0]`) costs 1 for each step and 1 for itself.
 */
import type { Call, Comprehension, List, MapNode, Node, Select } from './ast.ts'
import { InternalError, LIST_COST, MAP_COST } from './call-cost.ts'
import { plannedCall } from './calls.ts'
import { fold, lazyInitial, loadSlot } from './fold.ts'
import {
  ABSENT,
  charge,
  constant,
  type Frame,
  LIMIT_MESSAGE,
  LimitExceeded,
  NO_FRAME,
  type Plan,
  type Program,
  ProgramError,
  type Step,
  steps,
} from './frame.ts'
import { basePath, computedQualifier, constantQualifier, type Path, pathPlan, presenceQualifier, presenceStep } from './path.ts'
import { CelError, errorOr, isError, keyText, OptionalValue, PlainList, PlainMap, showValue, typeName, type Value } from './values.ts'

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
