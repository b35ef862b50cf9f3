/**
 * Why a handler file could not be loaded, told the way a compiler does: file, line, column, what, and the text of the line. The
 * error may come from esbuild (TypeScript syntax), from Node (JavaScript syntax, imports) or from the file's own code.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CliError, exitCodes } from './exit-codes.ts'

export interface Place {
  readonly file: string
  readonly line: number
  readonly column?: number
}

/** `file` is the one that was asked for; the fault may be in one that it imports. */
export function loadError(cause: unknown, file: string, cwd: string): CliError {
  const { place, text } = explain(cause, file)
  const where = place ?? { file, line: 0 }
  const position = where.line === 0 ? '' : `:${where.line}${where.column === undefined ? '' : `:${where.column}`}`
  const excerpt = place === undefined ? '' : excerptOf(place)
  return new CliError(exitCodes.configuration, `${display(where.file, cwd)}${position}: ${text}${excerpt}`, { cause })
}

function explain(cause: unknown, file: string): { place: Place | undefined; text: string } {
  if (!(cause instanceof Error)) return { place: undefined, text: `threw ${String(cause)}` }
  const transform = /^(?:file:\/\/)?(.+?):(\d+):(\d+): ERROR: (.+)$/m.exec(cause.message)
  if (transform !== null) {
    const [, path = file, line, column, text = ''] = transform
    // esbuild counts columns from 0.
    return { place: { file: path, line: Number(line), column: Number(column) + 1 }, text: `syntax error: ${text}` }
  }
  const text = `${cause.name}: ${cause.message}`
  if (cause instanceof SyntaxError) return { place: headOf(cause.stack ?? '') ?? checked(file), text }
  const missing = /^Cannot find package '([^']+)'/.exec(cause.message)
  if (missing !== null) return { place: undefined, text: `${cause.message}; npm install ${missing[1]}` }
  return { place: frameOf(cause.stack ?? ''), text }
}

/** The file and line that Node puts above the stack of a syntax error; of a wrong import only it knows. */
function headOf(stack: string): Place | undefined {
  const [, path, line] = /^(\S[^\n]*?):(\d+)\n/.exec(stack) ?? []
  return path === undefined ? undefined : { file: asPath(path), line: Number(line) }
}

/** Node tells the place of a syntax error in a module only when it reports it itself. */
function checked(file: string): Place | undefined {
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 10_000 })
  return headOf(stderr ?? '')
}

/** The topmost frame in somebody's own code: not Node's, not a package's. */
function frameOf(stack: string): Place | undefined {
  for (const [, path = '', line, column] of stack.matchAll(/^\s+at .*?\(?((?:file:\/\/)?\/[^\n]*?):(\d+):(\d+)\)?$/gm)) {
    const file = asPath(path)
    if (!file.includes('/node_modules/') && !file.startsWith(OWN)) return { file, line: Number(line), column: Number(column) }
  }
  return undefined
}

/** Where tsop's own code lies. */
const OWN = fileURLToPath(new URL('../', import.meta.url))

function asPath(text: string): string {
  const path = text.replace(/\?.*$/, '')
  return path.startsWith('file://') ? fileURLToPath(path) : path
}

function excerptOf({ file, line, column }: Place): string {
  let text: string | undefined
  try {
    text = readFileSync(file, 'utf8').split('\n')[line - 1]
  } catch {
    return ''
  }
  if (text === undefined || text.trim() === '' || text.length > 200) return ''
  const tabless = text.replaceAll('\t', ' ')
  const number = `${line} | `
  const caret = column === undefined ? '' : `\n${' '.repeat(2 + number.length + column - 1)}^`
  return `\n  ${number}${tabless.trimEnd()}${caret}`
}

function display(file: string, cwd: string): string {
  const path = relative(cwd, file)
  return path.startsWith('..') ? file : path
}
