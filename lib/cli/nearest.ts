/** The word a typing error probably meant. */

/** Of `words` the one with the fewest edits from `typed`, or undefined where none is near. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  // Two letters that changed places are two edits.
  const allowed = typed.length < 4 ? 1 : Math.max(2, Math.floor(typed.length / 3))
  let best: string | undefined
  let fewest = allowed + 1
  for (const word of words) {
    const edits = word.startsWith(typed) && typed.length > 2 ? 0 : distance(typed.toLowerCase(), word.toLowerCase())
    if (edits < fewest) [best, fewest] = [word, edits]
  }
  return best
}

/** Levenshtein's distance, row by row. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length] ?? 0
}
