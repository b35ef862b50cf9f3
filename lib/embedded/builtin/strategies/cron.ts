/** Whether a text is a schedule of `robfig/cron`, the parser of CronJobs, and with which words it refuses. */

interface Bounds {
  readonly low: number
  readonly high: number
  readonly names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIELDS: readonly Bounds[] = [
  { low: 0, high: 59 },
  { low: 0, high: 23 },
  { low: 1, high: 31 },
  { low: 1, high: 12, names: MONTHS },
  { low: 0, high: 6, names: DAYS },
]
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const DURATION = /^[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/

/** `undefined`: it is a schedule. */
export function cronProblem(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S+\s*/, '')
  if (text.startsWith('@')) return descriptorProblem(text)
  const fields = text.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (const [i, field] of fields.entries()) {
    for (const part of field.split(',')) {
      const problem = part === '' ? undefined : rangeProblem(part, FIELDS[i] as Bounds)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function descriptorProblem(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  const duration = text.slice('@every '.length)
  if (DURATION.test(duration)) return undefined
  return `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`
}

function rangeProblem(expression: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...moreSteps] = expression.split('/')
  const [first = '', second, ...more] = range.split('-')
  let start = bounds.low
  let end = bounds.high
  if (first !== '*' && first !== '?') {
    const from = value(first, bounds)
    if (typeof from === 'string') return from
    if (more.length > 0) return `too many hyphens: ${expression}`
    const to = second === undefined ? from : value(second, bounds)
    if (typeof to === 'string') return to
    start = from
    end = to
  }
  if (moreSteps.length > 0) return `too many slashes: ${expression}`
  let every = 1
  if (step !== undefined) {
    const parsed = value(step, { low: 0, high: 0 })
    if (typeof parsed === 'string') return parsed
    every = parsed
    if (second === undefined) end = bounds.high
  }
  if (start < bounds.low) return `beginning of range (${start}) below minimum (${bounds.low}): ${expression}`
  if (end > bounds.high) return `end of range (${end}) above maximum (${bounds.high}): ${expression}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`
  return every === 0 ? `step of range should be a positive number: ${expression}` : undefined
}

function value(text: string, { low, names }: Bounds): number | string {
  const index = names?.indexOf(text.toLowerCase()) ?? -1
  if (index >= 0) return index + low
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`
  const number = Number(text)
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}
