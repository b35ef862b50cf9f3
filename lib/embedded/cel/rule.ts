/** One rule of `x-kubernetes-validations`, compiled, with the worst cost of it and of its message. */
import type { CelRule, Schema } from '../types.ts'
import { estimateCost } from './estimate.ts'
import { compileExpression, type Expression, isMistake } from './expression.ts'
import { normalizeFieldPath } from './field-path.ts'
import type { Program } from './frame.ts'
import { celType, type SchemaType } from './schema-type.ts'
import { type CelType, optionalOf } from './types.ts'

export interface CompiledRule {
  readonly source: CelRule
  /** Why it cannot be used. */
  readonly error?: string
  readonly messageError?: string
  readonly program?: Program
  readonly message?: Program
  readonly usesOldSelf: boolean
  /** Of one evaluation. */
  readonly cost: number
  readonly messageCost: number
  /** As causes name it, below the field that has the rule. */
  readonly fieldPath: string
}

/** Hidden from the writers of rules, who must not depend on it. */
const TYPE_NAME = 'selfType'

export function compileRules(schema: Schema, rules: readonly CelRule[], type: SchemaType): CompiledRule[] {
  const self = celType(type, TYPE_NAME)
  return rules.map((rule) => compileRule(schema, rule, type, self))
}

function compileRule(schema: Schema, source: CelRule, root: SchemaType, self: CelType): CompiledRule {
  const nothing = { source, usesOldSelf: false, cost: 0, messageCost: 0, fieldPath: '' }
  if (source.rule.trim() === '') return nothing
  const variables = new Map([
    ['self', self],
    ['oldSelf', source.optionalOldSelf ? optionalOf(self) : self],
  ])
  const rule = compile(source.rule, variables, 'bool')
  if (typeof rule === 'string') return { ...nothing, error: rule }
  const compiled = {
    ...nothing,
    program: rule.program,
    usesOldSelf: rule.variables.has('oldSelf'),
    cost: estimateCost(rule.node, root).max,
    fieldPath: source.fieldPath ? (normalizeFieldPath(source.fieldPath, schema) ?? '') : '',
  }
  if (!source.messageExpression) return compiled
  const message = compile(source.messageExpression, variables, 'string')
  if (typeof message === 'string') return { ...compiled, messageError: message }
  return { ...compiled, message: message.program, messageCost: estimateCost(message.node, root).max }
}

/** The expression, or what is wrong with it. */
function compile(text: string, variables: ReadonlyMap<string, CelType>, type: 'bool' | 'string'): Expression | string {
  const subject = type === 'bool' ? '' : 'messageExpression '
  const compiled = compileExpression(text, variables)
  if (isMistake(compiled) && compiled.stage === 'compilation') return `${subject}compilation failed: ${compiled.message}`
  if (compiled.type?.kind !== type)
    return type === 'bool' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string'
  if (!isMistake(compiled)) return compiled
  return type === 'bool'
    ? `program instantiation failed: ${compiled.message}`
    : `messageExpression instantiation failed: ${compiled.message}`
}
