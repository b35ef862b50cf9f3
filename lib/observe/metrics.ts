/**
 * What an operator counts, as Prometheus reads it. Each has a registry of its own: several operators in one process do not get into each
 * other's way. Numbers that can be looked up are looked up when somebody scrapes.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../api/clock.ts'
import type {
  ControllerLook,
  ControllerObserver,
  Observer,
  RestartReason,
  RunEnd,
  WatchLook,
  WebhookObserver,
} from '../resource/observer.ts'
import { METRICS, type MetricName, type MetricRow } from './metric-table.ts'

export interface MetricsOptions {
  readonly clock: Clock
  /** The operator's name. */
  readonly name: string
  /** Of tsop. */
  readonly version: string
  /** Whether memory, CPU, event loop and the like of the process are told as well. Default false: for who owns the process. */
  readonly process?: boolean
}

type Family = Readonly<Record<MetricName, Counter | Gauge | Histogram>>

/** Looks a number up that is not told. */
type Collect = () => void

export class Metrics implements Observer {
  readonly #registry = new Registry()
  readonly #clock: Clock
  readonly #metrics: Family
  readonly #collects: Collect[] = []

  constructor({ clock, name, version, process = false }: MetricsOptions) {
    this.#clock = clock
    const rows = Object.entries(METRICS) as [MetricName, MetricRow][]
    this.#metrics = Object.fromEntries(rows.map(([name, row]) => [name, made(name, row, this.#registry)])) as Family
    if (process) collectDefaultMetrics({ register: this.#registry })
    this.#gauge('tsop_info').set({ name, version }, 1)
    // Not 0, which would be a certificate that ended long ago.
    this.#gauge('tsop_webhook_certificate_expiration_timestamp_seconds').remove()
  }

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE

  /** All of it as text, as it is now. */
  async text(): Promise<string> {
    for (const collect of this.#collects) collect()
    return await this.#registry.metrics()
  }

  /** `isLeader` is asked at each scrape. `name`: of the lease. */
  leadership(name: string, isLeader: () => boolean): void {
    this.#collects.push(() => this.#gauge('leader_election_master_status').set({ name }, isLeader() ? 1 : 0))
  }

  request(method: string, host: string, code: string, ms: number | undefined): void {
    this.#counter('rest_client_requests_total').inc({ code, method, host })
    if (ms !== undefined) this.#histogram('rest_client_request_duration_seconds').observe({ verb: method, host }, ms / 1000)
  }

  controller(name: string, look: ControllerLook): ControllerObserver {
    const observer = new ControllerMetrics(name, this.#clock, {
      counter: (name) => this.#counter(name),
      histogram: (name) => this.#histogram(name),
    })
    const queue = { name, controller: name }
    this.#collects.push(() => {
      this.#gauge('controller_runtime_max_concurrent_reconciles').set({ controller: name }, look.concurrency)
      this.#gauge('controller_runtime_active_workers').set({ controller: name }, look.running())
      this.#gauge('tsop_controller_degraded').set({ controller: name }, look.degraded() ? 1 : 0)
      for (const [priority, depth] of Object.entries(look.depths())) this.#gauge('workqueue_depth').set({ ...queue, priority }, depth)
      for (const [state, count] of Object.entries(look.unfinished()))
        this.#gauge('tsop_objects_unfinished').set({ controller: name, state }, count)
      const { unfinished, longest } = observer.underWay()
      this.#gauge('workqueue_unfinished_work_seconds').set(queue, unfinished)
      this.#gauge('workqueue_longest_running_processor_seconds').set(queue, longest)
    })
    return observer
  }

