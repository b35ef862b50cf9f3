/** `/metrics`, and who may read it. */

import type { IncomingMessage } from 'node:http'
import type { Page } from './endpoint.ts'
import type { Metrics } from './metrics.ts'
import type { Reviewer } from './reviewer.ts'

/** `reviewer` absent: everybody may. `undefined`: no such page. */
export async function metricsPage(
  metrics: Metrics,
  reviewer: Reviewer | undefined,
  request: IncomingMessage,
  url: URL,
): Promise<Page | undefined> {
  if (url.pathname !== '/metrics') return undefined
  if (reviewer !== undefined) {
    const refused = await refusal(reviewer, request)
    if (refused !== undefined) return refused
  }
  return { status: 200, body: await metrics.text(), headers: { 'content-type': metrics.contentType } }
}

async function refusal(reviewer: Reviewer, { headers }: IncomingMessage): Promise<Page | undefined> {
  try {
    switch (await reviewer.review(headers.authorization, 'get', '/metrics')) {
      case 'allowed':
        return undefined
      case 'unauthenticated':
        return { status: 401, body: 'unauthorized: a bearer token of this cluster is needed\n', headers: { 'www-authenticate': 'Bearer' } }
      case 'forbidden':
        return { status: 403, body: 'forbidden: the verb get on the nonResourceURL /metrics is needed\n' }
    }
  } catch {
    return { status: 503, body: 'the API server cannot be asked who this is\n', headers: { 'retry-after': '5' } }
  }
}
