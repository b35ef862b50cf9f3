/**
 * An API server that knows Leases only, and processes that ask it: time is manual, and each process can be paused, as SIGSTOP does it: its clock
 * goes on, its timers and the answers for it wait.
 */
import { Client } from '../../../lib/api/client.ts'
import type { Clock, Timer } from '../../../lib/api/clock.ts'
import { ConnectionError, TimeoutError } from '../../../lib/api/status-error.ts'
import type { Transport, TransportRequest, TransportResponse } from '../../../lib/api/transport.ts'
import type { LeaseDurations } from '../../../lib/leadership/durations.ts'
import { Elector, type ElectorOptions } from '../../../lib/leadership/elector.ts'
import { type Lease, PROCESS_ANNOTATION } from '../../../lib/leadership/lease.ts'
import type { Log } from '../../../lib/resource/log.ts'
import { ManualClock, settle } from '../manual-clock.ts'

export const REF = { namespace: 'shop', name: 'operator' }
export const SHORT: LeaseDurations = { leaseMs: 3_000, renewMs: 2_000, retryMs: 500 }
const COLLECTION = '/apis/coordination.k8s.io/v1/namespaces/shop/leases'

/** What becomes of a request. Default: there and back at once. */
export interface Way {
  readonly thereMs?: number
  readonly backMs?: number
  /** The server never gets it, or its answer never comes. */
  readonly lost?: 'request' | 'answer'
  /** The answer is read before anybody notices that it took too long, as after a pause. */
  readonly patient?: true
  /** The server refuses it with this. */
  readonly status?: number
}

export class LeaseServer {
  readonly clock = new ManualClock()
  /** `PUT operator by a`, with what was answered. */
  readonly log: string[] = []
  /** Processes that were begun. */
  processes = 0
  #lease: Lease | undefined
  #version = 100
  #uids = 0

  get lease(): Lease | undefined {
    return this.#lease && structuredClone(this.#lease)
  }

  get holder(): string | undefined {
    return this.#lease?.spec?.holderIdentity
  }

  /** Somebody else writes the lease: undefined deletes it. */
  put(spec: Lease['spec'], process?: string): void {
    this.#store({
      metadata: { ...REF, ...this.#lease?.metadata, annotations: process ? { [PROCESS_ANNOTATION]: process } : {} },
      spec: { ...spec },
    } as Lease)
  }

  /** Somebody edits the lease, such as its labels. */
  edit(change: (lease: Lease) => void): void {
    const lease = this.lease as Lease
    change(lease)
    this.#store(lease)
  }

  delete(): void {
    this.#lease = undefined
  }

  answer(method: string, body: string | undefined, who: string): { status: number; body: object } {
    const answer = this.#answer(method, body)
    this.log.push(`${method} by ${who}: ${answer.status}`)
    return answer
  }

  #answer(method: string, body: string | undefined): { status: number; body: object } {
    const live = this.#lease
    if (method === 'GET') return live === undefined ? status(404, 'NotFound') : { status: 200, body: live }
    const sent = JSON.parse(body ?? '{}') as Lease
    if (method === 'POST') {
      if (live !== undefined) return status(409, 'AlreadyExists')
      return { status: 201, body: this.#store({ ...sent, metadata: { ...sent.metadata, uid: '', resourceVersion: '' } }) }
    }
    if (live === undefined) return status(404, 'NotFound')
    const { uid, resourceVersion } = sent.metadata
    if (uid !== live.metadata.uid || resourceVersion !== live.metadata.resourceVersion) return status(409, 'Conflict')
    return { status: 200, body: this.#store(sent) }
  }

  #store(lease: Lease): Lease {
    const uid = lease.metadata.uid || `uid-${++this.#uids}`
    this.#lease = { ...structuredClone(lease), metadata: { ...lease.metadata, uid, resourceVersion: String(++this.#version) } }
    return this.#lease
  }
}

function status(code: number, reason: string) {
  const details = { name: REF.name, kind: 'leases' }
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: reason, reason, details, code } }
}

