/** Types of all nodes, the overloads that calls may mean, and what does not fit. */
import type { Call, Comprehension, List, MapNode, Node, Select } from './ast.ts'
import type { Environment, FunctionDeclaration } from './environment.ts'
import type { Issue } from './source.ts'
import { TYPE_NAMES } from './type-names.ts'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  ERROR,
  INT,
  isOptional,
  listOf,
  mapOf,
  mostGeneral,
  NULL,
  optionalOf,
  param,
  STRING,
  Substitutions,
  showSignature,
  showType,
  UINT,
} from './types.ts'
import { TypeValue, Uint } from './values.ts'

export interface Checked {
  readonly type: CelType
  readonly issues: readonly Issue[]
  /** Names of variables of the environment that the expression uses. */
  readonly variables: ReadonlySet<string>
}

export function check(node: Node, environment: Environment): Checked {
  const checker = new Checker(environment)
  checker.check(node)
  checker.settle()
  return { type: node.type as CelType, issues: checker.issues, variables: checker.variables }
}

class Checker {
  readonly issues: Issue[] = []
  readonly variables = new Set<string>()
  readonly #environment: Environment
  readonly #substitutions = new Substitutions()
  readonly #typed: Node[] = []
  #scopes: ReadonlyMap<string, CelType>[] = []
  #variableCount = 0

  constructor(environment: Environment) {
    this.#environment = environment
  }

  check(node: Node): CelType {
    const type = this.#check(node)
    node.type = type
    this.#typed.push(node)
    return type
  }

  /** Type variables that nothing decided become dyn. */
  settle(): void {
    for (const node of this.#typed) node.type = this.#substitutions.apply(node.type as CelType, true)
  }

  #check(node: Node): CelType {
    switch (node.kind) {
      case 'literal':
        return literalType(node.value)
      case 'ident': {
        const type = this.#lookup(node.name, node)
        if (type !== undefined) return type
        return this.#report(node, `undeclared reference to '${node.name}' (in container '')`)
      }
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'struct':
        if (TYPE_NAMES.has(node.name)) return this.#report(node, `'${node.name}' is not a message type`)
        return this.#report(node, `undeclared reference to '${node.name}' (in container '')`)
      case 'comprehension':
        return this.#comprehension(node)
    }
  }

