/**
 * Every metric of tsop's own, in one table: the registry is made from it, and docs/reference/metrics.md is tested against it. What means the
 * same as in controller-runtime, client-go's workqueue or its REST client has the name and the labels it has there.
 */

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** Upper bounds, in the metric's unit. */
  readonly buckets?: readonly number[]
}

/** controller-runtime's buckets, so that its quantiles and ours compare. */
const RUN_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
  5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
/** workqueue's, without those below a microsecond, which no clock here can tell. */
const QUEUE_SECONDS = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]
const REQUEST_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]

export const METRICS = {
  controller_runtime_reconcile_total: {
    type: 'counter',
    labels: ['controller', 'result'],
    help: 'Runs by result: success, requeue_after (waits), requeue (the object changed meanwhile), error.',
  },
  controller_runtime_reconcile_errors_total: { type: 'counter', labels: ['controller'], help: 'Runs that failed.' },
  controller_runtime_terminal_reconcile_errors_total: {
    type: 'counter',
    labels: ['controller'],
    help: 'Runs that failed for good, with a TerminalError. They count as errors as well.',
  },
  controller_runtime_reconcile_panics_total: {
    type: 'counter',
    labels: ['controller'],
    help: 'Runs that failed by a rejection nobody awaited or a throw from a callback.',
  },
  controller_runtime_reconcile_timeouts_total: {
    type: 'counter',
    labels: ['controller'],
    help: 'Runs that were cut off by their time limit.',
  },
  controller_runtime_reconcile_time_seconds: {
    type: 'histogram',
    labels: ['controller'],
    help: 'How long runs take.',
    buckets: RUN_SECONDS,
  },
  controller_runtime_max_concurrent_reconciles: { type: 'gauge', labels: ['controller'], help: 'How many runs there may be at once.' },
  controller_runtime_active_workers: { type: 'gauge', labels: ['controller'], help: 'How many runs there are now.' },

  workqueue_depth: {
    type: 'gauge',
    labels: ['name', 'controller', 'priority'],
    help: 'Objects that are due and wait for a run. Priorities: deletion, change, background.',
  },
  workqueue_adds_total: { type: 'counter', labels: ['name', 'controller'], help: 'Objects that became due.' },
  workqueue_queue_duration_seconds: {
    type: 'histogram',
    labels: ['name', 'controller'],
    help: 'How long an object that is due waits for its run.',
    buckets: QUEUE_SECONDS,
  },
  workqueue_work_duration_seconds: {
    type: 'histogram',
    labels: ['name', 'controller'],
    help: 'How long an object is worked on: its run, and what is looked up before and after.',
    buckets: QUEUE_SECONDS,
  },
  workqueue_unfinished_work_seconds: {
    type: 'gauge',
    labels: ['name', 'controller'],
    help: 'How long the work under way has taken so far, all together. Grows where something hangs.',
  },
  workqueue_longest_running_processor_seconds: {
    type: 'gauge',
    labels: ['name', 'controller'],
    help: 'How long the longest work under way has taken so far.',
  },
  workqueue_retries_total: {
    type: 'counter',
    labels: ['name', 'controller'],
    help: 'Runs that have to be repeated: failed, or overtaken by a change.',
  },

  rest_client_requests_total: {
    type: 'counter',
    labels: ['code', 'method', 'host'],
    help: 'Requests to the API server by HTTP code; <error> where there was no answer. A watch is a request.',
  },
  rest_client_request_duration_seconds: {
    type: 'histogram',
    labels: ['verb', 'host'],
    help: 'How long requests take, watches excepted; verb is the HTTP method.',
    buckets: REQUEST_SECONDS,
  },

  controller_runtime_webhook_requests_total: {
    type: 'counter',
    labels: ['webhook', 'code'],
    help: 'Requests of the API server by path and HTTP code. A review that is answered has 200, whatever the answer is.',
  },
  controller_runtime_webhook_latency_seconds: {
    type: 'histogram',
    labels: ['webhook'],
    help: 'How long the API server waits for an answer, without the way.',
    buckets: REQUEST_SECONDS,
  },
  controller_runtime_webhook_requests_in_flight: {
    type: 'gauge',
    labels: ['webhook'],
    help: 'Requests of the API server that are being answered.',
  },

  leader_election_master_status: { type: 'gauge', labels: ['name'], help: '1 where this process leads, 0 where it stands by.' },

  tsop_info: { type: 'gauge', labels: ['name', 'version'], help: '1; says which operator this is, on which tsop.' },
  tsop_conflicts_total: {
    type: 'counter',
    labels: ['controller'],
    help: 'Runs to be repeated because the API server refused a write: the object had changed.',
  },
  tsop_stale_views_total: {
    type: 'counter',
    labels: ['controller'],
    help: 'Runs to be repeated without a write because what they had seen was no longer true.',
  },
  tsop_children_total: {
    type: 'counter',
    labels: ['controller', 'result'],
    help: 'Children of builders: created, changed, deleted, saved (nothing differs, nothing sent), unchanged (sent, but nothing changed).',
  },
  tsop_status_writes_total: {
    type: 'counter',
    labels: ['controller', 'result'],
    help: 'Statuses: sent, or saved because nothing differs.',
  },
  tsop_objects_unfinished: {
    type: 'gauge',
    labels: ['controller', 'state'],
    help: 'Objects that are not as desired: waiting, failing (tried again), stalled (not tried again).',
  },
  tsop_controller_degraded: { type: 'gauge', labels: ['controller'], help: '1 where something the controller needs cannot be watched.' },
  tsop_watch_degraded: {
    type: 'gauge',
    labels: ['kind', 'missing'],
    help: '1 where a watch fails; missing says what an administrator has to provide: kind, list, watch, or nothing.',
  },
  tsop_watch_synced: { type: 'gauge', labels: ['kind'], help: '1 once all there is of the kind has been seen.' },
  tsop_watch_objects: { type: 'gauge', labels: ['kind'], help: 'Objects of the kind in the cache.' },
  tsop_watch_last_event_age_seconds: {
    type: 'gauge',
    labels: ['kind'],
    help: 'Since the last event or bookmark of the kind. Bookmarks come every minute, so more than two mean trouble.',
  },
  tsop_watch_restarts_total: {
    type: 'counter',
    labels: ['kind', 'reason'],
    help: 'Watches that ended and were opened again: ended (by the server, as it does every few minutes), expired, silent, connection, refused, protocol.',
  },
  tsop_webhook_answers_total: {
    type: 'counter',
    labels: ['webhook', 'answer'],
    help: 'Answers to the API server: allowed, refused, failed (the method threw or was late, or a conversion failed).',
  },
  tsop_webhook_certificate_expiration_timestamp_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Until when the certificate is good that the webhooks are served with, in seconds since 1970.',
  },
  tsop_events_dropped_total: { type: 'counter', labels: [], help: 'Kubernetes Events that were given up because too many came at once.' },
} as const satisfies Record<string, MetricRow>

export type MetricName = keyof typeof METRICS
