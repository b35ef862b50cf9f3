/**
 * JavaScript's regular expressions as RE2 writes them, which is what an API server checks a `pattern` with
 * (https://github.com/google/re2/wiki/Syntax). It has no look-around and no back references.
 */

/** @throws Error that says which part RE2 does not know */
export function toRe2({ source, flags }: RegExp): string {
  const unknown = UNKNOWN.find(([pattern]) => pattern.test(source))
  if (unknown !== undefined)
    throw new Error(`the pattern /${source}/ has ${unknown[1]}, which the API server's regular expressions (RE2) do not know`)
  // RE2 would read it as a class of these characters.
  if (flags.includes('v') && /--|&&|\\q\{|\[(?:[^\]\\]|\\.)*\[/.test(source))
    throw new Error(`the pattern /${source}/v has an operation on sets, which the API server's regular expressions (RE2) do not know`)
  const kept = [...flags].filter((flag) => 'ims'.includes(flag)).join('')
  const text = source.replace(/\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})/g, (_all, braced, four) => `\\x{${braced ?? four}}`)
  return kept === '' ? text : `(?${kept})${text}`
}

/** Matches exactly one of the texts. */
export function oneOf(texts: readonly string[]): string {
  return `^(?:${texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})$`
}

const UNKNOWN: readonly (readonly [RegExp, string])[] = [
  [/(?<!\\)\(\?[=!]/, 'a look-ahead'],
  [/(?<!\\)\(\?<[=!]/, 'a look-behind'],
  [/(?<!\\)(?:\\\\)*\\[1-9k]/, 'a back reference'],
  [/\\p\{(?:Extended_Pictographic|Emoji\w*|Regional_Indicator)\}/, 'an emoji class'],
  [/(?<!\\)\[\^?\]/, 'an empty character class'],
]
