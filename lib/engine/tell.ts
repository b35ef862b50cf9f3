/** What the log and the object's Events tell of a run that has ended. */
import { formatDuration } from '../resource/duration.ts'
import { messageOf, whereThrown } from './errors.ts'
import type { Outcome } from './outcome.ts'
import type { Run } from './run.ts'

/** `before`: the summary of how the run before it ended. What is told already is not told again, but for the debug log. */
export function tell(run: Run, outcome: Outcome, before: string, tookMs: number): void {
  const { logsInfo, logsDebug } = run.scope
  const ms = Math.round(tookMs)
  switch (outcome.type) {
    case 'done':
      if (run.released && logsInfo) run.log.info({ ms }, 'cleaned up: the finalizer is gone')
      else if ((run.status.becameReady || before !== 'done') && logsInfo)
        run.log.info({ ms }, run.status.becameReady ? 'ready' : 'reconciled')
      else if (logsDebug) run.log.debug({ ms }, 'reconciled')
      return
    case 'conflict':
      if (logsDebug) run.log.debug({ ms, why: messageOf(outcome.error) }, 'the object changed meanwhile; run again')
      return
    case 'wait': {
      const { afterMs, reason, message } = outcome.wait
      const again = before === `wait:${reason}:${message}`
      if (!(again ? logsDebug : logsInfo)) return
      run.log[again ? 'debug' : 'info']({ ms, reason, after: formatDuration(afterMs) }, message === '' ? 'waiting' : message)
      return
    }
    case 'error':
    case 'terminal': {
      const { error, reason, message } = outcome
      const terminal = outcome.type === 'terminal'
      run.log.error(
        { ms, err: error, reason, attempt: run.attempt, at: whereThrown(error) },
        terminal ? `${message} (not tried again until the object changes or the operator starts anew)` : message,
      )
      if (before !== `${outcome.type}:${reason}:${message}`) run.event('Warning', reason, message)
    }
  }
}