  watches(look: () => readonly WatchLook[]): void {
    this.#collects.push(() => {
      const watches = look()
      const degraded = this.#gauge('tsop_watch_degraded')
      degraded.reset()
      for (const [kind, of] of Map.groupBy(watches, (watch) => watch.kind)) {
        const failing = of.filter((watch) => watch.failing)
        if (failing.length === 0) degraded.set({ kind, missing: '' }, 0)
        for (const { missing } of failing) degraded.set({ kind, missing: missing ?? '' }, 1)
        this.#gauge('tsop_watch_synced').set({ kind }, of.every((watch) => watch.synced) ? 1 : 0)
        this.#gauge('tsop_watch_objects').set({ kind }, sum(of.map((watch) => watch.objects)))
        // Where one of several watches of the kind is silent, the others do not make up for it.
        const times = of.flatMap(({ lastEventAt }) => lastEventAt ?? [])
        if (times.length > 0) {
          const age = Math.max(0, this.#clock.now() - Math.min(...times)) / 1000
          this.#gauge('tsop_watch_last_event_age_seconds').set({ kind }, age)
        }
      }
    })
  }

  watchRestarted(kind: string, reason: RestartReason): void {
    this.#counter('tsop_watch_restarts_total').inc({ kind, reason })
  }

  events(look: () => { readonly dropped: number }): void {
    this.#collects.push(() => {
      const counter = this.#counter('tsop_events_dropped_total')
      counter.reset()
      counter.inc(look().dropped)
    })
  }

  /** `paths`: all that are answered. What is asked elsewhere is not counted, so that nobody makes labels up. */
  webhooks(paths: readonly string[]): WebhookObserver {
    const requests = this.#counter('controller_runtime_webhook_requests_total')
    const answers = this.#counter('tsop_webhook_answers_total')
    const inFlight = this.#gauge('controller_runtime_webhook_requests_in_flight')
    const latency = this.#histogram('controller_runtime_webhook_latency_seconds')
    // From zero, so that a rate has a beginning.
    for (const webhook of paths) {
      for (const code of ['200', '500']) requests.inc({ webhook, code }, 0)
      for (const answer of ['allowed', 'refused', 'failed']) answers.inc({ webhook, answer }, 0)
      inFlight.set({ webhook }, 0)
      latency.zero({ webhook })
    }
    return {
      asked: (webhook) => {
        const began = this.#clock.monotonic()
        inFlight.inc({ webhook })
        return ({ code, answer }) => {
          inFlight.dec({ webhook })
          latency.observe({ webhook }, (this.#clock.monotonic() - began) / 1000)
          requests.inc({ webhook, code: String(code) })
          if (answer !== undefined) answers.inc({ webhook, answer })
        }
      },
      certificate: (until) => this.#gauge('tsop_webhook_certificate_expiration_timestamp_seconds').set(until / 1000),
    }
  }

  #counter(name: MetricName): Counter {
    return this.#metrics[name] as Counter
  }

  #gauge(name: MetricName): Gauge {
    return this.#metrics[name] as Gauge
  }

  #histogram(name: MetricName): Histogram {
    return this.#metrics[name] as Histogram
  }
}

/** What a controller's part takes its metrics from. */
interface Source {
  counter(name: MetricName): Counter
  histogram(name: MetricName): Histogram
}

const RESULTS = { done: 'success', wait: 'requeue_after', conflict: 'requeue', error: 'error', terminal: 'error' } as const

/** One controller's, with the labels bound once. */
class ControllerMetrics implements ControllerObserver {
  readonly #clock: Clock
  readonly #started = new Map<string, number>()
  readonly #results: Readonly<Record<RunEnd['outcome'], Counter.Internal>>
  readonly #children: Readonly<Record<Parameters<ControllerObserver['child']>[0], Counter.Internal>>
  readonly #statuses: Readonly<Record<Parameters<ControllerObserver['status']>[0], Counter.Internal>>
  readonly #errors: Counter.Internal
  readonly #terminals: Counter.Internal
  readonly #panics: Counter.Internal
  readonly #timeouts: Counter.Internal
  readonly #conflicts: Counter.Internal
  readonly #stale: Counter.Internal
  readonly #seconds: Histogram.Internal<string>
  readonly #adds: Counter.Internal
  readonly #retries: Counter.Internal
  readonly #waited: Histogram.Internal<string>
  readonly #worked: Histogram.Internal<string>

