import type { StatusDetails } from '../api/status-error.ts'
import type { KubeObject, ObjectMeta } from '../resource/kind.ts'

/** One line of a watch: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes */
type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: Bookmark } }
  | { readonly type: 'ERROR'; readonly object: { code?: number; reason?: string; message?: string; details?: StatusDetails } }

/** All but ERROR, which ends a watch. */
export type ObjectEvent = Exclude<WatchEvent, { type: 'ERROR' }>

interface Bookmark {
  readonly resourceVersion: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** What came is not what a watch sends: cut short by something on the way, or not from an API server at all. */
export class WatchProtocolError extends Error {
  override readonly name = 'WatchProtocolError'
}

/** The server sent what it has, but not the bookmark that ends a streamed list: it does not know the parameters. */
export class EndlessListError extends Error {
  override readonly name = 'EndlessListError'
}

/** Throws a `WatchProtocolError`. */
export function parseEvent(line: string): WatchEvent {
  let event: WatchEvent
  try {
    event = JSON.parse(line) as WatchEvent
  } catch {
    throw new WatchProtocolError(`a line of the watch is no JSON: ${beginning(line)}`)
  }
  if (!isEvent(event)) throw new WatchProtocolError(`a line of the watch is no event: ${beginning(line)}`)
  return event
}

/** Not of an object, nor what the JSON parser says of one, which quotes it: it may be a Secret. */
function beginning(line: string): string {
  return /^\s*[{[]/.test(line) ? `an object of ${line.length} characters` : line.slice(0, 80)
}

/** Whether this bookmark ends the initial events of a streamed list (KEP-3157). */
export function endsInitialEvents(bookmark: Bookmark): boolean {
  return bookmark.annotations?.['k8s.io/initial-events-end'] === 'true'
}

function isEvent(event: WatchEvent | null): boolean {
  if (event === null || typeof event !== 'object' || typeof event.type !== 'string') return false
  if (event.object === null || typeof event.object !== 'object') return false
  if (event.type === 'ERROR') return true
  const metadata: Partial<ObjectMeta> | undefined = event.object.metadata
  if (typeof metadata?.resourceVersion !== 'string') return false
  return event.type === 'BOOKMARK' || (typeof metadata.uid === 'string' && typeof metadata.name === 'string')
}
