/** Defaults of a definition's schema are themselves valid, and have nothing that pruning would take (`ValidateDefaults`). */
import { type FieldError, invalid } from '../field-error.ts'
import { cloneJson, equalJson, isObject, type JsonObject } from '../json.ts'
import { validateEmbedded } from '../schema/embedded.ts'
import { sortMembers } from '../schema/go.ts'
import { pruneUnknown } from '../schema/prune.ts'
import { validate } from '../schema/validate.ts'
import type { Schema } from '../types.ts'
import { lazyRules } from './rules.ts'

/** The server judges defaults by the schema as it is written: an int-or-string has no type there. */
function plain(schema: Schema): Schema {
  const { 'x-kubernetes-int-or-string': _, items, properties, additionalProperties: additional, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: plain(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, plain(each)])) }),
    ...(additional === undefined ? {} : { additionalProperties: typeof additional === 'object' ? plain(additional) : additional }),
  }
}

export function defaultErrors(schema: Schema, field: string): FieldError[] {
  const errors: FieldError[] = []
  checkNode(schema, field, undefined, true, errors)
  return errors
}

/** Within metadata: the whole object around a value there. */
type Around = (value: unknown) => JsonObject

const META = new Set(['metadata', 'apiVersion', 'kind'])

/** Values in maps are not looked at, in the real server too. */
function checkNode(schema: Schema, path: string, around: Around | undefined, root: boolean, errors: FieldError[]): void {
  const embedded = root || schema['x-kubernetes-embedded-resource'] === true
  const within = embedded ? undefined : around
  const value = schema.default ?? undefined
  if (value !== undefined) errors.push(...valueErrors(schema, value, `${path}.default`, within))
  const { items, properties = {} } = schema
  if (items !== undefined) checkNode(items, `${path}.items`, within && ((item) => within([item])), false, errors)
  for (const [name, property] of Object.entries(properties)) {
    const member: Around | undefined = within
      ? (each) => within({ [name]: each })
      : embedded && META.has(name)
        ? (each) => ({ kind: 'Validation', apiVersion: 'validation/v1', [name]: each as JsonObject })
        : undefined
    checkNode(property, `${path}.properties[${name}]`, member, false, errors)
  }
}

const WHOLE: Schema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }

function valueErrors(schema: Schema, value: unknown, path: string, around: Around | undefined): FieldError[] {
  const errors: FieldError[] = []
  if (around !== undefined) {
    const wrong = validateEmbedded(around(value), WHOLE).map(({ field, message }) => `${field}: ${message}`)
    const detail = wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`
    if (wrong.length > 0) return [invalid(path, sortMembers(value), `must result in valid metadata: ${detail}`)]
  } else {
    const pruned = cloneJson(value)
    pruneUnknown(pruned, schema)
    if (!equalJson(pruned, value)) errors.push(invalid(path, sortMembers(value), 'must not have unknown fields'))
    const nested = isObject(value) ? validateEmbedded(value, schema).map((each) => ({ ...each, field: `${path}.${each.field}` })) : []
    if (nested.length > 0) return [...errors, ...nested]
  }
  const faults = validate(value, plain(schema), path)
  // Transition rules see the default as old and new value; the others once more as if it were new.
  if (faults.length > 0) return [...errors, ...faults]
  const rules = lazyRules(schema)
  const broken = rules.validate(value, value, path).errors
  return [...errors, ...(broken.length > 0 ? broken : rules.validate(value, undefined, path).errors)]
}
