/**
 * The transport of everything but the election itself: no mutating request leaves it while this process does not lead, and none outlives the
 * lease. Whoever holds a client on top of it cannot get round it.
 */

import { TimeoutError } from '../api/status-error.ts'
import type { Transport, TransportRequest, TransportResponse } from '../api/transport.ts'
import type { WriteGate } from '../api/write-gate.ts'

export interface Lead extends WriteGate {
  readonly leads: boolean
  /** Milliseconds until whatever is sent must have ended. */
  readonly remainingMs: number
}

export interface FencedTransport extends Transport {
  /** Resolves when no write is under way. */
  whenSettled(): Promise<void>
}

export function fencedTransport(inner: Transport, lead: Lead): FencedTransport {
  const mayWrite = () => lead.leads
  let writes = 0
  const waiting: (() => void)[] = []
  return {
    async request(request) {
      if (request.method === 'GET') return inner.request(request)
      lead.check()
      writes++
      try {
        return await write(request)
      } finally {
        writes--
        if (writes === 0) for (const resolve of waiting.splice(0)) resolve()
      }
    },
    stream: (request) => inner.stream(request),
    close: () => inner.close(),
    whenSettled: () => (writes === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  }

  async function write(request: TransportRequest): Promise<TransportResponse> {
    const { method, path, timeoutMs, beforeSend } = request
    const leftMs = Math.max(1, Math.floor(lead.remainingMs))
    try {
      return await inner.request({
        ...request,
        // The server gives up as well, wherever the request waits there by then: in a queue, or for a webhook.
        path: `${path}${path.includes('?') ? '&' : '?'}timeout=${leftMs}ms`,
        timeoutMs: Math.min(timeoutMs, leftMs),
        mayWrite,
        beforeSend() {
          beforeSend?.()
          lead.check()
        },
      })
    } catch (error) {
      if (!(error instanceof TimeoutError) || leftMs >= timeoutMs) throw error
      // Without the number, which differs from run to run: the text may get into a condition.
      throw new TimeoutError(`${method} ${path.split('?', 1)[0]}: no answer within the time that the lease leaves`)
    }
  }
}
