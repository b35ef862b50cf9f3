/** The cluster of a test: an API server, the operator on it, and everything a test needs to look at both. */
import { Client } from '../api/client.ts'
import { type Clock, systemClock, systemRandom } from '../api/clock.ts'
import { ConnectionError, TimeoutError } from '../api/status-error.ts'
import type { Transport } from '../api/transport.ts'
import { inProcess } from '../embedded/http/in-process.ts'
import { createServer, type EmbeddedServer } from '../embedded/server.ts'
import type { SimulationOptions } from '../embedded/simulate/options.ts'
import type { ApiRequest, ApiResponse } from '../embedded/types.ts'
import { RunClient } from '../engine/run-client.ts'
import type { Applied, ContextClient } from '../resource/context-client.ts'
import { formatDuration, parseDuration } from '../resource/duration.ts'
import type { Duration } from '../resource/handler-spec.ts'
import { groupOf, type KindRef, type KubeObject } from '../resource/kind.ts'
import type { Unrest } from '../resource/unrest.ts'
import { ENDPOINT, TestAdmission } from './admission.ts'
import { checkServed, install, kindsOf } from './definitions.ts'
import { type TestFaults, testFaults } from './faults.ts'
import { type Handler, type Handlers, handlersOf } from './handlers.ts'
import { awaited, lastSeen, unready } from './last-seen.ts'
import { type LogLine, lineText, logTo } from './log-lines.ts'
import { ManualClock } from './manual-clock.ts'
import { Operator } from './operator.ts'
import { pause, realNow } from './real-time.ts'
import { isWrite, type LoggedRequest, loggedRequest, OPERATOR } from './requests.ts'
import { type Busy, Rest } from './rest.ts'

export interface EmbeddedOptions {
  /**
   * Handler classes, or instances of them where the constructor takes something. A function makes them anew for each start of the operator,
   * as classes are. Default: no operator, only the API server.
   */
  readonly handlers?: Handlers
  /** More kinds whose definitions are installed, beside all that the handlers name. */
  readonly kinds?: readonly KindRef<unknown>[]
  /** What is there before the operator starts, as `apply` takes it. */
  readonly objects?: readonly object[]
  /**
   * `'manual'` (the default): time stands still until `clock.advance` moves it, or `until` lets it pass; hours pass in no time. `'real'`: the
   * time of the process.
   */
  readonly clock?: 'manual' | 'real'
  /** What the manual clock shows at first. Default: what the real one shows. */
  readonly now?: Date | string
  /** Workloads seem to run: Deployments get ready pods, claims volumes, Jobs end. Default false: nothing does, as in a cluster without nodes. */
  readonly simulate?: boolean | SimulationOptions
  /** The operator's name: field manager of its children, reporter of its Events. Default `operator`. */
  readonly name?: string
  /** Which namespaces the operator serves. Default: all. */
  readonly namespaces?: readonly string[]
  /** How many objects of a kind run at once, by `Kind` or `Kind.group`; goes before the handlers' own numbers. */
  readonly concurrency?: Readonly<Record<string, number>>
  /** False: the operator is started by `startOperator()`. Default true. */
  readonly start?: boolean
  /**
   * How long, in real time, nothing may happen before `settled`, `until` and `advance` take what goes on for hanging. Default `'1s'`: less
   * than the time limit of most test runners, so that you read why. More for handlers that wait for something outside for longer.
   */
  readonly patience?: Duration
  /** Gets each line that the operator logs. Default: kept for `logs()` only. */
  readonly onLog?: (line: LogLine) => void
}

export interface TestClock {
  /** Milliseconds since 1970. */
  now(): number
  /**
   * Moves the time on. What comes due on the way (a `requeueAfter`, a retry, a timeout) happens at its time, with all its consequences, before
   * the next thing does. A handler that waits for something outside is waited for, for as long as `patience` says.
   *
   * @throws TypeError where the clock is the real one
   */
  advance(duration: Duration): Promise<void>
}

