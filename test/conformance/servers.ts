/** The servers that are compared. */
import { readFileSync } from 'node:fs'
import { createServer } from '../../lib/embedded/server.ts'
import { startControlPlane } from '../control-plane/control-plane.ts'
import { inProcess } from './in-process.ts'
import { overHttp } from './over-http.ts'
import type { Target } from './target.ts'

/** Those whose work the embedded server does as well. Others would write to what the cases look at. */
const CONTROLLERS = [
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
]

export async function realTarget(): Promise<{ target: Target; close: () => void }> {
  const controlPlane = await startControlPlane({ controllers: CONTROLLERS })
  const [, server = ''] = /server: "(.*)"/.exec(readFileSync(controlPlane.kubeconfig, 'utf8')) ?? []
  return { target: overHttp(server, 'admin-token'), close: () => controlPlane.stop() }
}

/** One server, asked in both ways. */
export async function embeddedTargets(): Promise<{ targets: Record<'in process' | 'over HTTP', Target>; close: () => Promise<void> }> {
  const faults: unknown[] = []
  const server = await createServer({ rbac: true, port: 0, report: (error) => faults.push(error) })
  const targets = { 'in process': inProcess(server), 'over HTTP': overHttp(server.url as string, server.token) }
  return {
    targets,
    async close() {
      for (const target of Object.values(targets)) await target.close()
      await server.close()
      if (faults.length > 0) throw faults[0]
    },
  }
}
