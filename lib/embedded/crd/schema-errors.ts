/** All that can be wrong with the schema of one version. */
import { type FieldError, forbidden, invalid } from '../field-error.ts'
import type { Schema } from '../types.ts'
import { defaultErrors } from './default-rules.ts'
import { goSchema } from './go-values.ts'
import { openapiErrors } from './openapi-rules.ts'
import { celErrors } from './rules.ts'
import { isSet, structuralErrors, unsupportedPart } from './structural-rules.ts'

/** Members of a root schema whose status can be validated by itself, as Go calls them. */
const ALLOWED_AT_ROOT = [
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems',
  'UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations',
].join(' ')
const allowedAtRoot = new Set(ALLOWED_AT_ROOT.split(' '))

export interface Circumstances {
  readonly withStatus: boolean
  /** The definition had this schema before. */
  readonly unchanged: boolean
}

/** `field`: where `schema` is. */
export function schemaErrors(schema: Schema, field: string, { withStatus, unchanged }: Circumstances): FieldError[] {
  const errors: FieldError[] = []
  let structured = false
  if (withStatus) errors.push(...rootErrors(schema, field))
  if (schema.nullable === true) errors.push(forbidden(`${field}.nullable`, 'nullable cannot be true at the root'))
  const unsupported = unsupportedPart(schema)
  if (unsupported === undefined) {
    const structural = structuralErrors(schema, field)
    const found = structural.length > 0 ? structural : defaultErrors(schema, field)
    structured = found.length === 0
    errors.push(...found)
  }
  const openapi = openapiErrors(schema, field)
  errors.push(...openapi)
  if (structured) errors.push(...celErrors(schema, field, unchanged).filter((error) => !isBelow(error, openapi)))
  if (errors.length === 0 && unsupported !== undefined) errors.push(invalid(field, '', unsupported))
  return errors
}

/** Rules of a node that is wrong itself, here or further down, are not compiled. */
function isBelow({ field }: FieldError, others: readonly FieldError[]): boolean {
  const node = field.replace(/\.x-kubernetes-validations.*$/s, '')
  return others.some((other) => other.field.startsWith(node))
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
