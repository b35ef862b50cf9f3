/** One embedded API server: its parts put together. */

import { createAuth } from './auth/authenticate.ts'
import { builtinShape, type Shape } from './builtin/shapes/shape.ts'
import { builtinTypes } from './builtin/types.ts'
import { ADMIN, type Core, SYSTEM } from './core.ts'
import { createFaults, type Faults } from './faults.ts'
import { createHandler } from './handler.ts'
import { createOperations } from './operations/operations.ts'
import { createRegistry } from './registry.ts'
import { startDefinitions } from './stand-in/definitions.ts'
import { createStore } from './store/store.ts'
import { createExtensions } from './subresources/extensions.ts'
import { type ServerClock, serverClock, Tasks } from './tasks.ts'
import type { ApiRequest, ApiResponse, Lookup, ResourceType, Strategy } from './types.ts'

export interface ServerOptions {
  /** Default: the real time. */
  readonly clock?: ServerClock
  /** Numbers in [0, 1) for names and uids. Default `Math.random`. */
  readonly random?: () => number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Listens from the start; 0: any free port. Absent: in process only, until `listen`. */
  readonly port?: number
  readonly history?: {
    /** Events a kind remembers for watches and lists of the past. Default 10 000. */
    readonly size?: number
  }
  /** Gets faults of this server, which should not happen. Default: printed to stderr. */
  readonly report?: (error: unknown) => void
}

export interface EmbeddedServer {
  /** Where it listens. */
  readonly url: string | undefined
  readonly core: Core
  handle(request: ApiRequest): Promise<ApiResponse>
  /** What a client needs, as the object of a kubeconfig file. @throws Error while it does not listen */
  kubeconfig(): object
  /** Resolves when nothing is left to do by itself: collected, finalized, established. */
  settled(): Promise<void>
  /** Forgets the history: older watches and lists answer 410. */
  compact(): void
  /** What is to go wrong, for requests from outside. */
  readonly faults: Faults
  /** @returns the URL */
  listen(port?: number): Promise<string>
  close(): Promise<void>
}

export async function createServer(options: ServerOptions = {}): Promise<EmbeddedServer> {
  const report =
    options.report ?? ((error) => void process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`))
  const core = createCore(options, report)
  const auth = createAuth(core, { enforce: false })
  const faults = createFaults(core.clock)
  const handle = faults.wrap(createHandler({ core, authenticate: auth.authenticate, extensions: createExtensions(core, auth), report }))
  await bootstrap(core)
  startDefinitions(core)
  let listening: { port: number; close(): Promise<void> } | undefined
  const host = options.host ?? '127.0.0.1'
  const server: EmbeddedServer = {
    get url() {
      return listening === undefined ? undefined : `http://${host}:${listening.port}`
    },
    core,
    handle,
    kubeconfig() {
      if (server.url === undefined) throw new Error('the embedded API server does not listen: call listen() first')
      return kubeconfig(server.url)
    },
    settled: () => core.tasks.settled(),
    compact: () => core.store.compact(),
    faults,
    async listen(port = 0) {
      if (listening === undefined) {
        const { listen } = await import('./http/listener.ts')
        listening = await listen(handle, { host, port, report })
      }
      return server.url as string
    },
    async close() {
      core.tasks.stop()
      await listening?.close()
      listening = undefined
    },
  }
  if (options.port !== undefined) await server.listen(options.port)
  return server
}

function createCore(options: ServerOptions, report: (error: unknown) => void): Core {
  const clock = options.clock ?? serverClock
  const store = createStore({ report, ...(options.history?.size === undefined ? {} : { historySize: options.history.size }) })
  const registry = createRegistry()
  for (const types of byResource(builtinTypes(new Map<string, Strategy>()))) {
    const [first] = types
    if (first !== undefined) registry.set(first.group, first.resource, types.map(typed))
  }
  const lookup: Lookup = {
    get: (group, resource, namespace, name) => store.bucket(`${group}/${resource}`).get(namespace, name)?.object,
    list: (group, resource, namespace) =>
      store
        .bucket(`${group}/${resource}`)
        .list(namespace === undefined ? {} : { namespace })
        .map(({ object }) => object),
  }
  const core: Core = {
    clock,
    random: options.random ?? Math.random,
    tasks: new Tasks(clock, report),
    store,
    registry,
    lookup,
    operations: createOperations(() => core),
    services: new Map(),
    admission: [],
    authorizer: undefined,
  }
  return core
}

/** A kind whose objects are decoded and written as its Go type would be. */
function typed(type: ResourceType): ResourceType {
  // Looked up with the first object: reading all shapes takes longer than starting.
  let shape: Shape | undefined
  const own = () => {
    shape ??= builtinShape(type.group, type.version, type.kind) ?? NO_SHAPE
    return shape
  }
  return { ...type, prune: (object) => own().decode(object), normalize: (object) => own().normalize(object) }
}

const NO_SHAPE: Shape = { decode: () => [], normalize: () => {}, problem: () => undefined }

function byResource(types: readonly ResourceType[]): Iterable<readonly ResourceType[]> {
  const groups = new Map<string, ResourceType[]>()
  for (const type of types) {
    const key = `${type.group}/${type.resource}`
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [type])
    else known.push(type)
  }
  return groups.values()
}

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

async function bootstrap(core: Core): Promise<void> {
  const type = core.registry.find('', 'v1', 'namespaces') as ResourceType
  for (const name of NAMESPACES) {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } }
    await core.operations.create(type, '', { ...object, spec: { finalizers: ['kubernetes'] } }, { user: SYSTEM })
  }
}

function kubeconfig(url: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'embedded', cluster: { server: url } }],
    users: [{ name: ADMIN.name, user: {} }],
    contexts: [{ name: 'embedded', context: { cluster: 'embedded', user: ADMIN.name, namespace: 'default' } }],
    'current-context': 'embedded',
  }
}
