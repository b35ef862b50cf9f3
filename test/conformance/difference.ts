/** The first place where two values differ, for people; undefined: none. */
export function difference(expected: unknown, actual: unknown, path = ''): string | undefined {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      const found = difference(expected[i], actual[i], `${path}[${i}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (isObject(expected) && isObject(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)].sort(importantFirst))) {
      const found = difference(own(expected, name), own(actual, name), `${path}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (Object.is(expected, actual)) return undefined
  return `${path}\n      expected ${show(expected)}\n      but got  ${show(actual)}`
}

const FIRST = ['ask', 'status', 'late', 'message', 'warnings']
const importantFirst = (a: string, b: string) => place(a) - place(b)
const place = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

const own = (value: Record<string, unknown>, name: string) => (Object.hasOwn(value, name) ? value[name] : undefined)
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 1500 ? `${text.slice(0, 1500)}…` : text
}
