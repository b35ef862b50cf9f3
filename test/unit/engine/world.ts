/** An operator on a fake API server, in time that only moves when a test says so. */
import { Client } from '../../../lib/api/client.ts'
import { Manager, type ManagerOptions } from '../../../lib/engine/manager.ts'
import type { Context } from '../../../lib/resource/context.ts'
import type { HandlerSpec, OwnedKind, ReconcileOptions, WatchedKind } from '../../../lib/resource/handler-spec.ts'
import type { KindRef } from '../../../lib/resource/kind.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'
import { type Any, FakeApi, type FakeKind } from './fake-api.ts'

const OURS = { conditions: true, observedGeneration: true, external: true }

export const Database: FakeKind = {
  apiVersion: 'db.example.com/v1',
  kind: 'Database',
  plural: 'databases',
  scope: 'Namespaced',
  status: OURS,
}
export const Site: FakeKind = { apiVersion: 'db.example.com/v1', kind: 'Site', plural: 'sites', scope: 'Cluster', status: OURS }
export const StatefulSet: FakeKind = { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', scope: 'Namespaced' }
export const ConfigMap: FakeKind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
  generation: false,
  statusSubresource: false,
}
export const Secret: FakeKind = { ...ConfigMap, kind: 'Secret', plural: 'secrets' }
const Event: FakeKind = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', scope: 'Namespaced', generation: false }

export const FINALIZER = 'db.example.com/databases'

export type Ctx = Context<Any>
// biome-ignore lint/suspicious/noExplicitAny: a handler returns what it likes, also what it must not
export type Methods = Record<string, (object: Any, ctx: any) => any>

export interface HandlerOptions {
  readonly kind?: KindRef
  /** Method → the kind it builds. */
  readonly owns?: Readonly<Record<string, KindRef>>
  readonly stacked?: readonly KindRef[]
  readonly watches?: readonly WatchedKind[]
  readonly options?: ReconcileOptions
  readonly finalizer?: string
}

/** A class as the decorators would describe it: `reconcile`, and `remove` as its `@onDelete` where it is there. */
export function handler(methods: Methods, options: HandlerOptions = {}): { spec: HandlerSpec; instance: object } {
  const { kind = Database, owns = {}, stacked = [], watches = [] } = options
  const spec: HandlerSpec = {
    className: `${kind.kind}Handler`,
    kind,
    reconcile: { method: 'reconcile', options: options.options ?? {} },
    ...(methods['remove'] ? { onDelete: { method: 'remove', finalizer: options.finalizer } } : {}),
    owns: [
      ...Object.entries(owns).map(([method, kind]): OwnedKind => ({ kind, method, builder: true })),
      ...stacked.map((kind): OwnedKind => ({ kind, method: 'reconcile', builder: false })),
    ],
    watches,
  }
  return { spec, instance: { reconcile() {}, ...methods } }
}

export interface Line {
  readonly level: string
  readonly message: string
  // biome-ignore lint/suspicious/noExplicitAny: looked into at will
  readonly fields: any
}

const worlds: World[] = []

export class World {
  readonly clock = new ManualClock()
  readonly api = new FakeApi(this.clock, [Database, Site, StatefulSet, ConfigMap, Secret, Event])
  readonly lines: Line[] = []
  readonly log: Log = logger(this.lines)
  manager: Manager | undefined
  /** Whether `start()` has resolved. */
  started = false

  constructor() {
    worlds.push(this)
  }

  /** Starts an operator and lets it come to rest. */
  async start(...handlers: { spec: HandlerSpec; instance: object }[]): Promise<Manager> {
    return this.startWith({}, ...handlers)
  }

  async startWith(options: Partial<ManagerOptions>, ...handlers: { spec: HandlerSpec; instance: object }[]): Promise<Manager> {
    const client = new Client({ transport: this.api, clock: this.clock, random: () => 0.5 })
    this.manager = new Manager({ name: 'tsop', client, handlers, clock: this.clock, random: () => 0.5, log: this.log, ...options })
    void this.manager.start().then(() => {
      this.started = true
    })
    await settle()
    return this.manager
  }

  /** Ends the operator as SIGTERM does. */
  async stop(): Promise<void> {
    const { manager } = this
    this.manager = undefined
    if (manager === undefined) return
    let over = false
    const stopped = manager.stop().then(() => {
      over = true
    })
    for (let i = 0; i < 100 && !over; i++) await this.clock.advance(1000)
    await stopped
  }

  ms(ms: number): Promise<void> {
    return this.clock.advance(ms)
  }

  logged(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message)
  }
}

/** For `afterEach`: no test leaves an operator behind. */
export async function stopAll(): Promise<void> {
  for (const world of worlds.splice(0)) await world.stop()
}

export function condition(object: Any | undefined, type: string) {
  return object?.status?.conditions?.find((condition: { type: string }) => condition.type === type)
}

/** A promise and what settles it. */
export function deferred<T = void>() {
  return Promise.withResolvers<T>()
}

export { settle }

function logger(lines: Line[], bound: object = {}): Log {
  const line = (level: string) => (fields: object | string, message?: string) =>
    void lines.push({ level, message: message ?? String(fields), fields: typeof fields === 'object' ? { ...bound, ...fields } : bound })
  return {
    trace: line('trace'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => logger(lines, { ...bound, ...fields }),
  }
}
