/** One life of the operator under test: a process within the process, which can be stopped, and killed. */
import { Client } from '../api/client.ts'
import type { Clock, Timer } from '../api/clock.ts'
import type { Transport, TransportStream } from '../api/transport.ts'
import { Manager } from '../engine/manager.ts'
import type { Log } from '../resource/log.ts'
import type { Unrest } from '../resource/unrest.ts'
import type { Handler } from './handlers.ts'
import { type LogLine, logTo } from './log-lines.ts'

export interface OperatorOptions {
  readonly name: string
  readonly handlers: readonly Handler[]
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly namespaces: readonly string[] | undefined
  readonly concurrency: Readonly<Record<string, number>> | undefined
  readonly onLog: (line: LogLine) => void
  readonly onChange: () => void
}

export class Operator {
  readonly #manager: Manager
  readonly #life: Life
  readonly #retries: Retries
  readonly #clock: MortalClock

  constructor(options: OperatorOptions) {
    const { name, handlers, random, namespaces, concurrency, onLog, onChange } = options
    this.#life = new Life()
    this.#clock = new MortalClock(options.clock, this.#life)
    this.#retries = new Retries(this.#clock)
    const transport = new MortalTransport(options.transport, this.#life)
    const log: Log = logTo((line) => {
      if (!this.#life.isOver) onLog(line)
    })
    const client = new Client({ transport, clock: this.#retries, random, userAgent: `${name}/tsop-testing` })
    this.#manager = new Manager({ name, client, handlers, namespaces, concurrency, clock: this.#clock, random, log, ownsProcess: false })
    this.#manager.onChange(onChange)
  }

  start(): Promise<void> {
    return this.#manager.start()
  }

  /** What its controllers cannot do; undefined where all is well. */
  get problem(): string | undefined {
    return this.#manager.controllers.find(({ problem }) => problem !== undefined)?.problem
  }

  get unrest(): readonly Unrest[] {
    return this.#life.isOver ? [] : [...this.#manager.unrest, ...this.#retries.unrest]
  }

  /** Whether a request of it waits to be sent again. */
  get isRetrying(): boolean {
    return !this.#life.isOver && this.#retries.unrest.length > 0
  }

  /** As on SIGTERM. `graceMs`: how long runs may go on. */
  async stop(graceMs?: number): Promise<void> {
    await this.#manager.stop(graceMs)
    this.kill()
  }

  /** As on SIGKILL: from now on it does nothing and hears nothing. What it has sent is on its way. */
  kill(): void {
    this.#life.end()
  }
}

/** What ends with a process, however its code goes on. */
class Life {
  isOver = false
  readonly #ends: (() => void)[] = []

  onEnd(f: () => void): void {
    this.#ends.push(f)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    for (const end of this.#ends) end()
  }
}

const NEVER: Timer = { cancel() {} }

class MortalClock implements Clock {
  readonly #clock: Clock
  readonly #life: Life
  readonly #timers = new Set<Timer>()

  constructor(clock: Clock, life: Life) {
    this.#clock = clock
    this.#life = life
    life.onEnd(() => {
      for (const timer of this.#timers) timer.cancel()
    })
  }

  now(): number {
    return this.#clock.now()
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  after(ms: number, f: () => void): Timer {
    if (this.#life.isOver) return NEVER
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer)
      f()
    })
    this.#timers.add(timer)
    return {
      cancel: () => {
        this.#timers.delete(timer)
        timer.cancel()
      },
    }
  }
}

/** The clock of the client, which waits for nothing but its next try. */
class Retries implements Clock {
  readonly #clock: Clock
  readonly #due = new Set<number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get unrest(): readonly Unrest[] {
    return [...this.#due].map(([at = 0]) => ({ what: 'a request that is sent again', at }))
  }

  now(): number {
    return this.#clock.now()
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  after(ms: number, f: () => void): Timer {
    const due = [this.#clock.monotonic() + ms]
    this.#due.add(due)
    const timer = this.#clock.after(ms, () => {
      this.#due.delete(due)
      f()
    })
    return {
      cancel: () => {
        this.#due.delete(due)
        timer.cancel()
      },
    }
  }
}

/** After the end of the life, nothing is sent any more and nothing answered: not even with an error, for nobody is there to see it. */
class MortalTransport implements Transport {
  readonly #transport: Transport
  readonly #life: Life

  constructor(transport: Transport, life: Life) {
    this.#transport = transport
    this.#life = life
    life.onEnd(() => void transport.close())
  }

  request(request: Parameters<Transport['request']>[0]): ReturnType<Transport['request']> {
    return this.#whileAlive(() => this.#transport.request(request))
  }

  async stream(request: Parameters<Transport['stream']>[0]): Promise<TransportStream> {
    const stream = await this.#whileAlive(() => this.#transport.stream(request))
    const life = this.#life
    return {
      status: stream.status,
      headers: stream.headers,
      read: (data, end) =>
        stream.read(
          (chunk) => {
            if (!life.isOver) data(chunk)
          },
          (error) => {
            if (!life.isOver) end(error)
          },
        ),
      close: () => stream.close(),
    }
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  #whileAlive<T>(send: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#life.isOver) return
      send().then(
        (answer) => {
          if (!this.#life.isOver) resolve(answer)
        },
        (error) => {
          if (!this.#life.isOver) reject(error)
        },
      )
    })
  }
}
