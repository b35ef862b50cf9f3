/**
 * A transport that tells of each request: counted, and, where somebody traces, as a span of its own. Nothing of it is there where neither is
 * wanted: the transport below is used as it is.
 */

import type { Clock } from '../api/clock.ts'
import type { Transport, TransportRequest, TransportResponse, TransportStream } from '../api/transport.ts'
import type { Tracing } from '../resource/observer.ts'
import { requestFacts } from './request-facts.ts'

export interface TransportObservers {
  readonly clock: Clock
  /** `host:port` of the API server. */
  readonly host: string
  /** `code`: the HTTP code, or `<error>` where there was no answer; `ms` undefined of a watch, which lasts as long as it likes. */
  readonly metrics?: { request(method: string, host: string, code: string, ms: number | undefined): void } | undefined
  readonly tracing?: Tracing | undefined
}

export function observed(transport: Transport, observers: TransportObservers): Transport {
  const { clock, host, metrics, tracing } = observers
  if (metrics === undefined && tracing === undefined) return transport

  const counted = async <T extends { readonly status: number }>(
    request: TransportRequest,
    timed: boolean,
    answer: Promise<T>,
  ): Promise<T> => {
    if (metrics === undefined) return answer
    const start = clock.monotonic()
    const took = () => (timed ? clock.monotonic() - start : undefined)
    try {
      const response = await answer
      metrics.request(request.method, host, String(response.status), took())
      return response
    } catch (error) {
      metrics.request(request.method, host, '<error>', took())
      throw error
    }
  }

  return {
    request(request: TransportRequest): Promise<TransportResponse> {
      if (tracing === undefined) return counted(request, true, transport.request(request))
      const { name, attributes } = requestFacts(request, host)
      return tracing.request(name, attributes, async (span, headers) => {
        const response = await counted(request, true, transport.request({ ...request, headers: { ...request.headers, ...headers } }))
        span.set({ 'http.response.status_code': response.status })
        // 404 and 409 are answers that the engine asks for.
        if (response.status >= 400 && response.status !== 404 && response.status !== 409)
          span.fail(new Error(`the API server answered ${response.status}`))
        return response
      })
    },
    // A watch lasts for minutes and belongs to nothing; its events begin the runs that are traced.
    stream: (request: TransportRequest): Promise<TransportStream> => counted(request, false, transport.stream(request)),
    close: () => transport.close(),
  }
}
