/** The operator's name: the field manager of what it writes and the reporter of its events. */

import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bundled } from './bundled.ts'

const DEFAULT = 'tsop'

/** The name in the package.json nearest to the first of `paths`; `tsop` where there is none. A bundle has its own. */
export function operatorName(paths: readonly string[], cwd: string): string {
  const bundle = bundled()
  if (bundle !== undefined) return bundle.name
  for (let directory = resolve(cwd, paths[0] ?? '.'); ; directory = dirname(directory)) {
    const name = packageName(join(directory, 'package.json'))
    if (name !== undefined) return name
    if (directory === dirname(directory)) return DEFAULT
  }
}

function packageName(file: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }
    // A field manager has at most 128 characters (validation of the API server).
    return typeof name === 'string' && /^[\x21-\x7e]{1,128}$/.test(name) ? name : undefined
  } catch {
    return undefined
  }
}
