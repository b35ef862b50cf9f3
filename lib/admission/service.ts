/** Reviews in, reviews out: what is below HTTP, and all there is where the API server runs in the same process. */

import type { HandlerSpec } from '../resource/handler-spec.ts'
import type { KindRef } from '../resource/kind.ts'
import type { WebhookEnd, WebhookObserver } from '../resource/observer.ts'
import { type ConversionRequest, conversionReviewed } from './conversion-review.ts'
import { type AdmissionRequest, type ReviewTools, reviewed } from './review.ts'
import { CONVERT_PATH, convertedKinds, type Webhook, webhooksOf } from './webhooks.ts'

export interface AdmissionHandler {
  readonly spec: HandlerSpec
  readonly instance: object
}

/** Answers a review with the whole review that is sent back. `path` of the client configuration, such as `/convert`. */
export type WebhookService = (review: unknown, path: string) => Promise<object>

/** What is no review, or is sent to nobody. */
export class RequestError extends Error {
  /** Of the HTTP answer. */
  readonly code: 400 | 404

  constructor(code: 400 | 404, message: string) {
    super(message)
    this.name = 'RequestError'
    this.code = code
  }
}

export interface ServiceTools extends Omit<ReviewTools, 'failed'> {
  readonly observer?: WebhookObserver | undefined
}

/** The service rejects with `RequestError`, and with nothing else. `more`: kinds with conversions that no class names. */
export function webhookService(
  handlers: readonly AdmissionHandler[],
  tools: ServiceTools,
  more: readonly KindRef<unknown>[] = [],
): WebhookService {
  const kinds = [...convertedKinds(handlers.map(({ spec }) => spec)), ...more]
  const methods = new Map<string, { readonly webhook: Webhook; readonly instance: object }>()
  for (const { spec, instance } of handlers) for (const webhook of webhooksOf([spec])) methods.set(webhook.path, { webhook, instance })
  return async (review, path) => {
    const found = methods.get(path)
    if (path === CONVERT_PATH) return observed(tools.observer, path, async () => converted(review))
    if (found === undefined) throw new RequestError(404, `nothing answers at ${path}`)
    return observed(tools.observer, path, async () => {
      const { apiVersion, kind, request } = checked(review, 'AdmissionReview', 'admission.k8s.io/v1')
      let answer: WebhookEnd['answer']
      const failed = () => {
        answer = 'failed'
      }
      const asked = request as unknown as AdmissionRequest
      const response = await reviewed(found.webhook, found.instance, asked, { clock: tools.clock, log: tools.log, failed })
      answer ??= response.allowed ? 'allowed' : 'refused'
      return { review: { apiVersion, kind, response }, answer }
    })
  }

  function converted(review: unknown): Answered {
    const { apiVersion, kind, request } = checked(review, 'ConversionReview', 'apiextensions.k8s.io/v1')
    if (typeof request['desiredAPIVersion'] !== 'string' || !Array.isArray(request['objects']))
      throw new RequestError(400, 'a ConversionReview asks for a version (desiredAPIVersion) of a list of objects')
    const response = conversionReviewed(kinds, request as unknown as ConversionRequest, tools.log)
    return { review: { apiVersion, kind, response }, answer: response.result.status === 'Success' ? 'allowed' : 'failed' }
  }
}

interface Answered {
  readonly review: object
  readonly answer: WebhookEnd['answer']
}

async function observed(observer: WebhookObserver | undefined, path: string, answer: () => Promise<Answered>): Promise<object> {
  const end = observer?.asked(path)
  try {
    const answered = await answer()
    end?.({ code: 200, answer: answered.answer })
    return answered.review
  } catch (error) {
    end?.({ code: error instanceof RequestError ? error.code : 500, answer: undefined })
    throw error
  }
}

/** All that is answered. */
export function pathsOf(specs: readonly HandlerSpec[]): string[] {
  return [...(convertedKinds(specs).length > 0 ? [CONVERT_PATH] : []), ...webhooksOf(specs).map(({ path }) => path)]
}

function checked(
  review: unknown,
  kind: string,
  apiVersion: string,
): { apiVersion: string; kind: string; request: Record<string, unknown> } {
  const { request, ...type } = (review ?? {}) as { apiVersion?: unknown; kind?: unknown; request?: unknown }
  if (type.kind !== kind || type.apiVersion !== apiVersion) throw new RequestError(400, `expected a ${kind} of ${apiVersion}`)
  if (typeof request !== 'object' || request === null || typeof (request as { uid?: unknown }).uid !== 'string')
    throw new RequestError(400, `expected a ${kind} with a request that has a uid`)
  return { apiVersion, kind, request: request as Record<string, unknown> }
}
