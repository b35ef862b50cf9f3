/**
 * Where an operator can be looked at: metrics and probes, up before the cluster is reached and until the process ends. In a cluster both are
 * there by default; elsewhere only where they are asked for, because two operators on one machine would fight for the ports.
 */

import { hostname } from 'node:os'
import { systemClock } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import type { Certificate } from '../api/listen.ts'
import type { Transport } from '../api/transport.ts'
import type { ControllerStatus } from '../engine/manager.ts'
import type { CertificateFiles } from '../observe/certificate-files.ts'
import { Checks } from '../observe/checks.ts'
import { type Address, type Endpoint, serve } from '../observe/endpoint.ts'
import type { Metrics } from '../observe/metrics.ts'
import { observed } from '../observe/observed-transport.ts'
import { createTracing } from '../observe/tracing.ts'
import type { Log } from '../resource/log.ts'
import type { Tracing } from '../resource/observer.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import type { ObserveOptions, Where } from './observe-options.ts'
import { version } from './version.ts'

export interface Observability {
  /** Whoever has something to say about the process's health registers a check. */
  readonly checks: Checks
  /** Undefined: nobody looks. */
  readonly metrics: Metrics | undefined
  readonly tracing: Tracing | undefined
  /** What all calls go through that are to be counted and traced. */
  readonly transport: Transport
  /** From now on `/readyz` tells of these. */
  serves(manager: { readonly controllers: readonly ControllerStatus[] }): void
  /** From now on `/readyz` tells whether the API server gets answers. */
  answers(webhooks: { readonly answers: () => boolean }): void
  /** From now on `/livez` knows the lease, and a metric who leads. */
  leads(election: ObservedElection): void
}

export interface ObservedElection {
  readonly lease: { readonly name: string }
  readonly elector: {
    readonly state: 'standby' | 'settling' | 'leading' | 'lost' | 'ended'
    readonly holder: string
    /** Until when it may act, by the monotonic clock. */
    readonly deadline: number | undefined
  }
}

export interface ObservabilityOptions {
  readonly options: ObserveOptions
  readonly once: boolean
  readonly name: string
  readonly cluster: Cluster
  readonly transport: Transport
  /** Aborted when the operator is asked to stop. */
  readonly signal: AbortSignal
  readonly log: Log
}

/** `undo` gets what closes the endpoints. @throws CliError where an address cannot be had, or a certificate not be used */
export async function observability(given: ObservabilityOptions, undo: (() => Promise<void>)[]): Promise<Observability> {
  const { options, once, name, cluster, transport, signal, log } = given
  const places = addresses(options, cluster.source === 'in-cluster' && !once)
  const checks = new Checks()
  const starting = checks.register('startup', 'ready', () => ({ ok: false, note: 'waiting for the API server' }))
  checks.register('shutdown', 'ready', () => (signal.aborted ? { ok: false, note: 'stopping' } : { ok: true }))

  if (places.probes !== undefined) {
    const { probe } = await import('../observe/probes.ts')
    const endpoint = await listen('health-probe-bind-address', places.probes, (_, url) => probe(checks, url))
    undo.push(() => endpoint.close())
    log.info({ url: endpoint.url }, 'serving probes')
  }

  let metrics: Metrics | undefined
  if (places.metrics !== undefined) {
    const { Metrics } = await import('../observe/metrics.ts')
    metrics = new Metrics({ clock: systemClock, name, version: version(), process: true })
    await serveMetrics(metrics, places.metrics, given, undo)
  }

  const tracing = await createTracing(version())
  return {
    checks,
    metrics,
    tracing,
    transport: observed(transport, { clock: systemClock, host: new URL(cluster.server).host, metrics, tracing }),
    leads({ lease, elector }) {
      metrics?.leadership(lease.name, () => elector.state === 'leading')
      checks.register('leaderElection', 'live', () => {
        const { state, holder, deadline } = elector
        if (state === 'lost') return { ok: false, note: 'the lease is lost' }
        // It should have ended by itself.
        if (deadline !== undefined && systemClock.monotonic() > deadline)
          return { ok: false, note: 'the lease has not been renewed in time' }
        return { ok: true, note: state === 'standby' && holder !== '' ? `standing by for ${holder}` : state }
      })
    },
    answers(webhooks) {
      checks.register('webhooks', 'ready', () =>
        webhooks.answers() ? { ok: true } : { ok: false, note: 'there is no certificate to serve yet' },
      )
    },
    serves(manager) {
      starting()
      for (const [i, { kindName }] of manager.controllers.entries()) {
        checks.register(`kind/${kindName}`, 'ready', () => {
          const { state, problem } = manager.controllers[i] as ControllerStatus
          if (state === 'waiting') return { ok: false, note: 'what there is has not been seen yet' }
          // A restart would not bring the kind or the right that is missing, and the other kinds are served.
          return state === 'running' ? { ok: true } : { ok: true, note: `degraded: ${problem ?? 'it cannot be watched'}` }
        })
      }
    },
  }
}

