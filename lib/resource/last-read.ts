/** Which field a function looked at last: for a failure that names none. */

/** The path of the last field that `f` reads from `value` before it throws; undefined where it does not throw, or reads nothing. */
export function lastRead<T extends object>(value: T, f: (value: T) => unknown): string | undefined {
  let path: string | undefined
  const watched = <U extends object>(target: U, above: string): U =>
    new Proxy(target, {
      get(object, key, receiver) {
        const member: unknown = Reflect.get(object, key, receiver)
        if (typeof key !== 'string' || (typeof member === 'function' && !Object.hasOwn(object, key))) return member
        path = Array.isArray(object) ? `${above}[${key}]` : above === '' ? key : `${above}.${key}`
        return typeof member === 'object' && member !== null ? watched(member, path) : member
      },
    })
  try {
    f(watched(value, ''))
    return undefined
  } catch {
    return path
  }
}
