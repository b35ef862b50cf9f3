/** A ConversionReview and its answer (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/). */

import { type Conversion, isConversionError } from '../resource/conversion.ts'
import { groupOf, type KindRef, type KubeObject } from '../resource/kind.ts'
import type { Log } from '../resource/log.ts'

export interface ConversionRequest {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly KubeObject[]
}

export interface ConversionResponse {
  readonly uid: string
  readonly result: { readonly status: 'Success' | 'Failure'; readonly message?: string }
  readonly convertedObjects: readonly KubeObject[]
}

/** All or nothing, as the API server wants it; the order stays. Objects may be of different kinds of one group, and of different versions. */
export function conversionReviewed(kinds: readonly KindRef<unknown>[], request: ConversionRequest, log: Log): ConversionResponse {
  const { uid, desiredAPIVersion, objects } = request
  const version = desiredAPIVersion.slice(desiredAPIVersion.indexOf('/') + 1)
  const failed = (message: string): ConversionResponse => ({ uid, result: { status: 'Failure', message }, convertedObjects: [] })
  const done: KubeObject[] = []
  for (const object of objects) {
    const conversion = conversionFor(kinds, object, groupOf(desiredAPIVersion))
    if (conversion === undefined)
      return failed(`the operator does not convert ${object.kind} of ${object.apiVersion} to ${desiredAPIVersion}`)
    try {
      done.push(conversion.convert(object, version))
    } catch (error) {
      const told = isConversionError(error) ? error.message : `the conversion of ${object.kind} ${object.metadata?.name} failed`
      log.error({ err: (error as { cause?: unknown }).cause ?? error, kind: object.kind, request: uid }, told)
      return failed(told)
    }
  }
  return { uid, result: { status: 'Success' }, convertedObjects: done }
}

function conversionFor(kinds: readonly KindRef<unknown>[], object: KubeObject, group: string): Conversion | undefined {
  if (groupOf(object.apiVersion ?? '') !== group) return undefined
  return kinds.find(({ apiVersion, kind, conversion }) => conversion !== undefined && kind === object.kind && groupOf(apiVersion) === group)
    ?.conversion
}
