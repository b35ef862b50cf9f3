/** What goes wrong during the soak: something else every few seconds, for the operator only. */
import { setTimeout as pause } from 'node:timers/promises'
import type { EmbeddedServer } from '../../lib/embedded/server.ts'

export interface Trouble {
  readonly counts: Readonly<Record<string, number>>
  stop(): void
}

/** `agent`: how the operator's user agent begins. */
export function startTrouble(server: EmbeddedServer, agent: string, random: () => number): Trouble {
  const { faults } = server
  const dice = (sides: number) => Math.floor(random() * sides)
  const counts: Record<string, number> = {}
  const where = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
    headers['user-agent']?.startsWith(agent) === true
  const times = () => 1 + dice(20)
  const kinds: Record<string, () => unknown> = {
    'error 500': () => faults.fail(500, { where, times: times() }),
    'error 503': () => faults.fail(503, { where, times: times(), retryAfterSeconds: 1 }),
    'error 429': () => faults.fail(429, { where, times: times(), retryAfterSeconds: 1 }),
    'conflict 409': () => faults.fail(409, { where, verb: 'patch', times: times() }),
    'lost request': () => faults.loseRequests({ where, times: 1 + dice(3) }),
    'lost answer': () => faults.loseResponses({ where, times: 1 + dice(3) }),
    'late answers': () => faults.delay(dice(2000), { where, times: times() }),
    'watches broken': () => faults.dropWatches({ how: 'break' }),
    'watches ended': () => faults.dropWatches({ how: 'end' }),
    'watches expired': () => faults.dropWatches({ how: 'expire' }),
    'history forgotten': () => {
      server.compact()
      faults.dropWatches()
    },
  }
  let stopped = false
  const next = async () => {
    while (!stopped) {
      await pause(1000 + dice(4000))
      if (stopped) return
      const names = Object.keys(kinds)
      const name = names[dice(names.length)] as string
      counts[name] = (counts[name] ?? 0) + 1
      kinds[name]?.()
    }
  }
  void next()
  return {
    counts,
    stop() {
      stopped = true
      faults.clear()
    },
  }
}
