/** The CEL rules of a schema, where the definition is written and where its objects are. */
import { hasRules } from '../cel/has-rules.ts'
import { loadCel } from '../cel/lazy.ts'
import type { FieldError } from '../field-error.ts'
import type { Schema } from '../types.ts'

/** `unchanged`: the definition had this schema before, and what it costs is not asked again. */
export function celErrors(schema: Schema, field: string, unchanged: boolean): FieldError[] {
  if (!JSON.stringify(schema).includes('"x-kubernetes-validations"')) return []
  return loadCel('definition').validateRules(schema, { path: field, suppressRuleCost: unchanged })
}

export interface Rules {
  /** Whether there are any. */
  readonly any: boolean
  validate(object: object, old: object | undefined): { errors: FieldError[]; warnings: string[] }
}

/** Compiled with the first object. */
export function lazyRules(schema: Schema): Rules {
  let validate: ((object: object, old: object | undefined) => { errors: FieldError[]; warnings: string[] }) | undefined
  return {
    any: hasRules(schema),
    validate: (object, old) => {
      validate ??= loadCel('validator').createValidator(schema) ?? (() => ({ errors: [], warnings: [] }))
      return validate(object, old)
    },
  }
}
