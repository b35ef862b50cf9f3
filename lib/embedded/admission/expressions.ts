/** CEL expressions of policies and match conditions. */
import type { ExpressionSource, Subject } from './match-conditions.ts'

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

export function compileExpression(text: string, _environment: ExpressionEnvironment): Expression {
  return { evaluate: () => ({ error: `expression '${text}' resulted in error: not compiled` }) }
}
