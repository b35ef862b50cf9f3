/** How the API server comes to ask the handlers: in this process, by a Service, by a URL, or not at all. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CertificateStore } from '../admission/certificate-store.ts'
import { type Endpoint, type WebhookConfiguration, webhookConfigurations } from '../admission/configurations.ts'
import { publishAuthorities } from '../admission/publish.ts'
import { type ServerOptions, serveWebhooks, type WebhookServer } from '../admission/server.ts'
import { pathsOf, type WebhookService, webhookService } from '../admission/service.ts'
import { convertedKinds, secretNameOf, webhooksOf } from '../admission/webhooks.ts'
import type { Client } from '../api/client.ts'
import { type Clock, delay, systemClock } from '../api/clock.ts'
import type { Cluster } from '../api/cluster.ts'
import type { Certificate } from '../api/listen.ts'
import { isNotFound } from '../api/status-error.ts'
import { objectName } from '../generate/operator.ts'
import { type KindRef, kindName } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import type { WebhookObserver } from '../resource/observer.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { FIELD_MANAGER, text } from './install-crds.ts'
import type { LoadedHandler } from './load-handlers.ts'
import type { Options } from './options.ts'

export interface Webhooks {
  /** For the definitions of kinds with conversions. Undefined: nobody can be asked. */
  readonly endpoint: Endpoint | undefined
  /** Whether the API server would get an answer. A pod is not ready before. */
  readonly answers: () => boolean
  /** Has the API server ask from now on, where that is this process' business. */
  register(): Promise<void>
  /** This process may look after the certificate whenever `leads` says so, by a client that writes as long as it leads and no longer. */
  lead(leads: () => boolean, client: Client): void
}

export interface WebhooksOptions {
  readonly options: Options
  /** The operator's name. */
  readonly name: string
  readonly handlers: readonly LoadedHandler[]
  readonly cluster: Cluster
  /** For what every replica does, whether it leads or not. */
  readonly client: Client
  readonly log: Log
  /** Undefined: nobody looks. */
  readonly metrics?: { webhooks(paths: readonly string[]): WebhookObserver } | undefined
  /** Of an API server in this process. */
  readonly services: Services | undefined
  /** Aborted when the operator is asked to stop. */
  readonly signal: AbortSignal
  readonly clock?: Clock
}

/** By `namespace/name` of the Service that stands for it. */
interface Services {
  set(name: string, service: WebhookService): unknown
}

const PORT = 9443
/** Nodes hear within seconds that a pod is ending, and until then a Service leads to it. */
const HEARD_MS = 5_000
/** From the start, or nobody asks. */
const answers = () => true

/** `undo` gets what ends the serving. @throws CliError where a port cannot be had, or a certificate not be used */
export async function prepareWebhooks(given: WebhooksOptions, undo: (() => Promise<void>)[]): Promise<Webhooks> {
  const { options, cluster, handlers, services, log } = given
  const { port, certificates, service, url } = options.webhooks
  const observer = given.metrics?.webhooks(pathsOf(handlers.map(({ spec }) => spec)))
  const answer = webhookService(handlers, { clock: systemClock, log, observer })
  const listen = (host: string | undefined, at: number, pair: Certificate) =>
    listening(answer, { host, port: at, pair, clock: systemClock, observer })
  if (url !== undefined) return byUrl(given, listen, url, port ?? Number(url.port || 443), undo)
  if (services !== undefined) return inProcess(given, answer, services)
  if (cluster.source === 'embedded') return byUrl(given, listen, undefined, 0, undo)
  const asked = port !== undefined || certificates !== undefined || service !== undefined
  if (port !== 0 && (asked || (cluster.source === 'in-cluster' && !options.once))) return byService(given, listen, port ?? PORT, undo)
  if (port !== 0) log.warn({}, unreachable(given))
  return { endpoint: undefined, answers, register: async () => {}, lead() {} }
}

function inProcess(given: WebhooksOptions, answer: WebhookService, services: Services): Webhooks {
  const service = { namespace: 'default', name: `${objectName(given.name)}-webhook` }
  services.set(`${service.namespace}/${service.name}`, answer)
  const endpoint = { service }
  return { endpoint, answers, register: () => register(given, [service.name, urlName(given)], endpoint, []), lead() {} }
}

