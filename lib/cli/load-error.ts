/**
 * Why a handler file could not be loaded, told the way a compiler does: file, line, column, what, and the text of the line. The
 * error may come from esbuild (TypeScript syntax), from Node (JavaScript syntax, imports) or from the file's own code.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isOwnCode } from '../resource/own-code.ts'
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
  const [, module, importer] = /^Cannot find module '([^']+)'(?: imported from |\nRequire stack:\n- )(\S[^\n]*)/.exec(cause.message) ?? []
  if (module !== undefined && importer !== undefined) return missingModule(module, asPath(importer))
  return { place: frameOf(cause.stack ?? ''), text }
}

/** Node tells who imports, but not where; `module` is a path, or as it is written there. */
function missingModule(module: string, importer: string): { place: Place; text: string } {
  const wanted = resolve(dirname(importer), module)
  for (const [i, line] of linesOf(importer).entries()) {
    for (const { 2: specifier = '', index } of line.matchAll(/(['"])(\.[^'"]*)\1/g)) {
      if (resolve(dirname(importer), specifier) !== wanted) continue
      return { place: { file: importer, line: i + 1, column: index + 1 }, text: `there is no file ${specifier}` }
    }
  }
  return { place: { file: importer, line: 0 }, text: `Cannot find module '${module}'` }
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

/**
 * The topmost frame in somebody's own code: not Node's, not a package's. A helper that the compiler put in has no place in the source; its
 * frame has that of the compiled code, a long line.
 */
function frameOf(stack: string): Place | undefined {
  for (const [, path = '', line, column] of stack.matchAll(/^\s+at (?:async |.*\()?((?:file:\/\/)?\/[^\n]*?):(\d+):(\d+)\)?$/gm)) {
    const file = asPath(path)
    if (file.includes('/node_modules/') || isOwnCode(file)) continue
    const place = { file, line: Number(line), column: Number(column) }
    const text = linesOf(file)[place.line - 1]
    if (text === undefined || place.column <= text.length + 1) return place
  }
  return undefined
}

function asPath(text: string): string {
  const path = text.replace(/\?.*$/, '')
  return path.startsWith('file://') ? fileURLToPath(path) : path
}

/** Empty where the file cannot be read. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

function excerptOf({ file, line, column }: Place): string {
  const text = linesOf(file)[line - 1]
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
