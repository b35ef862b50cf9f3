/** Events of the core group and of `events.k8s.io` are one object with two faces. */
import type { ApiObject } from '../types.ts'

/** Member of core/v1 and member of events.k8s.io/v1; all others have one name. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]
const TO_NEW = new Map(PAIRS)
const TO_CORE = new Map(PAIRS.map(([core, renamed]) => [renamed, core] as const))

export function convertEvent(event: ApiObject, toApiVersion: string): ApiObject {
  const names = toApiVersion === 'v1' ? TO_CORE : TO_NEW
  const converted: ApiObject = { kind: event.kind, apiVersion: toApiVersion, metadata: event.metadata }
  for (const member of Object.keys(event)) {
    if (member === 'apiVersion' || member === 'kind' || member === 'metadata') continue
    converted[names.get(member) ?? member] = event[member]
  }
  return converted
}

/** Either face, as the core group sees it. */
export const asCoreEvent = (event: ApiObject): ApiObject => (event.apiVersion === 'v1' ? event : convertEvent(event, 'v1'))
