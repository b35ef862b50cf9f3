/** Members that a JSON text has twice: `JSON.parse` takes the last one silently, a strict server tells. */
import type { Json } from './json.ts'

/** Paths (`spec.a`, `spec.list[0].b`) in the order of the text. Costs next to nothing where there are none. */
export function duplicateMembers(text: string, value: Json): string[] {
  return colons(text) === members(value) ? [] : new Scanner(text).duplicates()
}

/** How many colons stand outside of strings: one for each member. */
function colons(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x3a) count++
    else if (code === 0x22) i = endOfString(text, i)
  }
  return count
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}

function members(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += members(item)
    return count
  }
  for (const key in value) {
    count++
    const member = value[key]
    if (typeof member === 'object') count += members(member)
  }
  return count
}

/** Only for texts that are known to be JSON. */
class Scanner {
  readonly #text: string
  readonly #found: string[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  duplicates(): string[] {
    this.#value('')
    return this.#found
  }

  #value(path: string): void {
    this.#space()
    const character = this.#text[this.#at]
    if (character === '{') this.#object(path)
    else if (character === '[') this.#array(path)
    else if (character === '"') this.#at = endOfString(this.#text, this.#at) + 1
    else while (this.#at < this.#text.length && !/[\s,\]}]/.test(this.#text[this.#at] ?? '')) this.#at++
    this.#space()
  }

  #object(path: string): void {
    const seen = new Set<string>()
    this.#at++
    for (this.#space(); this.#text[this.#at] !== '}'; this.#space()) {
      if (this.#text[this.#at] === ',') {
        this.#at++
        continue
      }
      const end = endOfString(this.#text, this.#at) + 1
      const key: string = JSON.parse(this.#text.slice(this.#at, end))
      this.#at = end
      const member = path === '' ? key : `${path}.${key}`
      if (seen.has(key)) this.#found.push(member)
      seen.add(key)
      this.#space()
      // The colon.
      this.#at++
      this.#value(member)
    }
    this.#at++
  }

  #array(path: string): void {
    this.#at++
    let index = 0
    for (this.#space(); this.#text[this.#at] !== ']'; this.#space()) {
      if (this.#text[this.#at] === ',') this.#at++
      else this.#value(`${path}[${index++}]`)
    }
    this.#at++
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
  }
}
