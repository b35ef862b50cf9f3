/** `matchConditions` of webhooks and policies: further conditions, in CEL, on what a request is. */
import type { AdmissionRequest, Core } from '../core.ts'
import type { ResourceType } from '../types.ts'
import type { Versioned } from './convert.ts'

export interface ExpressionSource {
  readonly name: string
  readonly expression: string
}

/** What expressions are asked about. */
export interface Subject {
  readonly core: Core
  readonly request: AdmissionRequest
  readonly type: ResourceType
  readonly objects: Versioned
  readonly params?: unknown
}

export interface MatchConditions {
  /** There are no conditions. */
  readonly none: boolean
  match(subject: Subject): Promise<{ readonly matches: boolean; readonly error?: string }>
}

/** Compiled when they are first needed. `params`: there is such a variable. */
export function matchConditions(sources: readonly ExpressionSource[], params: boolean): MatchConditions {
  let compiled: Promise<{ evaluate(subject: Subject): { value?: unknown; error?: string } }[]> | undefined
  const compile = async () => {
    const { compileExpression } = await import('./expressions.ts')
    return sources.map(({ expression }) => compileExpression(expression, { params, authorizer: true }, undefined, ['bool']))
  }
  return {
    none: sources.length === 0,
    /** One that is false decides, whatever is wrong with others. */
    async match(subject) {
      compiled ??= compile()
      const errors: string[] = []
      for (const expression of await compiled) {
        const { value, error } = expression.evaluate(subject)
        if (error !== undefined) errors.push(error)
        else if (value !== true) return { matches: false }
      }
      if (errors.length === 0) return { matches: true }
      return { matches: false, error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]` }
    },
  }
}
