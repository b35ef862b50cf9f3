/**
 * Imports handler files. JavaScript is left to Node; TypeScript goes through tsx, which is loaded only then: a container with
 * compiled handlers pays neither its time nor its memory.
 */

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

type ImportModule = (file: string) => Promise<Record<string, unknown>>

/** `used` is called with each file that is imported on the way, but for those of packages and of tsop itself. */
export async function createImport(files: readonly string[], used: (file: URL) => void = () => {}): Promise<ImportModule> {
  const typescript = files.some((file) => /\.m?ts$/.test(file))
  const load = typescript ? await typescriptImport(files) : (file: string) => import(pathToFileURL(file).href)
  // After tsx has registered: the last hook is asked first, and its answer stands.
  shareOwnCopy(used)
  return load
}

/** One registration per tsconfig.json, which decides on the dialect of decorators and on path aliases. */
async function typescriptImport(files: readonly string[]): Promise<ImportModule> {
  const esm = await import('tsx/esm/api')
  const cjs = await import('tsx/cjs/api')
  const loaders = new Map<string | undefined, ImportModule>()
  for (const tsconfig of new Set(files.map((file) => nearestTsconfig(dirname(file))))) {
    const namespace = randomUUID()
    // Handlers in a package that is not `"type": "module"` are CommonJS, which tsx does by another loader with its own way to say the tsconfig.
    withEnvironment('TSX_TSCONFIG_PATH', tsconfig, () => cjs.register({ namespace }))
    const api = esm.register({ namespace, tsconfig: tsconfig ?? false })
    loaders.set(tsconfig, (file) => api.import(pathToFileURL(file).href, import.meta.url))
  }
  return async (file) => {
    const load = loaders.get(nearestTsconfig(dirname(file)))
    if (load === undefined) throw new Error(`${file} is none of the files this import was made for`)
    return await load(file)
  }
}

/**
 * tsx loads everything below a handler anew in its own namespace, tsop included. A second copy would work, but costs as much memory
 * as the first: what resolves to the running copy becomes that copy again.
 */
function shareOwnCopy(used: (file: URL) => void): void {
  const own = new URL('../', import.meta.url).href
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      // Without the format that tsx says, with which Node would not strip the types of tsop's own sources.
      if (resolved.url.startsWith(own)) return { ...resolved, format: undefined, url: resolved.url.replace(/(\?|%3F).*$/, '') }
      if (resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/'))
        used(new URL(resolved.url.replace(/(\?|%3F).*$/, '')))
      return resolved
    },
  })
}

function nearestTsconfig(directory: string): string | undefined {
  const path = join(directory, 'tsconfig.json')
  if (existsSync(path)) return path
  const parent = dirname(directory)
  return parent === directory ? undefined : nearestTsconfig(parent)
}

function withEnvironment(name: string, value: string | undefined, f: () => void): void {
  const before = process.env[name]
  if (value !== undefined) process.env[name] = value
  try {
    f()
  } finally {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}
