/** YAML as the API server writes it: sorted keys, lists at the level of their key, quotes where YAML 1.1 needs them. */
import { encodeJson, type Json } from '../json.ts'
import { resolveScalar } from './scalars.ts'

const WIDTH = 80

export function toYaml(value: object): string {
  // Through JSON: what has no value there has none here.
  const plain = JSON.parse(encodeJson(value), (_key, each, context?: { source?: string }) => exact(each, context?.source)) as Json
  return `${node(plain, 0, '')}\n`.replace(/^\n/, '')
}

/** A number keeps all its digits. */
function exact(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value
  return /^-?\d+$/.test(source) ? BigInt(source) : value
}

/** What stands behind a key (`prefix` is a space then) or a dash; starts with a line feed where it cannot stand in that line. */
function node(value: Json, indent: number, prefix: string): string {
  if (Array.isArray(value))
    return value.length === 0
      ? `${prefix}[]`
      : lines(
          value.map((item) => `- ${entry(item, indent)}`),
          indent,
        )
  if (typeof value === 'object' && value !== null) {
    const members = entriesOf(value)
    return members.length === 0
      ? `${prefix}{}`
      : lines(
          members.map(([key, member]) => pair(key, member, indent)),
          indent,
        )
  }
  return `${prefix}${scalar(value, indent, prefix === '' ? 0 : indent)}`
}

function lines(all: readonly string[], indent: number): string {
  const margin = ' '.repeat(indent)
  return all.map((each) => `\n${margin}${each}`).join('')
}

/** An item of a list: its first member stands beside the dash. */
function entry(item: Json, indent: number): string {
  return node(item, indent + 2, '').replace(/^\n */, '')
}

function pair(key: string, value: Json, indent: number): string {
  const name = text(key, indent, indent, true)
  // A list stands at the level of its key.
  const inner = Array.isArray(value) ? indent : indent + 2
  if (typeof value !== 'object' || value === null) return `${name}: ${scalar(value, indent + 2, indent + name.length + 2)}`
  return `${name}:${node(value, inner, ' ')}`
}

function entriesOf(object: object): [string, Json][] {
  return Object.keys(object)
    .toSorted()
    .map((key) => [key, (object as Record<string, Json>)[key] as Json])
}

function scalar(value: Json, indent: number, column: number): string {
  return typeof value === 'string' ? text(value, indent, column, false) : String(value)
}

function text(value: string, indent: number, column: number, key: boolean): string {
  if (value.includes('\n') && !key && literal(value)) return block(value, indent)
  const resolved = typeof resolveScalar(value) !== 'string' || TIME.test(value) || SEXAGESIMAL.test(value)
  if (resolved || UNPRINTABLE.test(value) || value.includes('\n')) return doubleQuoted(value)
  if (plain(value)) return folded(value, indent, column, key)
  return folded(`'${value.replaceAll("'", "''")}'`, indent, column, key)
}

// Other readers of YAML 1.1 make a time or a number of these.
const TIME = /^\d{4}-\d{1,2}-\d{1,2}([Tt ]\s*\d.*)?$/
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: what YAML does not print
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f\ufeff\ud800-\udfff\t]/u

function plain(value: string): boolean {
  if (value === '' || value !== value.trim()) return false
  if (/^(---|\.\.\.)/.test(value) || /^[-?:](\s|$)/.test(value)) return false
  if (/^[,[\]{}#&*!|>'"%@`]/.test(value)) return false
  return !/:(\s|$)/.test(value) && !/\s#/.test(value)
}

function literal(value: string): boolean {
  return !UNPRINTABLE.test(value) && !/ \n| $/.test(value)
}

function block(value: string, indent: number): string {
  const chomp = value.endsWith('\n') ? (/^\n*$|\n\n$/.test(value) ? '+' : '') : '-'
  const hint = /^[ \n]/.test(value) ? '2' : ''
  const margin = ' '.repeat(indent)
  const body = value.endsWith('\n') ? value.slice(0, -1) : value
  return `|${hint}${chomp}${body
    .split('\n')
    .map((line) => `\n${line === '' ? '' : margin}${line}`)
    .join('')}`
}

function doubleQuoted(value: string): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Breaks at the first single space behind the line's width. */
function folded(value: string, indent: number, column: number, key: boolean): string {
  if (key || column + value.length <= WIDTH) return value
  const margin = `\n${' '.repeat(indent)}`
  let result = ''
  let at = column
  for (let i = 0; i < value.length; i++) {
    const breaks = value[i] === ' ' && at > WIDTH && i > 0 && i < value.length - 1 && value[i + 1] !== ' ' && value[i - 1] !== ' '
    if (breaks) {
      result += margin
      at = indent
    } else {
      result += value[i]
      at++
    }
  }
  return result
}
