/** All that can be wrong with the schema of one version, but for its CEL rules. */
import { type FieldError, forbidden, invalid } from '../field-error.ts'
import type { Schema } from '../types.ts'
import { defaultErrors } from './default-rules.ts'
import { goSchema } from './go-values.ts'
import { openapiErrors } from './openapi-rules.ts'
import { isSet, structuralErrors, unsupportedPart } from './structural-rules.ts'

/** Members of a root schema whose status can be validated by itself, as Go calls them. */
const ALLOWED_AT_ROOT = [
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems',
  'UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations',
].join(' ')
const allowedAtRoot = new Set(ALLOWED_AT_ROOT.split(' '))

/** `field`: where `schema` is. `withStatus`: there is a status subresource. */
export function schemaErrors(schema: Schema, field: string, withStatus: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (withStatus) errors.push(...rootErrors(schema, field))
  if (schema.nullable === true) errors.push(forbidden(`${field}.nullable`, 'nullable cannot be true at the root'))
  const unsupported = unsupportedPart(schema)
  if (unsupported === undefined) {
    const structural = structuralErrors(schema, field)
    errors.push(...(structural.length > 0 ? structural : defaultErrors(schema, field)))
  }
  errors.push(...openapiErrors(schema, field))
  if (errors.length === 0 && unsupported !== undefined) errors.push(invalid(field, '', unsupported))
  return errors
}

function rootErrors(schema: Schema, field: string): FieldError[] {
  for (const [name, value] of Object.entries(goSchema(schema) ?? {})) {
    if (!isSet(value)) continue
    if (name === 'Type' && value !== 'object') {
      const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [invalid(`${field}.type`, value, detail)]
    }
    if (allowedAtRoot.has(name)) continue
    const detail = `only [${ALLOWED_AT_ROOT}] fields are allowed at the root of the schema if the status subresource is enabled`
    return [invalid(field, goSchema(schema), detail)]
  }
  return []
}
