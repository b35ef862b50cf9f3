/** `--install-crds`: puts the definitions of the handlers' resources into the cluster and waits until they are served. */

import { conversionSwitch, type Endpoint } from '../admission/configurations.ts'
import { convertedKinds } from '../admission/webhooks.ts'
import type { Client } from '../api/client.ts'
import type { Clock } from '../api/clock.ts'
import { isForbidden } from '../api/status-error.ts'
import { definitionsOf } from '../generate/crds.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import type { Condition, CustomResourceDefinition, KindRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { isBusy, patiently } from './patiently.ts'

/** Not the operator's own name: what a start applies must not take fields from what the engine applies, or the other way round. */
export const FIELD_MANAGER = 'tsop-run'

const PATIENCE_MS = 30_000

type Crd = CustomResourceDefinition & { metadata: { name: string }; status?: { conditions?: Condition[] } }

const CrdKind: KindRef<Crd> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
}

export interface ApplyContext {
  readonly client: Client
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly log: Log
}

/**
 * What a start may install. `endpoint`: where the API server finds who converts between versions.
 *
 * @throws CliError where nobody can be asked for conversions that a kind has: the API server would change the apiVersion only, and drop the rest
 */
export function definitions(specs: readonly HandlerSpec[], endpoint?: Endpoint): CustomResourceDefinition[] {
  const [unasked] = endpoint === undefined ? convertedKinds(specs).flatMap(({ crd }) => crd ?? []) : []
  if (unasked !== undefined) {
    const why = 'its versions have conversions, and this API server cannot ask this process for them'
    const fix = 'install what tsop generate crds writes, or add --embedded or --webhook-url'
    throw new CliError(exitCodes.configuration, `cannot install the definition ${unasked.metadata.name}: ${why}; ${fix}`)
  }
  return definitionsOf(specs, endpoint)
}

/** Rejects with a `CliError` where the server refuses one, such as a change that would lose stored objects. */
export async function installCrds(crds: readonly CustomResourceDefinition[], context: ApplyContext): Promise<void> {
  const { client, clock, signal, log } = context
  for (const crd of crds) {
    const { name } = crd.metadata
    try {
      const options = { fieldManager: FIELD_MANAGER, force: true, signal }
      const live = crd.spec?.['conversion'] === undefined ? undefined : await client.find(CrdKind, { name }, { signal })
      const value = live === undefined ? undefined : conversionSwitch(crd, live)
      if (value !== undefined) await client.patch(CrdKind, { name }, { type: 'merge', value }, { fieldManager: FIELD_MANAGER, signal })
      await patiently(clock, signal, PATIENCE_MS, isBusy, () => client.apply(CrdKind, crd, options))
    } catch (error) {
      signal.throwIfAborted()
      throw new CliError(exitCodes.cluster, `cannot install the definition ${name}: ${text(error)}`, { cause: error })
    }
    await established(name, context)
    log.info({ crd: name }, 'definition installed')
  }
}

/** Waits until the definition is established and its objects can be listed, at most 30 s. Rejects with a `CliError`. */
export async function established(name: string, { client, clock, signal }: ApplyContext): Promise<void> {
  let probed: string | undefined
  const read = async () => {
    const { spec, status } = await client.get(CrdKind, { name }, { signal })
    const condition = (type: string) => status?.conditions?.find((one) => one.type === type)
    const names = condition('NamesAccepted')
    if (names?.status === 'False') throw new Error(`its names are taken: ${names.message}`)
    if (condition('Established')?.status !== 'True') throw new NotYet('it is not established')
    const version = spec.versions.find(({ served }) => served)?.name
    probed = version === undefined ? undefined : `/apis/${spec.group}/${version}/${spec.names.plural}?limit=1`
  }
  // An API server says "established" before it can serve the kind: for a moment it answers 404, then 429 "storage is (re)initializing".
  const probe = async (path: string) => {
    const { status } = await client.transport.request({ method: 'GET', path, timeoutMs: PATIENCE_MS, signal })
    if (status === 404 || status === 429 || status >= 500) throw new NotYet(`the API server answers ${status}`)
  }
  const mayPass = (error: unknown) => error instanceof NotYet || isBusy(error)
  try {
    await patiently(clock, signal, PATIENCE_MS, mayPass, read)
    const path = probed
    if (path !== undefined) await patiently(clock, signal, PATIENCE_MS, mayPass, () => probe(path))
  } catch (error) {
    signal.throwIfAborted()
    const late = error instanceof NotYet ? ` after ${PATIENCE_MS / 1000} s` : ''
    throw new CliError(exitCodes.cluster, `the definition ${name} is not served: ${text(error)}${late}`, { cause: error })
  }
}

class NotYet extends Error {}

/** An error's message, and what to do where rights are missing. */
export function text(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return isForbidden(error) ? `${message}; it needs the verbs get, create and patch there` : message
}
