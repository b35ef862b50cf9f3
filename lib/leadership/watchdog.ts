/**
 * Ends the process when its main thread is blocked past the lease's deadline: code that computes, or waits in a blocking call, cannot see the
 * clock, and would go on beside the next leader. A thread of its own can.
 *
 * It also looks where the main thread stands when it has not turned for a second, so that a warning can name the culprit.
 */

import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../api/clock.ts'
import { describeStack, type Frame } from './stack.ts'

export interface Watchdog {
  /**
   * Until when the process may live, by the clock that was handed in; undefined: it does not matter. `othersFrom`: from when others may lead, so that
   * it gets no time any more to end by itself.
   */
  watch(deadline: number | undefined, othersFrom?: number): void
  /** Where the main thread stood when it was last blocked, once. */
  blockedAt(): string | undefined
  stop(): Promise<void>
}

export interface WatchdogOptions {
  readonly clock: Clock
  /** What the process says when it is ended: the fields of a line of JSON. */
  readonly lastWords: Readonly<Record<string, unknown>>
  /** How long the main thread gets to end by itself. Default 300 ms. */
  readonly graceMs?: number
  /** Whether it is the first process of its container, which no signal of its own can end. Default: as its number says. */
  readonly isInit?: boolean
  /** False where a debugger is at work: whoever stands at a breakpoint does not want to be looked at. Default: as the process was started. */
  readonly looks?: boolean
}

const GRACE_MS = 300
const LOOK_MS = 100
const BEAT_MS = 200
const BLOCKED_MS = 1_000
const STACK_BYTES = 4_096

/**
 * A text, not a file: a bundler would not find it. Nothing in it may need the main thread, as `console` and `process.exit` would; SIGKILL ends
 * a process whatever its threads do. The clock is the same in all threads of a process.
 */
const THREAD = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const { shared, graceMs, lookMs, blockedMs, lastWords, looks, isInit } = workerData
const [deadline, beat, othersFrom] = [0, 8, 16].map((at) => new BigInt64Array(shared, at, 1))
const length = new Int32Array(shared, 24, 1)
const stack = new Uint8Array(shared, 32)
const now = () => process.hrtime.bigint()
const ms = (from) => Number(now() - from) / 1e6
let lookedAt = now()
let passedAt
let seen
let last
let session

function look() {
  // It was stopped itself, with the whole process: the main thread gets its turn first.
  const wasStopped = ms(lookedAt) > 5 * lookMs
  lookedAt = now()
  const turned = Atomics.load(beat, 0)
  if (session !== undefined && turned !== seen) leave()
  if (!wasStopped && looks && session === undefined && turned !== seen && turned !== 0n && ms(turned) > blockedMs) {
    seen = turned
    try { ask() } catch { leave() }
  }
  const until = Atomics.load(deadline, 0)
  const others = Atomics.load(othersFrom, 0)
  if (until === 0n || now() < until) passedAt = undefined
  else if (passedAt === undefined && (others === 0n || now() < others)) passedAt = now()
  else if (passedAt === undefined || ms(passedAt) >= graceMs) {
    try { writeSync(2, JSON.stringify({ ...lastWords, ...(last === undefined ? {} : { stack: last }) }) + '\\n') } catch {}
    if (isInit) trap()
    else process.kill(process.pid, 'SIGKILL')
  }
}

// The kernel keeps from process 1 of a container whatever signal it has no handler for, unless it comes from outside: SIGKILL, too. Not what the
// processor raises.
function trap() {
  require('node:v8').setFlagsFromString('--allow-natives-syntax')
  new Function('%SystemBreak()')()
}

// Holds the main thread for a few milliseconds, wherever it is.
function ask() {
  const { Session } = require('node:inspector')
  session = new Session()
  session.connectToMainThread()
  const urls = new Map()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params }) => {
    const frames = params.callFrames.slice(0, 30).map(({ functionName, location, this: self }) => ({
      name: (self && self.className && self.className !== 'Object' && functionName ? self.className + '.' : '') + functionName,
      url: urls.get(location.scriptId) || '',
      line: location.lineNumber,
      column: location.columnNumber,
    }))
    leave()
    last = frames.filter(({ url }) => !url.startsWith('node:')).slice(0, 5).map(({ name, url, line }) => name + ' ' + url + ':' + (line + 1))
    let bytes = Buffer.from(JSON.stringify(frames))
    while (bytes.length > stack.length && frames.length > 0) { frames.pop(); bytes = Buffer.from(JSON.stringify(frames)) }
    stack.set(bytes)
    Atomics.store(length, 0, bytes.length)
  })
  session.post('Debugger.enable', () => {})
  session.post('Debugger.pause', () => {})
}

function leave() {
  const left = session
  session = undefined
  // It goes on when nobody holds it any more.
  try { left.post('Debugger.disable', () => {}); left.disconnect() } catch {}
}

setInterval(look, lookMs)
`

export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { clock, lastWords, graceMs = GRACE_MS, isInit = process.pid === 1, looks = !isDebugged() } = options
  const shared = new SharedArrayBuffer(32 + STACK_BYTES)
  const [until, beat, others] = [0, 8, 16].map((at) => new BigInt64Array(shared, at, 1)) as [BigInt64Array, BigInt64Array, BigInt64Array]
  const length = new Int32Array(shared, 24, 1)
  const worker = new Worker(THREAD, {
    eval: true,
    name: 'tsop-watchdog',
    workerData: { shared, graceMs, lookMs: LOOK_MS, blockedMs: BLOCKED_MS, lastWords, looks, isInit },
    // It needs next to nothing, and must not take what the main thread was promised.
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 4, stackSizeMb: 1 },
    execArgv: [],
    env: {},
  })
  worker.unref()
  let timer: Timer
  const turn = () => {
    Atomics.store(beat, 0, process.hrtime.bigint())
    timer = clock.after(BEAT_MS, turn)
  }
  turn()
  return {
    watch(deadline, othersFrom) {
      const inThreads = (at: number | undefined) =>
        at === undefined ? 0n : process.hrtime.bigint() + BigInt(Math.round((at - clock.monotonic()) * 1e6))
      Atomics.store(others, 0, inThreads(othersFrom))
      Atomics.store(until, 0, inThreads(deadline))
    },
    blockedAt() {
      const bytes = Atomics.exchange(length, 0, 0)
      if (bytes === 0) return undefined
      const text = Buffer.from(new Uint8Array(shared, 32, bytes)).toString()
      return describeStack(JSON.parse(text) as Frame[])
    },
    async stop() {
      timer.cancel()
      await worker.terminate()
    },
  }
}

function isDebugged(): boolean {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  return given.some((argument) => argument.includes('--inspect'))
}
