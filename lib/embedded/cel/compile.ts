/**
 * The rules (`x-kubernetes-validations`) of a schema of a CustomResourceDefinition.
 *
 * @example
 * const rules = compileSchemaRules(version.schema.openAPIV3Schema, { path: 'spec.validation.openAPIV3Schema' })
 * if (rules.errors.length > 0) throw invalidError(subject, name, rules.errors)
 * const { errors, warnings } = rules.validate(object, old)
 */
import type { FieldError } from '../field-error.ts'
import type { Schema } from '../types.ts'
import { type DefinitionOptions, validateRules } from './definition.ts'
import { createValidator, type Findings } from './validator.ts'

export type { DefinitionOptions } from './definition.ts'
export type { Findings } from './validator.ts'

export interface SchemaRules {
  /**
   * What the server answers to the definition: rules that are malformed, do not compile or could cost too much. Looked at only
   * when it is read; call it only when the schema is otherwise valid.
   */
  readonly errors: readonly FieldError[]
  /** Whether there is anything to validate. */
  readonly isEmpty: boolean
  /**
   * Runs all rules. `old`: the stored object of an update, for transition rules and ratcheting. `path`: of the object, `''` for
   * a whole one.
   */
  validate(object: unknown, old?: unknown, path?: string): Findings
}

/** `schema`: the root schema of a version, structural. Rules compile when they are first needed. */
export function compileSchemaRules(schema: Schema, options: DefinitionOptions): SchemaRules {
  let errors: FieldError[] | undefined
  let validator: ReturnType<typeof createValidator>
  let created = false
  const ready = () => {
    if (!created) validator = createValidator(schema)
    created = true
    return validator
  }
  return {
    get errors() {
      errors ??= validateRules(schema, options)
      return errors
    },
    get isEmpty() {
      return ready() === undefined
    },
    validate: (object, old, path) => ready()?.(object, old, path) ?? { errors: [], warnings: [] },
  }
}
