/** The end of `--once`: says of each object that is not done why, and then how many there are. */

import { delay, systemClock } from '../api/clock.ts'
import type { ControllerStatus, Manager } from '../engine/manager.ts'
import type { Log } from '../resource/log.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { unlessAborted } from './signals.ts'

/** How long a kind that cannot be watched is waited for. */
const ONCE_MS = 10_000

/** `explain` says more of controllers that fail. */
export async function finishOnce(
  manager: Pick<Manager, 'controllers' | 'onChange' | 'whenIdle'>,
  explain: (controllers: readonly ControllerStatus[]) => Promise<readonly ControllerStatus[]>,
  signal: AbortSignal,
  log: Log,
): Promise<ExitCode> {
  await unlessAborted(signal, recovered(manager, signal))
  const { failed } = await unlessAborted(signal, manager.whenIdle())
  const objects = failed.filter(({ key }) => key !== '')
  const waiting = objects.filter(({ message }) => WAITING.test(message))
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
