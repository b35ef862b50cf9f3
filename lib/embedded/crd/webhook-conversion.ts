/** Conversion of custom objects by a webhook (`ConversionReview` of `apiextensions.k8s.io/v1`). */
import type { CallWebhook, ClientConfig } from '../admission-control/webhook-call.ts'
import type { Core } from '../core.ts'
import { cloneJson, equalJson, isObject } from '../json.ts'
import { newUid } from '../object-meta.ts'
import { type ApiError, plainError } from '../status.ts'
import type { ApiObject, Metadata } from '../types.ts'
import type { Conversion } from './definition.ts'
import type { Converter } from './resource-type.ts'

const TIMEOUT_SECONDS = 30
const REVIEW = 'apiextensions.k8s.io/v1'

/** Everything that goes wrong is a 500 to the client, as in the real server. */
export function webhookConverter(core: Core, { webhook }: Conversion): Converter {
  const config = (webhook?.clientConfig ?? {}) as ClientConfig
  let call: CallWebhook | undefined
  return async (object, apiVersion) => {
    const failed = (detail: string) => plainError(`conversion webhook for ${object.apiVersion}, Kind=${object.kind} failed: ${detail}`)
    const uid = newUid(core.random)
    const request = { uid, desiredAPIVersion: apiVersion, objects: [object] }
    // Few servers convert anything.
    call ??= (await import('../admission-control/webhook-call.ts')).createWebhookCaller(core)
    const review = await call(config, { kind: 'ConversionReview', apiVersion: REVIEW, request }, TIMEOUT_SECONDS).catch((error) => {
      throw failed((error as Error).message)
    })
    return converted(object, apiVersion, uid, review, failed)
  }
}

function converted(object: ApiObject, apiVersion: string, uid: string, review: unknown, failed: (detail: string) => ApiError): ApiObject {
  const response = isObject(review) ? review['response'] : undefined
  if (!isObject(response)) throw failed('no response provided')
  if (response['uid'] !== uid) throw failed(`expected response.uid="${uid}", got "${String(response['uid'] ?? '')}"`)
  const result = isObject(response['result']) ? response['result'] : {}
  if (result['status'] !== 'Success') throw failed(String(result['message'] ?? '') || 'unknown error')
  const objects = response['convertedObjects']
  const count = Array.isArray(objects) ? objects.length : 0
  if (count !== 1) throw failed(`returned ${count} objects, expected 1`)
  const [made] = objects as unknown[]
  if (!isObject(made) || made['apiVersion'] !== apiVersion) {
    throw failed(
      `returned invalid converted object at index 0: invalid groupVersion (received ${isObject(made) ? String(made['apiVersion']) : ''}, expected ${apiVersion})`,
    )
  }
  return withMetadata(cloneJson(made) as ApiObject, object, failed)
}

/** Of metadata a webhook may only change labels and annotations. */
function withMetadata(made: ApiObject, object: ApiObject, failed: (detail: string) => ApiError): ApiObject {
  const given = isObject(made.metadata) ? made.metadata : {}
  for (const name of ['name', 'namespace', 'uid'] as const) {
    if (!equalJson(given[name], object.metadata[name])) {
      throw failed(
        `returned invalid metadata at index 0: metadata.${name}: Invalid value: ${JSON.stringify(given[name] ?? '')}: field is immutable`,
      )
    }
  }
  const { labels, annotations } = given as Metadata
  const { labels: _labels, annotations: _annotations, ...metadata } = object.metadata
  made.metadata = { ...metadata, ...(labels === undefined ? {} : { labels }), ...(annotations === undefined ? {} : { annotations }) }
  return made
}
