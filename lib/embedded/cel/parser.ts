/**
 * Text to a tree. A recursive descent over the grammar of CEL, which words its complaints as the ANTLR parser of cel-go does
 * for the mistakes people make.
 */
import type { Call, MapEntry, Node } from './ast.ts'
import { type Token, tokenize } from './lexer.ts'
import { expandMacro, MacroError } from './macros.ts'
import type { Issue } from './source.ts'
import { unescapeBytes, unescapeString } from './unescape.ts'
import { INT_MAX, INT_MIN, UINT_MAX, Uint, type Value } from './values.ts'

const MAX_CODE_POINTS = 100_000
const MAX_DEPTH = 250
const MAX_RECOVERIES = 30

const RESERVED = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
)
const RELATIONS = new Set(['<', '<=', '>=', '>', '==', '!=', 'in'])
const PRIMARY = "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
const EXPRESSION = `{${PRIMARY}}`
const EXPRESSION_OR_CLOSE = `{${PRIMARY.replace("'(',", "'(', ')',")}}`
const EXPRESSION_OR_OPTIONAL = `{${PRIMARY.replace("'!',", "'!', '?',")}}`
const ELEMENT = `{${PRIMARY.replace("'{',", "']', '{',").replace("'.',", "'.', ',',").replace("'!',", "'!', '?',")}}`
const ENTRY = `{${PRIMARY.replace("'(',", "'}', '(',").replace("'.',", "'.', ',',").replace("'!',", "'!', '?',")}}`
/** After a mistake the parse goes on with one of these, or with what closes something that is open. */
const CONTINUES = new Set(['.', '[', '*', '/', '%', '+', '-', '<', '<=', '>=', '>', '==', '!=', 'in', '&&', '||', '?'])
const STARTS_PRIMARY = new Set(['[', '{', '(', '.', '-', '!', 'true', 'false', 'null'])

/** Ends the parse; its issue is already recorded. */
class Abort extends Error {}

type Rule = 'expression' | 'relation' | 'calculation' | 'member'

export function parse(text: string): { node: Node | undefined; issues: Issue[] } {
  const size = text.length > MAX_CODE_POINTS ? [...text].length : 0
  if (size > MAX_CODE_POINTS) {
    return {
      node: undefined,
      issues: [{ at: -1, message: `expression code point size exceeds limit: size: ${size}, limit ${MAX_CODE_POINTS}` }],
    }
  }
  const parser = new Parser(text)
  const node = parser.parse()
  return { node: parser.issues.length === 0 ? node : undefined, issues: parser.issues }
}

class Parser {
  readonly issues: Issue[]
  readonly #text: string
  readonly #tokens: readonly Token[]
  #index = 0
  readonly #depths: Record<Rule, number> = { expression: 0, relation: 0, calculation: 0, member: 0 }
  /** Symbols that end what is open, innermost last. */
  readonly #closers: string[] = []
  /** After a mistake, until a token fits: others are not complained about. */
  #recovering = false
  #recoveries = 0
  #recoveredAt = -1

  constructor(text: string) {
    this.#text = text
    const { tokens, issues } = tokenize(text)
    this.#tokens = tokens
    this.issues = issues
  }

  parse(): Node | undefined {
    try {
      const node = this.#expression(EXPRESSION)
      if (this.#token.kind !== 'EOF') {
        const word = this.#peek(1).kind === 'EOF' ? 'extraneous' : 'mismatched'
        this.#syntax(this.#token, `${word} input '${this.#token.text}' expecting <EOF>`)
      }
      return node
    } catch (error) {
      if (error instanceof Abort) return undefined
      throw error
    }
  }

