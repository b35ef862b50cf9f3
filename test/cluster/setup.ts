/**
 * One control plane for the whole run, whether mocha runs in one process or in several. Tests find it through the
 * environment; whoever sets `TSOP_TEST_KUBECONFIG` (and `TSOP_TEST_KUBECTL`) himself has them run there.
 */
import { findBinaries } from '../control-plane/binaries.ts'
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts'

let controlPlane: ControlPlane | undefined

export async function mochaGlobalSetup(): Promise<void> {
  process.env['TSOP_TEST_KUBECTL'] ??= findBinaries(process.env, ['kubectl']).kubectl
  if (process.env['TSOP_TEST_KUBECONFIG'] !== undefined) return
  controlPlane = await startControlPlane()
  process.env['TSOP_TEST_KUBECONFIG'] = controlPlane.kubeconfig
}

export function mochaGlobalTeardown(): void {
  controlPlane?.stop()
}
