/** One embedded API server: its parts put together. */
import { admissionPlugins } from './admission-control/plugins.ts'
import { startAggregation } from './auth/aggregation.ts'
import { type Auth, createAuth } from './auth/authenticate.ts'
import { createCertificates, type ServerCertificates } from './auth/certificates.ts'
import { announceAddress, bootstrap } from './bootstrap/bootstrap.ts'
import { startNamespaceContents } from './bootstrap/namespace-contents.ts'
import { startControllers } from './controllers/controllers.ts'
import { ADMIN, type Core } from './core.ts'
import { startDefinitions } from './crd/definitions.ts'
import { createCore } from './create-core.ts'
import { createFaults, type Faults } from './faults.ts'
import { createHandler } from './handler.ts'
import type { Listening } from './http/listener.ts'
import type { SimulationOptions } from './simulate/options.ts'
import { createExtensions } from './subresources/extensions.ts'
import type { ServerClock } from './tasks.ts'
import type { ApiRequest, ApiResponse } from './types.ts'

export interface ServerOptions {
  /** Default: the real time. */
  readonly clock?: ServerClock
  /** Numbers in [0, 1) for names and uids. Default `Math.random`. */
  readonly random?: () => number
  /** Users have the rights that roles give them; needs tokens, and so TLS. Default: everybody is admin. */
  readonly rbac?: boolean
  /** Bearer token of the admin, with `rbac`. Default: made up anew. */
  readonly token?: string
  /** TLS with a certificate authority made for this server. Default: as `rbac`. */
  readonly tls?: boolean
  /** Default 127.0.0.1. Others only with TLS. */
  readonly host?: string
  /** Listens from the start; 0: any free port. Absent: in process only, until `listen`. */
  readonly port?: number
  /** Workloads seem to run: Deployments get ready pods, claims volumes, Jobs end. Default: false, nothing does. */
  readonly simulate?: boolean | SimulationOptions
  /**
   * A file that keeps what is stored from one server to the next; made where it is missing. Default: nothing is kept.
   * `createServer` throws where it cannot be used.
   */
  readonly persist?: string
  readonly history?: {
    /** Events a kind remembers for watches and lists of the past. Default 10 000. */
    readonly size?: number
  }
  /** Gets faults of this server, which should not happen. Default: printed to stderr. */
  readonly report?: (error: unknown) => void
  /** Gets what the user of the server should know, such as an annotation that says nothing to it; once each. Default: printed to stderr. */
  readonly warn?: (message: string) => void
}

export interface EmbeddedServer {
  /** Where it listens. */
  readonly url: string | undefined
  /** Bearer token of the admin; undefined: nobody needs one. */
  readonly token: string | undefined
  readonly core: Core
  handle(request: ApiRequest): Promise<ApiResponse>
  /** What a client needs, as the object of a kubeconfig file. @throws Error while it does not listen */
  kubeconfig(): object
  /** Resolves when nothing is left to do by itself: collected, finalized, established. */
  settled(): Promise<void>
  /** Forgets the history: older watches and lists answer 410. */
  compact(): void
  /** Latency, errors, lost connections, on request. */
  readonly faults: Faults
  /** @returns the URL; where it listens already, that one */
  listen(port?: number): Promise<string>
  close(): Promise<void>
}

export async function createServer(options: ServerOptions = {}): Promise<EmbeddedServer> {
  const report = options.report ?? printed
  const journal = options.persist === undefined ? undefined : (await import('./persist/journal.ts')).openJournal(options.persist)
  const core = createCore(journal === undefined ? options : { ...options, restore: journal }, report)
  if (journal !== undefined) core.store.observe(journal.record)
  const rbac = options.rbac === true
  const certificates = rbac || options.tls === true ? createCertificates(core.clock.now(), hostsOf(options)) : undefined
  const auth = createAuth(core, { enforce: rbac, ...(options.token === undefined ? {} : { adminToken: options.token }) })
  if (rbac) core.authorizer = auth.rbac
  const ca = certificates?.ca ?? ''
  startDefinitions(core)
  bootstrap(core, { ca })
  startNamespaceContents(core, ca)
  startControllers(core)
  startAggregation(core)
  core.admission.push(...admissionPlugins(core, auth))
  const faults = createFaults({ after: (ms, f) => core.tasks.after(ms, f, true) })
  const { authenticate } = auth
  const served = createHandler({ core, authenticate, extensions: createExtensions(core, auth), report })
  const handle = faults.wrap(served, (request, status) => core.requests.answered(request, undefined, status, false))
  const server = new Server(options, core, auth, certificates, faults, handle, report, () => journal?.close())
  try {
    if (options.simulate !== undefined && options.simulate !== false) {
      const { startSimulation } = await import('./simulate/simulation.ts')
      const warn = options.warn ?? ((message) => void process.stderr.write(`embedded API server: ${message}\n`))
      await startSimulation(core, options.simulate === true ? {} : options.simulate, warn)
    }
    if (options.port !== undefined) await server.listen(options.port)
  } catch (error) {
    // The port is taken: nothing of a server that did not start stays.
    await server.close()
    throw error
  }
  return server
}

class Server implements EmbeddedServer {
  readonly core: Core
  readonly faults: Faults
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>
  readonly #host: string
  readonly #auth: Auth
  readonly #certificates: ServerCertificates | undefined
  readonly #report: (error: unknown) => void
  #closed: () => void
  #listening: Listening | undefined

  constructor(
    options: ServerOptions,
    core: Core,
    auth: Auth,
    certificates: ServerCertificates | undefined,
    faults: Faults,
    handle: (request: ApiRequest) => Promise<ApiResponse>,
    report: (error: unknown) => void,
    closed: () => void,
  ) {
    this.core = core
    this.faults = faults
    this.handle = handle
    this.#host = options.host ?? '127.0.0.1'
    this.#auth = auth
    this.#certificates = certificates
    this.#report = report
    this.#closed = closed
  }

  get url(): string | undefined {
    if (this.#listening === undefined) return undefined
    return `${this.#certificates === undefined ? 'http' : 'https'}://${this.#host}:${this.#listening.port}`
  }

  get token(): string | undefined {
    return this.#auth.enforced ? this.#auth.adminToken : undefined
  }

  kubeconfig(): object {
    if (this.url === undefined) throw new Error('the embedded API server does not listen: call listen() first')
    const ca = this.#certificates?.ca
    const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }
    return {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'embedded', cluster: { server: this.url, ...authority } }],
      users: [{ name: ADMIN.name, user: this.token === undefined ? {} : { token: this.token } }],
      contexts: [{ name: 'embedded', context: { cluster: 'embedded', user: ADMIN.name, namespace: 'default' } }],
      'current-context': 'embedded',
    }
  }

  settled(): Promise<void> {
    return this.core.tasks.settled()
  }

  compact(): void {
    this.core.store.compact()
  }

  async listen(port = 0): Promise<string> {
    if (this.#listening === undefined) {
      const { listen } = await import('./http/listener.ts')
      const tls = this.#certificates
      this.#listening = await listen(this.handle, { host: this.#host, port, tls, report: this.#report })
      announceAddress(this.core, this.#host, this.#listening.port)
    }
    return this.url as string
  }

  async close(): Promise<void> {
    this.core.tasks.stop()
    const listening = this.#listening
    this.#listening = undefined
    await listening?.close()
    this.#closed()
    this.#closed = () => {}
  }
}

/** The certificate's names beside those of this machine. */
const hostsOf = ({ host }: ServerOptions) => (host === undefined ? [] : [host])

function printed(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}