  get #token(): Token {
    return this.#peek(0)
  }

  #peek(ahead: number): Token {
    return this.#tokens[Math.min(this.#index + ahead, this.#tokens.length - 1)] as Token
  }

  #next(): Token {
    const token = this.#token
    this.#index++
    this.#recovering = false
    return token
  }

  /** Skips to where the parse may go on. */
  #recover(): void {
    if (++this.#recoveries > MAX_RECOVERIES) {
      this.issues.push({ at: this.#token.at, message: `Syntax error: error recovery attempt limit exceeded: ${MAX_RECOVERIES}` })
      throw new Abort()
    }
    this.#recovering = true
    // Twice at one place: that token leads nowhere.
    if (this.#recoveredAt === this.#index && this.#token.kind !== 'EOF') this.#index++
    this.#recoveredAt = this.#index
    while (this.#token.kind !== 'EOF' && !this.#continues(this.#token)) this.#index++
  }

  #continues(token: Token): boolean {
    return token.kind === 'SYMBOL' && (CONTINUES.has(token.text) || this.#closers.includes(token.text))
  }

  /** What `parse` reads, up to symbols that end it. */
  #within<T>(closers: readonly string[], parse: () => T): T {
    const { length } = this.#closers
    this.#closers.push(...closers)
    const result = parse()
    this.#closers.length = length
    return result
  }

  #is(symbol: string): boolean {
    return this.#token.kind === 'SYMBOL' && this.#token.text === symbol
  }

  #take(symbol: string): Token | undefined {
    return this.#is(symbol) ? this.#next() : undefined
  }

  /** The symbol, or one word too many before it, or the complaint that it is missing. */
  #expect(symbol: string, expected = `'${symbol}'`): void {
    if (this.#take(symbol) !== undefined) return
    const following = this.#peek(1)
    const token = this.#token
    if (following.kind === 'SYMBOL' && following.text === symbol) {
      this.#syntax(token, `extraneous input '${token.text}' expecting ${expected}`)
      this.#index++
      this.#next()
      return
    }
    const missing = symbol === ':' ? startsExpression(token) : symbol !== '}' && expected === `'${symbol}'` && token.kind === 'EOF'
    this.#syntax(token, missing ? `missing '${symbol}' at '${token.text}'` : `mismatched input '${token.text}' expecting ${expected}`)
    if (missing) this.#recovering = true
    else this.#recover()
  }

  #syntax(token: Token, message: string): void {
    if (!this.#recovering) this.issues.push({ at: token.at, message: `Syntax error: ${message}` })
  }

  #report(at: number, message: string): Node {
    this.issues.push({ at, message })
    return { kind: 'literal', at, value: null }
  }

  #deeper(rule: Rule): void {
    if (++this.#depths[rule] <= MAX_DEPTH) return
    this.issues.push({ at: -1, message: `expression recursion limit exceeded: ${MAX_DEPTH}` })
    throw new Abort()
  }

  #expression(expected: string): Node {
    this.#deeper('expression')
    const condition = this.#logical('||', expected)
    let node = condition
    const question = this.#take('?')
    if (question !== undefined) {
      const yes = this.#within([':'], () => this.#logical('||', EXPRESSION))
      this.#expect(':')
      const no = this.#expression(EXPRESSION)
      node = call(question.at, '_?_:_', [condition, yes, no])
    }
    this.#depths.expression--
    return node
  }

  /** A balanced tree: a long chain of terms is no deep nesting. */
  #logical(operator: '||' | '&&', expected: string): Node {
    const operand = (allowed: string) => (operator === '||' ? this.#logical('&&', allowed) : this.#relation(allowed))
    const terms = [operand(expected)]
    const operators: Token[] = []
    for (let token = this.#take(operator); token !== undefined; token = this.#take(operator)) {
      operators.push(token)
      terms.push(operand(EXPRESSION))
    }
    const balance = (low: number, high: number): Node => {
      if (low > high) return terms[low] as Node
      const middle = (low + high + 1) >> 1
      return call((operators[middle] as Token).at, `_${operator}_`, [balance(low, middle - 1), balance(middle + 1, high)])
    }
    return balance(0, operators.length - 1)
  }

  #relation(expected: string): Node {
    let left = this.#sum(expected)
    const depth = this.#depths.relation
    while (this.#token.kind === 'SYMBOL' && RELATIONS.has(this.#token.text)) {
      this.#deeper('relation')
      const token = this.#next()
      const name = token.text === 'in' ? '@in' : `_${token.text}_`
      left = call(token.at, name, [left, this.#sum(EXPRESSION)])
    }
    this.#depths.relation = depth
    return left
  }

  #sum(expected: string): Node {
    let left = this.#product(expected)
    const depth = this.#depths.calculation
    while (this.#is('+') || this.#is('-')) {
      this.#deeper('calculation')
      const token = this.#next()
      left = call(token.at, `_${token.text}_`, [left, this.#product(EXPRESSION)])
    }
    this.#depths.calculation = depth
    return left
  }

  #product(expected: string): Node {
    let left = this.#unary(expected)
    const depth = this.#depths.calculation
    while (this.#is('*') || this.#is('/') || this.#is('%')) {
      this.#deeper('calculation')
      const token = this.#next()
      left = call(token.at, `_${token.text}_`, [left, this.#unary(EXPRESSION)])
    }
    this.#depths.calculation = depth
    return left
  }

  #unary(expected: string): Node {
    for (const operator of ['!', '-']) {
      if (!this.#is(operator)) continue
      const start = this.#index
      const first = this.#token
      let count = 0
      while (this.#take(operator) !== undefined) count++
      if (operator === '-' && (this.#token.kind === 'NUM_INT' || this.#token.kind === 'NUM_FLOAT') && count === 1) {
        this.#index = start
        break
      }
      if (operator === '-' && !startsExpression(this.#token)) this.#syntax(this.#token, "no viable alternative at input '-'")
      if (operator === '!' && this.#token.kind === 'EOF') {
        this.#syntax(this.#token, `extraneous input '<EOF>' expecting ${EXPRESSION}`)
        this.#recovering = true
      }
      const operand = this.#member(EXPRESSION)
      return count % 2 === 0 ? operand : call(first.at, operator === '!' ? '!_' : '-_', [operand])
    }
    return this.#member(expected)
  }

  #member(expected: string): Node {
    let node = this.#primary(expected)
    const depth = this.#depths.member
    for (;;) {
      if (this.#is('.')) node = this.#select(node)
      else if (this.#is('[')) node = this.#index_(node)
      else break
      this.#deeper('member')
    }
    this.#depths.member = depth
    return node
  }

  #select(operand: Node): Node {
    const dot = this.#next()
    const optional = this.#take('?')
    const token = this.#token
    if (token.kind !== 'IDENTIFIER' && token.kind !== 'ESC_IDENTIFIER') {
      if (token.kind === 'SYMBOL' && ['true', 'false', 'null'].includes(token.text)) {
        this.#syntax(token, `mismatched input '${token.text}' expecting IDENTIFIER`)
      } else {
        const end = token.kind === 'EOF' ? this.#text.length : token.at + token.text.length
        this.#syntax(token, `no viable alternative at input '${this.#text.slice(dot.at, end)}'`)
      }
      this.#recover()
      return operand
    }
    this.#next()
    if (token.kind === 'ESC_IDENTIFIER') this.#report(token.at, "unsupported syntax: '`'")
    const name = token.text
    if (optional !== undefined) return call(dot.at, '_?._', [operand, { kind: 'literal', at: token.at, value: name }])
    const open = token.kind === 'IDENTIFIER' ? this.#take('(') : undefined
    if (open !== undefined) return this.#call(open.at, name, operand, this.#arguments())
    return { kind: 'select', at: dot.at, operand, field: name, test: false }
  }

  #index_(operand: Node): Node {
    const open = this.#next()
    const optional = this.#take('?')
    const index = this.#within([']'], () => this.#expression(optional === undefined ? EXPRESSION_OR_OPTIONAL : EXPRESSION))
    this.#expect(']')
    return call(open.at, optional === undefined ? '_[_]' : '_[?_]', [operand, index])
  }

  #arguments(): Node[] {
    const args: Node[] = []
    if (this.#take(')') !== undefined) return args
    if (this.#is(',') && this.#peek(1).text === ')') {
      this.#syntax(this.#token, `extraneous input ',' expecting ${EXPRESSION_OR_CLOSE}`)
      this.#index++
      this.#next()
      return args
    }
    this.#within([')', ','], () => {
      args.push(this.#expression(EXPRESSION_OR_CLOSE))
      while (this.#take(',') !== undefined) args.push(this.#expression(EXPRESSION))
    })
    this.#expect(')')
    return args
  }

  #call(at: number, name: string, target: Node | undefined, args: Node[]): Node {
    try {
      return expandMacro(at, name, target, args) ?? call(at, name, args, target)
    } catch (error) {
      if (error instanceof MacroError) return this.#report(error.at, error.message)
      throw error
    }
  }

  #primary(expected: string): Node {
    const token = this.#token
    switch (token.kind) {
      case 'IDENTIFIER':
        return this.#name(token)
      case 'NUM_INT':
      case 'NUM_UINT':
      case 'NUM_FLOAT':
      case 'STRING':
      case 'BYTES':
        return this.#literal(this.#next(), token.at, '')
      case 'SYMBOL':
        return this.#symbol(token, expected)
      default:
        return this.#unexpected(token, expected)
    }
  }

  #symbol(token: Token, expected: string): Node {
    switch (token.text) {
      case '(': {
        this.#next()
        const node = this.#within([')'], () => this.#expression(EXPRESSION))
        this.#expect(')')
        return node
      }
      case '[':
        return this.#list()
      case '{':
        return this.#map()
      case '.':
        if (this.#peek(1).kind === 'IDENTIFIER') return this.#name(token)
        return this.#unexpected(token, expected)
      case '-':
        this.#next()
        return this.#literal(this.#next(), token.at, '-')
      case 'true':
      case 'false':
        this.#next()
        return { kind: 'literal', at: token.at, value: token.text === 'true' }
      case 'null':
        this.#next()
        return { kind: 'literal', at: token.at, value: null }
      default:
        return this.#unexpected(token, expected)
    }
  }

  /** One word too many is skipped; after anything else the parse goes on where it can. */
  #unexpected(token: Token, expected: string): Node {
    if (token.kind !== 'EOF' && startsExpression(this.#peek(1))) {
      this.#syntax(token, `extraneous input '${token.text}' expecting ${expected}`)
      this.#index++
      return this.#unary(EXPRESSION)
    }
    this.#syntax(token, `mismatched input '${token.text}' expecting ${expected}`)
    this.#recover()
    return { kind: 'literal', at: token.at, value: null }
  }

  #name(start: Token): Node {
    const prefix = this.#take('.') === undefined ? '' : '.'
    const token = this.#next()
    if (this.#isMessage()) return this.#message(prefix + token.text)
    const at = prefix === '' ? token.at : start.at
    if (RESERVED.has(token.text)) {
      const open = this.#take('(')
      if (open !== undefined) this.#arguments()
      return this.#report(at, `reserved identifier: ${token.text}`)
    }
    const open = this.#take('(')
    if (open !== undefined) return this.#call(open.at, prefix + token.text, undefined, this.#arguments())
    return { kind: 'ident', at: token.at, name: prefix + token.text }
  }

  /** `a.b.C{`: a message is to be made. */
  #isMessage(): boolean {
    let ahead = 0
    while (this.#peek(ahead).text === '.' && this.#peek(ahead + 1).kind === 'IDENTIFIER') ahead += 2
    return this.#peek(ahead).kind === 'SYMBOL' && this.#peek(ahead).text === '{'
  }

  #message(first: string): Node {
    let name = first
    while (this.#take('.') !== undefined) name += `.${this.#next().text}`
    const open = this.#next()
    while (!this.#is('}') && this.#token.kind !== 'EOF') {
      this.#take('?')
      this.#next()
      this.#expect(':')
      this.#expression(EXPRESSION)
      if (this.#take(',') === undefined) break
    }
    this.#expect('}', "{'}', ','}")
    return { kind: 'struct', at: open.at, name }
  }

  #list(): Node {
    const open = this.#next()
    const elements: Node[] = []
    const optional = new Set<number>()
    let expected = ELEMENT
    let closing = "{']', ','}"
    if (this.#take(',') !== undefined) closing = "']'"
    else {
      while (!this.#is(']')) {
        const isOptional = this.#take('?') !== undefined
        if (isOptional) optional.add(elements.length)
        elements.push(this.#within([']', ','], () => this.#expression(isOptional ? EXPRESSION : expected)))
        if (this.#take(',') === undefined) break
        expected = EXPRESSION_OR_OPTIONAL
        if (this.#is(',')) closing = "']'"
        if (this.#is(',')) break
      }
    }
    this.#expect(']', closing)
    return { kind: 'list', at: open.at, elements, optional }
  }

  #map(): Node {
    const open = this.#next()
    const entries: MapEntry[] = []
    let expected = ENTRY
    if (this.#take(',') === undefined) {
      while (!this.#is('}')) {
        const optional = this.#take('?') !== undefined
        const key = this.#within([':', '}', ','], () => this.#expression(optional ? EXPRESSION : expected))
        this.#expect(':')
        entries.push({ key, value: this.#within(['}', ','], () => this.#expression(EXPRESSION)), optional })
        if (this.#take(',') === undefined) break
        expected = EXPRESSION_OR_OPTIONAL
      }
    }
    this.#expect('}', "{'}', ','}")
    return { kind: 'map', at: open.at, entries }
  }

  #literal(token: Token, at: number, sign: '' | '-'): Node {
    try {
      return { kind: 'literal', at, value: literalValue(token, sign) }
    } catch (error) {
      return this.#report(at, (error as Error).message)
    }
  }
}

function startsExpression(token: Token): boolean {
  if (token.kind === 'SYMBOL') return STARTS_PRIMARY.has(token.text)
  return token.kind !== 'EOF' && token.kind !== 'ESC_IDENTIFIER'
}

function literalValue(token: Token, sign: '' | '-'): Value {
  switch (token.kind) {
    case 'NUM_INT': {
      const value = sign === '-' ? -BigInt(token.text) : BigInt(token.text)
      if (value < INT_MIN || value > INT_MAX) throw new Error('invalid int literal')
      return value
    }
    case 'NUM_UINT': {
      const value = BigInt(token.text.slice(0, -1))
      if (value > UINT_MAX) throw new Error('invalid uint literal')
      return new Uint(value)
    }
    case 'NUM_FLOAT': {
      const value = Number(sign + token.text)
      if (!Number.isFinite(value)) throw new Error('invalid double literal')
      return value
    }
    case 'STRING':
      return unescapeString(token.text)
    default:
      return unescapeBytes(token.text.slice(1))
  }
}

function call(at: number, name: string, args: readonly Node[], target?: Node): Call {
  return { kind: 'call', at, name, target, args, overloads: [] }
}
