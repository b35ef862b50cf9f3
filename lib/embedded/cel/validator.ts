/**
 * Runs the rules of a schema over an object, with the budget, the messages and the treatment of old values of the server.
 */
import type { FieldError } from '../field-error.ts'
import { duplicate, forbidden, invalid, required, show } from '../field-error.ts'
import { isObject, type JsonObject } from '../json.ts'
import type { CelRule, Schema } from '../types.ts'
import { Correlation, sameItem } from './correlation.ts'
import { escapeName } from './escape.ts'
import { ABSENT, LIMIT_MESSAGE, type Program } from './frame.ts'
import { hasRules } from './has-rules.ts'
import { trim } from './library/text.ts'
import { type CompiledRule, compileRules } from './rule.ts'
import { type SchemaType, schemaType, valueSchema } from './schema-type.ts'
import { type Convert, converter } from './schema-value.ts'
import { CelError, NONE, OptionalValue, type Value } from './values.ts'

const CALL_LIMIT = 1_000_000
const OBJECT_BUDGET = 10_000_000
const MAX_MESSAGE_BYTES = 5 * 1024
const NO_MORE = 'no further validation rules will be run'
/** Of a whole object. */
const NO_FIELD = '<nil>'
const OUT_OF_BUDGET = `validation failed due to running out of cost budget, ${NO_MORE}`

export interface Findings {
  readonly errors: FieldError[]
  /** Of rules that an unchanged part broke before already. */
  readonly warnings: string[]
}

/** Undefined: the schema has no rules. Compiles them; those that cannot be used complain about every object. */
export function createValidator(schema: Schema): ((object: unknown, old: unknown, path?: string) => Findings) | undefined {
  if (!hasRules(schema)) return undefined
  const node = buildNode(schema, schema, true, schemaType(schema, true))
  if (node === undefined) return undefined
  return (object, old, path = '') => {
    const run = new Run()
    try {
      run.visit(node, path, object, old, Correlation.of(schema, object, old))
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error
    }
    return { errors: run.errors, warnings: run.warnings }
  }
}

interface Node {
  readonly schema: Schema
  readonly rules: readonly CompiledRule[]
  readonly convert: Convert
  readonly items: Node | undefined
  readonly values: Node | undefined
  readonly properties: ReadonlyMap<string, Node>
  readonly allOf: readonly Node[]
}

/** `validation` has the rules, `structure` the types: they differ within `allOf`. */
function buildNode(validation: Schema, structure: Schema, root: boolean, type: SchemaType | undefined): Node | undefined {
  const sources = validation['x-kubernetes-validations'] ?? []
  const rules = sources.length === 0 || type === undefined ? [] : compileRules(structure, sources, type)
  const items =
    validation.items && structure.items && buildNode(validation.items, structure.items, isEmbedded(structure.items), type?.element)
  const [validationValues, values] = [valueSchema(validation), valueSchema(structure)]
  const valuesNode = validationValues && values && buildNode(validationValues, values, isEmbedded(values), type?.element)
  const properties = buildProperties(validation, structure, type)
  const allOf = (validation.allOf ?? []).flatMap((each) => buildNode(each, structure, root, type) ?? [])
  if (rules.length === 0 && items === undefined && valuesNode === undefined && properties.size === 0 && allOf.length === 0) return undefined
  return { schema: structure, rules, convert: converter(structure, root), items, values: valuesNode, properties, allOf }
}

const isEmbedded = (schema: Schema) => schema['x-kubernetes-embedded-resource'] === true

function buildProperties(validation: Schema, structure: Schema, type: SchemaType | undefined): Map<string, Node> {
  const nodes = new Map<string, Node>()
  for (const [name, property] of Object.entries(validation.properties ?? {})) {
    const own = structure.properties && Object.hasOwn(structure.properties, name) ? structure.properties[name] : undefined
    if (own === undefined) continue
    const escaped = escapeName(name)
    const fieldType = escaped === undefined ? schemaType(own, isEmbedded(own)) : type?.fields?.get(escaped)
    const node = fieldType && buildNode(property, own, isEmbedded(own), fieldType)
    if (node !== undefined) nodes.set(name, node)
  }
  return nodes
}

/** Ends the run; its error is already recorded. */
class Exhausted extends Error {}

class Run {
  readonly errors: FieldError[] = []
  readonly warnings: string[] = []
  #budget = OBJECT_BUDGET

  visit(node: Node, path: string, data: unknown, old: unknown, correlation: Correlation): void {
    if (data === null || data === undefined) return
    if (node.rules.length > 0) this.#rules(node, path, data, old, correlation)
    for (const each of node.allOf) this.visit(each, path, data, old, correlation.parentOnly())
    if (Array.isArray(data)) this.#items(node, path, data, old, correlation)
    else if (isObject(data)) this.#members(node, path, data, isObject(old) ? old : undefined, correlation)
  }

