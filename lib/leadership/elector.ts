/**
 * One candidate for a Lease: stands by, takes it when its holder is gone, renews it, and steps down for good.
 *
 * What keeps two of them from acting at once:
 *
 * - Times are those this process has seen on its monotonic clock. The clocks of others, and what they wrote into the Lease, do not matter.
 * - A holder may act until the renewal that was last answered was *sent*, plus the renew deadline; a standby takes the Lease no earlier
 *   than the lease duration, which is longer, after it *saw* the Lease change.
 * - `check()` compares with the clock by itself. A process that was stopped, or blocked, finds out before its next write, whatever timers and
 *   answers wait for their turn.
 * - There is no way back: whoever lost the Lease ends, and starts anew with a fresh view.
 */

import type { Client } from '../api/client.ts'
import { type Clock, delay, type Random, type Timer } from '../api/clock.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../api/status-error.ts'
import { keyOf, type ObjectRef } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'
import { type LeaseDurations, marginMs, requestTimeoutMs } from './durations.ts'
import { type Candidate, durationMs, held, holderOf, isFree, isHeldBy, Lease, released } from './lease.ts'
import { LeaseLostError } from './lease-lost-error.ts'

export interface ElectorOptions {
  /** Of its own, without a write gate: what it sends is how the gate is opened. Best with a connection of its own, which nothing clogs. */
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly lease: ObjectRef
  readonly candidate: Candidate
  readonly durations: LeaseDurations
  /**
   * Milliseconds between taking the lease and acting. An API server that fences by the Lease learns of the new holder a moment late, and
   * refuses the old one no earlier. Default 1,000.
   */
  readonly settleMs?: number
  /** It acts from now on. */
  readonly onLead?: () => void
  /** It must not act any more. Called once, in the turn in which it is found out, which may be that of a write that is refused. */
  readonly onLost: (error: LeaseLostError) => void
  /** Until when it may act, and from when others may, by the monotonic clock: for a watchdog. `undefined`: it holds nothing. */
  readonly onDeadline?: (deadline: number | undefined, othersFrom?: number) => void
}

/** `settling`: holds the lease and does not act yet. */
export type ElectorState = 'standby' | 'settling' | 'leading' | 'lost' | 'ended'

const SETTLE_MS = 1_000
/** Looks of a standby are spread, so that many of them do not come at once. */
const JITTER = 0.2
/** Conflicts in a row that are answered at once. */
const MOST_CONFLICTS = 3

export class Elector {
  readonly #o: ElectorOptions
  readonly #clock: Clock
  readonly #end = new AbortController()
  #state: ElectorState = 'standby'
  #loop: Promise<void> | undefined
  /** The lease as it was last read or written. */
  #live: Lease | undefined
  #holder = ''
  /** When a standby may take it. 0: at once. */
  #notBefore = 0
  #missing = false
  /** Whether another lease was seen in place of the one before, and nobody held it yet. */
  #replaced = false
  #seen: { readonly uid: string; readonly resourceVersion: string } | undefined
  #sentAt = Number.NEGATIVE_INFINITY
  #deadline: number | undefined
  #deadlineTimer: Timer | undefined
  #settleTimer: Timer | undefined
  #token: string | undefined
  /** When the last look or renewal began. */
  #triedAt = 0
  #failing = false
  #wrote = false
  /** Whether what was last written without an answer was a new lease. */
  #unsure = false
  #lost = new LeaseLostError('the lease was lost')

  constructor(options: ElectorOptions) {
    this.#o = options
    this.#clock = options.clock
  }

  get state(): ElectorState {
    return this.#state
  }

  /** Who held the lease when it was last looked at; `''`: nobody, or not known. */
  get holder(): string {
    return this.#holder
  }

  /** The version of the Lease that made this process the leader: greater for every later leader of it. Undefined before. */
  get fencingToken(): string | undefined {
    return this.#token
  }

