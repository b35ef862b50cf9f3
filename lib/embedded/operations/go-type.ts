/** How Go speaks of JSON that it cannot decode. */

/** A JSON value's type as Go's `encoding/json` names it. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return typeof value
}

/** What every body is first read into. */
export const TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
export const noTypeMeta = (what: string) => `couldn't get version/kind; json parse error: json: cannot unmarshal ${what}`