/** `url` undefined: this machine, at any free port. */
async function byUrl(
  given: WebhooksOptions,
  listen: Listen,
  url: URL | undefined,
  port: number,
  undo: (() => Promise<void>)[],
): Promise<Webhooks> {
  const { certificates } = given.options.webhooks
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? '127.0.0.1'
  const loopback = host === 'localhost' || host === '::1' || host.startsWith('127.')
  const files = certificates === undefined ? undefined : await filesIn(certificates)
  const { pair, authorities } = files ?? (await throwAway(host))
  const server = await listen(loopback ? host : undefined, port, pair)
  undo.push(() => server.close())
  const ends = files?.watch(systemClock, given.log, (certificate) => server.renew(certificate))
  undo.push(async () => ends?.())
  const endpoint = { url: url?.href ?? `https://127.0.0.1:${server.port}`, caBundle: authorities }
  // What the operator in a cluster has stays; on the embedded server it is what an earlier start, without --watch, has left in its file.
  const names = [urlName(given), ...(given.cluster.source === 'embedded' ? [`${objectName(given.name)}-webhook`] : [])]
  given.log.info({ url: endpoint.url }, 'the API server asks this process about objects, for as long as it runs')
  return { endpoint, answers, register: () => register(given, names, endpoint, undo), lead() {} }
}

async function byService(given: WebhooksOptions, listen: Listen, port: number, undo: (() => Promise<void>)[]): Promise<Webhooks> {
  const { options, cluster, client, log, handlers } = given
  const namespace = cluster.namespace ?? 'default'
  const service = { namespace, name: options.webhooks.service ?? `${objectName(given.name)}-webhook` }
  const endpoint = { service }
  const forgotten = untilForgotten(given)
  if (options.webhooks.certificates !== undefined) {
    const { pair, watch } = await filesIn(options.webhooks.certificates)
    const server = await listen(undefined, port, pair)
    undo.push(() => forgotten().then(() => server.close()))
    const ends = watch(systemClock, log, (certificate) => server.renew(certificate))
    undo.push(async () => ends())
    log.info({ port: server.port }, 'serving webhooks')
    return { endpoint, answers, register: async () => {}, lead() {} }
  }
  const specs = handlers.map(({ spec }) => spec)
  const all = webhooksOf(specs)
  const targets = {
    mutating: all.some(({ type }) => type === 'default') ? service.name : undefined,
    validating: all.some(({ type }) => type === 'validate') ? service.name : undefined,
    definitions: convertedKinds(specs).flatMap(({ crd }) => (crd === undefined ? [] : [crd.metadata.name])),
  }
  let leader: { readonly leads: () => boolean; readonly client: Client } | undefined
  let server: WebhookServer | undefined
  const dns = `${service.name}.${service.namespace}`
  const store = new CertificateStore({
    client,
    clock: systemClock,
    log,
    secret: { name: secretNameOf(service.name), namespace },
    hosts: [`${dns}.svc`, `${dns}.svc.cluster.local`, dns, service.name],
    leader: () => (leader?.leads() === true ? leader.client : undefined),
    publish: (authorities, by) => publishAuthorities(by, targets, authorities),
    async renewed(pair) {
      if (server !== undefined) return server.renew(pair)
      server = await listen(undefined, port, pair)
      log.info({ port: server.port }, 'serving webhooks')
    },
  })
  undo.push(async () => {
    await store.stop()
    await forgotten()
    await server?.close()
  })
  return {
    endpoint,
    answers: () => server !== undefined,
    register: () => store.start(),
    lead(leads, by) {
      leader = { leads, client: by }
      void store.look()
    },
  }
}

/** Waits, after the operator was asked to stop, until no Service leads to its pod any more: whoever still comes is to be answered. */
function untilForgotten({ cluster, signal, clock = systemClock }: WebhooksOptions): () => Promise<void> {
  let at = 0
  if (cluster.source === 'in-cluster') signal.addEventListener('abort', () => (at = clock.monotonic() + HEARD_MS), { once: true })
  return () => delay(clock, Math.max(0, at - clock.monotonic()))
}

type Listen = (host: string | undefined, port: number, pair: Certificate) => Promise<WebhookServer>

