/** `--install-crds`: puts the definitions of the handlers' resources into the cluster and waits until they are served. */

import type { Client } from '../api/client.ts'
import type { Clock } from '../api/clock.ts'
import { isForbidden, isTransient } from '../api/status-error.ts'
import type { HandlerSpec } from '../resource/handler-spec.ts'
import type { Condition, CustomResourceDefinition, KindRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { patiently } from './patiently.ts'

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

/** Every definition once; those of kinds defined elsewhere (`foreign`) are left to their owners. */
export function definitions(specs: readonly HandlerSpec[]): CustomResourceDefinition[] {
  const found = new Map<string, CustomResourceDefinition>()
  for (const { kind, owns, watches } of specs) {
    for (const { crd, foreign } of [kind, ...owns.map((o) => o.kind), ...watches.map((w) => w.kind)]) {
      if (crd !== undefined && foreign !== true) found.set(crd.metadata.name, crd)
    }
  }
  return [...found.values()]
}

/** Rejects with a `CliError` where the server refuses one, such as a change that would lose stored objects. */
export async function installCrds(crds: readonly CustomResourceDefinition[], context: ApplyContext): Promise<void> {
  const { client, clock, signal, log } = context
  for (const crd of crds) {
    const { name } = crd.metadata
    try {
      const options = { fieldManager: FIELD_MANAGER, force: true, signal }
      await patiently(clock, signal, PATIENCE_MS, isTransient, () => client.apply(CrdKind, crd, options))
    } catch (error) {
      signal.throwIfAborted()
      throw new CliError(exitCodes.cluster, `cannot install the definition ${name}: ${text(error)}`, { cause: error })
    }
    await established(name, context)
    log.info({ crd: name }, 'definition installed')
  }
}

/** Waits until the kind is served, at most 30 s. Rejects with a `CliError`. */
export async function established(name: string, { client, clock, signal }: ApplyContext): Promise<void> {
  const read = async () => {
    const { status } = await client.get(CrdKind, { name }, { signal })
    const condition = (type: string) => status?.conditions?.find((one) => one.type === type)
    const names = condition('NamesAccepted')
    if (names?.status === 'False') throw new Error(`its names are taken: ${names.message}`)
    if (condition('Established')?.status !== 'True') throw new NotYet()
  }
  try {
    await patiently(clock, signal, PATIENCE_MS, (error) => error instanceof NotYet || isTransient(error), read)
  } catch (error) {
    signal.throwIfAborted()
    throw new CliError(exitCodes.cluster, `the definition ${name} is not served: ${text(error)}`, { cause: error })
  }
}

class NotYet extends Error {
  constructor() {
    super(`it is not established after ${PATIENCE_MS / 1000} s`)
  }
}

/** An error's message, and what to do where rights are missing. */
export function text(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return isForbidden(error) ? `${message}; it needs the verbs get, create and patch there` : message
}
