/**
 * What the server says of the rules of a CustomResourceDefinition: their form, whether they compile, and whether they could
 * cost too much.
 */
import { type FieldError, forbidden, invalid, notSupported, required } from '../field-error.ts'
import type { CelRule, Schema } from '../types.ts'
import { escapeName } from './escape.ts'
import { normalizeFieldPath } from './field-path.ts'
import { trim } from './library/text.ts'
import { product } from './ranges.ts'
import { type CompiledRule, compileRules } from './rule.ts'
import { type SchemaType, schemaType, valueSchema } from './schema-type.ts'

const RULE_LIMIT = 10_000_000
const DEFINITION_LIMIT = 100_000_000
const MAX_REQUEST = 3 * 1024 * 1024
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const ADVICE = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'

export interface DefinitionOptions {
  /** Of the schema: `spec.validation.openAPIV3Schema`. */
  readonly path: string
  /** Of an update of a definition that was too expensive already. */
  readonly suppressRuleCost?: boolean
}

/** Errors about rules, in the order of the server: form first; only where that is right, what compiling and estimating shows. */
export function validateRules(schema: Schema, options: DefinitionOptions): FieldError[] {
  const visitor = new Visitor(options)
  const { form, rules } = visitor.visit(schema, {
    path: options.path,
    type: () => schemaType(schema, true),
    cardinality: 1,
    uncorrelatable: undefined,
  })
  const errors = [...form, ...rules]
  if (visitor.total <= DEFINITION_LIMIT) return errors
  for (const { path } of visitor.expensive) {
    errors.push(forbidden(path, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'))
  }
  const text = excess('x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema', visitor.total, DEFINITION_LIMIT)
  errors.push(forbidden(options.path, text))
  return errors
}

interface Place {
  readonly path: string
  readonly type: () => SchemaType | undefined
  /** How often the schema's values can occur in one object; undefined: nobody knows. */
  readonly cardinality: number | undefined
  /** The nearest list or map above whose elements have no old value. */
  readonly uncorrelatable: string | undefined
}

interface Errors {
  readonly form: FieldError[]
  readonly rules: FieldError[]
}

class Visitor {
  total = 0
  /** The most expensive rules, at most four. */
  expensive: { readonly path: string; readonly cost: number }[] = []
  readonly #options: DefinitionOptions

  constructor(options: DefinitionOptions) {
    this.#options = options
  }

  visit(schema: Schema, place: Place): Errors {
    const errors: Errors = { form: [], rules: [] }
    const descend = (child: Schema, childPlace: Place) => {
      const below = this.visit(child, childPlace)
      errors.form.push(...below.form)
      errors.rules.push(...below.rules)
    }
    const values = valueSchema(schema)
    if (values !== undefined)
      descend(
        values,
        this.#child(schema, place, `${place.path}.additionalProperties`, (type) => type.element, values),
      )
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const field = (type: SchemaType) => type.fields?.get(escapeName(name) ?? '')
      descend(property, this.#child(schema, place, `${place.path}.properties[${name}]`, field, property))
    }
    for (const [word, schemas] of nested(schema)) {
      schemas.forEach((each, i) => {
        const path = word === 'not' ? `${place.path}.not` : `${place.path}.${word}[${i}]`
        errors.form.push(...formErrors(each, path))
      })
    }
    if (schema.items !== undefined) {
      const child = this.#child(schema, place, `${place.path}.items`, (type) => type.element, schema.items)
      const correlatable = schema['x-kubernetes-list-type'] === 'map'
      descend(schema.items, correlatable ? child : { ...child, uncorrelatable: place.path })
    }
    const rules = schema['x-kubernetes-validations'] ?? []
    errors.form.push(...rules.flatMap((rule, i) => ruleForm(rule, schema, `${place.path}.x-kubernetes-validations[${i}]`)))
    if (rules.length > 0 && errors.form.length === 0) errors.rules.push(...this.#rules(schema, rules, place))
    return errors
  }

  #child(schema: Schema, place: Place, path: string, pick: (type: SchemaType) => SchemaType | undefined, child: Schema): Place {
    let type: SchemaType | undefined
    const most = mostElements(schema)
    return {
      path,
      type: () => {
        const parent = place.type()
        type ??= (parent && pick(parent)) ?? schemaType(child, child['x-kubernetes-embedded-resource'] === true)
        return type
      },
      cardinality: place.cardinality === undefined || most === undefined ? undefined : product(place.cardinality, most),
      uncorrelatable: place.uncorrelatable,
    }
  }

  #rules(schema: Schema, rules: readonly CelRule[], place: Place): FieldError[] {
    const type = place.type()
    if (type === undefined) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
      return [{ type: 'Internal', field: `${place.path}.x-kubernetes-validations`, message: `Internal error: ${detail}` }]
    }
    const cardinality = place.cardinality ?? Math.floor(MAX_REQUEST / (type.minSize + 1))
    return compileRules(schema, rules, type).flatMap((rule, i) =>
      this.#rule(rule, `${place.path}.x-kubernetes-validations[${i}]`, product(rule.cost, cardinality), place),
    )
  }

  #rule(rule: CompiledRule, path: string, cost: number, { uncorrelatable }: Place): FieldError[] {
    const errors: FieldError[] = []
    const { source } = rule
    if (this.#tooExpensive(cost)) errors.push(forbidden(`${path}.rule`, excess('estimated rule cost', cost, RULE_LIMIT)))
    this.#observe(`${path}.rule`, cost)
    if (rule.error !== undefined) errors.push(invalid(`${path}.rule`, goRule(source), rule.error))
    if (rule.messageError !== undefined) errors.push(invalid(`${path}.messageExpression`, goRule(source), rule.messageError))
    else if (rule.message !== undefined) {
      if (this.#tooExpensive(rule.messageCost)) {
        errors.push(forbidden(`${path}.messageExpression`, excess('estimated messageExpression cost', rule.messageCost, RULE_LIMIT)))
      }
      this.#observe(`${path}.messageExpression`, rule.messageCost)
    }
    if (rule.usesOldSelf) {
      if (uncorrelatable !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
        errors.push(invalid(`${path}.rule`, source.rule, detail))
      }
    } else if (source.optionalOldSelf !== undefined) {
      errors.push(invalid(`${path}.optionalOldSelf`, source.optionalOldSelf, 'may not be set if oldSelf is not used in rule'))
    }
    return errors
  }

  #tooExpensive(cost: number): boolean {
    return cost > RULE_LIMIT && !this.#options.suppressRuleCost
  }

  #observe(path: string, cost: number): void {
    this.total += cost
    if (cost < DEFINITION_LIMIT / 100) return
    this.expensive.push({ path, cost })
    this.expensive.sort((a, b) => b.cost - a.cost)
    this.expensive.length = Math.min(this.expensive.length, 4)
  }
}

