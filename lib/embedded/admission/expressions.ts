/**
 * CEL expressions of policies and match conditions: `object`, `oldObject`, `request`, `namespaceObject`, and where they are
 * declared `params`, `authorizer` and `variables`.
 */

import { serviceAccountGroups, serviceAccountName } from '../auth/service-account.ts'
import { type Ask, authorizerValue, resourceCheckValue } from '../cel/library/authorization.ts'
import { compilePolicyExpression, type PolicyProgram } from '../cel/policy.ts'
import { CelError, MapValue, type Value } from '../cel/values.ts'
import type { ApiObject } from '../types.ts'
import type { ExpressionSource, Subject } from './match-conditions.ts'
import { describeRequest } from './review.ts'

export interface Expression {
  evaluate(subject: Subject): { readonly value?: unknown; readonly error?: string }
}

export interface ExpressionEnvironment {
  /** There is a variable `params`. */
  readonly params: boolean
  /** There is a variable `authorizer`. */
  readonly authorizer: boolean
  /** Members of `variables`. */
  readonly variables: readonly ExpressionSource[]
}

export function compileExpression(text: string, environment: ExpressionEnvironment): Expression {
  const names = namesOf(environment)
  const program = compilePolicyExpression(text, { variables: names })
  const composited = environment.variables.map(({ name, expression }) => ({
    name,
    program: compilePolicyExpression(expression, { variables: names }),
  }))
  const trimmed = text.trim()
  return {
    evaluate(subject) {
      if (program.error !== undefined) return { error: program.error }
      const result = program.evaluate(valuesOf(subject, composited))
      return result.ok ? { value: result.value } : { error: `expression '${trimmed}' resulted in error: ${result.message}` }
    },
  }
}

/** The names that an expression in such a place may use. */
export const namesOf = ({ params, authorizer, variables }: ExpressionEnvironment): readonly string[] => [
  'object',
  'oldObject',
  'request',
  'namespaceObject',
  ...(params ? ['params'] : []),
  ...(authorizer ? ['authorizer', 'authorizer.requestResource'] : []),
  ...(variables.length > 0 ? ['variables'] : []),
]

interface Composited {
  readonly name: string
  readonly program: PolicyProgram
}

function valuesOf(subject: Subject, composited: readonly Composited[]): Record<string, unknown> {
  const { request, type, objects, params } = subject
  const values: Record<string, unknown> = {
    object: objects.object,
    oldObject: objects.old,
    request: once(() => describeRequest(request, type)),
    namespaceObject: once(() => namespaceOf(subject)),
    params,
    authorizer: once(() => authorizerValue(askerOf(subject))),
    'authorizer.requestResource': once(() => requestResource(subject)),
  }
  if (composited.length > 0) values.variables = new Variables(composited, values)
  return values
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Only what policies may see of it. */
function namespaceOf({ core, request }: Subject): object | null {
  if (!request.type.namespaced) return null
  const namespace = core.lookup.get('', 'namespaces', '', request.namespace)
  if (namespace === undefined) return null
  const { managedFields, ownerReferences, selfLink, ...metadata } = (namespace as ApiObject).metadata
  return { metadata, spec: namespace.spec, status: namespace.status }
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
class Variables extends MapValue {
  readonly #programs: ReadonlyMap<string, PolicyProgram>
  readonly #values: Record<string, unknown>
  readonly #known = new Map<string, Value>()

  constructor(composited: readonly Composited[], values: Record<string, unknown>) {
    super()
    this.#programs = new Map(composited.map(({ name, program }) => [name, program]))
    this.#values = values
  }

  get size(): number {
    return this.#programs.size
  }

  keys(): Iterable<Value> {
    return this.#programs.keys()
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    const program = this.#programs.get(key)
    if (known !== undefined || program === undefined) return known
    const value = this.#evaluate(key, program)
    this.#known.set(key, value)
    return value
  }

  #evaluate(name: string, program: PolicyProgram): Value {
    const text = `composited variable ${JSON.stringify(name)}`
    if (program.error !== undefined) return new CelError(`${text} fails to compile: ${program.error}`)
    const { value } = program.run(this.#values)
    return value instanceof CelError ? new CelError(`${text} fails to evaluate: ${value.message}`) : value
  }
}
