/**
 * The transport to a real API server: HTTP/2 over one connection, HTTP/1.1 where the server offers no more or many requests are to come. Certificates are
 * always verified unless the kubeconfig says otherwise.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock, Random } from './clock.ts'
import type { Cluster } from './cluster.ts'
import { ConnectionPool } from './connection-pool.ts'
import { Exchange, type Way } from './exchange.ts'
import type { MayWrite } from './guarded-socket.ts'
import type { Transport, TransportRequest, TransportResponse, TransportStream } from './transport.ts'

/** Sockets and their timers outlive the runs whose requests began them, and must not hold on to them, nor act in their name. */
const outside: <T>(f: () => T) => T = AsyncLocalStorage.snapshot()

export interface TransportOptions {
  readonly clock: Clock
  readonly random: Random
  /**
   * Whether many requests are to come: then they go over HTTP/1.1 on sockets of their own, up to 16, beside the HTTP/2 of watches. Default: one
   * connection for everything.
   */
  readonly lanes?: boolean
}

/**
 * Connects on the first request. `request` and `stream` reject with `TimeoutError`, `ConnectionError`, the signal's
 * reason, or the error of the cluster's credentials (`ConfigError`). A 401 is answered with renewed credentials once.
 */
export function createTransport(cluster: Cluster, { clock, random, lanes }: TransportOptions): Transport {
  const url = new URL(cluster.server)
  const proxy = cluster.proxy === undefined ? undefined : new URL(cluster.proxy)
  const pools: ConnectionPool[] = []
  const open = (mayWrite?: MayWrite): Way => {
    const pool = new ConnectionPool({ url, proxy, clock, mayWrite, lanes }, random)
    pools.push(pool)
    return { cluster, pool, clock, prefix: url.pathname.replace(/\/+$/, '') }
  }
  const plain = open()
  let guarded: { readonly way: Way; readonly mayWrite: MayWrite } | undefined
  const wayOf = ({ mayWrite }: TransportRequest): Way => {
    if (mayWrite === undefined) return plain
    if (guarded?.mayWrite !== mayWrite) guarded = { way: open(mayWrite), mayWrite }
    return guarded.way
  }
  return {
    request: (request: TransportRequest) =>
      outside(
        () => new Promise<TransportResponse>((resolve, reject) => new Exchange(wayOf(request), request, false, resolve, reject).start()),
      ),
    stream: (request: TransportRequest) =>
      outside(
        () => new Promise<TransportStream>((resolve, reject) => new Exchange(wayOf(request), request, true, resolve, reject).start()),
      ),
    close: async () => {
      for (const pool of pools) pool.close()
    },
  }
}
