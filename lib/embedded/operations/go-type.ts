/** A JSON value's type as Go's `encoding/json` names it. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return typeof value
}
