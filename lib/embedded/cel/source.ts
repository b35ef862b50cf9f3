/** Where something stands in an expression, and how a mistake is shown: the line with a caret below it. */

export interface Issue {
  /** Offset in UTF-16 units; -1: the expression as a whole. */
  readonly at: number
  readonly message: string
}

/** More than these are not shown. */
const MAX_SHOWN = 100
/** Lines longer than this are not repeated. */
const MAX_SNIPPET = 16_384

/** All issues in the order of their places, as cel-go prints them. */
export function showIssues(text: string, issues: readonly Issue[]): string {
  const located = issues.map((issue) => ({ issue, ...locate(text, issue.at) }))
  located.sort((a, b) => a.line - b.line || a.column - b.column)
  const shown = located.slice(0, MAX_SHOWN).map(({ issue, line, column }) => showIssue(text, issue.message, line, column))
  if (located.length > MAX_SHOWN) shown.push(`${located.length - MAX_SHOWN} more errors were truncated`)
  return shown.join('\n')
}

function showIssue(text: string, message: string, line: number, column: number): string {
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`
  const snippet = line < 1 ? undefined : text.split('\n')[line - 1]?.replaceAll('\t', ' ')
  if (snippet === undefined || snippet === '' || snippet.length > MAX_SNIPPET) return head
  const points = [...snippet]
  const dots = points.slice(0, column).map((point) => (isWide(point) ? '\uff0e' : '.'))
  const caret = isWide(points[column] ?? '') ? '\uff3e' : '^'
  return `${head}\n | ${snippet}\n | ${dots.join('')}${caret}`
}

/** Of more than one byte: shown with wide marks below. */
const isWide = (point: string) => point !== '' && (point.codePointAt(0) as number) > 0x7f

/** 1-based line, 0-based column in code points. */
function locate(text: string, at: number): { line: number; column: number } {
  if (at < 0) return { line: -1, column: -1 }
  if (text === '') return { line: 1, column: -1 }
  const before = text.slice(0, at)
  const start = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: [...before.slice(start)].length }
}
