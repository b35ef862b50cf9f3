/**
 * Validates a value against a structural schema, with the paths, types and texts of
 * `k8s.io/kube-openapi/pkg/validation/validate`, its oddities included.
 */
import type { FieldError } from '../field-error.ts'
import { encodeJson, equalJson, isObject, type JsonObject } from '../json.ts'
import type { Schema } from '../types.ts'
import { isUnchanged, NONE, oldItem, oldMember } from './correlation.ts'
import {
  broken,
  Findings,
  forbiddenProperty,
  general,
  missing,
  toFieldErrors,
  tooLongText,
  tooManyOf,
  unsupported,
  wrongType,
} from './findings.ts'
import { codePoints, isInt64, isJsonInteger, sortMembers } from './go.ts'
import { nodeOf, type SchemaNode } from './node.ts'
import { checkNumber } from './numbers.ts'

/**
 * `field`: where `value` is in the object (`''`: it is the object). `old` of an update: what it was; errors of parts that did
 * not change are forgiven then (ratcheting).
 */
export function validate(value: unknown, schema: Schema, field: string, old?: unknown): FieldError[] {
  const node = nodeOf(schema)
  let findings = new Findings()
  check(node, value, '', findings, NONE)
  if (findings.list.length === 0) return []
  if (old !== undefined) {
    // Looking for old values costs, and only errors need them.
    findings = new Findings()
    check(node, value, '', findings, old)
  }
  return toFieldErrors(findings, field)
}

function check(node: SchemaNode, value: unknown, path: string, out: Findings, old: unknown): void {
  const before = out.list.length
  checkNode(node, value, path, out, old)
  if (out.list.length > before && isUnchanged(value, old, node)) out.list.length = before
}

/** `matches` counts as the library does: one for each kind of check that applies, one for each that has nothing to say against it. */
function checkNode(node: SchemaNode, value: unknown, path: string, out: Findings, old: unknown): void {
  if (value === null) {
    if (node.types.length > 0 && !node.nullable) out.add(wrongType(path, node.types.join(), 'null'))
    else out.matches++
    checkEnum(node, value, path, out)
    return
  }
  if (node.types.length > 0 || node.format !== '') {
    if (checkType(node, value, path, out)) out.matches++
    out.matches++
  }
  if (node.composed) checkCompositions(node, value, path, out, old)
  out.matches++
  // Compositions, enum and the schema itself.
  out.matches += 3
  if (typeof value === 'string') checkString(node, value, path, out)
  else if (typeof value === 'number' || typeof value === 'bigint') {
    checkNumber(node, value, path, out)
    out.matches += 2
  } else if (Array.isArray(value)) {
    checkItems(node, value, path, out, old)
    out.matches += 2
  }
  checkEnum(node, value, path, out)
  if (isObject(value)) {
    checkMembers(node, value, path, out, old)
    out.matches++
  }
}

function jsonType(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value
  if (typeof value === 'number' || typeof value === 'bigint') return isInt64(value) ? 'integer' : 'number'
  return Array.isArray(value) ? 'array' : 'object'
}

function checkType({ types, format }: SchemaNode, value: unknown, path: string, out: Findings): boolean {
  const actual = jsonType(value)
  const fits =
    types.includes(actual) ||
    (actual === 'integer' && types.includes('number')) ||
    (actual === 'number' && types.includes('integer') && isJsonInteger(Number(value)))
  if (fits) return true
  if (format !== '') {
    const textual = actual === 'string' || actual === 'array'
    // A format of strings lets arrays through, too: so does the real server.
    if (textual && !types.includes('number') && !types.includes('integer')) return true
    if (!textual) {
      const own = actual === 'integer' ? 'int64' : actual === 'number' ? 'float64' : ''
      if (own !== format) {
        out.add(wrongType(path, format, own))
        return false
      }
    }
  }
  out.add(wrongType(path, types.join(), actual))
  return false
}

function checkString(node: SchemaNode, value: string, path: string, out: Findings): void {
  const { maxLength, minLength, pattern } = node.schema
  const length = maxLength === undefined && minLength === undefined ? 0 : codePoints(value)
  if (maxLength !== undefined && length > maxLength) out.add(tooLongText(path, maxLength))
  else if (minLength !== undefined && length < minLength) out.add(broken(path, value, `should be at least ${minLength} chars long`))
  else if (node.pattern !== undefined && !node.pattern.test(value)) out.add(broken(path, value, `should match '${pattern}'`))
  out.matches++
  if (node.formatCheck === undefined) return
  if (!node.formatCheck(value)) out.add(wrongType(path, node.format, value))
  out.matches++
}

