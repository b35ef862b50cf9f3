/**
 * One API server for the whole run, whether mocha runs in one process or in several: a real control plane, or, with
 * `TSOP_TEST_SERVER=embedded`, the embedded one. Tests find it through the environment; whoever sets `TSOP_TEST_KUBECONFIG` (and
 * `TSOP_TEST_KUBECTL`) himself has them run there.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '../../lib/embedded/server.ts'
import { findBinaries } from '../control-plane/binaries.ts'
import { startControlPlane } from '../control-plane/control-plane.ts'

let stop: () => unknown = () => {}

export async function mochaGlobalSetup(): Promise<void> {
  process.env['TSOP_TEST_KUBECTL'] ??= findBinaries(process.env, ['kubectl']).kubectl
  if (process.env['TSOP_TEST_KUBECONFIG'] !== undefined) return
  process.env['TSOP_TEST_KUBECONFIG'] = process.env['TSOP_TEST_SERVER'] === 'embedded' ? await startEmbedded() : await startReal()
}

export async function mochaGlobalTeardown(): Promise<void> {
  await stop()
}

async function startReal(): Promise<string> {
  const controlPlane = await startControlPlane()
  stop = () => controlPlane.stop()
  return controlPlane.kubeconfig
}

/** As strict as the real one here: TLS, roles, and workloads without nodes. */
async function startEmbedded(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-'))
  const server = await createServer({ port: 0, rbac: true, simulate: { nodes: [] } })
  stop = async () => {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const file = join(folder, 'kubeconfig')
  writeFileSync(file, JSON.stringify(server.kubeconfig()), { mode: 0o600 })
  return file
}
