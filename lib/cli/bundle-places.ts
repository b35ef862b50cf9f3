/**
 * Modules keep their places in a bundle: `import.meta.url` of each is where it would be beside the bundle, as it was beside the project's
 * package.json. So nobody takes himself for the file that was started, and a file that a module reads from beside itself,
 * `new URL('certificates.yaml', import.meta.url)`, is found where it is copied to.
 */

import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Loader, Plugin } from 'esbuild'

const LOADERS: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.mts': 'ts', '.cts': 'ts', '.tsx': 'tsx', '.jsx': 'jsx' }
const OWN = fileURLToPath(new URL('../', import.meta.url))

/** `read` gets the files that modules read from beside themselves, below `root`. */
export function keepPlaces(root: string, read: (path: string) => void): Plugin {
  return {
    name: 'keep-places',
    setup({ onLoad }) {
      onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
        if (path.includes(`${sep}node_modules${sep}`) || path.startsWith(OWN)) return undefined
        const text = await readFile(path, 'utf8')
        if (!text.includes('import.meta')) return undefined
        for (const [, , file = ''] of text.matchAll(/new URL\(\s*(['"`])([^'"`$]+)\1\s*,\s*import\.meta\.url\s*\)/g)) {
          const target = resolve(dirname(path), file)
          const below = relative(root, target)
          if (!below.startsWith('..') && existsSync(target) && statSync(target).isFile()) read(below)
        }
        return { contents: placed(text, relative(root, path).split(sep).join('/')), loader: LOADERS[extname(path)] ?? 'js' }
      })
    },
  }
}

/** In one line each, so that the source map stays right. */
function placed(text: string, path: string): string {
  // What lies above the project is taken for being in it.
  const url = `new URL(${JSON.stringify(`./${path.replaceAll('../', '_/')}`)}, import.meta.url)`
  const asPath = (which: string) => `process.getBuiltinModule('node:url').fileURLToPath(${which})`
  return text.replace(/\bimport\.meta\.(url|filename|dirname|main)\b/g, (_, member: string) => {
    if (member === 'main') return 'false'
    if (member === 'url') return `${url}.href`
    return asPath(member === 'filename' ? url : `new URL('.', ${url})`)
  })
}
