/** The package as it is published: built aside, for a build in the working copy would pull dist away under whoever uses it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The tarball's path, in `directory`. */
export function pack(directory: string): string {
  const copy = join(directory, 'package')
  mkdirSync(copy)
  run('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', join(copy, 'dist')], ROOT)
  run(process.execPath, ['scripts/copy-data.ts', join(copy, 'dist')], ROOT)
  for (const file of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE']) {
    if (existsSync(join(ROOT, file))) writeFileSync(join(copy, file), readFileSync(join(ROOT, file)))
  }
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', directory], copy)) as [{ filename: string }]
  return join(directory, basename(filename))
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
