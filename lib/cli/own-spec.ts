/** How a new project asks npm for tsop: as whoever runs `tsop init` got it. */

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from './version.ts'

export interface OwnSpec {
  /** For `dependencies` of package.json. */
  readonly spec: string
  /** Not from a registry, but from this file or folder. */
  readonly file?: string
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * A tarball and a clone are asked for by their path from `folder`, as `npm install PATH` writes it; anything else by the version. `root`: where
 * this tsop is.
 */
export function ownSpec(folder: string, root = resolve(ROOT)): OwnSpec {
  const modules = dirname(root)
  // A clone, maybe linked into node_modules: then Node has told its real place.
  const file = basename(modules) === 'node_modules' ? installedFrom(modules) : root
  if (file === undefined) return { spec: `^${version()}` }
  const path = relative(folder, file).replaceAll('\\', '/')
  return { spec: `file:${path}`, file }
}

/** By what npm notes about each package (https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json#hidden-lockfiles). */
function installedFrom(modules: string): string | undefined {
  try {
    const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
      packages?: Record<string, { resolved?: string }>
    }
    const { resolved = '' } = packages?.['node_modules/tsop'] ?? {}
    if (!resolved.startsWith('file:')) return undefined
    const file = resolve(dirname(modules), resolved.slice('file:'.length))
    return existsSync(file) ? file : undefined
  } catch {
    // Another package manager, or installed globally.
    return undefined
  }
}
