/** Regular expressions as Go reads them (RE2: no look-around, no back-references, linear time). */

export interface Pattern {
  /** Matches anywhere in `text`, as `regexp.MatchString`. */
  test(text: string): boolean
}

/** @throws Error with Go's text: ``error parsing regexp: missing closing ]: `[` `` */
export function compilePattern(pattern: string): Pattern {
  return library().RE2JS.compile(pattern)
}

type Library = typeof import('re2js')
let loaded: Library | undefined

/** Only schemas with patterns pay for loading it. */
function library(): Library {
  loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('re2js') as Library
  return loaded
}
