/** The election that a process takes part in: which Lease, under which name, and what happens when it is won or lost. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { Client } from '../api/client.ts'
import { delay, systemClock, systemRandom } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import { createTransport } from '../api/http-transport.ts'
import type { Transport } from '../api/transport.ts'
import { Elector } from '../leadership/elector.ts'
import { type FencedTransport, fencedTransport } from '../leadership/fenced-transport.ts'
import { leaseName, podOf } from '../leadership/identity.ts'
import type { LeaseLostError } from '../leadership/lease-lost-error.ts'
import { describeMissing, missingLeaseVerbs } from '../leadership/permissions.ts'
import { startWatchdog } from '../leadership/watchdog.ts'
import { keyOf, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { LeaderOptions } from './options.ts'

/** How long writes that outlive their runs are waited for before the lease is given up. */
const SETTLE_MS = 5_000

export interface ElectionOptions {
  readonly leader: LeaderOptions
  readonly cluster: Cluster
  /** That of the operator; what it writes is fenced. */
  readonly transport: Transport
  /** The operator's name. */
  readonly name: string
  readonly userAgent: string
  readonly log: Log
  readonly signal: AbortSignal
}

export interface Election {
  readonly lease: ObjectRef
  readonly identity: string
  readonly elector: Elector
  /** Lets nothing out that writes, unless this process leads. */
  readonly transport: FencedTransport
  /** Takes part from now on. */
  start(hooks: { onLead: () => void; onLost: (error: LeaseLostError) => void }): void
  /** Gives the lease up, once the last write has ended. */
  end(): Promise<void>
}

/** @throws CliError where the Lease cannot be worked with */
export async function prepareElection(options: ElectionOptions): Promise<Election> {
  const { leader, cluster, name, log, userAgent, signal } = options
  const lease = { name: leader.leaseName ?? leaseName(name), namespace: leader.leaseNamespace ?? cluster.namespace ?? 'default' }
  const process = randomUUID()
  const identity = await identityIn(cluster, process)
  // A connection of its own: a renewal must not wait behind what the operator sends.
  const transport = createTransport(cluster, { clock: systemClock, random: systemRandom })
  const missing = await missingLeaseVerbs(transport, lease, signal)
  if (missing.length > 0) {
    await transport.close()
    throw new CliError(exitCodes.cluster, describeMissing(missing, lease))
  }

  const lastWords = JSON.stringify({
    level: 'fatal',
    lease: keyOf(lease),
    identity,
    msg: 'the event loop was blocked until the lease could not be relied on any more; ended by the watchdog',
  })
  const watchdog = startWatchdog({ clock: systemClock, lastWords })
  let hooks: Parameters<Election['start']>[0] | undefined
  const elector = new Elector({
    client: new Client({ transport, clock: systemClock, userAgent }),
    clock: systemClock,
    random: systemRandom,
    log,
    lease,
    candidate: { identity, process },
    durations: leader.durations,
    onLead: () => hooks?.onLead(),
    onLost: (error) => hooks?.onLost(error),
    onDeadline: (deadline) => watchdog.watch(deadline),
  })
  const fenced = fencedTransport(options.transport, elector)
  return {
    lease,
    identity,
    elector,
    transport: fenced,
    start(given) {
      hooks = given
      elector.start()
    },
    async end() {
      const over = new AbortController()
      const late = delay(systemClock, SETTLE_MS, over.signal).then(
        () => true,
        () => false,
      )
      if (await Promise.race([fenced.whenSettled().then(() => false), late])) {
        log.warn({ lease: keyOf(lease) }, 'a write is still under way; the lease is not released but expires')
      } else await elector.release()
      over.abort()
      await watchdog.stop()
      await transport.close()
    },
  }
}

/**
 * In a cluster the name of the pod: by its token, which is what the API server knows it by, or by POD_NAME, or by the host name, which is the
 * same but for long ones. Elsewhere several processes may share a host.
 */
async function identityIn(cluster: Cluster, process: string): Promise<string> {
  const pod = podOf(await cluster.credentials()) ?? globalThis.process.env['POD_NAME']
  if (pod !== undefined && pod !== '') return pod
  return cluster.source === 'in-cluster' ? hostname() : `${hostname()}_${process.slice(0, 8)}`
}
