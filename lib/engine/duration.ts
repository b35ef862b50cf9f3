/**
 * Durations as people write them: `'30s'`, `'1m30s'`, `'250ms'`, `'10h'`, or a number of milliseconds.
 */
import type { Duration } from '../resource/handler-spec.ts'

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const WHOLE = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g

/**
 * Milliseconds of a duration.
 *
 * @param what names the value in the error, such as `requeueAfter`
 * @throws TypeError where it is neither a finite number ≥ 0 nor a text such as `'30s'`
 */
export function parseDuration(duration: Duration, what: string): number {
  if (typeof duration === 'number') {
    if (!Number.isFinite(duration) || duration < 0) throw new TypeError(`${what}: expected milliseconds, 0 or more, not ${duration}`)
    return duration
  }
  const text = String(duration).trim()
  if (!WHOLE.test(text))
    throw new TypeError(`${what}: expected a duration such as '30s', '1m30s' or '250ms', not ${JSON.stringify(duration)}`)
  let ms = 0
  for (const [, amount, unit] of text.matchAll(PART)) ms += Number(amount) * (UNIT_MS[unit as string] as number)
  return ms
}

/** The shortest way to write milliseconds: `1m30s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  let rest = Math.round(ms / 1000)
  let text = ''
  for (const [unit, seconds] of [
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const) {
    const n = Math.floor(rest / seconds)
    if (n > 0) text += `${n}${unit}`
    rest -= n * seconds
  }
  return text
}
