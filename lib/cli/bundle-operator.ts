/** One file of JavaScript from handlers, what they import, and `tsop-run`: by esbuild. */

import { basename, dirname, extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildFailure, Message, Plugin } from 'esbuild'
import { keepPlaces } from './bundle-places.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { writeText } from './folder.ts'
import { version } from './version.ts'

export interface BundleOptions {
  /** Absolute paths of the files with handlers. */
  readonly files: readonly string[]
  readonly name: string
  readonly outfile: string
  readonly cwd: string
  /** Packages that are not bundled but found when the operator runs. */
  readonly external: readonly string[]
}

export interface BundleReport {
  readonly bytes: number
  readonly mapBytes: number
  /** What takes most of it: packages and folders with their bytes, the largest first. */
  readonly inputs: readonly (readonly [string, number])[]
  readonly warnings: readonly string[]
  /** What modules read from beside themselves: to be put beside the bundle, at these paths below `cwd`. */
  readonly reads: readonly string[]
}

/**
 * What is loaded only where no container goes: TypeScript is compiled, lines are for machines, credentials are those of the pod. An operator
 * that reaches for one of them says which is missing.
 */
const LEFT_OUT = ['tsx', 'tsx/*', 'pino-pretty', '@kubernetes/client-node', 'esbuild']

/** @throws CliError with exit code 3 that says where in the handlers it fails, or with 1 where it cannot be written */
export async function bundleOperator({ files, name, outfile, cwd, external }: BundleOptions): Promise<BundleReport> {
  const { build } = await import('esbuild')
  const reads = new Set<string>()
  const source = import.meta.url.endsWith('.ts')
  try {
    const { metafile, warnings, outputFiles } = await build({
      stdin: { contents: entry(files, name, cwd), resolveDir: cwd, sourcefile: 'operator-entry.js', loader: 'js' },
      absWorkingDir: cwd,
      bundle: true,
      outfile,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      conditions: source ? ['tsop-source'] : [],
      external: [...LEFT_OUT, ...external],
      // Names in stacks and logs are those of the sources; the sources themselves need not be in the image.
      minifySyntax: true,
      sourcemap: true,
      sourcesContent: false,
      legalComments: 'none',
      define: { TSOP_VERSION: JSON.stringify(version()) },
      // Packages in CommonJS have their `require`.
      banner: { js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);" },
      plugins: [withoutServer(), keepPlaces(cwd, (path) => reads.add(path))],
      metafile: true,
      logLevel: 'silent',
    })
    for (const { path, contents } of outputFiles) writeText('.', cwd, path, contents)
    const output = (path: string) => metafile.outputs[relative(cwd, path)]
    const bundle = output(outfile)
    return {
      bytes: bundle?.bytes ?? 0,
      mapBytes: output(`${outfile}.map`)?.bytes ?? 0,
      inputs: byPackage(bundle?.inputs ?? {}),
      warnings: warnings.map(text),
      reads: [...reads].sort(),
    }
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>
    if (errors === undefined) throw error
    throw new CliError(exitCodes.configuration, errors.map(text).join('\n'), { cause: error })
  }
}

function entry(files: readonly string[], name: string, cwd: string): string {
  const run = fileURLToPath(new URL(`./run-bundle${extname(import.meta.url)}`, import.meta.url))
  const imports = files.map((file, i) => `import * as handlers${i} from ${JSON.stringify(file)}`)
  const modules = files.map((file, i) => `{ file: ${JSON.stringify(relative(cwd, file))}, module: handlers${i} }`)
  return [
    ...imports,
    `import { runBundle } from ${JSON.stringify(run)}`,
    `await runBundle({ name: ${JSON.stringify(name)}, modules: [${modules.join(', ')}] })`,
  ].join('\n')
}

/** The embedded API server is for development; with its recorded data it is larger than all the rest. */
function withoutServer(): Plugin {
  const server = join(dirname(dirname(fileURLToPath(import.meta.url))), 'embedded', `server${extname(import.meta.url)}`)
  const message = 'it is not in this bundle, which needs a cluster: see --kubeconfig in --help'
  return {
    name: 'without-server',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]embedded[\\/]server\.[jt]s$/ }, ({ path }) =>
        path === server ? { contents: `export async function createServer() { throw new Error(${JSON.stringify(message)}) }` } : undefined,
      )
    },
  }
}

function byPackage(inputs: Readonly<Record<string, { bytesInOutput: number }>>): [string, number][] {
  const sums = new Map<string, number>()
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
    const part = name ?? (path.includes('..') || dirname(path) === '.' ? basename(path) : (path.split('/')[0] ?? path))
    sums.set(part, (sums.get(part) ?? 0) + bytesInOutput)
  }
  return [...sums].sort(([, a], [, b]) => b - a)
}

function text({ text: what, location }: Message): string {
  return location === null ? what : `${location.file}:${location.line}:${location.column + 1}: ${what}`
}