function checkItems(node: SchemaNode, value: unknown[], path: string, out: Findings, old: unknown): void {
  const { items } = node
  const { minItems, maxItems } = node.schema
  if (items !== undefined) {
    for (const [i, item] of value.entries()) check(items, item, `${path}[${i}]`, out, old === NONE ? NONE : oldItem(old, item, node))
  }
  if (minItems !== undefined && value.length < minItems) {
    out.add(broken(path, value.length, `should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && value.length > maxItems) out.add(tooManyOf(path, 'items', value.length, maxItems))
}

function checkMembers(node: SchemaNode, value: JsonObject, path: string, out: Findings, old: unknown): void {
  const keys = Object.keys(value).filter((key) => value[key] !== undefined)
  const { minProperties, maxProperties } = node.schema
  if (minProperties !== undefined && keys.length < minProperties) {
    out.add(broken(path, keys.length, `should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && keys.length > maxProperties) out.add(tooManyOf(path, 'properties', keys.length, maxProperties))
  for (const key of keys) {
    const property = node.properties.get(key)
    const child = property ?? node.additional
    if (child === undefined) {
      if (node.closed) out.add(forbiddenProperty(path, key))
      continue
    }
    const name = path === '' && property !== undefined ? key : `${path}.${key}`
    // What an object is does not change: no forgiveness there.
    const fixed = path === '' && (key === 'apiVersion' || key === 'kind')
    check(child, value[key], name, out, old === NONE || fixed ? NONE : oldMember(old, key))
  }
  for (const key of node.required) {
    if (!Object.hasOwn(value, key) || value[key] === undefined) out.add(missing(`${path}.${key}`))
  }
}

function checkCompositions(node: SchemaNode, value: unknown, path: string, out: Findings, old: unknown): void {
  const attempt = (schema: SchemaNode) => {
    const result = new Findings()
    checkNode(schema, value, path, result, old)
    return result
  }
  const quoted = JSON.stringify(path)
  if (node.anyOf.length > 0) checkAnyOf(node.anyOf, attempt, quoted, out)
  if (node.oneOf.length > 0) checkOneOf(node.oneOf, attempt, quoted, out)
  if (node.allOf.length > 0) checkAllOf(node.allOf, attempt, quoted, out)
  if (node.not !== undefined && attempt(node.not).list.length === 0) out.add(general(`${quoted} must not validate the schema (not)`))
}

type Attempt = (schema: SchemaNode) => Findings

function checkAnyOf(schemas: readonly SchemaNode[], attempt: Attempt, quoted: string, out: Findings): void {
  let best: Findings | undefined
  for (const schema of schemas) {
    const result = attempt(schema)
    if (result.list.length === 0) {
      out.merge(result)
      return
    }
    if (best === undefined || result.matches > best.matches) best = result
  }
  out.add(general(`${quoted} must validate at least one schema (anyOf)`))
  if (best !== undefined) out.merge(best)
}

function checkOneOf(schemas: readonly SchemaNode[], attempt: Attempt, quoted: string, out: Findings): void {
  let best: Findings | undefined
  let success: Findings | undefined
  let validated = 0
  for (const schema of schemas) {
    const result = attempt(schema)
    if (result.list.length === 0) {
      validated++
      success ??= result
    } else if (best === undefined || result.matches > best.matches) best = result
  }
  if (validated === 1) {
    if (success !== undefined) out.merge(success)
    return
  }
  const found = validated === 0 ? 'Found none valid' : `Found ${validated} valid alternatives`
  out.add(general(`${quoted} must validate one and only one schema (oneOf). ${found}`))
  if (validated === 0 && best !== undefined) out.merge(best)
}

function checkAllOf(schemas: readonly SchemaNode[], attempt: Attempt, quoted: string, out: Findings): void {
  let validated = 0
  for (const schema of schemas) {
    const result = attempt(schema)
    if (result.list.length === 0) validated++
    out.merge(result)
  }
  if (validated === schemas.length) return
  out.add(general(`${quoted} must validate all the schemas (allOf)${validated === 0 ? '. None validated' : ''}`))
}

function checkEnum(node: SchemaNode, value: unknown, path: string, out: Findings): void {
  const values = node.schema.enum
  if (values === undefined || values.length === 0 || values.some((each) => isEnumValue(value, each))) return
  out.add(
    unsupported(
      path,
      sortMembers(value),
      values.map((each) => (typeof each === 'string' ? each : encodeJson(sortMembers(each) as object))),
    ),
  )
}

/** A number is first converted to the type of the allowed one (1.5 counts as 1), and null is nowhere allowed. */
function isEnumValue(value: unknown, allowed: unknown): boolean {
  if (value === null || allowed === null) return false
  if (typeof value === 'string' || typeof value === 'boolean') return value === allowed
  if (isNumber(value)) {
    // To Go, an integer converted to a text is the character with that number.
    if (typeof allowed === 'string')
      return isInt64(value) && value >= 0 && value <= 0x10ffff && allowed === String.fromCodePoint(Number(value))
    if (!isNumber(allowed)) return false
    if (isInt64(allowed) && typeof value === 'number' && Number.isFinite(value)) return BigInt(Math.trunc(value)) === BigInt(allowed)
    return Number(value) === Number(allowed) && String(value) === String(allowed)
  }
  return !isNumber(allowed) && equalJson(value, allowed)
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'
