/**
 * `tsop generate rbac --observe`: runs the handlers for a while, on an API server in this process where no other is named, and sees what they ask
 * for. The objects they work on come from manifests, and are deleted at half-time, so that their clean-up is seen as well.
 */

import { type Endpoint, webhookConfigurations } from '../admission/configurations.ts'
import { type WebhookService, webhookService } from '../admission/service.ts'
import { Client } from '../api/client.ts'
import { delay, systemClock, systemRandom } from '../api/clock.ts'
import { createTransport } from '../api/http-transport.ts'
import { ConnectionError, isForbidden, isInvalid, isNotFound, TimeoutError } from '../api/status-error.ts'
import type { Transport } from '../api/transport.ts'
import { Manager } from '../engine/manager.ts'
import { type Observation, observing } from '../generate/observed.ts'
import type { OperatorModel } from '../generate/operator.ts'
import { createLogger } from '../observe/logger.ts'
import { kind } from '../resource/kind.ts'
import { applyManifests } from './apply-manifests.ts'
import { findCluster } from './find-cluster.ts'
import { type ApplyContext, definitions, FIELD_MANAGER, installCrds } from './install-crds.ts'
import type { LoadedHandler } from './load-handlers.ts'
import { type Manifest, readManifests } from './read-manifests.ts'

export interface ObserveOperatorOptions {
  readonly handlers: readonly LoadedHandler[]
  readonly model: OperatorModel
  readonly durationMs: number
  readonly manifests: readonly string[]
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
  readonly cwd: string
}

/** Each kind of request once. */
export async function observeOperator(options: ObserveOperatorOptions): Promise<Observation[]> {
  const { handlers, model, durationMs, cwd } = options
  const manifests = options.manifests.length === 0 ? [] : readManifests(options.manifests, cwd)
  const seen = new Map<string, Observation>()
  const note = (observation: Observation) => {
    const { refused, ...permission } = observation
    const key = JSON.stringify(permission)
    if (!seen.has(key) || refused) seen.set(key, observation)
  }
  const log = await createLogger({ level: 'warn', destination: process.stderr })
  const { own, operators, services, close } = await serverFor(options)
  const end = new AbortController()
  // Waits of the engine do not keep a process alive.
  const alive = setInterval(() => {}, 2 ** 30)
  try {
    const client = new Client({ transport: own, clock: systemClock, userAgent: 'tsop-generate' })
    const context = { client, clock: systemClock, signal: end.signal, log }
    const endpoint = services && { service: { namespace: 'default', name: `${model.name}-webhook` } }
    services?.set(`default/${model.name}-webhook`, webhookService(handlers, { clock: systemClock, log }))
    await installCrds(definitions(model.specs, endpoint), context)
    if (endpoint !== undefined) await ask(endpoint, model, context)
    const operator = new Client({ transport: observing(operators, note), clock: systemClock, userAgent: `${model.name}/tsop-generate` })
    const manager = new Manager({
      name: model.operator,
      client: operator,
      handlers,
      namespaces: model.namespaces,
      log,
      ownsProcess: false,
    })
    void manager.start()
    await applyManifests(manifests, model.namespaces?.[0] ?? 'default', context)
    await delay(systemClock, durationMs / 2)
    for (const manifest of manifests.filter(isServed(handlers))) await remove(context, manifest, model.namespaces?.[0] ?? 'default')
    await delay(systemClock, durationMs / 2)
    await manager.stop(0)
  } finally {
    end.abort()
    clearInterval(alive)
    await close()
  }
  return [...seen.values()]
}

/** Has the API server ask the handlers about objects, as it does where they are deployed. */
async function ask(endpoint: Endpoint, { name, specs, namespaces }: OperatorModel, { client }: ApplyContext): Promise<void> {
  for (const configuration of webhookConfigurations(specs, { name, endpoint, namespaces, home: undefined })) {
    const ref = kind('admissionregistration.k8s.io/v1', configuration.kind)
    await client.apply(ref, configuration as never, { fieldManager: FIELD_MANAGER, force: true })
  }
}

interface Observed {
  /** To prepare the cluster. */
  readonly own: Transport
  /** As the operator is known to it. */
  readonly operators: Transport
  /** Where the API server in this process finds who answers it. */
  readonly services?: { set(name: string, service: WebhookService): unknown }
  close(): Promise<void>
}

async function serverFor({ kubeconfig, context }: ObserveOperatorOptions): Promise<Observed> {
  if (kubeconfig !== undefined || context !== undefined) {
    const cluster = await findCluster({ kubeconfig, context })
    const transport = createTransport(cluster, { clock: systemClock, random: systemRandom })
    return { own: transport, operators: transport, close: () => transport.close() }
  }
  const { createServer } = await import('../embedded/server.ts')
  const { inProcess } = await import('../embedded/http/in-process.ts')
  const server = await createServer({ simulate: true })
  const errors = {
    timeout: (message: string) => new TimeoutError(message),
    connection: (message: string, cause: unknown) => new ConnectionError(message, { cause }),
  }
  const transport = inProcess((request) => server.handle(request), { clock: systemClock, errors })
  return { own: transport, operators: transport, services: server.core.services, close: () => server.close() }
}

const isServed =
  (handlers: readonly LoadedHandler[]) =>
  ({ kind: name, apiVersion }: Manifest) =>
    handlers.some(({ spec }) => spec.kind.kind === name && spec.kind.apiVersion === apiVersion)

async function remove({ client, log }: ApplyContext, { apiVersion, kind: name, metadata }: Manifest, namespace: string): Promise<void> {
  const ref = kind(apiVersion, name)
  const { namespaced } = await client.discovery.resolve(ref)
  await client.delete(ref, namespaced ? { namespace, ...metadata } : metadata).catch((error: unknown) => {
    if (isForbidden(error) || isInvalid(error))
      log.warn({ kind: name, object: metadata.name, err: error }, 'it may not be deleted, so that its clean-up is not seen')
    else if (!isNotFound(error)) throw error
  })
}
