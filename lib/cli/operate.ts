/** The operator itself: finds its cluster, prepares it, serves the handlers' kinds until it is asked to stop. */

import { hostname } from 'node:os'
import { Client } from '../api/client.ts'
import { systemClock, systemRandom } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import { createTransport } from '../api/http-transport.ts'
import { type ControllerStatus, Manager } from '../engine/manager.ts'
import { createLogger } from '../observe/logger.ts'
import { keyOf, kindName } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { banner, logBanner } from './banner.ts'
import type { Election, ElectionOptions } from './election.ts'
import { type EmbeddedCluster, embeddedCluster, needsEmbedded, startEmbedded } from './embedded-cluster.ts'
import { CliError, type ExitCode, exitCodes } from './exit-codes.ts'
import { exportLine } from './export-line.ts'
import { findCluster } from './find-cluster.ts'
import type { ApplyContext } from './install-crds.ts'
import type { LoadedHandler } from './load-handlers.ts'
import { explained } from './missing-kinds.ts'
import { warnOfMissing } from './missing-namespaces.ts'
import { nearest } from './nearest.ts'
import { observability } from './observability.ts'
import { finishOnce } from './once.ts'
import { operatorName } from './operator-name.ts'
import type { Options } from './options.ts'
import { patience, reachCluster } from './reach-cluster.ts'
import { aborted, type Stopped, unlessAborted } from './signals.ts'
import { EMBEDDED_KUBECONFIG, isSupervised } from './supervisor.ts'
import { version } from './version.ts'
import type { Webhooks, WebhooksOptions } from './webhooks.ts'

/**
 * `undo` gets the steps that end what was begun; the caller takes them in reverse order, however this ends. `managed` is called when
 * the manager begins to look after uncaught errors.
 */
export async function operate(
  options: Options,
  cwd: string,
  load: () => Promise<LoadedHandler[]>,
  signal: AbortSignal,
  undo: (() => Promise<void>)[],
  managed: () => void,
): Promise<ExitCode> {
  const terminal = process.stdout.isTTY === true
  const colour = terminal && process.stdout.hasColors()
  const format = options.logFormat ?? (terminal ? 'pretty' : 'json')
  const log = await createLogger({ level: options.logLevel ?? (options.debug ? 'debug' : 'info'), format, colour, stacks: options.debug })

  const { kubeconfig, services } = await embedded(options, cwd, log, undo)
  const cluster = kubeconfig === undefined ? await findCluster(options) : await embeddedCluster(kubeconfig)
  if (cluster.insecure) log.warn({ server: cluster.server }, 'the certificate of the API server is not verified (insecure-skip-tls-verify)')
  const name = options.name ?? operatorName(options.paths, cwd)
  const wire = createTransport(cluster, { clock: systemClock, random: systemRandom, lanes: true })
  undo.push(() => wire.close())
  const looks = await observability({ options: options.observe, once: options.once, name, cluster, transport: wire, signal, log }, undo)
  const { transport } = looks
  const patienceMs = patience({ terminal, once: options.once })
  // Both take a while and neither needs the other; where the handlers do not load, the cluster is of no interest any more.
  const useless = new AbortController()
  const reaching = { cluster, transport, clock: systemClock, random: systemRandom, log, patienceMs }
  const [handlers] = await Promise.all([
    load().catch((error) => {
      useless.abort(error)
      throw error
    }),
    reachCluster({ ...reaching, signal: AbortSignal.any([signal, useless.signal]) }),
  ])
  checkConcurrency(options, handlers)
  signal.throwIfAborted()

  const userAgent = `${name.replaceAll('/', '-')}/tsop-${version()}`
  const unfenced = new Client({ transport, clock: systemClock, userAgent })
  const webhooks = await answerer(
    { options, name, handlers, cluster, client: unfenced, log, metrics: looks.metrics, services, signal },
    undo,
  )
  if (webhooks !== undefined) looks.answers(webhooks)
  const [election] = await Promise.all([
    elect(options, { cluster, transport, name, userAgent, log, signal }, undo),
    // Every replica may do this: it is the same whoever does it, and a standby needs it to watch.
    prepare(options, cwd, handlers, cluster, webhooks, { client: unfenced, clock: systemClock, signal, log }),
  ])
  const client =
    election === undefined ? unfenced : new Client({ transport: election.transport, gate: election.elector, clock: systemClock, userAgent })
  webhooks?.lead(() => election?.elector.leads ?? true, client)

  const manager = new Manager({
    name,
    instanceName: election?.identity ?? hostname(),
    client,
    handlers,
    namespaces: options.namespaces,
    concurrency: options.concurrency,
    log,
    leadership: election?.elector,
    ...(election !== undefined && { blockedAt: election.blockedAt }),
    observer: looks.metrics,
    tracing: looks.tracing,
  })
  undo.push(() => manager.stop(options.graceMs))
  looks.serves(manager)
  if (election !== undefined) looks.leads(election)
  managed()
  await unlessAborted(signal, Promise.all([manager.start(), warnOfMissing(options.namespaces ?? [], client, log, signal)]))

  const readyMs = performance.now()
  const explain = (all: readonly ControllerStatus[]) =>
    explained(
      all,
      handlers.map(({ spec }) => spec),
      client,
    )
  const controllers = await unlessAborted(signal, explain(manager.controllers))
  const { server, context } = cluster
  const place = kubeconfig === undefined ? { server, context } : { server, context: '', embedded: { kubeconfig } }
  const facts = { version: version(), name, ...place, namespaces: options.namespaces, controllers, readyMs }
  if (format === 'json') {
    logBanner(log, facts)
    // For the person who started it without a terminal; what goes to standard output stays one JSON object a line.
    if (kubeconfig !== undefined) process.stderr.write(`tsop-run: ${server} is embedded, for development only\n${exportLine(kubeconfig)}\n`)
  } else process.stdout.write(banner(facts, terminal && !options.once ? hint(handlers) : undefined, colour))

  // Not before everything has been seen: whoever leads should have something to do.
  election?.start({
    sample: () => manager.writable,
    onLead() {
      log.info({ lease: keyOf(election.lease), identity: election.identity }, 'leading')
      manager.lead()
      webhooks?.lead(() => election.elector.leads, client)
    },
    onLost(error) {
      // In this very turn, so that nothing comes after it.
      try {
        log.error({ err: error }, 'not leading any more; exiting at once')
        manager.abandon(error)
        void transport.close()
      } finally {
        process.exit(exitCodes.failed)
      }
    },
  })
  if (options.once) return await finishOnce(manager, { explain, signal, log, timeoutMs: options.timeoutMs })
  tellRecovery(manager, log)
  await aborted(signal)
  const { by, message } = signal.reason as Stopped
  log.info(by === undefined ? { why: message } : { signal: by }, 'stopping: no new run starts, running ones get their time')
  return exitCodes.ok
}

