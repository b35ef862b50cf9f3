/** The files that `tsop-run` loads: what it is told, and below a directory everything that can hold a handler. */

import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { CliError, exitCodes } from './exit-codes.ts'

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs']

/**
 * Absolute paths in the order of `paths`, below a directory by name, none twice. A directory's `node_modules`, hidden entries,
 * declarations (`.d.ts`) and tests (`.test.ts`) are passed over, and so is the JavaScript beside a TypeScript file of the same name.
 */
export function findHandlerFiles(paths: readonly string[], cwd: string): string[] {
  const files = new Set<string>()
  for (const path of paths) {
    const absolute = resolve(cwd, path)
    const stats = statSync(absolute, { throwIfNoEntry: false })
    if (stats === undefined) throw new CliError(exitCodes.configuration, `no such file or directory: ${path} (in ${cwd})`)
    if (stats.isDirectory()) for (const file of walk(absolute)) files.add(file)
    else if (EXTENSIONS.includes(extname(absolute))) files.add(absolute)
    else throw new CliError(exitCodes.configuration, `${path}: a handler file ends in ${EXTENSIONS.join(', ')}`)
  }
  return [...files]
}

function* walk(directory: string): Generator<string> {
  const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = new Set(entries.map(({ name }) => name))
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const type = followed(entry, path)
    if (type === 'directory') yield* walk(path)
    else if (type === 'file' && isHandlerFile(entry.name, names)) yield path
  }
}

function isHandlerFile(name: string, siblings: ReadonlySet<string>): boolean {
  const extension = extname(name)
  if (!EXTENSIONS.includes(extension)) return false
  const stem = basename(name, extension)
  if (/\.(d|test|spec)$/.test(stem)) return false
  const source = extension === '.js' ? `${stem}.ts` : extension === '.mjs' ? `${stem}.mts` : undefined
  return source === undefined || !siblings.has(source)
}

/** A linked file counts (a mounted ConfigMap consists of links), a linked directory does not: it could lead back up. */
function followed(entry: Dirent, path: string): 'file' | 'directory' | undefined {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  if (entry.isSymbolicLink() && leadsToFile(path)) return 'file'
  return undefined
}

/** One that leads nowhere, or to itself, is none: editors lock files by such links. */
function leadsToFile(link: string): boolean {
  try {
    return statSync(link).isFile()
  } catch {
    return false
  }
}
