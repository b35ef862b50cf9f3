/** Which field a function stumbled over: for a failure that names none. */

/**
 * The path of the last field that `f` missed in `value` before it threw, or, where it missed none, the last that it read. Undefined where it does
 * not throw, or reads nothing.
 */
export function lastRead<T extends object>(value: T, f: (value: T) => unknown): string | undefined {
  let last: string | undefined
  let missed: string | undefined
  const watched = <U extends object>(target: U, above: string): U =>
    new Proxy(target, {
      get(object, key, receiver) {
        const member: unknown = Reflect.get(object, key, receiver)
        if (typeof key !== 'string' || (typeof member === 'function' && !Object.hasOwn(object, key))) return member
        const path = Array.isArray(object) ? `${above}[${key}]` : above === '' ? key : `${above}.${key}`
        last = path
        if (member === undefined) missed = path
        return typeof member === 'object' && member !== null ? watched(member, path) : member
      },
    })
  try {
    f(watched(value, ''))
    return undefined
  } catch {
    return missed ?? last
  }
}
