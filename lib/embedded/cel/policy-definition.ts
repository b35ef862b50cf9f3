/** What the server says of the expressions of a ValidatingAdmissionPolicy, and of match conditions, when they are written. */
import { type FieldError, invalid } from '../field-error.ts'
import { compilePolicyExpression, type PolicyEnvironment } from './policy.ts'
import type { CelType } from './types.ts'

interface NamedExpression {
  readonly name?: string
  readonly expression?: string
}

export interface PolicyExpressions {
  readonly paramKind?: object | null
  readonly variables?: readonly NamedExpression[] | null
  readonly matchConditions?: readonly NamedExpression[] | null
  readonly validations?: readonly { readonly expression?: string; readonly messageExpression?: string }[] | null
  readonly auditAnnotations?: readonly { readonly valueExpression?: string }[] | null
}

const ALWAYS = ['object', 'oldObject', 'request', 'namespaceObject']
const AUTHORIZER = ['authorizer', 'authorizer.requestResource']

/** `path`: of the spec. Expressions that are missing are complained about elsewhere. */
export function policyExpressionErrors(spec: PolicyExpressions, path = 'spec'): FieldError[] {
  const names = [...ALWAYS, ...(spec.paramKind ? ['params'] : [])]
  const members = new Map<string, CelType>()
  const errors: FieldError[] = matchConditionErrors(spec.matchConditions ?? [], `${path}.matchConditions`, spec.paramKind ? ['params'] : [])
  const compile = (text: string | undefined, field: string, environment: PolicyEnvironment) => {
    if (!text?.trim()) return undefined
    const program = compilePolicyExpression(text, environment)
    if (program.error !== undefined) errors.push(invalid(field, text, program.error))
    return program
  }
  const composed = { variables: [...names, ...AUTHORIZER, 'variables'], members }
  // A variable sees those before it.
  for (const [i, { name = '', expression }] of (spec.variables ?? []).entries()) {
    const program = compile(expression, `${path}.variables[${i}].expression`, composed)
    if (program !== undefined) members.set(name, program.type)
  }
  for (const [i, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
    compile(expression, `${path}.validations[${i}].expression`, { ...composed, returns: 'bool' })
    const variables = [...names, 'variables']
    compile(messageExpression, `${path}.validations[${i}].messageExpression`, { variables, members, returns: 'string' })
  }
  for (const [i, { valueExpression }] of (spec.auditAnnotations ?? []).entries()) {
    compile(valueExpression, `${path}.auditAnnotations[${i}].valueExpression`, { ...composed, returns: 'text' })
  }
  return errors
}

/** Of a webhook, or of a policy. */
export function matchConditionErrors(conditions: readonly NamedExpression[], path: string, more: readonly string[] = []): FieldError[] {
  const variables = [...ALWAYS, ...AUTHORIZER, ...more]
  return conditions.flatMap(({ expression }, i) => {
    if (!expression?.trim()) return []
    const { error } = compilePolicyExpression(expression, { variables, returns: 'bool' })
    return error === undefined ? [] : [invalid(`${path}[${i}].expression`, expression, error)]
  })
}
