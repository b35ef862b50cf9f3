/**
 * The transport of the election. A request that is not answered in time costs it the connection: the next one goes over another. A connection can
 * die without a word (a machine that is gone, a forgotten entry in a NAT table), and to find that out by PING takes as long as a lease lasts.
 */

import { TimeoutError } from '../api/status-error.ts'
import type { Transport } from '../api/transport.ts'

/** `open` makes one with connections of its own. */
export function freshTransport(open: () => Transport): Transport {
  let current = opened()
  const all = new Set([current])

  function opened() {
    return { transport: open(), requests: 0 }
  }

  /** Whatever else is under way there may still be answered. */
  function retire(used: typeof current): void {
    if (used === current || used.requests > 0) return
    all.delete(used)
    void used.transport.close()
  }

  return {
    async request(request) {
      const used = current
      used.requests++
      try {
        return await used.transport.request(request)
      } catch (error) {
        if (error instanceof TimeoutError && used === current) {
          current = opened()
          all.add(current)
        }
        throw error
      } finally {
        used.requests--
        retire(used)
      }
    },
    stream: (request) => current.transport.stream(request),
    async close() {
      await Promise.all([...all].map(({ transport }) => transport.close()))
    },
  }
}