export interface UntilOptions {
  /** How much of the cluster's time may pass. Default `'1m'`; with the real clock `'5s'`. */
  readonly within?: Duration
  /** What is waited for, for the error. */
  readonly what?: string
}

export interface TestCluster extends AsyncDisposable {
  /** Typed, like `ctx.client`; may do everything. */
  readonly client: ContextClient
  readonly clock: TestClock
  /** Trouble for the operator, on request. */
  readonly faults: TestFaults
  /**
   * Resolves when the server has done what it does by itself, and the operator is idle: no run goes on or is due, its watches have brought
   * everything, its Events are written. What waits is settled: a `requeueAfter`, a retry after an error.
   *
   * @throws Error where that does not come about
   */
  settled(): Promise<void>
  /** Lets the world go on, time included, until `ask` answers with something truthy, and gives that. What `ask` throws means: not yet. */
  until<T>(ask: () => T | Promise<T>): Promise<Truthy<T>>
  /** The same, until `holds` says so of the answer. */
  until<T, U extends T>(ask: () => T | Promise<T>, holds: (answer: T) => answer is U, options?: UntilOptions): Promise<U>
  until<T>(ask: () => T | Promise<T>, holds: (answer: T) => boolean, options?: UntilOptions): Promise<T>
  /** All requests for resources, by whomever, oldest first; as `text`, which `String(request)` gives, they are easy to compare. */
  requests(): readonly LoggedRequest[]
  /** What the operator wrote or tried to: without Events, dry runs and reviews. */
  writes(): readonly LoggedRequest[]
  /** Forgets the requests so far. */
  resetRequests(): void
  /** What the operator logged, from debug on; all of its lives. */
  logs(): readonly LogLine[]
  /**
   * Writes objects as `kubectl apply` does, in this order: with `apiVersion` and `kind`, and in the namespace `default` where they name none.
   * Fields that have a default may be left out.
   */
  apply(...objects: object[]): Promise<void>
  /** Installs the definitions of more kinds. */
  install(...kinds: KindRef<unknown>[]): Promise<void>
  /** Stops the operator as SIGTERM does: runs go on for up to 20 s. */
  stopOperator(): Promise<void>
  /** Starts an operator that was stopped, or was not started yet. */
  startOperator(): Promise<void>
  /** Kills the operator as SIGKILL does, in the middle of whatever it does, and starts a new one. */
  restart(): Promise<void>
  /** Lets others in, such as kubectl: listens on a free port of this machine. @returns the URL; everybody who reaches it may do everything */
  listen(): Promise<string>
  /** Ends everything. Safe to call twice. `await using` calls it. */
  close(): Promise<void>
}

export type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

const PATIENCE_MS = 1000
const WITHIN_MS = 60_000
const REAL_WITHIN_MS = 5_000
/** How often a condition is looked at that may come true from outside. */
const POLL_MS = 10
/** Where nothing goes on any more, something outside is waited for no longer than this part of the patience. */
const OUTSIDE = 1 / 2
/** What a handler gets, at the end of it all, that does not heed its signal. */
const CLOSE_PATIENCE_MS = 50
const LINES = 15

/**
 * An API server, and on it an operator of these handlers, both in this process. The definitions of their kinds are installed, the namespace
 * `default` is there.
 *
 * @example
 * await using cluster = await embedded({ handlers: [DatabaseHandler] })
 * await cluster.client.create(Database, { metadata: { name: 'orders', namespace: 'default' }, spec: { engine: 'mysql' } })
 * await cluster.settled()
 *
 * @throws HandlerError for a class that cannot be run; Error for a kind that nobody defines, or a definition that the server refuses
 */
/** A name that is mistyped would quietly do nothing: an operator that never runs, for example. */
const OPTIONS: Readonly<Record<keyof EmbeddedOptions, true>> = {
  handlers: true,
  kinds: true,
  objects: true,
  clock: true,
  now: true,
  simulate: true,
  name: true,
  namespaces: true,
  concurrency: true,
  start: true,
  patience: true,
  onLog: true,
}