  /** Until when it may act, by the monotonic clock. Undefined where it holds nothing. */
  get deadline(): number | undefined {
    return this.#deadline
  }

  /** Whether it may act now. Where the deadline has passed, it steps down first. */
  get leads(): boolean {
    this.#loseIfOverdue()
    return this.#state === 'leading'
  }

  /** @throws LeaseLostError where it may not act now */
  check(): void {
    if (!this.leads) throw this.#state === 'lost' ? this.#lost : new LeaseLostError(`this process does not lead (${this.#whoLeads()})`)
  }

  /** Milliseconds until whatever was sent must have ended, because others may lead after that. */
  get remainingMs(): number {
    const { leaseMs } = this.#o.durations
    return Math.max(0, this.#sentAt + leaseMs - marginMs(this.#o.durations) - this.#clock.monotonic())
  }

  /** Takes part from now on. */
  start(): void {
    this.#loop ??= this.#run()
  }

  /**
   * Ends its part. A lease that it holds is given up, if the Lease itself says that it does: call it once nothing is written any more. After a loss
   * it does nothing.
   */
  async release(): Promise<void> {
    if (this.#state === 'lost' || this.#state === 'ended') return
    this.#state = 'ended'
    this.#forgetDeadline()
    this.#o.onDeadline?.(undefined)
    this.#end.abort(new LeaseLostError('the election has ended'))
    await this.#loop
    if (this.#wrote) await this.#giveUp()
  }

  // ---- the loop ----

  async #run(): Promise<void> {
    const { retryMs } = this.#o.durations
    while (this.#state === 'standby') {
      const looked = await this.#round(() => this.#standBy())
      if (this.#state === 'standby') await this.#pause(looked ? this.#standbyPause() : this.#untilNextTry(retryMs))
    }
    while (this.#holds()) {
      await this.#pause(this.#untilNextTry(retryMs))
      // Not even a renewal after the deadline: that this one is silent by then is what others rely on.
      this.#loseIfOverdue()
      if (this.#holds()) await this.#round(() => this.#renew())
    }
  }

  #untilNextTry(everyMs: number): number {
    return Math.max(0, this.#triedAt + everyMs - this.#clock.monotonic())
  }

  /** One look at the lease, or one renewal. What goes wrong is tried again by the next one. */
  async #round(round: () => Promise<void>): Promise<boolean> {
    this.#triedAt = this.#clock.monotonic()
    try {
      await round()
      if (this.#failing) this.#o.log.info(this.#fields(), 'the lease can be reached again')
      this.#failing = false
      return true
    } catch (error) {
      if (this.#end.signal.aborted) return false
      this.#failing = true
      const holds = this.#deadline !== undefined
      const left = holds ? { leftMs: Math.max(0, Math.round(this.#deadline! - this.#clock.monotonic())) } : {}
      this.#o.log.warn({ ...this.#fields(), err: error, ...left }, holds ? 'could not renew the lease' : 'could not look at the lease')
      return false
    }
  }

  // ---- standing by ----

  async #standBy(): Promise<void> {
    const live = await this.#read()
    this.#observe(live)
    const { candidate } = this.#o
    // Ours: the answer to our own write was lost, or came too late.
    const isOurs = live !== undefined && isHeldBy(live, candidate)
    if (this.#state !== 'standby' || (!isOurs && this.#clock.monotonic() < this.#notBefore)) return
    const from = live === undefined || holderOf(live) === '' ? undefined : holderOf(live)
    const isNew = live === undefined || (isOurs ? this.#unsure : this.#replaced)
    this.#unsure = isNew
    const taken = await this.#write(live)
    if (taken === undefined || this.#state !== 'standby') return
    this.#take(taken, from, isNew)
  }

  /** What the lease says about when it may be taken. */
  #observe(live: Lease | undefined): void {
    const { log, candidate, durations } = this.#o
    const now = this.#clock.monotonic()
    const before = this.#seen
    this.#live = live
    if (live === undefined) {
      // Its holder, if there is one, makes it anew as soon as it notices.
      if (!this.#missing) this.#notBefore = before === undefined ? 0 : now + 2 * durations.retryMs
      this.#missing = true
      this.#holder = ''
      return
    }
    const { uid = '', resourceVersion = '' } = live.metadata
    if (before?.uid === uid && before.resourceVersion === resourceVersion) return
    this.#seen = { uid, resourceVersion }
    const holder = holderOf(live)
    if (!isFree(live) && !isHeldBy(live, candidate)) {
      this.#notBefore = now + durationMs(live, durations)
      this.#replaced = false
      if (this.#holder !== holder) log.info({ ...this.#fields(), holder }, `standing by: ${describe(live, candidate)} leads`)
    } else {
      this.#notBefore = 0
      // Made anew behind the back of its holder, who may go on.
      this.#replaced ||= this.#missing || (before !== undefined && before.uid !== uid)
    }
    this.#missing = false
    this.#holder = holder
  }

  #standbyPause(): number {
    const { durations, random } = this.#o
    const pause = durations.retryMs * (1 + JITTER * random())
    const left = this.#notBefore - this.#clock.monotonic()
    // Not a moment too late, and a moment of chance, so that not all who wait ask at once.
    return left > 0 ? Math.min(pause, left + 50 * random()) : pause
  }

  /**
   * `isNew`: no holder has given this lease up. Whoever deleted the one before it did not end its holder, who goes on until its deadline, the last
   * renewal of which was before that.
   */
  #take(taken: { lease: Lease; sentAt: number }, from: string | undefined, isNew: boolean): void {
    const { log, durations, settleMs = SETTLE_MS } = this.#o
    const waitMs = isNew ? Math.max(settleMs, durations.leaseMs) : settleMs
    const now = this.#clock.monotonic()
    // An answer that comes after what it allows is worth nothing; the next look finds that the lease is ours.
    if (now >= taken.sentAt + durations.renewMs) return
    this.#holder = holderOf(taken.lease)
    this.#token = taken.lease.metadata.resourceVersion
    this.#state = 'settling'
    this.#extend(taken.sentAt)
    const what = isNew ? 'made the lease' : from === undefined ? 'took the lease' : `took the lease of ${from}`
    const why = isNew ? ', because the holder of one that was deleted may still be at work' : ''
    log.info({ ...this.#fields(), from, term: this.#token }, `${what}; leading in ${waitMs / 1000} s${why}`)
    this.#settleTimer = this.#clock.after(waitMs, () => {
      this.#loseIfOverdue()
      if (this.#state !== 'settling') return
      this.#state = 'leading'
      this.#o.onLead?.()
    })
  }

  // ---- holding ----

  async #renew(): Promise<void> {
    for (let conflicts = 0; ; conflicts++) {
      const renewed = await this.#write(this.#live)
      if (!this.#holds()) return
      if (renewed !== undefined) return this.#extend(renewed.sentAt)
      // Somebody else wrote it: who holds it now?
      const live = await this.#read()
      if (!this.#holds()) return
      this.#live = live
      if (live !== undefined && !isHeldBy(live, this.#o.candidate)) {
        const holder = holderOf(live)
        this.#holder = holder
        return this.#lose(holder === '' ? 'somebody took it away from this process' : `${describe(live, this.#o.candidate)} holds it now`)
      }
      if (conflicts === MOST_CONFLICTS) throw new Error(`the Lease ${keyOf(this.#o.lease)} is being changed all the time`)
    }
  }

  /** The later of what is known and what this renewal, by the time it was sent, allows. */
  #extend(sentAt: number): void {
    this.#sentAt = Math.max(this.#sentAt, sentAt)
    this.#deadline = this.#sentAt + this.#o.durations.renewMs
    this.#o.onDeadline?.(this.#deadline, this.#sentAt + this.#o.durations.leaseMs)
    this.#deadlineTimer?.cancel()
    this.#deadlineTimer = this.#clock.after(this.#deadline - this.#clock.monotonic(), () => this.#loseIfOverdue())
  }

  #forgetDeadline(): void {
    this.#deadline = undefined
    this.#deadlineTimer?.cancel()
    this.#settleTimer?.cancel()
  }

  #holds(): boolean {
    return this.#state === 'settling' || this.#state === 'leading'
  }

  #loseIfOverdue(): void {
    const now = this.#clock.monotonic()
    if (!this.#holds() || this.#deadline === undefined || now < this.#deadline) return
    const { renewMs } = this.#o.durations
    this.#lose(`the last renewal that was answered was sent ${Math.round(now - this.#sentAt)} ms ago; it is good for ${renewMs} ms`)
  }

  #lose(why: string): void {
    this.#lost = new LeaseLostError(`the lease ${keyOf(this.#o.lease)} is lost: ${why}`)
    this.#state = 'lost'
    this.#forgetDeadline()
    // Whatever the deadline was: this process has to end now.
    this.#o.onDeadline?.(this.#clock.monotonic())
    this.#end.abort(this.#lost)
    this.#o.onLost(this.#lost)
  }

  // ---- requests ----

  async #read(): Promise<Lease | undefined> {
    const { client, lease, durations } = this.#o
    return client.find(Lease, lease, { timeoutMs: requestTimeoutMs(durations), retries: 0, signal: this.#end.signal })
  }

  /** Undefined where somebody else was faster. */
  async #write(live: Lease | undefined): Promise<{ lease: Lease; sentAt: number } | undefined> {
    const { client, lease: ref, candidate, durations } = this.#o
    const options = { timeoutMs: requestTimeoutMs(durations), retries: 0, signal: this.#end.signal }
    const next = held(live, ref, candidate, durations, this.#clock.now())
    this.#wrote = true
    const sentAt = this.#clock.monotonic()
    try {
      const lease = live === undefined ? await client.create(Lease, next, options) : await client.update(Lease, next, options)
      this.#live = lease
      this.#seen = { uid: lease.metadata.uid ?? '', resourceVersion: lease.metadata.resourceVersion ?? '' }
      this.#missing = false
      return { lease, sentAt }
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error) || (live !== undefined && isNotFound(error))) return undefined
      throw error
    }
  }

  async #giveUp(): Promise<void> {
    const { client, lease, candidate, clock, log, durations } = this.#o
    const options = { timeoutMs: requestTimeoutMs(durations), retries: 1 }
    try {
      for (let conflicts = 0; ; conflicts++) {
        const live = await client.find(Lease, lease, options)
        if (live === undefined || !isHeldBy(live, candidate)) return
        try {
          await client.update(Lease, released(live, clock.now()), options)
          return log.info(this.#fields(), 'released the lease')
        } catch (error) {
          // A renewal that was under way may have come after the look.
          if (!isConflict(error) || conflicts === MOST_CONFLICTS) throw error
        }
      }
    } catch (error) {
      // Nobody is hurt: the others wait for its end.
      log.warn({ ...this.#fields(), err: error }, 'could not release the lease; others take it when it has expired')
    }
  }

  #pause(ms: number): Promise<void> {
    return delay(this.#clock, ms, this.#end.signal).catch(() => {})
  }

  #whoLeads(): string {
    if (this.#state === 'settling') return 'it has just taken the lease'
    return this.#holder === '' ? 'nobody is known to lead' : `${this.#holder} leads`
  }

  #fields(): { lease: string; identity: string } {
    return { lease: keyOf(this.#o.lease), identity: this.#o.candidate.identity }
  }
}

function describe(live: Lease, { identity }: Candidate): string {
  const holder = holderOf(live)
  return holder === identity ? `another process of the same name (${holder})` : holder
}
