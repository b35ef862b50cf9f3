/** The package as it is published: built aside, for a build in the working copy would pull dist away under whoever uses it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The tarball's path, in `directory`. */
export function pack(directory: string): string {
  const copy = join(directory, 'package')
  mkdirSync(copy)
  run('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', join(copy, 'dist')], ROOT)
  run(process.execPath, ['scripts/copy-data.ts', join(copy, 'dist')], ROOT)
  placeSources(copy)
  for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE']) {
    if (existsSync(join(ROOT, file))) writeFileSync(join(copy, file), readFileSync(join(ROOT, file)))
  }
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', directory], copy)) as [{ filename: string }]
  return join(directory, basename(filename))
}

/** A build aside names its sources where they are; one in place, which is what gets published, names `lib` beside `dist`. */
export function placeSources(copy: string): void {
  const dist = join(copy, 'dist')
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js.map'))) {
    const path = join(dist, file)
    const map = JSON.parse(readFileSync(path, 'utf8')) as { sources: string[] }
    map.sources = map.sources.map((source) => relative(dirname(path), join(copy, relative(ROOT, resolve(dirname(path), source)))))
    writeFileSync(path, JSON.stringify(map))
  }
}

/** What the npm that runs these tests says to its children must not reach another project. */
export function cleanEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_|^(NODE_OPTIONS|KUBECONFIG)$/i.test(name))
  return { ...Object.fromEntries(kept), PATH: [dirname(process.execPath), process.env['PATH']].join(':'), NO_COLOR: '1' }
}

/** Standard output; the whole output in the error where it fails. */
export function run(file: string, args: string[], cwd: string): string {
  try {
    return execFileSync(file, args, { cwd, encoding: 'utf8', env: cleanEnv(), stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${basename(file)} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}
