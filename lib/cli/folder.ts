/** A folder of generated files on disk. */

import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { Folder } from '../generate/plan.ts'
import { CliError, exitCodes } from './exit-codes.ts'

export function folder(output: string, cwd: string): Folder {
  const root = resolve(cwd, output)
  return { read: (path) => readText(join(root, path)), list: () => filesBelow(root) }
}

export function writeText(output: string, cwd: string, path: string, text: string): void {
  const file = resolve(cwd, output, path)
  try {
    mkdirSync(dirname(file), { recursive: true })
    replace(file, text)
  } catch (error) {
    throw new CliError(exitCodes.failed, `cannot write ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Whole or not at all: of a file that is half there, the next run would think that somebody edited it. A link stays one. */
function replace(file: string, text: string): void {
  const there = existsSync(file)
  const target = there ? realpathSync(file) : file
  const part = join(dirname(target), `.${basename(target)}.${process.pid}${PART}`)
  try {
    writeFileSync(part, text, there ? { mode: statSync(target).mode } : {})
    renameSync(part, target)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}

const PART = '.tsop-part'

export function remove(output: string, cwd: string, path: string): void {
  rmSync(resolve(cwd, output, path), { force: true })
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new CliError(exitCodes.failed, `cannot read ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Not below node_modules and hidden folders: with `--output .` the folder is the whole project. Nor what a killed run has left. */
function filesBelow(root: string, path = ''): string[] {
  let entries: ReturnType<typeof list>
  try {
    entries = list(join(root, path))
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    const below = path === '' ? entry.name : `${path}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : filesBelow(root, below)
    return entry.isFile() && !entry.name.endsWith(PART) ? [below.replaceAll(sep, '/')] : []
  })
}

function list(directory: string) {
  return readdirSync(directory, { withFileTypes: true })
}
