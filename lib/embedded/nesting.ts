/** How deep a body may nest: most that handles objects walks down them, and a stack ends sooner than a text of 3 MiB. */

/** Go's reader stops at 10 000; nothing that is meant for a cluster comes near either. */
const LIMIT = 1_000
export const TOO_DEEP = 'exceeded max depth'

/** Of a JSON text, right or wrong. */
export function nestsTooDeep(text: string): boolean {
  return opens(text) && deepest(text) > LIMIT
}

/** Whether there are brackets enough at all, which few bodies have and which is quickly seen. */
function opens(text: string): boolean {
  let left = LIMIT
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) if (left-- === 0) return true
  }
  return false
}

function deepest(text: string): number {
  let depth = 0
  let most = 0
  // A string, or one bracket; a string that does not end hides what follows, as it does for every reader.
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[[\]{}]/gs)) {
    if (token === '{' || token === '[') most = Math.max(most, ++depth)
    else if (token === '}' || token === ']') depth--
  }
  return most
}
