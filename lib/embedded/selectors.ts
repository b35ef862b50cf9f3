/**
 * Label and field selectors as query strings have them, and label selectors as objects have them. The grammar and the texts
 * are those of `k8s.io/apimachinery/pkg/labels` and `…/fields`.
 */
import { show } from './field-error.ts'
import { labelValue, qualifiedName } from './names.ts'
import { type ApiError, badRequest } from './status.ts'
import type { ApiObject, ResourceType } from './types.ts'

export type Labels = Readonly<Record<string, string>> | undefined
export type LabelMatcher = (labels: Labels) => boolean
export type ObjectMatcher = (object: ApiObject) => boolean

/** `metav1.LabelSelector`. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[]
}

/** @throws ApiError 400 where the text is not a selector */
export function parseLabelSelector(text: string): LabelMatcher {
  const requirements = new Parser(text).parse()
  return (labels) => requirements.every((matches) => matches(labels))
}

/** `undefined` matches nothing, an empty selector everything; an operator that there is not matches nothing. */
export function matchesLabelSelector(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined || selector === null) return false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.keys(matchLabels).every((key) => labelOf(labels, key) === matchLabels[key]) &&
    matchExpressions.every(({ key, operator, values }) => {
      const make = EXPRESSIONS[operator]
      return make?.(key, values ?? [])(labels) ?? false
    })
  )
}

type Maker = (key: string, values: readonly string[]) => LabelMatcher

const isIn: Maker = (key, values) => (labels) => {
  const value = labelOf(labels, key)
  return value !== undefined && values.includes(value)
}
const isNotIn: Maker = (key, values) => (labels) => {
  const value = labelOf(labels, key)
  return value === undefined || !values.includes(value)
}
const exists: Maker = (key) => (labels) => labelOf(labels, key) !== undefined
const doesNotExist: Maker = (key) => (labels) => labelOf(labels, key) === undefined
const compares =
  (holds: (label: bigint, limit: bigint) => boolean): Maker =>
  (key, [limit]) =>
  (labels) => {
    const value = integer(labelOf(labels, key))
    return value !== undefined && holds(value, integer(limit)!)
  }

const EXPRESSIONS: Readonly<Record<string, Maker>> = Object.assign(Object.create(null), {
  In: isIn,
  NotIn: isNotIn,
  Exists: exists,
  DoesNotExist: doesNotExist,
})
const OPERATORS: Readonly<Record<string, Maker>> = Object.assign(Object.create(null), {
  '=': isIn,
  '==': isIn,
  in: isIn,
  '!=': isNotIn,
  notin: isNotIn,
  '>': compares((label, limit) => label > limit),
  '<': compares((label, limit) => label < limit),
})

function labelOf(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
}

/** What `strconv.ParseInt` of 64 bits accepts. */
function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[-+]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}

const SPECIAL = new Set(['=', '!', '(', ')', ',', '>', '<'])
const SYMBOLS = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '('])

interface Token {
  readonly kind: 'end' | 'identifier' | 'keyword' | 'symbol' | 'error'
  readonly text: string
}

class Parser {
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokens(text)
  }

  parse(): LabelMatcher[] {
    const requirements: LabelMatcher[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'end') return requirements
      if (!startsRequirement(token)) throw badRequest(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      requirements.push(this.#requirement())
      const next = this.#take()
      if (next.kind === 'end') return requirements
      if (!is(next, ',')) throw badRequest(`found '${next.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (!startsRequirement(after)) throw badRequest(`found '${after.text}', expected: identifier after ','`)
    }
  }

  #requirement(): LabelMatcher {
    const negated = is(this.#peek(), '!')
    if (negated) this.#take()
    const key = this.#take()
    if (!isName(key)) throw unparsable(`found '${key.text}', expected: identifier`)
    refuse(problem('<nil>', key.text, qualifiedName(key.text)))
    const next = this.#peek()
    // After `!x` whatever follows is the business of the list of requirements.
    if (negated) return doesNotExist(key.text, [])
    if (next.kind === 'end' || is(next, ',')) return exists(key.text, [])
    const operator = this.#take()
    const make = operator.kind === 'symbol' || operator.kind === 'keyword' ? OPERATORS[operator.text] : undefined
    if (make === undefined) throw unparsable(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`)
    const values = operator.kind === 'keyword' ? this.#set() : [this.#value()]
    refuse([...notInteger(operator.text, values), ...values.flatMap((value, i) => notValue(key.text, value, i))])
    return make(key.text, values)
  }

  #value(): string {
    const next = this.#peek()
    if (next.kind === 'end' || is(next, ',')) return ''
    this.#take()
    if (!isName(next)) throw unparsable(`found '${next.text}', expected: identifier`)
    return next.text
  }

  /** `(a,b)`; an empty place is the empty value. Sorted and without duplicates, as the errors count them. */
  #set(): string[] {
    const open = this.#take()
    if (!is(open, '(')) throw unparsable(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (is(first, ')')) {
      this.#take()
      return ['']
    }
    if (!isName(first) && !is(first, ',')) throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`)
    const values = new Set<string>()
    for (;;) {
      const token = this.#take()
      const next = this.#peek()
      if (isName(token)) {
        values.add(token.text)
        if (is(next, ')')) break
        if (!is(next, ',')) throw unparsable(`found '${next.text}', expected: ',' or ')'`)
      } else if (is(token, ',')) {
        if (values.size === 0 || is(next, ')') || is(next, ',')) values.add('')
        if (is(next, ')')) break
      } else throw unparsable(`found '${token.text}', expected: ',', or identifier`)
    }
    this.#take()
    return [...values].sort()
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)]!
  }

  #take(): Token {
    const token = this.#peek()
    this.#at++
    return token
  }
}

const is = (token: Token, text: string) => token.kind === 'symbol' && token.text === text
/** `in` and `notin` are names too, wherever an operator cannot stand. */
const isName = (token: Token) => token.kind === 'identifier' || token.kind === 'keyword'
const startsRequirement = (token: Token) => isName(token) || is(token, '!')
const unparsable = (detail: string) => badRequest(`unable to parse requirement: ${detail}`)

/** What Go's field errors say of a value; the key's has no path, which it shows as nil. */
function problem(field: string, value: string | undefined, texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : [`${field}: Invalid value: ${show(value)}: ${texts.join('; ')}`]
}

const notValue = (key: string, value: string, i: number) => problem(`values[${i}][${key}]`, value, labelValue(value))

function notInteger(operator: string, [value]: readonly string[]): string[] {
  if ((operator !== '>' && operator !== '<') || integer(value) !== undefined) return []
  return problem('values[0]', value, ["for 'Gt', 'Lt' operators, the value must be an integer"])
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw unparsable(problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`)
}

