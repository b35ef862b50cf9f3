/** Reviews in, reviews out: what is below HTTP, and all there is where the API server runs in the same process. */

import type { HandlerSpec } from '../resource/handler-spec.ts'
import type { KindRef } from '../resource/kind.ts'
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

/** The service rejects with `RequestError`, and with nothing else. `more`: kinds with conversions that no class names. */
export function webhookService(
  handlers: readonly AdmissionHandler[],
  tools: ReviewTools,
  more: readonly KindRef<unknown>[] = [],
): WebhookService {
  const kinds = [...convertedKinds(handlers.map(({ spec }) => spec)), ...more]
  const methods = new Map<string, { readonly webhook: Webhook; readonly instance: object }>()
  for (const { spec, instance } of handlers) for (const webhook of webhooksOf([spec])) methods.set(webhook.path, { webhook, instance })
  return async (review, path) => {
    if (path === CONVERT_PATH) {
      const { apiVersion, kind, request } = checked(review, 'ConversionReview', 'apiextensions.k8s.io/v1')
      if (typeof request['desiredAPIVersion'] !== 'string' || !Array.isArray(request['objects']))
        throw new RequestError(400, 'a ConversionReview asks for a version (desiredAPIVersion) of a list of objects')
      return { apiVersion, kind, response: conversionReviewed(kinds, request as unknown as ConversionRequest, tools.log) }
    }
    const found = methods.get(path)
    if (found === undefined) throw new RequestError(404, `nothing answers at ${path}`)
    const { apiVersion, kind, request } = checked(review, 'AdmissionReview', 'admission.k8s.io/v1')
    return { apiVersion, kind, response: await reviewed(found.webhook, found.instance, request as unknown as AdmissionRequest, tools) }
  }
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