  constructor(controller: string, clock: Clock, { counter, histogram }: Source) {
    this.#clock = clock
    const own = { controller }
    const queue = { name: controller, controller }
    // From zero, so that a rate has a beginning.
    const bound = (name: MetricName, labels: Record<string, string>) => {
      counter(name).inc(labels, 0)
      return counter(name).labels(labels)
    }
    const each = <K extends string>(name: MetricName, keys: readonly K[], result: (key: K) => string) =>
      Object.fromEntries(keys.map((key) => [key, bound(name, { ...own, result: result(key) })])) as Record<K, Counter.Internal>
    this.#results = each(
      'controller_runtime_reconcile_total',
      ['done', 'wait', 'conflict', 'error', 'terminal'],
      (outcome) => RESULTS[outcome],
    )
    this.#children = each('tsop_children_total', ['created', 'changed', 'unchanged', 'saved', 'deleted'], (what) => what)
    this.#statuses = each('tsop_status_writes_total', ['sent', 'saved'], (what) => what)
    this.#errors = bound('controller_runtime_reconcile_errors_total', own)
    this.#terminals = bound('controller_runtime_terminal_reconcile_errors_total', own)
    this.#panics = bound('controller_runtime_reconcile_panics_total', own)
    this.#timeouts = bound('controller_runtime_reconcile_timeouts_total', own)
    this.#conflicts = bound('tsop_conflicts_total', own)
    this.#stale = bound('tsop_stale_views_total', own)
    this.#adds = bound('workqueue_adds_total', queue)
    this.#retries = bound('workqueue_retries_total', queue)
    this.#seconds = zeroed(histogram('controller_runtime_reconcile_time_seconds'), own)
    this.#waited = zeroed(histogram('workqueue_queue_duration_seconds'), queue)
    this.#worked = zeroed(histogram('workqueue_work_duration_seconds'), queue)
  }

  ran({ outcome, ms, stale, timedOut, unhandled }: RunEnd): void {
    if (ms !== undefined) {
      this.#results[outcome].inc()
      this.#seconds.observe(ms / 1000)
    }
    if (outcome === 'conflict') (stale ? this.#stale : this.#conflicts).inc()
    if (outcome === 'error' || outcome === 'terminal') this.#errors.inc()
    if (outcome === 'terminal') this.#terminals.inc()
    if (outcome === 'error' || outcome === 'conflict') this.#retries.inc()
    if (timedOut) this.#timeouts.inc()
    if (unhandled) this.#panics.inc()
  }

  child(what: Parameters<ControllerObserver['child']>[0]): void {
    this.#children[what].inc()
  }

  status(what: Parameters<ControllerObserver['status']>[0]): void {
    this.#statuses[what].inc()
  }

  ready(): void {
    this.#adds.inc()
  }

  taken(key: string, waitedMs: number): void {
    this.#waited.observe(Math.max(0, waitedMs) / 1000)
    this.#started.set(key, this.#clock.monotonic())
  }

  done(key: string): void {
    const started = this.#started.get(key)
    if (started === undefined) return
    this.#started.delete(key)
    this.#worked.observe((this.#clock.monotonic() - started) / 1000)
  }

  /** Seconds. */
  underWay(): { unfinished: number; longest: number } {
    const now = this.#clock.monotonic()
    const seconds = [...this.#started.values()].map((started) => (now - started) / 1000)
    return { unfinished: sum(seconds), longest: Math.max(0, ...seconds) }
  }
}

function made(name: string, { type, labels, help, buckets }: MetricRow, registry: Registry): Counter | Gauge | Histogram {
  const config = { name, help, labelNames: [...labels], registers: [registry] }
  if (type === 'counter') return new Counter(config)
  if (type === 'gauge') return new Gauge(config)
  return new Histogram({ ...config, ...(buckets && { buckets: [...buckets] }) })
}

function zeroed(histogram: Histogram, labels: Record<string, string>): Histogram.Internal<string> {
  histogram.zero(labels)
  return histogram.labels(labels)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
