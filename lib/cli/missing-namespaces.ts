/** A namespace that `-n` misspells looks like one without objects: said at the start. */

import type { Client } from '../api/client.ts'
import { type KindRef, kind } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'

const Namespace: KindRef = kind('v1', 'Namespace', { plural: 'namespaces', scope: 'Cluster' })

/** Warns of those that do not exist. Says nothing where that cannot be known: many operators may not read namespaces, and need not. */
export async function warnOfMissing(
  namespaces: readonly string[],
  client: Pick<Client, 'find'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    namespaces.map(async (name) => {
      const found = await client.find(Namespace, { name }, { signal }).catch(() => 'unknown' as const)
      if (found === undefined) log.warn({ namespace: name }, `the namespace ${name} does not exist; it is served as soon as it does`)
    }),
  )
}
