/** Times as Go's `time.Parse` reads them for `metav1.Time` and `metav1.MicroTime`, with its error texts; written in UTC. */

/** RFC 3339, to the second: what comes back has no fraction. @throws Error */
export const parseTime = (text: string): string => (CANONICAL.test(text) && isDate(text) ? text : parse(text, false))

/** RFC 3339 with exactly six digits of a second, as Leases and events.k8s.io have it. @throws Error */
export const parseMicroTime = (text: string): string => parse(text, true)

const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
const isDate = (text: string) => {
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, 19))
}

/** Element of the layout, digits of it (0: literal text), range, name in a range error. */
const STEPS: readonly (readonly [string, number, number, number, string])[] = [
  ['2006', 4, 0, 9999, 'year'],
  ['-', 0, 0, 0, ''],
  ['01', 2, 1, 12, 'month'],
  ['-', 0, 0, 0, ''],
  ['02', 2, 1, 31, 'day'],
  ['T', 0, 0, 0, ''],
  ['15', 2, 0, 23, 'hour'],
  [':', 0, 0, 0, ''],
  ['04', 2, 0, 59, 'minute'],
  [':', 0, 0, 0, ''],
  ['05', 2, 0, 59, 'second'],
]

function parse(text: string, micro: boolean): string {
  const layout = `2006-01-02T15:04:05${micro ? '.000000' : ''}Z07:00`
  const cannot = (rest: string, element: string) =>
    new Error(`parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element}"`)
  const range = (what: string) => new Error(`parsing time ${JSON.stringify(text)}: ${what} out of range`)
  let rest = text
  const parts: number[] = []
  for (const [element, digits, low, high, name] of STEPS) {
    if (digits === 0) {
      if (!rest.startsWith(element)) throw cannot(rest, element)
      rest = rest.slice(element.length)
      continue
    }
    const value = rest.slice(0, digits)
    if (value.length < digits || !/^\d+$/.test(value)) throw cannot(rest, element)
    if (Number(value) < low || Number(value) > high) throw range(name)
    parts.push(Number(value))
    rest = rest.slice(digits)
  }
  let fraction = ''
  if (micro) {
    if (!/^[.,]\d{6}/.test(rest)) throw cannot(rest, '.000000')
    fraction = rest.slice(1, 7)
    rest = rest.slice(7)
  } else {
    rest = rest.replace(/^[.,]\d+/, '')
  }
  const zone = /^(?:Z|[+-](\d\d):(\d\d))/.exec(rest)
  if (zone === null) throw cannot(rest, 'Z07:00')
  if (rest.length > zone[0].length)
    throw new Error(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest.slice(zone[0].length))}`)
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
  if (day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()) throw range('day')
  const offset = (Number(zone[1] ?? 0) * 60 + Number(zone[2] ?? 0)) * (rest[0] === '-' ? -1 : 1)
  const at = new Date(0)
  at.setUTCFullYear(year, month - 1, day)
  at.setUTCHours(hour, minute - offset, second)
  return `${at.toISOString().slice(0, 19)}${micro ? `.${fraction}` : ''}Z`
}
