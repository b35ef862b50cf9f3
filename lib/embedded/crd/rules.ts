/** The CEL rules of a schema, where the definition is written and where its objects are. */
import { hasRules } from '../cel/has-rules.ts'
import { loadCel } from '../cel/lazy.ts'
import type { FieldError } from '../field-error.ts'
import type { Schema } from '../types.ts'

/** `unchanged`: the definition had this schema before, and what a rule costs is not asked again. */
export function celErrors(schema: Schema, field: string, unchanged: boolean): FieldError[] {
  if (!hasRules(schema)) return []
  return loadCel('definition').validateRules(schema, { path: field, suppressRuleCost: unchanged })
}

export interface Rules {
  /** Whether there are any. */
  readonly any: boolean
  /** `path`: of the object; `''`, the default: a whole one. */
  validate(object: unknown, old: unknown, path?: string): { errors: FieldError[]; warnings: string[] }
}

const NONE: Rules = { any: false, validate: () => ({ errors: [], warnings: [] }) }

/** Compiled with the first object. */
export function lazyRules(schema: Schema): Rules {
  if (!hasRules(schema)) return NONE
  let validator: ReturnType<ReturnType<typeof loadCel<'validator'>>['createValidator']>
  let created = false
  return {
    any: true,
    validate(object, old, path) {
      if (!created) validator = loadCel('validator').createValidator(schema)
      created = true
      return validator?.(object, old, path) ?? { errors: [], warnings: [] }
    },
  }
}