async function listening(answer: WebhookService, options: ServerOptions): Promise<WebhookServer> {
  const { port } = options
  try {
    return await serveWebhooks(answer, options)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why =
      code === 'EADDRINUSE' ? 'the port is taken' : code === 'EACCES' ? 'this port needs more rights; take one from 1024 on' : message
    throw new CliError(exitCodes.configuration, `cannot answer webhooks at port ${port}: ${why}`, { cause: error })
  }
}

/** A certificate for as long as this process runs. */
async function throwAway(host: string): Promise<{ pair: Certificate; authorities: string }> {
  const { createAuthority, createServerCertificate } = await import('../tls/certificates.ts')
  const day = 86_400_000
  const now = systemClock.now()
  const validity = { from: now - day, to: now + 365 * day }
  const authority = createAuthority('tsop-run', validity)
  const hosts = [...new Set([host, 'localhost', '127.0.0.1', '::1'])]
  return { pair: createServerCertificate(authority, { ...validity, commonName: 'tsop-run', hosts }), authorities: authority.cert }
}

/** `authorities`: what the API server is to trust, `ca.crt` where it is there. */
async function filesIn(folder: string) {
  const { readCertificate } = await import('../observe/certificate-files.ts')
  try {
    const { certificate: pair, watch } = readCertificate(folder)
    let authorities = String(pair.cert)
    try {
      authorities = readFileSync(join(folder, 'ca.crt'), 'utf8')
    } catch {}
    return { pair, authorities, watch }
  } catch (error) {
    throw new CliError(exitCodes.configuration, `--webhook-cert-path ${folder}: ${(error as Error).message}`, { cause: error })
  }
}

const urlName = ({ name }: WebhooksOptions) => `${objectName(name)}-tsop-run`

/**
 * Writes the configurations under the first of the names, and takes them away again where `undo` is to do it. Those under the other names, which
 * earlier starts have left, go.
 */
async function register(
  { handlers, options, client, cluster }: WebhooksOptions,
  [name = '', ...others]: readonly string[],
  endpoint: Endpoint,
  undo: (() => Promise<void>)[],
): Promise<void> {
  const specs = handlers.map(({ spec }) => spec)
  // Elsewhere it is no object of the cluster: it needs no namespace to come back.
  const home = cluster.source === 'in-cluster' ? cluster.namespace : undefined
  const wanted = webhookConfigurations(specs, { name, endpoint, namespaces: options.namespaces, home })
  for (const configuration of wanted) {
    try {
      await client.apply(kindOf(configuration), configuration as never, { fieldManager: FIELD_MANAGER, force: true })
    } catch (error) {
      throw new CliError(exitCodes.cluster, `cannot write the ${configuration.kind} ${name}: ${text(error)}`, { cause: error })
    }
    undo.push(async () => {
      // The cluster may be gone by now.
      await client.delete(kindOf(configuration), { name }, { timeoutMs: 5_000 }).catch(() => {})
    })
  }
  // What an earlier start wrote, whose handlers had more to say.
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const) {
    const isWanted = wanted.some((configuration) => configuration.kind === kind)
    for (const stale of isWanted ? others : [name, ...others]) {
      await client.delete(kindOf({ kind }), { name: stale }).catch((error) => {
        if (!isNotFound(error)) throw error
      })
    }
  }
}

function kindOf({ kind }: Pick<WebhookConfiguration, 'kind'>): KindRef {
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, plural: `${kind.toLowerCase()}s`, scope: 'Cluster' }
}

/** Why nothing that the handlers say about objects counts here, and what to do. */
export function unreachable({ handlers, cluster: { server } }: Pick<WebhooksOptions, 'handlers' | 'cluster'>): string {
  const specs = handlers.map(({ spec }) => spec)
  const methods = webhooksOf(specs).map(({ spec, method }) => `${spec.className}.${method}()`)
  const kinds = convertedKinds(specs).map((kind) => `conversions of ${kindName(kind)}`)
  return (
    `the API server at ${server} cannot ask this process, so that ${[...methods, ...kinds].join(', ')} will not be called: ` +
    'run the operator in the cluster, work on an embedded API server (--embedded), or, where the API server can reach this machine, ' +
    'tell it how: --webhook-url https://HOST:9443'
  )
}
