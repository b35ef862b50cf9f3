/** A folder of generated files on disk. */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { Folder } from '../generate/plan.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { displayed, writeProblem } from './write-problem.ts'

/** @throws CliError where it is a file, or below one */
export function folder(output: string, cwd: string): Folder {
  const root = resolve(cwd, output)
  refuseFile(root)
  return { read: (path) => readText(join(root, path)), list: () => filesBelow(root) }
}

export function writeText(output: string, cwd: string, path: string, text: string | Uint8Array): void {
  const file = resolve(cwd, output, path)
  writing(file, () => replace(file, text))
}

/** With its mode. */
export function copy(from: string, to: string): void {
  writing(to, () => copyFileSync(from, to))
}

function writing(file: string, write: () => void): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    write()
  } catch (error) {
    throw new CliError(exitCodes.failed, `cannot write ${displayed(file)}: ${writeProblem(error)}`, { cause: error })
  }
}

/** Also where nothing is to be written yet: what would be found in it, or missing, means nothing. */
function refuseFile(root: string): void {
  for (let path = root; ; path = dirname(path)) {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory() === true || path === dirname(path)) return
    if (stats !== undefined) {
      const error = Object.assign(new Error(`${path} is no directory`), { code: 'ENOTDIR', path })
      throw new CliError(exitCodes.failed, `cannot write into ${displayed(root)}: ${writeProblem(error)}`, { cause: error })
    }
  }
}

/** Whole or not at all: of a file that is half there, the next run would think that somebody edited it. A link stays one. */
function replace(file: string, text: string | Uint8Array): void {
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
  const file = resolve(cwd, output, path)
  try {
    rmSync(file, { force: true })
  } catch (error) {
    throw new CliError(exitCodes.failed, `cannot remove ${displayed(file)}: ${writeProblem(error)}`, { cause: error })
  }
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
