/** An answer without what differs from server to server and from run to run. */

export interface Normalized {
  readonly status: number
  readonly type: string
  readonly warnings: readonly string[]
  readonly body: unknown
}

export function normalized(status: number, type: string, warnings: readonly string[], body: string): Normalized {
  return { status, type: type.split(';')[0] ?? '', warnings, body: plain(withoutRunDetails(body)) }
}

function withoutRunDetails(text: string): string {
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (uid) => (uid.startsWith('1111') ? uid : 'UID'))
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (time) => (time.startsWith('2006') ? time : 'TIME'))
    .replace(/("resourceVersion":\s*"|resourceVersion: ")\d+"/g, '$1RV"')
    .replace(/"(\d+s|<unknown>)"/g, '"AGE"')
}

function plain(text: string): unknown {
  try {
    return sorted(JSON.parse(text))
  } catch {
    return text
  }
}

/** Causes come in any order from a real server, and a message that joins them too. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const { causes, ...rest } = value as { causes?: unknown[] }
  const object: Record<string, unknown> = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, sorted(member)]))
  delete object['managedFields']
  if (causes !== undefined) object['causes'] = causes.map((cause) => JSON.stringify(sorted(cause))).toSorted()
  const details = object['details'] as { causes?: unknown[] } | undefined
  if ((details?.causes?.length ?? 0) > 1) delete object['message']
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