export class Process {
  readonly elector: Elector
  readonly clock: ProcessClock
  readonly lost: string[] = []
  readonly warnings: string[] = []
  readonly infos: string[] = []
  /** When it began to act, by the server's clock. */
  ledAt: number | undefined
  /** When it took the lease. */
  tookAt: number | undefined
  way: (request: TransportRequest) => Way = () => ({})

  constructor(server: LeaseServer, identity: string, options: Partial<ElectorOptions> & { wall?: () => number } = {}) {
    this.clock = new ProcessClock(server.clock, options.wall)
    const { clock } = this
    const write = (lines: string[]) => (_fields: object, message: string) => void lines.push(message)
    const log = {
      trace() {},
      debug() {},
      info: write(this.infos),
      warn: write(this.warnings),
      error() {},
      child: () => log,
    } as unknown as Log
    this.elector = new Elector({
      client: new Client({ transport: transportOf(server, identity, clock, (request) => this.way(request)), clock }),
      clock,
      random: () => 0.5,
      log,
      lease: REF,
      candidate: { identity, process: `${identity}-${++server.processes}` },
      durations: SHORT,
      onLead: () => {
        this.ledAt = server.clock.monotonic()
      },
      onLost: (error) => void this.lost.push(error.message),
      ...options,
    })
  }

  start(): this {
    this.elector.start()
    return this
  }
}

/** A clock that can be paused with its process. */
export class ProcessClock implements Clock {
  readonly #base: ManualClock
  readonly #wall: (() => number) | undefined
  #paused = false
  readonly #due: (() => void)[] = []

  constructor(base: ManualClock, wall?: () => number) {
    this.#base = base
    this.#wall = wall
  }

  now(): number {
    return this.#wall?.() ?? this.#base.now()
  }

  monotonic(): number {
    return this.#base.monotonic()
  }

  after(ms: number, f: () => void): Timer {
    let cancelled = false
    const timer = this.#base.after(ms, () => {
      const fire = () => {
        if (!cancelled) f()
      }
      if (this.#paused) this.#due.push(fire)
      else fire()
    })
    return {
      cancel() {
        cancelled = true
        timer.cancel()
      },
    }
  }

  pause(): void {
    this.#paused = true
  }

  /** What has become due has its turn, one after the other, each with what follows from it. */
  async resume(): Promise<void> {
    this.#paused = false
    for (const fire of this.#due.splice(0)) {
      fire()
      await settle()
    }
  }
}

function transportOf(server: LeaseServer, who: string, clock: ProcessClock, wayOf: (request: TransportRequest) => Way): Transport {
  return {
    request: (request) =>
      new Promise<TransportResponse>((resolve, reject) => {
        const { thereMs = 0, backMs = 0, lost, patient, status: code } = wayOf(request)
        const { method, path, body, timeoutMs, signal } = request
        if (signal?.aborted) return reject(signal.reason)
        if (path.split('?')[0] !== (method === 'POST' ? COLLECTION : `${COLLECTION}/operator`))
          return reject(new ConnectionError(`no such path: ${path}`))
        const timer = clock.after(patient ? 3_600_000 : timeoutMs, () => end(() => reject(new TimeoutError('no answer'))))
        const abort = () => end(() => reject(signal?.reason))
        const end = (settle: () => void) => {
          timer.cancel()
          signal?.removeEventListener('abort', abort)
          settle()
        }
        signal?.addEventListener('abort', abort)
        if (lost === 'request') return
        // On its way it does not matter any more what becomes of its sender.
        const arrive = () => {
          const answer = code === undefined ? server.answer(method, body, who) : status(code, 'Refused')
          if (lost === 'answer') return
          const text = Buffer.from(JSON.stringify(answer.body))
          clock.after(backMs, () => end(() => resolve({ status: answer.status, headers: {}, body: text })))
        }
        if (thereMs === 0) arrive()
        else server.clock.after(thereMs, arrive)
      }),
    stream: () => Promise.reject(new Error('no watch')),
    close: async () => {},
  }
}