function nested(schema: Schema): [string, readonly Schema[]][] {
  const { not, allOf = [], oneOf = [], anyOf = [] } = schema
  return [
    ['not', not === undefined ? [] : [not]],
    ['allOf', allOf],
    ['oneOf', oneOf],
    ['anyOf', anyOf],
  ]
}

/** Rules within `allOf` and its like: only their form is looked at. */
function formErrors(schema: Schema, path: string): FieldError[] {
  const values = valueSchema(schema)
  return [
    ...(values === undefined ? [] : formErrors(values, `${path}.additionalProperties`)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => formErrors(property, `${path}.properties[${name}]`)),
    ...nested(schema).flatMap(([word, schemas]) =>
      schemas.flatMap((each, i) => formErrors(each, word === 'not' ? `${path}.not` : `${path}.${word}[${i}]`)),
    ),
    ...(schema.items === undefined ? [] : formErrors(schema.items, `${path}.items`)),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) => ruleForm(rule, schema, `${path}.x-kubernetes-validations[${i}]`)),
  ]
}

const hasNewlines = (text: string) => /[\n\r]/.test(text)

function ruleForm(rule: CelRule, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = []
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const text = trim(rule.rule ?? '')
  const trimmed = trim(message)
  if (text === '') errors.push(required(`${path}.rule`, 'rule is not specified'))
  else if (message !== '' && trimmed === '') errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'))
  else if (hasNewlines(trimmed)) errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'))
  else if (hasNewlines(text) && trimmed === '') {
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && trim(messageExpression) === '') {
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  }
  if (reason !== undefined && !REASONS.includes(reason)) errors.push(notSupported(`${path}.reason`, reason, REASONS))
  if (fieldPath === '') return errors
  if (trim(fieldPath) === '') errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  if (hasNewlines(fieldPath)) errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'))
  if (normalizeFieldPath(fieldPath, schema) === undefined) errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  return errors
}

/** How many values of its members one value of a schema can have. */
function mostElements(schema: Schema): number | undefined {
  switch (schema.type) {
    case 'object':
      return schema.additionalProperties === undefined
        ? 1
        : schema.maxProperties === undefined
          ? undefined
          : Math.max(0, schema.maxProperties)
    case 'array':
      return schema.maxItems === undefined ? undefined : Math.max(0, schema.maxItems)
    default:
      return 1
  }
}

function excess(what: string, cost: number, limit: number): string {
  const times = cost / limit
  const shown = times > 100 ? 'more than 100x' : times < 1.5 ? `${times.toFixed(6)}x` : `${times.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${shown} (${ADVICE})`
}

/** The rule as Go shows the struct. */
function goRule(rule: CelRule): object {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }
}
