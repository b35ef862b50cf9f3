/**
 * Ends the process when its main thread is blocked past the lease's deadline: code that computes, or waits in a blocking call, cannot see the
 * clock, and would go on beside the next leader. A thread of its own can.
 *
 * It also looks whether the main thread still turns, and says where it stands if not.
 */

import { Worker } from 'node:worker_threads'
import type { Clock } from '../api/clock.ts'

export interface Watchdog {
  /** Until when the process may live, by the clock that was handed in; undefined: it does not matter. */
  watch(deadline: number | undefined): void
  stop(): Promise<void>
}

export interface WatchdogOptions {
  readonly clock: Clock
  /** What the process says when it is ended. One line, without the line feed. */
  readonly lastWords: string
  /** How long the main thread gets to end by itself. Default 300 ms. */
  readonly graceMs?: number
}

const GRACE_MS = 300
const LOOK_MS = 100

/**
 * A text, not a file: a bundler would not find it. Nothing in it may need the main thread, as `console` and `process.exit` would; SIGKILL ends
 * a process whatever its threads do. The clock is the same in all threads of a process.
 */
const THREAD = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { shared, graceMs, lookMs, lastWords } = workerData
const stop = new Int32Array(shared, 0, 2)
const deadline = new BigInt64Array(shared, 8, 1)
const now = () => process.hrtime.bigint()
let passedAt
while (Atomics.load(stop, 0) === 0) {
  Atomics.wait(stop, 0, 0, lookMs)
  const until = Atomics.load(deadline, 0)
  if (until === 0n || now() < until) passedAt = undefined
  else if (passedAt === undefined) passedAt = now()
  // Counted from the moment it was noticed: after the whole process was stopped, the main thread gets its turn as well.
  else if (now() - passedAt >= BigInt(graceMs) * 1000000n) {
    try { writeSync(2, lastWords + '\\n') } catch {}
    process.kill(process.pid, 'SIGKILL')
  }
}
`

export function startWatchdog({ clock, lastWords, graceMs = GRACE_MS }: WatchdogOptions): Watchdog {
  const shared = new SharedArrayBuffer(16)
  const stop = new Int32Array(shared, 0, 2)
  const until = new BigInt64Array(shared, 8, 1)
  const worker = new Worker(THREAD, {
    eval: true,
    name: 'tsop-watchdog',
    workerData: { shared, graceMs, lookMs: LOOK_MS, lastWords },
    // It needs next to nothing, and must not take what the main thread was promised.
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, codeRangeSizeMb: 4, stackSizeMb: 1 },
    execArgv: [],
    env: {},
  })
  worker.unref()
  return {
    watch(deadline) {
      const left = deadline === undefined ? undefined : deadline - clock.monotonic()
      Atomics.store(until, 0, left === undefined ? 0n : process.hrtime.bigint() + BigInt(Math.round(left * 1e6)))
    },
    async stop() {
      Atomics.store(stop, 0, 1)
      Atomics.notify(stop, 0)
      await worker.terminate()
    },
  }
}
