/** The cluster that a command is about: of a kubeconfig, or of the pod. */

import type { Cluster } from '../api/cluster.ts'
import { loadCluster } from '../api/kubeconfig.ts'
import { CliError, exitCodes } from './exit-codes.ts'

export interface ClusterChoice {
  /** Undefined: `$KUBECONFIG`, `~/.kube/config`, or the service account of the pod. */
  readonly kubeconfig: string | undefined
  /** Undefined: the current one. */
  readonly context: string | undefined
}

/** @throws CliError with exit code 3 */
export async function findCluster({ kubeconfig, context }: ClusterChoice): Promise<Cluster> {
  try {
    return await loadCluster({
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
      env: process.env,
    })
  } catch (error) {
    throw new CliError(exitCodes.configuration, error instanceof Error ? error.message : String(error), { cause: error })
  }
}
