/**
 * A deep copy of what came from JSON. Texts are shared, so that a big object costs by its fields, not by its bytes: cheaper than
 * `structuredClone` or parsing anew.
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson) as T
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    const field: unknown = value[key]
    // `__proto__` is a field like any other in JSON.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copyJson(field), enumerable: true, configurable: true, writable: true })
    else copy[key] = typeof field === 'object' ? copyJson(field) : field
  }
  return copy as T
}
