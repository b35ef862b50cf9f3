/**
 * Expressions that cannot be used are refused when a policy or webhook configuration is written, not when it is applied. Part
 * of validation; here, because loading CEL takes its time and only who writes an expression needs it.
 */
import type { AdmissionPlugin, AdmissionRequest } from '../core.ts'
import { type FieldError, invalid } from '../field-error.ts'
import { equalJson } from '../json.ts'
import { invalidError } from '../status.ts'
import type { ApiObject } from '../types.ts'
import type { ExpressionSource } from './match-conditions.ts'
import type { PolicySpec } from './policy-program.ts'

const GROUP = 'admissionregistration.k8s.io'

const NOT_APPLIED = 'the embedded API server stores MutatingAdmissionPolicies, but does not apply them'

export const expressionCheck = (): AdmissionPlugin => ({
  name: 'ExpressionValidation',
  validate(request) {
    const { type, object, old, operation, subresource } = request
    if (type.group !== GROUP || object === undefined || operation === 'DELETE' || subresource !== '') return undefined
    // What is stored was checked before.
    if (old !== undefined && equalJson(object.spec, old.spec) && equalJson(object.webhooks, old.webhooks)) return undefined
    if (type.resource === 'mutatingadmissionpolicies') request.warn(NOT_APPLIED)
    if (type.resource === 'validatingadmissionpolicies') return check(request, () => policyErrors(object.spec))
    const webhooks = (object.webhooks ?? []) as { readonly matchConditions?: readonly ExpressionSource[] }[]
    if (!webhooks.some((webhook) => webhook.matchConditions?.length)) return undefined
    return check(request, async () => {
      const errors = webhooks.map(({ matchConditions = [] }, i) =>
        conditionErrors(matchConditions, false, `webhooks[${i}].matchConditions`),
      )
      return (await Promise.all(errors)).flat()
    })
  },
})

async function check({ type, object }: AdmissionRequest, find: () => Promise<FieldError[]>): Promise<void> {
  const errors = await find()
  if (errors.length > 0) throw invalidError(type, (object as ApiObject).metadata.name ?? '', errors)
}

async function policyErrors(spec: PolicySpec): Promise<FieldError[]> {
  const { compileParts } = await import('./policy-program.ts')
  const { variables, validations, annotations } = compileParts(spec)
  const conditions = await conditionErrors(spec.matchConditions ?? [], spec.paramKind !== undefined, 'spec.matchConditions')
  const error = (field: string, text: string | undefined, problem: string | undefined) =>
    problem === undefined ? [] : [expressionError(field, text, problem)]
  return [
    ...conditions,
    ...variables.flatMap(({ expression: { problem } }, i) =>
      error(`spec.variables[${i}].expression`, spec.variables?.[i]?.expression, problem),
    ),
    ...validations.flatMap(({ validation, rule, message }, i) => [
      ...error(`spec.validations[${i}].expression`, validation.expression, rule.problem),
      ...error(`spec.validations[${i}].messageExpression`, validation.messageExpression, message?.problem),
    ]),
    ...annotations.flatMap(({ problem }, i) =>
      error(`spec.auditAnnotations[${i}].valueExpression`, spec.auditAnnotations?.[i]?.valueExpression, problem),
    ),
  ]
}

async function conditionErrors(conditions: readonly ExpressionSource[], params: boolean, field: string): Promise<FieldError[]> {
  if (conditions.length === 0) return []
  const { compileExpression } = await import('./expressions.ts')
  return conditions.flatMap(({ expression }, i) => {
    const { problem } = compileExpression(expression, { params, authorizer: true }, undefined, ['bool'])
    return problem === undefined ? [] : [expressionError(`${field}[${i}].expression`, expression, problem)]
  })
}

/** A constant part that fails (`int('x')`) is an error of the server's own, as it has it. */
function expressionError(field: string, text: string | undefined, problem: string): FieldError {
  if (problem.startsWith('program instantiation failed')) return { type: 'Internal', field, message: `Internal error: ${problem}` }
  return invalid(field, text, problem)
}