function tokens(text: string): Token[] {
  const found: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at]!
    if (/[ \t\r\n]/.test(char)) at++
    else if (SPECIAL.has(char)) {
      const symbol = longestSymbol(text, at)
      found.push(symbol)
      at += Math.max(1, symbol.text.length)
    } else {
      let end = at
      while (end < text.length && !SPECIAL.has(text[end]!) && !/[ \t\r\n]/.test(text[end]!)) end++
      const word = text.slice(at, end)
      found.push({ kind: word === 'in' || word === 'notin' ? 'keyword' : 'identifier', text: word })
      at = end
    }
  }
  found.push({ kind: 'end', text: '' })
  return found
}

function longestSymbol(text: string, at: number): Token {
  const two = text.slice(at, at + 2)
  return { kind: 'symbol', text: SYMBOLS.has(two) ? two : text[at]! }
}

/**
 * `type` says which fields there are; all have metadata.name and metadata.namespace.
 * @throws ApiError 400 where the text is not a selector, or of a field that cannot be selected by
 */
export function parseFieldSelector(text: string, type: ResourceType): ObjectMatcher {
  const terms = fieldTerms(text).map(({ field, value, negated }): ObjectMatcher => {
    const read = fieldReader(field, type)
    return (object) => (read(object) === value) !== negated
  })
  return (object) => terms.every((matches) => matches(object))
}

/** The name that a field selector asks for, where it asks for exactly one: such a list or watch is that of one object. */
export function selectedName(text: string): string | undefined {
  return fieldTerms(text).find(({ field, negated }) => field === 'metadata.name' && !negated)?.value
}

interface FieldTerm {
  readonly field: string
  readonly value: string
  readonly negated: boolean
}

function fieldTerms(text: string): FieldTerm[] {
  const parts = [...text.matchAll(/(?:\\.|[^\\,]|\\$)+/gsu)].map(([part]) => part)
  // Sorted, as there: it decides which of several errors is told.
  return parts.sort().map((part) => {
    const match = /^(?<field>[^=!]*(?:!(?!=)[^=!]*)*)(?<operator>!=|==?)(?<value>.*)$/su.exec(part)
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`)
    const { field, operator, value } = match.groups as { field: string; operator: string; value: string }
    return { field, negated: operator === '!=', value: unescaped(value) }
  })
}

function unescaped(value: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (found: string, escaped: string | undefined) => {
    if (escaped === undefined) throw badRequest(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`)
    if (escaped === '' || !'\\,='.includes(escaped)) throw badRequest(`invalid field selector: invalid escape sequence: ${found}`)
    return escaped
  })
}

function fieldReader(field: string, type: ResourceType): (object: ApiObject) => string {
  const own = type.strategy.selectableFields
  if (own !== undefined && Object.hasOwn(own, field)) return own[field]!
  if (field === 'metadata.name') return (object) => object.metadata.name ?? ''
  // Built-in kinds that have no namespace answer with nothing; custom ones do not know the field.
  if (field === 'metadata.namespace' && (type.namespaced || !type.custom)) return (object) => object.metadata.namespace ?? ''
  throw type.strategy.unknownFieldSelector?.(field) ?? unknownField(field, type)
}

function unknownField(field: string, type: ResourceType): ApiError {
  return type.custom
    ? badRequest(`field label not supported: ${field}`)
    : badRequest(`${show(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`)
}
