/** The CEL rules of a schema, where the definition is written and where its objects are. */
import type { FieldError } from '../field-error.ts'
import type { Schema } from '../types.ts'

/** `unchanged`: the definition had this schema before, and what it costs is not asked again. */
export function celErrors(_schema: Schema, _field: string, _unchanged: boolean): FieldError[] {
  return []
}

export interface Rules {
  /** Whether there are any. */
  readonly any: boolean
  validate(object: object, old: object | undefined): { errors: FieldError[]; warnings: string[] }
}

export function lazyRules(_schema: Schema): Rules {
  return { any: false, validate: () => ({ errors: [], warnings: [] }) }
}
