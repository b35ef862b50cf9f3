/** Options as a table: the parser, `--help` and the reference of a command are made from it. */

import { type ParseArgsConfig, parseArgs } from 'node:util'
import { CliError, exitCodes } from './exit-codes.ts'
import { nearest } from './nearest.ts'

export interface OptionRow {
  readonly name: string
  readonly short?: string
  /** What stands for the value in the help. Absent: a switch. */
  readonly value?: string
  readonly multiple?: true
  readonly choices?: readonly string[]
  /** For `--help` and the reference. */
  readonly sentence: string
}

/** What was given on the command line. Names that are not in the table are a mistake of the caller and give nothing. */
export interface ParsedOptions {
  readonly positionals: readonly string[]
  flag(name: string): boolean
  one(name: string): string | undefined
  many(name: string): readonly string[]
}

/** @throws CliError with exit code 2 and one line that says what is wrong and which `command --help` says more */
export function parseRows(args: readonly string[], rows: readonly OptionRow[], command: string): ParsedOptions {
  const usage = (message: string) => new CliError(exitCodes.usage, `${message}; see ${command} --help`)
  const config: NonNullable<ParseArgsConfig['options']> = {}
  for (const { name, short, value, multiple } of rows) {
    config[name] = { type: value === undefined ? 'boolean' : 'string', ...(short && { short }), ...(multiple && { multiple }) }
  }
  const { tokens } = parseArgs({ args: [...args], options: config, allowPositionals: true, strict: false, tokens: true })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const row = rows.find(({ name }) => name === token.name)
    if (row === undefined) throw usage(unknown(token.rawName, rows))
    if (row.value === undefined && token.value !== undefined) throw usage(`--${row.name} takes no value, but got "${token.value}"`)
    if (row.value !== undefined && (token.value === undefined || (!token.inlineValue && /^-./.test(token.value)))) {
      throw usage(`${token.rawName} needs a value: ${token.rawName} ${row.value}`)
    }
    if (row.value !== undefined && token.value === '') throw usage(`--${row.name} needs a value`)
    if (row.choices !== undefined && !row.choices.includes(String(token.value))) {
      throw usage(`--${row.name} ${token.value}: expected one of ${row.choices.join(', ')}`)
    }
    const again = (other: (typeof tokens)[number]) => other !== token && other.kind === 'option' && other.name === row.name
    if (row.value !== undefined && !row.multiple && tokens.some(again)) throw usage(`--${row.name} is given twice`)
  }
  const { values, positionals } = parseArgs({ args: [...args], options: config, allowPositionals: true, strict: true })
  const texts = (value: unknown) => (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
  return {
    positionals,
    flag: (name) => values[name] === true,
    one: (name) => texts(values[name]).at(-1),
    many: (name) => texts(values[name]),
  }
}

function unknown(rawName: string, rows: readonly OptionRow[]): string {
  const close = nearest(
    rawName.replace(/^-+/, ''),
    rows.map(({ name }) => name),
  )
  return `unknown option ${rawName}${close === undefined ? '' : ` (did you mean --${close}?)`}`
}

/** The lines of `--help`, each option with its sentence beside it. */
export function optionLines(rows: readonly OptionRow[], width = 100): string[] {
  return columns(
    rows.map((row) => [spelling(row), sentence(row)]),
    width,
  )
}

/** Two columns, the second wrapped. */
export function columns(rows: readonly (readonly [string, string])[], width = 100): string[] {
  const column = Math.max(...rows.map(([left]) => left.length)) + 4
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrap(right, width - column)
    return [`  ${left.padEnd(column - 2)}${first}`, ...rest.map((text) => ' '.repeat(column) + text)]
  })
}

/** The options as a table in Markdown. */
export function optionTable(rows: readonly OptionRow[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  return ['| Option | Meaning |', '|---|---|', ...rows.map((row) => `| \`${cell(spelling(row).trim())}\` | ${cell(sentence(row))} |`)].join(
    '\n',
  )
}

/** `-n, --namespace NAME` */
function spelling({ short, name, value }: OptionRow): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
}

function sentence({ sentence, choices }: OptionRow): string {
  return choices === undefined ? sentence : `${sentence} One of: ${choices.join(', ')}.`
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
}
