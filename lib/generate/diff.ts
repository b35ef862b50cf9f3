/** What differs between two texts, line by line, as `diff -u` shows it. */

/** Unified hunks with three lines around each change; empty where the texts are equal. */
export function unifiedDiff(before: string, after: string, names: { before: string; after: string }): string {
  if (before === after) return ''
  const edits = editsOf(linesOf(before), linesOf(after))
  const hunks = hunksOf(edits).map(({ from, to }) => hunk(edits, from, to))
  return [`--- ${names.before}`, `+++ ${names.after}`, ...hunks].map((line) => `${line}\n`).join('')
}

interface Edit {
  readonly sign: ' ' | '-' | '+'
  readonly line: string
}

const AROUND = 3

function linesOf(text: string): string[] {
  if (text === '') return []
  return text.endsWith('\n') ? text.slice(0, -1).split('\n') : [...text.split('\n').slice(0, -1), `${text.split('\n').at(-1)} (no newline)`]
}

/** The longest common subsequence, after what both begin and end with. More than a few thousand lines that differ are shown as replaced. */
function editsOf(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const kept = (lines: readonly string[]) => lines.map((line): Edit => ({ sign: ' ', line }))
  return [
    ...kept(before.slice(0, head)),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...kept(before.slice(before.length - tail)),
  ]
}

const MOST_CELLS = 4_000_000

function middle(before: readonly string[], after: readonly string[]): Edit[] {
  const width = after.length + 1
  const removed = before.map((line): Edit => ({ sign: '-', line }))
  const added = after.map((line): Edit => ({ sign: '+', line }))
  if (before.length === 0 || after.length === 0 || (before.length + 1) * width > MOST_CELLS) return [...removed, ...added]
  // common[i * width + j]: how many lines before[i…] and after[j…] have in common.
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const edits: Edit[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]]
    if (old !== undefined && old === fresh) {
      edits.push({ sign: ' ', line: old })
      i++
      j++
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      edits.push({ sign: '-', line: old })
      i++
    } else if (fresh !== undefined) {
      edits.push({ sign: '+', line: fresh })
      j++
    }
  }
  return edits
}

function hunksOf(edits: readonly Edit[]): { from: number; to: number }[] {
  const hunks: { from: number; to: number }[] = []
  for (const [i, { sign }] of edits.entries()) {
    if (sign === ' ') continue
    const last = hunks.at(-1)
    const from = Math.max(0, i - AROUND)
    const to = Math.min(edits.length, i + AROUND + 1)
    if (last !== undefined && from <= last.to) last.to = to
    else hunks.push({ from, to })
  }
  return hunks
}

function hunk(edits: readonly Edit[], from: number, to: number): string {
  const count = (part: readonly Edit[], sign: '-' | '+') => part.filter((edit) => edit.sign === ' ' || edit.sign === sign).length
  const range = (sign: '-' | '+') => {
    const length = count(edits.slice(from, to), sign)
    const start = count(edits.slice(0, from), sign) + (length === 0 ? 0 : 1)
    return `${sign}${start}${length === 1 ? '' : `,${length}`}`
  }
  return [`@@ ${range('-')} ${range('+')} @@`, ...edits.slice(from, to).map(({ sign, line }) => `${sign}${line}`)].join('\n')
}
