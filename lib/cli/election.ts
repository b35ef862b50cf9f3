/** The election that a process takes part in: which Lease, under which name, and what happens when it is won or lost. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { Client } from '../api/client.ts'
import { delay, systemClock, systemRandom } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import { createTransport } from '../api/http-transport.ts'
import type { Transport } from '../api/transport.ts'
import { objectName } from '../generate/operator.ts'
import { Elector } from '../leadership/elector.ts'
import { type FenceSample, tryFence } from '../leadership/fence-check.ts'
import { type FencedTransport, fencedTransport } from '../leadership/fenced-transport.ts'
import { freshTransport } from '../leadership/fresh-transport.ts'
import { podOf } from '../leadership/identity.ts'
import { holderOf, Lease } from '../leadership/lease.ts'
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
  /** Where the main thread stood when it was last blocked, if that is known. */
  blockedAt(): string | undefined
  /** Takes part from now on. `sample` gives something to try the fence of the API server on. */
  start(hooks: { onLead: () => void; onLost: (error: LeaseLostError) => void; sample: () => FenceSample | undefined }): void
  /** Gives the lease up, once the last write has ended. */
  end(): Promise<void>
}

/** @throws CliError where the Lease cannot be worked with */
export async function prepareElection(options: ElectionOptions): Promise<Election> {
  const { leader, cluster, name, log, userAgent, signal } = options
  const lease = { name: leader.leaseName ?? objectName(name), namespace: leader.leaseNamespace ?? cluster.namespace ?? 'default' }
  const process = randomUUID()
  const pod = podOf(await cluster.credentials())
  const identity = identityIn(cluster, process, pod)
  // A connection of its own: a renewal must not wait behind what the operator sends.
  const transport = freshTransport(() => createTransport(cluster, { clock: systemClock, random: systemRandom }))
  const missing = await missingLeaseVerbs(transport, lease, signal)
  if (missing.length > 0) {
    await transport.close()
    throw new CliError(exitCodes.cluster, describeMissing(missing, lease))
  }

  const lastWords = {
    level: 'fatal',
    lease: keyOf(lease),
    identity,
    msg: 'the process was blocked or stopped until its lease could not be relied on any more; ended by the watchdog',
  }
  const watchdog = startWatchdog({ clock: systemClock, lastWords })
  let hooks: Parameters<Election['start']>[0] | undefined
  const client = new Client({ transport, clock: systemClock, userAgent })
  const elector = new Elector({
    client,
    clock: systemClock,
    random: systemRandom,
    log,
    lease,
    candidate: { identity, process },
    durations: leader.durations,
    onLead: () => {
      hooks?.onLead()
      void checkFence('leader')
    },
    onLost: (error) => hooks?.onLost(error),
    onDeadline: (deadline, othersFrom) => watchdog.watch(deadline, othersFrom),
  })
  const fenced = fencedTransport(options.transport, elector)

  /** A fence knows pods by their tokens, so that elsewhere there is none. */
  async function checkFence(as: 'leader' | 'stranger'): Promise<void> {
    const sample = pod === undefined ? undefined : hooks?.sample()
    if (sample === undefined) return
    const fields = { lease: keyOf(lease), identity }
    try {
      const live = as === 'leader' ? undefined : await client.find(Lease, lease, { signal })
      if (as === 'stranger' && (live === undefined || holderOf(live) === identity)) return
      const answer = await tryFence(client, sample, signal)
      if (as === 'stranger' && answer === 'refused')
        log.info(fields, 'the API server fences: it takes writes from the holder of the lease only')
      if (as === 'stranger' && answer === 'allowed') {
        log.warn(fields, 'the API server does not fence: it takes writes also from who does not hold the lease; see tsop generate fence')
      }
      if (as === 'leader' && answer === 'refused' && elector.leads) {
        // An API server that stopped to follow Leases goes on with those that it has seen.
        const why =
          'it names another Lease, or the API server does not follow Leases any more, as after the last policy about them was deleted'
        log.error(
          fields,
          `the fence of the API server refuses the holder of the lease: ${why}; delete its binding, or restart the API server`,
        )
      }
    } catch (error) {
      log.debug({ ...fields, err: error }, 'whether the API server fences could not be found out')
    }
  }

  return {
    lease,
    identity,
    elector,
    transport: fenced,
    blockedAt: () => watchdog.blockedAt(),
    start(given) {
      hooks = given
      // Before it takes part: a fence that works refuses it now.
      void checkFence('stranger').finally(() => elector.start())
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
function identityIn(cluster: Cluster, process: string, ofToken: string | undefined): string {
  const pod = ofToken ?? globalThis.process.env['POD_NAME']
  if (pod !== undefined && pod !== '') return pod
  return cluster.source === 'in-cluster' ? hostname() : `${hostname()}_${process.slice(0, 8)}`
}