async function serveMetrics(metrics: Metrics, address: Address, given: ObservabilityOptions, undo: (() => Promise<void>)[]): Promise<void> {
  const { options, transport, log } = given
  const { metricsPage } = await import('../observe/metrics-page.ts')
  if (!options.secure) {
    const endpoint = await listen('metrics-bind-address', address, (request, url) => metricsPage(metrics, undefined, request, url))
    undo.push(() => endpoint.close())
    log.info({ url: `${endpoint.url}/metrics` }, 'serving metrics')
    return
  }
  const { Reviewer } = await import('../observe/reviewer.ts')
  const reviewer = new Reviewer(transport, systemClock)
  const files = options.certificates === undefined ? undefined : await filesIn(options.certificates)
  const certificate = files?.certificate ?? (await ownCertificate())
  const page = (...[request, url]: Parameters<Parameters<typeof serve>[1]>) => metricsPage(metrics, reviewer, request, url)
  const endpoint = await listen('metrics-bind-address', address, page, certificate)
  undo.push(() => endpoint.close())
  const renew = (next: Certificate) => endpoint.renew(next)
  const ends = files === undefined ? renewal(log, renew) : files.watch(systemClock, log, renew)
  undo.push(async () => ends())
  log.info({ url: `${endpoint.url}/metrics` }, 'serving metrics')
}

/** `byDefault`: whether there are any that nobody asked for. `--metrics-secure` asks for metrics. */
export function addresses(
  { metrics, probes, secure }: ObserveOptions,
  byDefault: boolean,
): Readonly<Record<'metrics' | 'probes', Address | undefined>> {
  return {
    metrics: addressOf(metrics, byDefault || secure, secure ? 8443 : 8080),
    probes: addressOf(probes, byDefault, 8081),
  }
}

function addressOf(where: Where, byDefault: boolean, port: number): Address | undefined {
  if (where === 'default') return byDefault ? { host: undefined, port } : undefined
  return where === 'off' ? undefined : where
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this port needs more rights; take one from 1024 on',
  ENOTFOUND: 'no such host',
}

async function listen(option: string, address: Address, page: Parameters<typeof serve>[1], tls?: Certificate): Promise<Endpoint> {
  try {
    return await serve(address, page, tls)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const at = `${address.host ?? ''}:${address.port}`
    throw new CliError(exitCodes.configuration, `--${option} ${at}: ${REASONS[code] ?? message}; name another one, or 0 for none`, {
      cause: error,
    })
  }
}

const DAY = 86_400_000
/** Long before it ends. */
const OWN_DAYS = 365
const RENEW_DAYS = 300

/** Self-signed: it keeps listeners out, and does not prove who answers. */
async function ownCertificate(): Promise<Certificate> {
  const { createAuthority, createServerCertificate } = await import('../tls/certificates.ts')
  const validity = { from: systemClock.now() - DAY, to: systemClock.now() + OWN_DAYS * DAY }
  const authority = createAuthority('tsop-metrics', validity)
  return createServerCertificate(authority, { ...validity, commonName: 'tsop-metrics', hosts: ['localhost', '127.0.0.1', hostname()] })
}

async function filesIn(folder: string): Promise<CertificateFiles> {
  const { readCertificate } = await import('../observe/certificate-files.ts')
  try {
    return readCertificate(folder)
  } catch (error) {
    throw new CliError(exitCodes.configuration, `--metrics-cert-path ${folder}: ${(error as Error).message}`, { cause: error })
  }
}

/** Makes one of its own before the last one ends. @returns what ends it */
function renewal(log: Log, renewed: (certificate: Certificate) => void): () => void {
  let timer = systemClock.after(RENEW_DAYS * DAY, renew)
  function renew(): void {
    timer = systemClock.after(RENEW_DAYS * DAY, renew)
    ownCertificate().then(renewed, (error) => log.warn({ err: error }, 'no new certificate could be made for the metrics'))
  }
  return () => timer.cancel()
}
