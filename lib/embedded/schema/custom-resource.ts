/** Everything that a schema says of an object of a custom kind, but for its CEL rules. */
import type { FieldError } from '../field-error.ts'
import { isObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { validateEmbedded } from './embedded.ts'
import { NO_FIELD } from './findings.ts'
import { validateListTypes } from './list-types.ts'
import { nodeOf } from './node.ts'
import { validate } from './validate.ts'

/**
 * `old` of an update: what did not change may stay as it is, and lists with duplicates may have more of them. A write to the
 * status subresource looks at the status, and its paths in texts begin there.
 */
export function validateCustomResource(object: object, old: object | undefined, schema: Schema, subresource: string): FieldError[] {
  const node = nodeOf(schema)
  const errors = subresource === 'status' ? validateStatus(object, old, schema) : validate(object, schema, '', old)
  if (subresource !== 'status' && node.has.embedded) errors.push(...validateEmbedded(object, schema))
  if (node.has.listTypes) {
    const duplicates = validateListTypes(object, schema)
    if (duplicates.length > 0 && (old === undefined || validateListTypes(old, schema).length === 0)) errors.push(...duplicates)
  }
  return errors
}

function validateStatus(object: object, old: object | undefined, schema: Schema): FieldError[] {
  const status = schema.properties?.['status']
  if (status === undefined || !isObject(object) || object['status'] === undefined) return []
  return validate(object['status'], status, 'status', isObject(old) ? old['status'] : undefined)
}

const BLOCKING: ReadonlySet<FieldError['type']> = new Set(['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid'])

/** What an object too wrong for its CEL rules is told besides; undefined: they can run. */
export function rulesSkipped(errors: readonly FieldError[]): FieldError | undefined {
  if (!errors.some((error) => BLOCKING.has(error.type))) return undefined
  return {
    type: 'Invalid',
    field: NO_FIELD,
    message:
      'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  }
}
