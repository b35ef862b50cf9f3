/** The two servers that foreign clients are tried on, each with all its controllers and without nodes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type EmbeddedServer } from '../../lib/embedded/server.ts'
import { findBinaries } from '../control-plane/binaries.ts'
import { startControlPlane } from '../control-plane/control-plane.ts'

export interface Server {
  /** The path of a kubeconfig that may do everything. */
  readonly kubeconfig: string
  readonly kubectl: string
  /** A folder that goes with the server. */
  readonly dir: string
  /** @throws Error the first fault that the server reported of itself */
  stop(): Promise<void>
}

export async function realServer(): Promise<Server> {
  const { kubectl } = findBinaries(process.env)
  const controlPlane = await startControlPlane()
  const { kubeconfig, dir } = controlPlane
  return { kubeconfig, kubectl, dir, stop: async () => controlPlane.stop() }
}

/** TLS, tokens and roles, as strict as the real one. */
export async function embeddedServer(): Promise<Server & { readonly server: EmbeddedServer }> {
  const { kubectl } = findBinaries(process.env, ['kubectl'])
  const faults: unknown[] = []
  const server = await createServer({ port: 0, rbac: true, simulate: { nodes: [] }, report: (error) => faults.push(error) })
  const dir = mkdtempSync(join(tmpdir(), 'embedded-'))
  const kubeconfig = join(dir, 'kubeconfig')
  writeFileSync(kubeconfig, JSON.stringify(server.kubeconfig()), { mode: 0o600 })
  return {
    server,
    kubeconfig,
    kubectl,
    dir,
    async stop() {
      await server.close()
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      if (faults.length > 0) throw faults[0]
    },
  }
}
