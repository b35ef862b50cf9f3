/** What was there in the end, in the words of a failure. */

/** Most of an object's text that is shown. */
const LONGEST = 3000

export function lastSeen({ answer, error }: { readonly answer?: unknown; readonly error?: unknown }): string {
  const lines: string[] = []
  if (error !== undefined) lines.push(`the last answer was ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`)
  if (answer !== undefined) lines.push(`it was last: ${textOf(answer)}`)
  if (lines.length === 0) lines.push('it was last: undefined')
  return lines.map((line) => `\n  ${line.replaceAll('\n', '\n  ')}`).join('')
}

function textOf(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value, withoutNoise, 2) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

function withoutNoise(key: string, value: unknown): unknown {
  return key === 'managedFields' ? undefined : value
}
