/** Text to tokens, with the complaints of an ANTLR lexer where there is no token. */
import type { Issue } from './source.ts'

export type TokenKind =
  | 'IDENTIFIER'
  | 'ESC_IDENTIFIER'
  | 'NUM_INT'
  | 'NUM_UINT'
  | 'NUM_FLOAT'
  | 'STRING'
  | 'BYTES'
  | 'EOF'
  /** Punctuation and the words `in`, `true`, `false`, `null`: the text itself tells. */
  | 'SYMBOL'

export interface Token {
  readonly kind: TokenKind
  /** As written; `<EOF>` at the end. */
  readonly text: string
  readonly at: number
}

const ESCAPE = '\\\\(?:[abfnrtv"\'\\\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])'
const STRING_FORMS = [
  `"""(?:${ESCAPE}|[^\\\\])*?"""`,
  `'''(?:${ESCAPE}|[^\\\\])*?'''`,
  `"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`,
  `'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`,
  '[rR]"""[^]*?"""',
  "[rR]'''[^]*?'''",
  '[rR]"[^"\\n\\r]*"',
  "[rR]'[^'\\n\\r]*'",
].join('|')

const SPACE = /(?:[\t \r\n\f]+|\/\/[^\n]*)/y
const RULES: readonly (readonly [TokenKind, RegExp])[] = [
  ['STRING', new RegExp(`(?:${STRING_FORMS})`, 'y')],
  ['BYTES', new RegExp(`[bB](?:${STRING_FORMS})`, 'y')],
  ['NUM_FLOAT', /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ['NUM_UINT', /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ['NUM_INT', /(?:0x[0-9a-fA-F]+|\d+)/y],
  ['SYMBOL', /(?:==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%])/y],
  ['IDENTIFIER', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['ESC_IDENTIFIER', /`[A-Za-z0-9_.\-/ ]+`/y],
]
/** How far a string goes that never ends. */
const OPEN_STRINGS = [new RegExp(`"(?:${ESCAPE}|[^\\\\"\\n\\r])*`, 'y'), new RegExp(`'(?:${ESCAPE}|[^\\\\'\\n\\r])*`, 'y')]
const PARTIAL_ESCAPE = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y
const WORDS = new Set(['in', 'true', 'false', 'null'])

export function tokenize(text: string): { tokens: Token[]; issues: Issue[] } {
  const tokens: Token[] = []
  const issues: Issue[] = []
  let at = 0
  while (at < text.length) {
    const space = matchAt(SPACE, text, at)
    if (space !== undefined) {
      at += space.length
      continue
    }
    const token = nextToken(text, at)
    if (token === undefined) {
      const last = failure(text, at)
      const end = Math.min(last + String.fromCodePoint(text.codePointAt(last) ?? 0).length, text.length)
      issues.push({ at, message: `Syntax error: token recognition error at: '${display(text.slice(at, end))}'` })
      at = end
      continue
    }
    tokens.push(token)
    at += token.text.length
  }
  tokens.push({ kind: 'EOF', text: '<EOF>', at: text.length })
  return { tokens, issues }
}

function nextToken(text: string, at: number): Token | undefined {
  for (const [kind, rule] of RULES) {
    const found = matchAt(rule, text, at)
    if (found !== undefined) return { kind: WORDS.has(found) ? 'SYMBOL' : kind, text: found, at }
  }
  return undefined
}

function matchAt(rule: RegExp, text: string, at: number): string | undefined {
  rule.lastIndex = at
  return rule.exec(text)?.[0]
}

/** The index of the character at which the lexer gives up. */
function failure(text: string, at: number): number {
  for (const open of OPEN_STRINGS) {
    const found = matchAt(open, text, at)
    if (found === undefined) continue
    const end = at + found.length
    return end + (matchAt(PARTIAL_ESCAPE, text, end)?.length ?? 0)
  }
  if (text[at] === '`') return at + (matchAt(/`[A-Za-z0-9_.\-/ ]*/y, text, at) as string).length
  return '=&|'.includes(text[at] as string) ? at + 1 : at
}

const display = (text: string) => text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