  #report(node: Node, message: string): CelType {
    this.issues.push({ at: node.at, message })
    return ERROR
  }

  #lookup(written: string, node: { constant?: unknown }): CelType | undefined {
    const name = written.startsWith('.') ? written.slice(1) : written
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const type = this.#scopes[i]?.get(name)
      if (type !== undefined) return type
    }
    const type = this.#environment.variable(name)
    if (type !== undefined) {
      this.variables.add(name)
      return type
    }
    const named = TYPE_NAMES.get(name)
    if (named === undefined) return undefined
    node.constant = new TypeValue(named.value)
    return named.type
  }

  #select(node: Select): CelType {
    const qualified = node.test ? undefined : qualifiedName(node)
    if (qualified !== undefined) {
      const type = this.#lookup(qualified, node)
      if (type !== undefined) {
        node.ident = qualified
        return type
      }
    }
    const type = this.#field(node, node.operand, node.field, false)
    return node.test ? BOOL : this.#substitutions.apply(type)
  }

  #field(node: Node, operand: Node, field: string, optional: boolean): CelType {
    const operandType = this.#substitutions.apply(this.check(operand))
    const wrapped = isOptional(operandType)
    const target = wrapped ? (operandType.params[0] as CelType) : operandType
    const type = this.#fieldType(node, target, field)
    return wrapped || optional ? optionalOf(type) : type
  }

  #fieldType(node: Node, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1] as CelType
      case 'struct':
        return target.fields?.get(field) ?? this.#report(node, `undefined field '${field}'`)
      case 'param':
        this.#substitutions.assign(DYN, target)
        return DYN
      case 'dyn':
      case 'error':
        return DYN
      default:
        this.#report(node, `type '${showType(target)}' does not support field selection`)
        return DYN
    }
  }

  #call(node: Call): CelType {
    if (node.name === '_?._') {
      const field = node.args[1] as Node
      const name = field.kind === 'literal' ? String(field.value) : ''
      field.type = STRING
      return this.#substitutions.apply(this.#field(node, node.args[0] as Node, name, true))
    }
    for (const argument of node.args) this.check(argument)
    const written = node.name.startsWith('.') ? node.name.slice(1) : node.name
    if (node.target === undefined) return this.#resolve(node, written)
    const prefix = qualifiedName(node.target)
    const qualified = prefix === undefined ? undefined : `${prefix.startsWith('.') ? prefix.slice(1) : prefix}.${written}`
    if (qualified !== undefined && this.#environment.function(qualified) !== undefined) {
      node.target = undefined
      return this.#resolve(node, qualified)
    }
    this.check(node.target)
    return this.#resolve(node, written)
  }

  #resolve(node: Call, name: string): CelType {
    const declaration = this.#environment.function(name)
    if (declaration === undefined) return this.#report(node, `undeclared reference to '${name}' (in container '')`)
    node.name = name
    const operands = node.target === undefined ? node.args : [node.target, ...node.args]
    const types = operands.map((each) => each.type as CelType)
    if (name === '_&&_' || name === '_||_') return this.#logical(node, declaration, types)
    let result: CelType | undefined
    for (const overload of declaration.overloads) {
      if (overload.member !== (node.target !== undefined) || overload.args.length !== types.length) continue
      const [overloadResult, ...args] = this.#instantiate([overload.result, ...overload.args])
      if (!this.#substitutions.assignAll(types, args)) continue
      node.overloads.push(overload)
      const type = this.#substitutions.apply(overloadResult as CelType)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && showType(result) !== showType(type)) result = DYN
    }
    if (result !== undefined) return result
    const shown = types.map((each) => this.#substitutions.apply(each, true))
    const signature = showSignature(shown, node.target !== undefined)
    return this.#report(node, `found no matching overload for '${name}' applied to '${signature}'`)
  }

  #logical(node: Call, declaration: FunctionDeclaration, types: readonly CelType[]): CelType {
    node.overloads.push(...declaration.overloads)
    let result = BOOL
    types.forEach((type, i) => {
      if (!this.#substitutions.assign(type, BOOL)) result = this.#mismatch(node.args[i] as Node, BOOL, type)
    })
    return result
  }

  /** Fresh variables for each call. */
  #instantiate(types: readonly CelType[]): CelType[] {
    const fresh = new Map<string, CelType>()
    const replace = (type: CelType): CelType => {
      if (type.kind === 'param') {
        const known = fresh.get(type.name) ?? this.#newVariable()
        fresh.set(type.name, known)
        return known
      }
      return type.params.length === 0 ? type : { ...type, params: type.params.map(replace) }
    }
    return types.map(replace)
  }

  #newVariable(): CelType {
    return param(`_var${this.#variableCount++}`)
  }

  #mismatch(node: Node, expected: CelType, actual: CelType): CelType {
    return this.#report(node, `expected type '${showType(expected)}' but found '${showType(actual)}'`)
  }

  #list(node: List): CelType {
    let element: CelType | undefined
    node.elements.forEach((each, i) => {
      let type = this.check(each)
      if (node.optional.has(i)) type = this.#unwrap(each, type)
      element = this.#join(element, type)
    })
    return listOf(element ?? this.#newVariable())
  }

  #map(node: MapNode): CelType {
    let keyType: CelType | undefined
    let valueType: CelType | undefined
    for (const { key, value, optional } of node.entries) {
      keyType = this.#join(keyType, this.check(key))
      let type = this.check(value)
      if (optional) type = this.#unwrap(value, type)
      valueType = this.#join(valueType, type)
    }
    return mapOf(keyType ?? this.#newVariable(), valueType ?? this.#newVariable())
  }

  #unwrap(node: Node, type: CelType): CelType {
    if (isOptional(type)) return type.params[0] as CelType
    if (type.kind !== 'dyn') this.#mismatch(node, optionalOf(type), type)
    return type
  }

  /** Mixed lists and maps are refused later, where they are no arguments of `format`. */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current
    return this.#substitutions.assign(previous, current) ? mostGeneral(previous, current) : DYN
  }

  #comprehension(node: Comprehension): CelType {
    this.check(node.range)
    this.check(node.initial)
    const range = this.#substitutions.apply(node.range.type as CelType)
    const accumulatorType = node.initial.type as CelType
    this.#scopes.push(new Map([[node.accumulator, accumulatorType]]))
    const [first, second] = this.#rangeTypes(node, range)
    const variables = new Map([[node.variable, first]])
    if (node.variable2 !== undefined) variables.set(node.variable2, second)
    this.#scopes.push(variables)
    this.check(node.condition)
    this.#assert(node.condition, BOOL)
    this.check(node.step)
    this.#assert(node.step, accumulatorType)
    this.#scopes.pop()
    const result = this.check(node.result)
    this.#scopes.pop()
    return this.#substitutions.apply(result)
  }

  #rangeTypes(node: Comprehension, range: CelType): [CelType, CelType] {
    const two = node.variable2 !== undefined
    switch (range.kind) {
      case 'list':
        return two ? [INT, range.params[0] as CelType] : [range.params[0] as CelType, DYN]
      case 'map':
        return [range.params[0] as CelType, range.params[1] as CelType]
      case 'dyn':
      case 'error':
      case 'param':
        this.#substitutions.assign(DYN, range)
        return [DYN, DYN]
      default:
        this.#report(
          node.range,
          `expression of type '${showType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [ERROR, ERROR]
    }
  }

  #assert(node: Node, type: CelType): void {
    if (!this.#substitutions.assign(type, node.type as CelType)) this.#mismatch(node, type, node.type as CelType)
  }
}

/** `a.b.c` of a path of names. */
function qualifiedName(node: Node): string | undefined {
  if (node.kind === 'ident') return node.name
  if (node.kind !== 'select' || node.test) return undefined
  const prefix = qualifiedName(node.operand)
  return prefix === undefined ? undefined : `${prefix}.${node.field}`
}

function literalType(value: unknown): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return DOUBLE
    case 'string':
      return STRING
    default:
      if (value === null) return NULL
      return value instanceof Uint ? UINT : BYTES
  }
}
