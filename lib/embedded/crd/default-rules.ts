/** Defaults of a definition's schema are themselves valid, and have nothing that pruning would take (`ValidateDefaults`). */
import { type FieldError, invalid } from '../field-error.ts'
import { cloneJson, equalJson, isObject } from '../json.ts'
import { validateEmbedded } from '../schema/embedded.ts'
import { pruneUnknown } from '../schema/prune.ts'
import { validate } from '../schema/validate.ts'
import type { Schema } from '../types.ts'
import { lazyRules } from './rules.ts'

export function defaultErrors(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = []
  checkNode(schema, field, false, true, errors)
  return errors
}

const META = new Set(['metadata', 'apiVersion', 'kind'])

function checkNode(schema: Schema, path: string, inMetadata: boolean, root: boolean, errors: FieldError[]): void {
  const embedded = root || schema['x-kubernetes-embedded-resource'] === true
  const within = embedded ? false : inMetadata
  const value = schema.default ?? undefined
  if (value !== undefined) errors.push(...valueErrors(schema, value, `${path}.default`, within))
  const { items, properties = {}, additionalProperties: additional } = schema
  if (items !== undefined) checkNode(items, `${path}.items`, within, false, errors)
  for (const [name, property] of Object.entries(properties)) {
    checkNode(property, `${path}.properties[${name}]`, within || (embedded && META.has(name)), false, errors)
  }
  if (typeof additional === 'object') checkNode(additional, `${path}.additionalProperties`, within, false, errors)
}

function valueErrors(schema: Schema, value: unknown, path: string, inMetadata: boolean): FieldError[] {
  const errors: FieldError[] = []
  if (!inMetadata) {
    const pruned = cloneJson(value)
    pruneUnknown(pruned, schema)
    if (!equalJson(pruned, value)) errors.push(invalid(path, value, 'must not have unknown fields'))
    const nested = isObject(value) ? validateEmbedded(value, schema).map((each) => ({ ...each, field: `${path}.${each.field}` })) : []
    if (nested.length > 0) return [...errors, ...nested]
  }
  const faults = validate(value, schema, path)
  // Transition rules see the default as old and new value; the others once more as if it were new.
  if (faults.length > 0) return [...errors, ...faults]
  const rules = lazyRules(schema)
  const broken = rules.validate(value, value, path).errors
  return [...errors, ...(broken.length > 0 ? broken : rules.validate(value, undefined, path).errors)]
}