  #items(node: Node, path: string, data: readonly unknown[], old: unknown, correlation: Correlation): void {
    if (node.items === undefined) return
    for (let i = 0; i < data.length; i++) {
      this.visit(node.items, `${path}[${i}]`, data[i], sameItem(node.schema, old, data[i]), correlation.index(i))
    }
  }

  #members(node: Node, path: string, data: JsonObject, old: JsonObject | undefined, correlation: Correlation): void {
    if (node.values === undefined && node.properties.size === 0) return
    for (const key of Object.keys(data).sort()) {
      const oldValue = old !== undefined && Object.hasOwn(old, key) ? old[key] : undefined
      const inner = correlation.key(key)
      if (node.values !== undefined) this.visit(node.values, `${path}[${key}]`, data[key], oldValue, inner)
      const property = node.properties.get(key)
      if (property !== undefined) this.visit(property, path === '' ? key : `${path}.${key}`, data[key], oldValue, inner)
    }
  }

  #rules(node: Node, path: string, data: unknown, old: unknown, correlation: Correlation): void {
    const { type } = node.schema
    const hasOld = old !== null && old !== undefined
    const self = node.convert(data)
    const oldSelf = hasOld ? node.convert(old) : undefined
    for (const rule of node.rules) {
      if (this.#budget <= 0) this.#exhaust(path, type, OUT_OF_BUDGET)
      if (rule.error !== undefined) {
        this.errors.push(invalid(path || NO_FIELD, type, `rule compile error: ${rule.error}`))
        continue
      }
      if (rule.program === undefined) continue
      const optional = rule.source.optionalOldSelf === true
      if (rule.usesOldSelf && !hasOld && !optional) continue
      const oldValue = optional ? (oldSelf === undefined ? NONE : new OptionalValue(oldSelf)) : (oldSelf ?? ABSENT)
      const variables = (name: string) => (name === 'self' ? self : oldValue)
      if (this.#holds(rule, variables, path, type)) continue
      this.#broken(rule, variables, node, path, data, correlation)
    }
  }

  #run(program: Program, variables: (name: string) => Value | typeof ABSENT): { value: Value; affordable: boolean } {
    const { value, cost } = program.run(variables, CALL_LIMIT)
    if (cost > this.#budget) return { value, affordable: false }
    this.#budget -= cost
    return { value, affordable: true }
  }

  /** False: it is broken. An error is recorded here. */
  #holds(rule: CompiledRule, variables: (name: string) => Value | typeof ABSENT, path: string, type: unknown): boolean {
    const { value, affordable } = this.#run(rule.program as Program, variables)
    if (!affordable) this.#exhaust(path, type, OUT_OF_BUDGET)
    if (!(value instanceof CelError)) return value === true
    const text = ruleText(rule.source)
    const { message } = value
    if (message === LIMIT_MESSAGE) {
      this.#exhaust(path, type, `'${message}': ${NO_MORE} due to call cost exceeds limit for rule: ${text}`)
    }
    const detail = message.startsWith('no such overload')
      ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`
      : `${message} evaluating rule: ${text}`
    this.errors.push(invalid(path || NO_FIELD, type, detail))
    return true
  }

  #exhaust(path: string, type: unknown, detail: string): never {
    this.errors.push(invalid(path || NO_FIELD, type, detail))
    throw new Exhausted()
  }

  #broken(
    rule: CompiledRule,
    variables: (name: string) => Value | typeof ABSENT,
    node: Node,
    path: string,
    data: unknown,
    correlation: Correlation,
  ): void {
    const field = [path, rule.fieldPath].filter((part) => part !== '').join('.') || NO_FIELD
    const record = (error: FieldError) => {
      if (!rule.usesOldSelf && correlation.isUnchanged()) this.warnings.push(`${error.field}: ${error.message}`)
      else this.errors.push(error)
    }
    const detail = this.#message(rule, variables, (text) => {
      record(invalid(field, node.schema.type, text))
      throw new Exhausted()
    })
    const { type } = node.schema
    record(reasonError(field, type === 'object' || type === 'array' ? undefined : data, detail, rule.source.reason))
  }

  /** What the message expression says, where it says something usable; else the message, else the rule. */
  #message(rule: CompiledRule, variables: (name: string) => Value | typeof ABSENT, stop: (text: string) => never): string {
    const { source, message } = rule
    if (message !== undefined) {
      const { value, affordable } = this.#run(message, variables)
      if (!affordable) stop(`messageExpression evaluation failed due to running out of cost budget, ${NO_MORE}`)
      if (value instanceof CelError && value.message === LIMIT_MESSAGE) {
        stop(`${NO_MORE} due to call cost exceeds limit for messageExpression: ${JSON.stringify(source.messageExpression)}`)
      }
      const text = typeof value === 'string' ? trim(value) : ''
      if (text !== '' && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES && !text.includes('\n')) return text
    }
    return source.message ? trim(source.message) : `failed rule: ${ruleText(source)}`
  }
}

const ruleText = (rule: CelRule) => trim(rule.message ? rule.message : rule.rule)

/** `value` undefined: objects and lists are not shown. */
function reasonError(field: string, value: unknown, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail)
    case 'FieldValueRequired':
      return required(field, detail)
    case 'FieldValueDuplicate':
      return value === undefined ? { type: 'Duplicate', field, message: 'Duplicate value' } : duplicate(field, value)
    default:
      return {
        type: 'Invalid',
        field,
        message: value === undefined ? `Invalid value: ${detail}` : `Invalid value: ${show(value)}: ${detail}`,
      }
  }
}
