/** One policy, compiled: from a request to what is wrong with it. */
import { compileExpression, compileVariables, type Expression } from './expressions.ts'
import { type ExpressionSource, matchConditions, type Subject } from './match-conditions.ts'

export interface Validation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

export interface PolicySpec {
  readonly failurePolicy?: string
  readonly paramKind?: object
  readonly matchConditions?: readonly ExpressionSource[]
  readonly variables?: readonly ExpressionSource[]
  readonly validations?: readonly Validation[]
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[]
}

/** A validation that failed. */
export interface Decision {
  readonly message: string
  /** Absent: Invalid. */
  readonly reason?: string
}

export interface CompiledPolicy {
  /** Empty: nothing is wrong, or the policy is not about the request. */
  decide(subject: Subject): Promise<readonly Decision[]>
}

const MAX_MESSAGE_BYTES = 5 * 1024

export function compilePolicy(spec: PolicySpec): CompiledPolicy {
  const conditions = matchConditions(spec.matchConditions ?? [], spec.paramKind !== undefined)
  const { validations, annotations } = compileParts(spec)
  const failed = (message: string): Decision[] => (spec.failurePolicy === 'Ignore' ? [] : [{ message }])
  return {
    async decide(subject) {
      if (!conditions.none) {
        const match = await conditions.match(subject)
        if (match.error !== undefined) return failed(match.error)
        if (!match.matches) return []
      }
      const decisions = validations.flatMap(({ validation, rule, message }) => {
        const { value, error } = rule.evaluate(subject)
        if (error !== undefined) return failed(error)
        if (value === true) return []
        const { reason } = validation
        return [{ message: messageOf(validation, message, subject), ...(reason === undefined ? {} : { reason }) }]
      })
      // There is no audit log; an annotation that cannot be told still fails the request.
      const told = annotations.flatMap((annotation) => {
        const { error } = annotation.evaluate(subject)
        return error === undefined ? [] : failed(error)
      })
      return [...decisions, ...told]
    },
  }
}

/** All but the match conditions, which know no variables. */
export function compileParts(spec: PolicySpec) {
  const params = spec.paramKind !== undefined
  const declarations = { params, authorizer: true }
  const variables = compileVariables(spec.variables ?? [], declarations)
  return {
    variables,
    validations: (spec.validations ?? []).map((validation) => ({
      validation,
      rule: compileExpression(validation.expression, declarations, variables, ['bool']),
      message: validation.messageExpression
        ? compileExpression(validation.messageExpression, { params, authorizer: false }, variables, ['string'])
        : undefined,
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ valueExpression }) =>
      compileExpression(valueExpression.trim(), declarations, variables, ['string', 'null_type']),
    ),
  }
}

/** A message expression that fails, or gives no single line, is passed over. */
function messageOf({ message, expression }: Validation, compiled: Expression | undefined, subject: Subject): string {
  const value = compiled?.evaluate(subject).value
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES) return text
  return message?.trim() || `failed expression: ${expression.trim()}`
}
