/**
 * The first request. It tells a cluster that is down for the moment from one that will never answer: a wrong certificate, credentials
 * that are not accepted. An operator in a cluster must survive the first, a person wants to hear of the second at once.
 */

import { type Clock, delay, type Random } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import { ConnectionError, StatusError, statusError, TimeoutError } from '../api/status-error.ts'
import type { Transport } from '../api/transport.ts'
import type { Log } from '../resource/log.ts'
import { CliError, exitCodes } from './exit-codes.ts'

interface ReachOptions {
  readonly cluster: Pick<Cluster, 'server' | 'context' | 'source' | 'files'>
  readonly transport: Pick<Transport, 'request'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly signal: AbortSignal
  /** Give up after so many milliseconds; absent: never, as long as the trouble may pass. */
  readonly patienceMs?: number | undefined
}

const REQUEST_MS = 5_000
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 10_000
/** A token that is being replaced is refused for a moment; the transport reads it anew for each try. */
const UNAUTHORIZED_TRIES = 3

/** In milliseconds: a person and a script with `--once` want an answer, an operator in a cluster waits for as long as it takes. */
export function patience({ terminal, once }: { terminal: boolean; once: boolean }): number | undefined {
  return terminal || once ? 10_000 : undefined
}

/** Resolves once the API server has answered. Rejects with a `CliError` of exit code 4, or with the signal's reason. */
export async function reachCluster(options: ReachOptions): Promise<void> {
  const { clock, random, log, signal, patienceMs } = options
  const start = clock.monotonic()
  let unauthorized = 0
  for (let tries = 1; ; tries++) {
    const error = await ask(options)
    signal.throwIfAborted()
    if (error === undefined) return
    const refused = error instanceof StatusError && error.status === 401
    if (refused && ++unauthorized === UNAUTHORIZED_TRIES)
      throw new CliError(exitCodes.cluster, notAccepted(options.cluster), { cause: error })
    if (!refused && !mayPass(error)) throw new CliError(exitCodes.cluster, `${options.cluster.server}: ${reason(error)}`, { cause: error })
    const backoff = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1)) * (0.75 + random() / 2)
    const wait = Math.max(backoff, error instanceof StatusError ? (error.retryAfterMs ?? 0) : 0)
    if (patienceMs !== undefined && clock.monotonic() - start + wait > patienceMs) {
      throw new CliError(exitCodes.cluster, `cannot reach ${options.cluster.server}: ${reason(error)}; ${advice(options.cluster)}`, {
        cause: error,
      })
    }
    log.warn(
      { server: options.cluster.server, attempt: tries, retryInMs: Math.round(wait) },
      `the API server does not ${refused ? 'accept the credentials' : 'answer'} yet: ${reason(error)}`,
    )
    await delay(clock, wait, signal)
  }
}

/** `/version` is open to everybody who is not refused as a whole. */
async function ask({ transport, signal }: ReachOptions): Promise<Error | undefined> {
  try {
    const { status, headers, body } = await transport.request({ method: 'GET', path: '/version', timeoutMs: REQUEST_MS, signal })
    // 403 and 404 come from a server that is there.
    return status === 401 || status === 429 || status >= 500 ? statusError('GET', '/version', status, headers, body) : undefined
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Trouble that needs no hand: a server that starts or is overloaded, a name that is not there yet. */
function mayPass(error: Error): boolean {
  if (error instanceof StatusError || error instanceof TimeoutError) return true
  return error instanceof ConnectionError && !codes(error).some((code) => TLS_TROUBLE.test(code))
}

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes, and a server that speaks no TLS. */
const TLS_TROUBLE =
  /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$)/

function codes(error: unknown): string[] {
  const found: string[] = []
  for (let e = error; e instanceof Error && found.length < 8; e = e.cause)
    found.push('code' in e && typeof e.code === 'string' ? e.code : '')
  return found
}

function reason(error: Error): string {
  const code = codes(error).find((one) => TLS_TROUBLE.test(one))
  if (code === undefined) return error.message
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return `no TLS connection (${error.message}); is the address and its scheme right?`
  return `its certificate is not trusted (${code}); check certificate-authority in the kubeconfig`
}

function notAccepted({ server, source, context, files }: ReachOptions['cluster']): string {
  const where = files.join(', ')
  if (source === 'in-cluster') {
    return `${server} does not accept the service account token in ${where} (401 Unauthorized): it has expired, or its account is gone; check the service account`
  }
  return `${server} does not accept the credentials of context "${context}" in ${where} (401 Unauthorized): they have expired, or are those of another cluster; log in again, or choose others with --context or --kubeconfig`
}

function advice({ source }: ReachOptions['cluster']): string {
  return source === 'in-cluster'
    ? 'check the network policy of the pod'
    : 'check that the cluster runs, or choose another with --context or --kubeconfig'
}
