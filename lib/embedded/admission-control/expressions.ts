/** CEL expressions of policies and match conditions. */

import { serviceAccountGroups, serviceAccountName } from '../auth/service-account.ts'
import { dynamicValue } from '../cel/dynamic-value.ts'
import { type Expression as CelExpression, compileExpression as compileCel, isMistake } from '../cel/expression.ts'
import { type Ask, authorizerValue, resourceCheckValue } from '../cel/library/authorization.ts'
import { type CelType, DYN, nameType } from '../cel/types.ts'
import { CelError, MapValue, type Value } from '../cel/values.ts'
import { type Declarations, declaredTypes } from './expression-types.ts'
import type { ExpressionSource, Subject } from './match-conditions.ts'
import { describeRequest } from './review.ts'

/** Of one expression; the server's own number. */
const CALL_LIMIT = 1_000_000

export interface Expression {
  /** Why it cannot be used: `compilation failed: …`, `must evaluate to bool but got int`. */
  readonly problem: string | undefined
  readonly type: CelType
  /** `error`: as a refusal shows it. */
  evaluate(subject: Subject): { readonly value?: unknown; readonly error?: string }
  /** For another expression. */
  run(values: Values): Value
}

type Values = (name: string) => Value

export interface Variable {
  readonly name: string
  readonly expression: Expression
}

/** `returns`: the types that the result may have, none other; absent: any. */
export function compileExpression(
  text: string,
  declarations: Omit<Declarations, 'variables'>,
  variables: readonly Variable[] | undefined,
  returns?: readonly string[],
): Expression {
  const types = variables === undefined ? undefined : new Map(variables.map(({ name, expression }) => [name, expression.type]))
  const compiled = compileCel(text, declaredTypes(types === undefined ? declarations : { ...declarations, variables: types }))
  if (isMistake(compiled)) {
    return unusable(`${compiled.stage === 'compilation' ? 'compilation' : 'program instantiation'} failed: ${compiled.message}`)
  }
  const type = nameType(compiled.type)
  if (returns !== undefined && !returns.includes(type)) {
    const wanted = returns.length === 1 ? returns[0] : `one of [${returns.join(' ')}]`
    return unusable(`must evaluate to ${wanted} but got ${type}`)
  }
  const run = (values: Values) => compiled.program.run(values, CALL_LIMIT).value
  return {
    problem: undefined,
    type: compiled.type,
    run,
    evaluate(subject) {
      const value = run(valuesOf(subject, compiled, variables ?? []))
      return value instanceof CelError ? { error: `expression '${text.trim()}' resulted in error: ${value.message}` } : { value }
    },
  }
}

/** Each may use those before it. */
export function compileVariables(sources: readonly ExpressionSource[], declarations: Omit<Declarations, 'variables'>): Variable[] {
  const variables: Variable[] = []
  for (const { name, expression } of sources) {
    variables.push({ name, expression: compileExpression(expression, declarations, [...variables]) })
  }
  return variables
}

function unusable(problem: string): Expression {
  return { problem, type: DYN, evaluate: () => ({ error: problem }), run: () => new CelError(problem) }
}

/** Made when they are used. */
function valuesOf(subject: Subject, { variables: used }: CelExpression, variables: readonly Variable[]): Values {
  const { request, type, objects, params } = subject
  const make: Readonly<Record<string, () => Value>> = {
    object: () => dynamicValue(objects.object),
    oldObject: () => dynamicValue(objects.old),
    request: () => dynamicValue(describeRequest(request, type)),
    namespaceObject: () => dynamicValue(namespaceOf(subject)),
    params: () => dynamicValue(params),
    authorizer: () => authorizerValue(askerOf(subject)),
    'authorizer.requestResource': () => requestResource(subject),
    variables: () => new VariableMap(variables, values),
  }
  const made = new Map<string, Value>()
  const values: Values = (name) => {
    const known = made.get(name)
    if (known !== undefined) return known
    const value = make[name]?.() ?? null
    made.set(name, value)
    return value
  }
  // A policy without variables never makes the map.
  return used.size === 0 ? () => null : values
}

/** Only what policies may see of it. */
function namespaceOf({ core, request }: Subject): object | null {
  if (!request.type.namespaced) return null
  const namespace = core.lookup.get('', 'namespaces', '', request.namespace)
  if (namespace === undefined) return null
  const { managedFields, ownerReferences, selfLink, uid, ...metadata } = namespace.metadata
  return { metadata: { ...metadata, UID: uid }, spec: namespace.spec, status: namespace.status }
}

/** Whether the user of the request, or a service account, may do something else as well. */
function askerOf({ core, request }: Subject): Ask {
  return ({ serviceAccount: account, verb, path, group = '', resource = '', subresource = '', namespace = '', name = '' }) => {
    const user =
      account === undefined
        ? request.user
        : { name: serviceAccountName(account.namespace, account.name), groups: serviceAccountGroups(account.namespace) }
    const attributes = { user, verb, group, version: '*', resource, subresource, namespace, name }
    const asked = path === undefined ? attributes : { ...attributes, path }
    return core.authorizer?.authorize(asked) ?? { allowed: true, reason: '' }
  }
}

function requestResource(subject: Subject): Value {
  const { type, subresource, namespace, name } = subject.request
  return resourceCheckValue(askerOf(subject), { group: type.group, resource: type.resource, subresource, namespace, name })
}

/** Each is evaluated when it is first asked for, and once. */
class VariableMap extends MapValue {
  readonly #expressions: ReadonlyMap<string, Expression>
  readonly #values: Values
  readonly #known = new Map<string, Value>()

  constructor(variables: readonly Variable[], values: Values) {
    super()
    this.#expressions = new Map(variables.map(({ name, expression }) => [name, expression]))
    this.#values = values
  }

  get size(): number {
    return this.#expressions.size
  }

  keys(): Iterable<Value> {
    return this.#expressions.keys()
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    const expression = this.#expressions.get(key)
    if (known !== undefined || expression === undefined) return known
    const value = this.#evaluate(key, expression)
    this.#known.set(key, value)
    return value
  }

  #evaluate(name: string, expression: Expression): Value {
    const text = `composited variable ${JSON.stringify(name)}`
    if (expression.problem !== undefined) return new CelError(`${text} fails to compile: ${expression.problem}`)
    const value = expression.run(this.#values)
    return value instanceof CelError ? new CelError(`${text} fails to evaluate: ${value.message}`) : value
  }
}