function checkOptions(options: EmbeddedOptions): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, name))
      throw new TypeError(`embedded: there is no option ${name}; there are ${Object.keys(OPTIONS).join(', ')}`)
  }
  const { clock, start } = options
  if (clock !== undefined && clock !== 'manual' && clock !== 'real')
    throw new TypeError(`clock: expected 'manual' or 'real', not ${JSON.stringify(clock)}`)
  if (start !== undefined && typeof start !== 'boolean') throw new TypeError(`start: expected true or false, not ${JSON.stringify(start)}`)
}

export async function embedded(options: EmbeddedOptions = {}): Promise<TestCluster> {
  checkOptions(options)
  const manual = options.clock === 'real' ? undefined : new ManualClock(startOf(options))
  // Before a server is there that would have to be closed.
  const handlers = await handlersOf(options.handlers ?? [])
  const { simulate = false } = options
  const server = await createServer({ clock: manual ?? systemClock, simulate })
  const cluster = new Cluster(options, server, manual, handlers)
  try {
    const kinds = kindsOf(handlers.map(({ spec }) => spec))
    await cluster.install(...kinds.keys(), ...(options.kinds ?? []))
    checkServed(kinds, server.core.registry)
    await cluster.admit(handlers)
    await cluster.apply(...(options.objects ?? []))
    await cluster.settled()
    cluster.resetRequests()
    if (options.start !== false) await cluster.startOperator()
    return cluster
  } catch (error) {
    await cluster.close()
    throw error
  }
}

class Cluster implements TestCluster {
  readonly client: ContextClient
  readonly clock: TestClock
  readonly faults: TestFaults
  readonly #o: EmbeddedOptions
  readonly #server: EmbeddedServer
  readonly #manual: ManualClock | undefined
  readonly #clock: Clock
  readonly #rest: Rest
  readonly #admin: Transport
  readonly #handling = new Set<ApiRequest>()
  readonly #logs: LogLine[] = []
  /** For the first start; later ones make their own. */
  #handlers: readonly Handler[] | undefined
  readonly #admission: TestAdmission
  /** The kinds that the operator runs. */
  #reconciled: readonly KindRef[] = []
  #requests: LoggedRequest[] = []
  #operator: Operator | undefined
  #activity = 0
  #closing: Promise<void> | undefined

