/**
 * Regular expressions as Go has them (RE2), by re2js: the same syntax, the same matches, and time linear in the text. The
 * library is loaded with the first of them.
 */
import type { RE2JS } from 're2js'

let loaded: typeof import('re2js') | undefined

function library(): typeof import('re2js') {
  loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('re2js') as typeof import('re2js')
  return loaded
}

export interface Regex {
  test(text: string): boolean
  /** The first match, or `''`. */
  find(text: string): string
  /** All matches, at most `limit` where it is not negative. */
  findAll(text: string, limit: number): string[]
}

const MAX_CACHED = 500

/** Compiled expressions; the oldest goes when there are too many. */
export class RegexCache {
  readonly #compiled = new Map<string, Regex | string>()

  /** A text: why it is no regular expression, in Go's words. */
  compile(pattern: string): Regex | string {
    const known = this.#compiled.get(pattern)
    if (known !== undefined) return known
    const compiled = compileRegex(pattern)
    if (this.#compiled.size >= MAX_CACHED) this.#compiled.delete(this.#compiled.keys().next().value as string)
    this.#compiled.set(pattern, compiled)
    return compiled
  }
}

function compileRegex(pattern: string): Regex | string {
  try {
    return new Re2Regex(library().RE2JS.compile(pattern))
  } catch (error) {
    return (error as Error).message
  }
}

class Re2Regex implements Regex {
  readonly #compiled: RE2JS

  constructor(compiled: RE2JS) {
    this.#compiled = compiled
  }

  test(text: string): boolean {
    return this.#compiled.matcher(text).find()
  }

  find(text: string): string {
    const matcher = this.#compiled.matcher(text)
    return matcher.find() ? (matcher.group() ?? '') : ''
  }

  findAll(text: string, limit: number): string[] {
    const found: string[] = []
    const matcher = this.#compiled.matcher(text)
    let previousEnd = -1
    while ((limit < 0 || found.length < limit) && matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()]
      // Go leaves out an empty match that touches the one before.
      if (!(start === end && start === previousEnd)) found.push(text.slice(start, end))
      previousEnd = end
    }
    return found
  }
}
