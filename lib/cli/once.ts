/**
 * The end of `--once`: gives objects that wait (for pods, for a job outside) their time, then says of each that is not done why, and how many
 * there are. A failure is told at once: it needs a hand, and its next try may be minutes away.
 */

import { type Clock, delay, systemClock } from '../api/clock.ts'
import type { ControllerStatus, Manager } from '../engine/manager.ts'
import { formatDuration } from '../resource/duration.ts'
import type { Log } from '../resource/log.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { unlessAborted } from './signals.ts'

/** How long a kind that cannot be watched is waited for. */
const ONCE_MS = 10_000
/** How often objects that wait are looked at: that one was deleted wakes nobody. */
const LOOK_MS = 250
/** How many of the objects that are waited for are named. */
const NAMED = 3

type Operator = Pick<Manager, 'controllers' | 'onChange' | 'whenIdle'>

export interface OnceOptions {
  /** Says more of controllers that fail. */
  readonly explain: (controllers: readonly ControllerStatus[]) => Promise<readonly ControllerStatus[]>
  readonly signal: AbortSignal
  readonly log: Log
  /** How long objects that wait are waited for. Default 1 minute. */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock
}

export const DEFAULT_TIMEOUT_MS = 60_000

export async function finishOnce(manager: Operator, options: OnceOptions): Promise<ExitCode> {
  const { explain, signal, log } = options
  await unlessAborted(signal, recovered(manager, signal))
  const objects = await settled(manager, options)
  const waiting = objects.filter(isWaiting)
  const kinds = (await unlessAborted(signal, explain(manager.controllers))).filter(({ state }) => state === 'failing')

  for (const { kind, key, message } of objects) {
    const fields = { controller: kind, name: key }
    const [wait, reason, why] = WAITING.exec(message) ?? []
    // `Waiting` is the reason of a handler that gave none.
    if (wait !== undefined) log.warn(fields, `waits: ${[reason === 'Waiting' && why ? undefined : reason, why].filter(Boolean).join(': ')}`)
    else log.error(fields, `not done: ${message}`)
  }
  for (const { kindName, problem } of kinds) log.error({ controller: kindName }, `not done: ${problem ?? 'it cannot be watched'}`)

  if (objects.length + kinds.length === 0) {
    log.info('every object is reconciled')
    return exitCodes.ok
  }
  const errors = objects.length - waiting.length
  const summary = [
    ...(kinds.length === 0 ? [] : [`${kinds.length} ${kinds.length === 1 ? 'kind is' : 'kinds are'} not served`]),
    ...(errors === 0 ? [] : [`${errors} failed`]),
    ...(waiting.length === 0 ? [] : [`${waiting.length} ${waiting.length === 1 ? 'waits' : 'wait'}`]),
  ].join(', ')
  log[kinds.length + errors === 0 ? 'warn' : 'error'](
    { kinds: kinds.length, failed: errors, waiting: waiting.length },
    `not all is done: ${summary}`,
  )
  return exitCodes.failed
}

/** How the engine puts a wait: the reason, and the handler's own words. */
const WAITING = /^waiting: (\S+?):?(?: (.+))?$/s

interface Unfinished {
  readonly kind: string
  readonly key: string
  readonly message: string
}

const isWaiting = ({ message }: Unfinished) => WAITING.test(message)

/** What is not done when nothing waits any more, or the time is over. */
async function settled(manager: Operator, options: OnceOptions): Promise<Unfinished[]> {
  const { signal, log, timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock } = options
  const end = clock.monotonic() + timeoutMs
  for (let looks = 1; ; looks++) {
    const { failed } = await unlessAborted(signal, manager.whenIdle())
    const objects = failed.filter(({ key }) => key !== '')
    const waiting = objects.filter(isWaiting)
    const left = end - clock.monotonic()
    if (waiting.length === 0 || left <= 0) return objects
    if (looks === 1) log.info({ waiting: waiting.length }, `waits up to ${formatDuration(timeoutMs)} for ${named(waiting)}`)
    await delay(clock, Math.min(LOOK_MS, left), signal)
  }
}

function named(objects: readonly Unfinished[]): string {
  const names = objects.slice(0, NAMED).map(({ kind, key }) => `${kind} ${key}`)
  return [...names, ...(objects.length > NAMED ? [`${objects.length - NAMED} more`] : [])].join(', ')
}

/** A kind that cannot be watched gets a little time: its definition may just have been installed, the server may be busy. */
async function recovered(manager: Pick<Manager, 'controllers' | 'onChange'>, signal: AbortSignal): Promise<void> {
  const failing = () => manager.controllers.some(({ state }) => state === 'failing')
  if (!failing()) return
  const over = new AbortController()
  const end = manager.onChange(() => {
    if (!failing()) over.abort()
  })
  await delay(systemClock, ONCE_MS, AbortSignal.any([signal, over.signal])).catch(() => {})
  end()
}