  constructor(options: EmbeddedOptions, server: EmbeddedServer, manual: ManualClock | undefined, handlers: readonly Handler[]) {
    this.#o = options
    this.#server = server
    this.#manual = manual
    this.#handlers = handlers
    this.#clock = manual ?? systemClock
    const patienceMs = parseDuration(options.patience ?? PATIENCE_MS, 'patience')
    this.#rest = new Rest({ clock: this.#clock, manual, patienceMs, busy: () => this.#busy(), activity: () => this.#happened() })
    // In real time: a test that waits for an answer cannot move the clock.
    this.#admin = this.#transport(systemClock, {})
    this.client = new RunClient({
      client: new Client({ transport: this.#admin, clock: systemClock, userAgent: 'test/tsop-testing' }),
      fieldManager: 'test',
      journal: { wrote() {}, deleted() {}, uidOf: () => undefined, sent: () => () => {} },
      check: () => this.#check(),
    })
    this.clock = {
      now: () => this.#clock.now(),
      advance: async (duration) => {
        this.#check()
        await this.#rest.advance(parseDuration(duration, 'clock.advance'))
      },
    }
    this.faults = testFaults(server.faults, server.core.registry)
    this.#admission = new TestAdmission(server.core.services, { clock: this.#clock, log: logTo((line) => this.#logged(line)) })
    server.core.requests.listen((served) => {
      const request = loggedRequest(server.core, served)
      if (request !== undefined) this.#requests.push(request)
    })
  }

  async settled(): Promise<void> {
    this.#check()
    try {
      await this.#rest.settled()
    } catch (error) {
      if (error instanceof Error) error.message += `${unready(this.#primaries())}${this.#story()}`
      throw error
    }
  }

  async until<T>(
    ask: () => T | Promise<T>,
    holds: (answer: T) => boolean = Boolean,
    { within, what = awaited(ask, holds) }: UntilOptions = {},
  ): Promise<never> {
    this.#check()
    const isReal = this.#manual === undefined
    const withinMs = within === undefined ? (isReal ? REAL_WITHIN_MS : WITHIN_MS) : parseDuration(within, 'until: within')
    const end = this.#clock.monotonic() + withinMs
    const patienceMs = parseDuration(this.#o.patience ?? PATIENCE_MS, 'patience')
    let since = realNow()
    let hanging: ReadonlySet<string> = new Set()
    for (;;) {
      const busy = new Set(hanging)
      const before = this.#happened()
      const quiet = await this.#rest.quiet(POLL_MS, busy)
      if (this.#happened() !== before) since = realNow()
      const last = await outcome(ask, holds)
      if (last.holds) return last.answer as never
      const patient = realNow() - since < patienceMs
      const due = this.#manual?.nextDue
      if (!quiet && patient) continue
      if (!quiet) hanging = busy
      if (due !== undefined && due <= end) {
        this.#manual?.fireNext()
        since = realNow()
      } else if (isReal ? this.#clock.monotonic() < end : realNow() - since < OUTSIDE * patienceMs) await pause(POLL_MS)
      else
        throw new Error(
          `waited ${formatDuration(withinMs)} of the cluster's time for ${what}, in vain${lastSeen(last)}${this.#goingOn()}${this.#story()}`,
        )
    }
  }

  requests(): readonly LoggedRequest[] {
    return [...this.#requests]
  }

  writes(): readonly LoggedRequest[] {
    return this.#requests.filter((request) => request.user === OPERATOR && isWrite(request))
  }

  resetRequests(): void {
    this.#requests = []
  }

  logs(): readonly LogLine[] {
    return [...this.#logs]
  }

  async install(...kinds: KindRef<unknown>[]): Promise<void> {
    this.#check()
    this.#admission.kinds(kinds)
    await install(kinds, this.client, ENDPOINT, () => this.#rest.settled())
  }

  /** Has the API server ask these handlers about objects. */
  async admit(handlers: readonly Handler[]): Promise<void> {
    this.#admission.handlers(handlers)
    await this.#admission.register(this.client, this.#o.namespaces)
  }

  async apply(...objects: object[]): Promise<void> {
    this.#check()
    for (const object of objects) {
      const { apiVersion, kind, metadata } = object as Partial<KubeObject>
      if (apiVersion === undefined || kind === undefined || metadata?.name === undefined)
        throw new TypeError(`apply: an object needs apiVersion, kind and metadata.name, not ${JSON.stringify(object)?.slice(0, 200)}`)
      const type = this.#server.core.registry.findKind(groupOf(apiVersion), kind, apiVersion.split('/').at(-1))
      if (type === undefined) throw new Error(`apply: nothing in this cluster defines ${kind} (${apiVersion}); install its definition`)
      const place = type.namespaced ? { namespace: 'default', ...metadata } : metadata
      const ref = { apiVersion, kind, plural: type.resource, scope: type.namespaced ? 'Namespaced' : 'Cluster' } as const
      await this.client.apply(ref, { ...object, metadata: place } as Applied<KubeObject>, { force: true })
    }
  }

  async startOperator(): Promise<void> {
    this.#check()
    if (this.#operator !== undefined) throw new Error('the operator runs already')
    const { handlers, name = 'operator', namespaces, concurrency } = this.#o
    if (handlers === undefined) return
    const made = this.#handlers ?? (await handlersOf(handlers))
    this.#handlers = undefined
    this.#admission.handlers(made)
    this.#reconciled = made.map(({ spec }) => spec.kind)
    const operator = new Operator({
      name,
      handlers: made,
      transport: this.#transport(this.#clock, { 'impersonate-user': OPERATOR }),
      clock: this.#clock,
      // No jitter: a back-off is as long as the reference says.
      random: this.#manual === undefined ? systemRandom : () => 0.5,
      namespaces,
      concurrency,
      onLog: (line) => this.#logged(line),
      onChange: () => {
        this.#activity++
      },
    })
    this.#operator = operator
    await this.#rest.drive(operator.start())
  }

  async stopOperator(): Promise<void> {
    this.#check()
    const operator = this.#operator
    this.#operator = undefined
    if (operator !== undefined) await this.#rest.drive(operator.stop())
  }

  async restart(): Promise<void> {
    this.#check()
    this.#operator?.kill()
    this.#operator = undefined
    await this.startOperator()
  }

  async listen(): Promise<string> {
    this.#check()
    return this.#server.listen()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const operator = this.#operator
    this.#operator = undefined
    this.#server.faults.clear()
    if (operator !== undefined) await this.#rest.drive(operator.stop(0), CLOSE_PATIENCE_MS)
    await this.#admin.close()
    await this.#server.close()
  }

  #logged(line: LogLine): void {
    this.#logs.push(line)
    this.#o.onLog?.(line)
  }

  #check(): void {
    if (this.#closing !== undefined) throw new Error('this cluster is closed')
  }

  #transport(clock: Clock, headers: Readonly<Record<string, string>>): Transport {
    const handle = async (request: ApiRequest): Promise<ApiResponse> => {
      this.#handling.add(request)
      this.#activity++
      try {
        return await this.#server.handle(request)
      } finally {
        this.#handling.delete(request)
        this.#activity++
      }
    }
    return inProcess(handle, {
      clock,
      headers,
      errors: {
        timeout: (message) => new TimeoutError(message),
        connection: (message, cause) => new ConnectionError(message, { cause }),
      },
    })
  }

  #busy(): Busy {
    const { tasks } = this.#server.core
    const { delayed } = this.#server.faults
    const operator = this.#operator
    const working = tasks.busy || this.#handling.size > delayed
    const unrest: Unrest[] = [...this.#handling].map(({ method, url }) => ({ what: `${method} ${url.split('?')[0]}` }))
    if (tasks.busy) unrest.push({ what: 'work of the API server' })
    if (tasks.nextDue !== undefined) unrest.push({ what: 'what the API server does next', at: tasks.nextDue })
    if (operator !== undefined) unrest.push(...operator.unrest)
    return { unrest, working, clockBound: delayed > 0 || operator?.isRetrying === true }
  }

  #happened(): number {
    return this.#activity + this.#server.core.store.revision
  }

  /** The objects of the handlers' kinds, as they are now. */
  #primaries(): KubeObject[] {
    const { lookup, registry } = this.#server.core
    return this.#reconciled.flatMap(({ apiVersion, kind }) => {
      const type = registry.findKind(groupOf(apiVersion), kind)
      return type === undefined ? [] : ([...lookup.list(type.group, type.resource)] as KubeObject[])
    })
  }

  #goingOn(): string {
    const { unrest } = this.#busy()
    return unrest.length === 0 ? '' : `\n  still going on: ${unrest.map(({ what }) => what).join(', ')}`
  }

  /** What a reader of a failure wants to know next. */
  #story(): string {
    const problem = this.#operator?.problem
    const lines = this.#logs.slice(-LINES).map((line) => `\n    ${lineText(line)}`)
    const said = lines.length === 0 ? '' : `\n  the operator's last lines:${lines.join('')}`
    return `${problem === undefined ? '' : `\n  the operator waits for ${problem}`}${said}`
  }
}

interface Outcome {
  readonly holds: boolean
  readonly answer?: unknown
  readonly error?: unknown
}

async function outcome<T>(ask: () => T | Promise<T>, holds: (answer: T) => boolean): Promise<Outcome> {
  let answer: T
  try {
    answer = await ask()
  } catch (error) {
    return { holds: false, error }
  }
  try {
    return { holds: holds(answer), answer }
  } catch (error) {
    return { holds: false, answer, error }
  }
}

function startOf({ now }: EmbeddedOptions): number {
  if (now === undefined) return Date.now()
  const start = new Date(now).getTime()
  if (Number.isNaN(start)) throw new TypeError(`now: expected a time such as '2026-01-01T00:00:00Z', not ${JSON.stringify(now)}`)
  return start
}
