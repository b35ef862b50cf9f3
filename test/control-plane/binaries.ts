/** Where the programs of a real control plane are: in `KUBEBUILDER_ASSETS`, or built from Go modules into a cache. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const
export type Program = (typeof PROGRAMS)[number]
export type Binaries = Readonly<Record<Program, string>>

const HELP =
  'Set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver, kube-controller-manager and kubectl (1.36), ' +
  'or install Go 1.26 (https://go.dev/dl) and they are built once.'

/**
 * Finds the programs, and builds what is missing. The folders that tools such as setup-envtest fetch have no
 * kube-controller-manager: then that one alone is built.
 */
export function findBinaries(env: NodeJS.ProcessEnv = process.env, wanted: readonly Program[] = PROGRAMS): Binaries {
  const assets = env['KUBEBUILDER_ASSETS']
  const given = assets === undefined || assets === '' ? undefined : resolve(assets)
  const inAssets = wanted.filter((program) => given !== undefined && isExecutable(join(given, program)))
  const missing = wanted.filter((program) => !inAssets.includes(program))
  if (given !== undefined && missing.some((program) => program !== 'kube-controller-manager')) {
    throw new Error(`KUBEBUILDER_ASSETS=${given} has no ${missing.join(', ')}. ${HELP}`)
  }
  const built = missing.length === 0 ? '' : build(missing, given, env)
  const path = (program: Program) => join(inAssets.includes(program) ? given! : built, program)
  return {
    etcd: path('etcd'),
    'kube-apiserver': path('kube-apiserver'),
    'kube-controller-manager': path('kube-controller-manager'),
    kubectl: path('kubectl'),
  }
}

function build(programs: readonly Program[], given: string | undefined, env: NodeJS.ProcessEnv): string {
  const script = (...args: string[]): SpawnSyncReturns<string> =>
    spawnSync(fileURLToPath(new URL('build', import.meta.url)), args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const dir = script('--where').stdout.trim()
  if (programs.every((program) => isExecutable(join(dir, program)))) return dir
  if (spawnSync('go', ['version'], { env, stdio: 'ignore' }).status !== 0) {
    const what =
      given === undefined ? 'There is no control plane to test with' : `KUBEBUILDER_ASSETS=${given} has no ${programs.join(', ')}`
    throw new Error(`${what}, and no Go to build it. ${HELP}`)
  }
  const { status, stdout } = script(...programs)
  if (status !== 0) throw new Error(`Building ${programs.join(', ')} failed (see above).`)
  return stdout.trim()
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
