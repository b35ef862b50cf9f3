/** A folder of generated files on disk. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
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
    writeFileSync(file, text)
  } catch (error) {
    throw new CliError(exitCodes.failed, `cannot write ${file}: ${(error as Error).message}`, { cause: error })
  }
}

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

/** Not below node_modules and hidden folders: with `--output .` the folder is the whole project. */
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
    return entry.isFile() ? [below.replaceAll(sep, '/')] : []
  })
}

function list(directory: string) {
  return readdirSync(directory, { withFileTypes: true })
}
