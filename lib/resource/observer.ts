/**
 * What an operator tells whoever counts or traces it. All is told synchronously and must return at once without throwing; nobody listens by
 * default, and then nothing is done. What can be read at any time is not told but looked at, when somebody asks.
 */

export interface Observer {
  /** A controller is made. `look` reads what it is like at the moment. */
  controller(name: string, look: ControllerLook): ControllerObserver
  /** The watches of the operator; called once. */
  watches(look: () => readonly WatchLook[]): void
  /** The recorder of Kubernetes Events; called once. `dropped`: how many were given up because too many came at once. */
  events(look: () => { readonly dropped: number }): void
  /** A watch ended, and is opened again. */
  watchRestarted(kind: string, reason: RestartReason): void
}

/** What the API server asks of an operator that answers it. */
export interface WebhookObserver {
  /** A request has come, at a path that is answered. Gives what is to be told of its answer. */
  asked(webhook: string): (end: WebhookEnd) => void
  /** A certificate is served from now on, until then (milliseconds since 1970). */
  certificate(until: number): void
}

export interface WebhookEnd {
  /** Of HTTP. A review that is answered has 200, whatever the answer is. */
  readonly code: number
  /** `failed`: the operator's code threw, or was late. Undefined: there is none, as the request was no review. */
  readonly answer: 'allowed' | 'refused' | 'failed' | undefined
}

/** `ended`: by the server, as it does every few minutes. */
export type RestartReason = 'ended' | 'expired' | 'silent' | 'connection' | 'refused' | 'protocol'

export interface ControllerLook {
  readonly concurrency: number
  /** How many keys are at work. */
  running(): number
  /** Whether something it needs cannot be watched. */
  degraded(): boolean
  /** Keys that are due, by priority. */
  depths(): Readonly<Record<'deletion' | 'change' | 'background', number>>
  /** Objects by how their last run ended. Those that are as desired are not counted. */
  unfinished(): Readonly<Record<'waiting' | 'failing' | 'stalled', number>>
}

export interface WatchLook {
  /** `Kind.group` */
  readonly kind: string
  readonly synced: boolean
  readonly failing: boolean
  /** What an administrator has to provide. */
  readonly missing: 'kind' | 'list' | 'watch' | undefined
  readonly objects: number
  /** Of the last event or bookmark, in milliseconds since 1970. */
  readonly lastEventAt: number | undefined
}

export interface ControllerObserver extends QueueObserver {
  /** A run has ended, or what has to be looked up before it has failed. */
  ran(end: RunEnd): void
  /** A builder's child: `saved` is an apply that was not sent because nothing differs, `unchanged` one that was sent and changed nothing. */
  child(what: 'created' | 'changed' | 'unchanged' | 'saved' | 'deleted'): void
  /** A status: sent, or not sent because nothing differs. */
  status(what: 'sent' | 'saved'): void
}

export interface RunEnd {
  readonly outcome: 'done' | 'wait' | 'conflict' | 'error' | 'terminal'
  /** Undefined: something failed after its run had ended, which has been told. */
  readonly ms: number | undefined
  /** Of a conflict: that the run saw something that was no longer true before it wrote, and not that the server refused a write. */
  readonly stale: boolean
  readonly timedOut: boolean
  /** A promise that nobody awaited was rejected, or a callback threw. */
  readonly unhandled: boolean
}

export interface QueueObserver {
  /** A key has become due that was not. */
  ready(): void
  /** A key is taken to be run, so long after it became due. */
  taken(key: string, waitedMs: number): void
  done(key: string): void
}

/** Spans: what happens within `work`, also later and elsewhere in the process, belongs to it. */
export interface Tracing {
  /** A run. It belongs to nothing: whatever woke it, an other run perhaps, does not wait for it. */
  run<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T>
  within<T>(name: string, attributes: Attributes, work: (span: Span) => Promise<T>): Promise<T>
  /** A call to the API server. `headers`: what tells the server which span it belongs to. */
  request<T>(name: string, attributes: Attributes, work: (span: Span, headers: Record<string, string>) => Promise<T>): Promise<T>
}

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface Span {
  set(attributes: Attributes): void
  fail(error: unknown): void
}
