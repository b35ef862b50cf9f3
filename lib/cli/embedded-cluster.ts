/**
 * The cluster of those who have none: an API server in this process. Where it is, is written to `.tsop/kubeconfig`, for kubectl
 * and for the operator itself, which reaches it like any other.
 */

import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, systemRandom } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import { createTransport } from '../api/http-transport.ts'
import { loadCluster, NoClusterError } from '../api/kubeconfig.ts'
import type { Core } from '../embedded/core.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { Options } from './options.ts'
import { writeProblem } from './write-problem.ts'

export interface EmbeddedCluster {
  readonly kubeconfig: string
  /** What runs in this process for the services that webhooks name; by `namespace/name`. */
  readonly services: Core['services']
  close(): Promise<void>
}

/** Of the context that is written: how a kubeconfig of a server that has ended is recognised. */
export const EMBEDDED_CONTEXT = 'embedded'
const FOLDER = '.tsop'
const KUBECONFIG = 'kubeconfig'
const IGNORE = '*\n'
const PROBE_MS = 2000

/** Whether the operator has to bring its own cluster: it was asked to, or there is none. */
export async function needsEmbedded(options: Options, cwd: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (options.embedded) return true
  if (options.kubeconfig !== undefined || options.context !== undefined) return false
  if (await isLeftOver(env, cwd)) return true
  try {
    await loadCluster({ env })
    return false
  } catch (error) {
    // Anything that is wrong with a kubeconfig is for its owner to know, not a reason to do without.
    return error instanceof NoClusterError
  }
}

/**
 * `$KUBECONFIG` still names the file of an earlier start, as it was told to, and that server has ended: with its file, or, where it
 * was killed, without a word.
 */
async function isLeftOver(env: NodeJS.ProcessEnv, cwd: string): Promise<boolean> {
  const file = kubeconfigFile(cwd)
  if (env['KUBECONFIG'] !== file) return false
  try {
    const cluster = await loadCluster({ env })
    if (cluster.context !== EMBEDDED_CONTEXT) return false
    const transport = createTransport(cluster, { clock: systemClock, random: systemRandom })
    try {
      await transport.request({ method: 'GET', path: '/version', timeoutMs: PROBE_MS })
      return false
    } catch {
      return true
    } finally {
      await transport.close()
    }
  } catch (error) {
    return error instanceof NoClusterError
  }
}

/**
 * @param warn gets what the user should know of the server; default: printed to stderr
 * @throws CliError where the port or the file cannot be had
 */
export async function startEmbedded({ persist }: Options, cwd: string, warn?: (message: string) => void): Promise<EmbeddedCluster> {
  const { createServer } = await import('../embedded/server.ts')
  const file = kubeconfigFile(cwd)
  try {
    const server = await createServer({ port: 0, simulate: true, ...(persist !== undefined && { persist }), ...(warn && { warn }) })
    const kubeconfig = `${JSON.stringify(server.kubeconfig(), undefined, 2)}\n`
    await mkdir(join(cwd, FOLDER), { recursive: true })
    await writeFile(join(cwd, FOLDER, '.gitignore'), IGNORE)
    await writeFile(file, kubeconfig, { mode: 0o600 })
    // Also where a second signal ends the process at once.
    const forget = () => tidy(join(cwd, FOLDER), kubeconfig)
    process.once('exit', forget)
    return {
      kubeconfig: file,
      services: server.core.services,
      async close() {
        process.off('exit', forget)
        forget()
        await server.close()
      },
    }
  } catch (error) {
    throw new CliError(exitCodes.configuration, `the embedded API server does not start: ${writeProblem(error)}`, { cause: error })
  }
}

/** Takes away what was written, and the folder where nothing else is in it. A kubeconfig of a server that was started later stays. */
function tidy(folder: string, kubeconfig: string): void {
  try {
    const file = join(folder, KUBECONFIG)
    if (readFileSync(file, 'utf8') !== kubeconfig) return
    rmSync(file)
    if (readdirSync(folder).join() !== '.gitignore' || readFileSync(join(folder, '.gitignore'), 'utf8') !== IGNORE) return
    rmSync(join(folder, '.gitignore'))
    rmdirSync(folder)
  } catch {
    // Somebody else tidies up.
  }
}

export async function embeddedCluster(kubeconfig: string): Promise<Cluster> {
  return { ...(await loadCluster({ kubeconfig, env: {} })), source: 'embedded' }
}

function kubeconfigFile(cwd: string): string {
  return join(cwd, FOLDER, KUBECONFIG)
}
