/** What of a value JSON can carry. */

/** What JSON has no form for. */
export class NoJsonError extends Error {
  /** Such as `spec.created`. */
  readonly path: string

  constructor(path: string, what: string) {
    super(`${what} has no form in JSON`)
    this.name = 'NoJsonError'
    this.path = path
  }
}

/**
 * A copy that shares nothing with `value`; fields that are undefined are left out.
 *
 * @throws NoJsonError for a date, a function, NaN, a circle and the like
 */
export function plainJson(value: unknown): unknown {
  return copied(value, '', [])
}

/** The same, without the fields that JSON has no form for. */
export function jsonPart(value: unknown): unknown {
  return copied(value, '', [], (member) => {
    try {
      copied(member, '', [])
      return true
    } catch {
      return typeof member === 'object' && member !== null && !(member instanceof Date)
    }
  })
}

function copied(value: unknown, path: string, above: readonly object[], keep: (member: unknown) => boolean = () => true): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value
    throw new NoJsonError(path, String(value))
  }
  if (typeof value !== 'object') throw new NoJsonError(path, value === undefined ? 'undefined' : `a ${typeof value}`)
  if (above.includes(value)) throw new NoJsonError(path, 'an object within itself')
  const within = [...above, value]
  if (Array.isArray(value)) return Array.from(value, (item, i) => copied(item, `${path}[${i}]`, within, keep))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw new NoJsonError(path, `an instance of ${prototype.constructor?.name ?? '?'}`)
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || !keep(member)) continue
    const made = copied(member, path === '' ? key : `${path}.${key}`, within, keep)
    // A label may be called so as well.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: made, enumerable: true, configurable: true, writable: true })
    else copy[key] = made
  }
  return copy
}