async function elect(
  options: Options,
  given: Omit<ElectionOptions, 'leader'>,
  undo: (() => Promise<void>)[],
): Promise<Election | undefined> {
  if (!isElected(options, given.cluster)) return undefined
  const { prepareElection } = await import('./election.ts')
  const election = await prepareElection({ ...given, leader: options.leader })
  undo.push(() => election.end())
  return election
}

/** Whether there is one: in a cluster, unless it is declined; elsewhere, if it is asked for. */
function isElected({ leader, once }: Options, cluster: Cluster): boolean {
  const elected = leader.elect ?? (cluster.source === 'in-cluster' && !once)
  if (!elected && leader.given.length > 0) {
    throw new CliError(exitCodes.usage, `--${leader.given[0]} is for leader election, which is off outside a cluster; add --leader-elect`)
  }
  return elected
}

/** The kubeconfig of the API server that this operator, or the supervisor of `--watch`, runs for want of another one. */
async function embedded(options: Options, cwd: string, log: Log, undo: (() => Promise<void>)[]): Promise<Partial<EmbeddedCluster>> {
  const supervised = process.env[EMBEDDED_KUBECONFIG]
  if (isSupervised()) return supervised === undefined ? {} : { kubeconfig: supervised }
  if (await needsEmbedded(options, cwd, process.env)) {
    const server = await startEmbedded(options, cwd, (message) => log.warn(message))
    undo.push(server.close)
    return server
  }
  if (options.persist !== undefined) {
    throw new CliError(exitCodes.usage, '--persist is for the embedded API server, and there is a cluster; add --embedded')
  }
  return {}
}

/** Undefined where the handlers have nothing to say about objects before they are stored. */
async function answerer(given: WebhooksOptions, undo: (() => Promise<void>)[]): Promise<Webhooks | undefined> {
  const { needsServing } = await import('../admission/webhooks.ts')
  if (!needsServing(given.handlers.map(({ spec }) => spec))) return undefined
  const { prepareWebhooks } = await import('./webhooks.ts')
  return await prepareWebhooks(given, undo)
}

/** What is put into the cluster before the first run. */
async function prepare(
  options: Options,
  cwd: string,
  handlers: readonly LoadedHandler[],
  cluster: Cluster,
  webhooks: Webhooks | undefined,
  context: ApplyContext,
): Promise<void> {
  // Read before anything is written: a wrong manifest leaves the cluster as it was.
  const manifests = options.apply.length === 0 ? [] : await (await import('./read-manifests.ts')).readManifests(options.apply, cwd)
  if (options.installCrds || cluster.source === 'embedded') {
    const { definitions, installCrds } = await import('./install-crds.ts')
    const found = definitions(
      handlers.map(({ spec }) => spec),
      webhooks?.endpoint,
    )
    await installCrds(found, context)
  }
  // Before the first object: samples are checked and filled in as any other.
  await webhooks?.register()
  if (manifests.length > 0) {
    const [only, ...others] = options.namespaces ?? []
    const namespace = (others.length === 0 ? only : undefined) ?? cluster.namespace ?? 'default'
    const { applyManifests } = await import('./apply-manifests.ts')
    await applyManifests(manifests, namespace, context)
  }
}

/** After a start at which a kind could not be watched: that all of them are. */
function tellRecovery(manager: Manager, log: Log): void {
  const failing = () => manager.controllers.some(({ state }) => state === 'failing')
  if (!failing()) return
  const end = manager.onChange(() => {
    if (failing()) return
    end()
    log.info('every kind is served now')
  })
}

function checkConcurrency({ concurrency }: Options, handlers: readonly LoadedHandler[]): void {
  const kinds = handlers.flatMap(({ spec: { kind } }) => [kind.kind, kindName(kind)])
  for (const name of Object.keys(concurrency)) {
    if (kinds.some((kind) => kind.toLowerCase() === name.toLowerCase())) continue
    const close = nearest(name, kinds)
    const all = handlers.map(({ spec }) => kindName(spec.kind)).join(', ')
    throw new CliError(
      exitCodes.usage,
      `--concurrency ${name}: no handler reconciles this kind; ${close === undefined ? `there are ${all}` : `did you mean ${close}?`}`,
    )
  }
}

function hint(handlers: readonly LoadedHandler[]): string {
  const [first] = handlers
  const again = isSupervised() ? ' · restarts when a handler file changes' : ''
  return first === undefined ? '' : `Ctrl-C stops${again} · next: kubectl get ${kindName(first.spec.kind).toLowerCase()} -A`
}
