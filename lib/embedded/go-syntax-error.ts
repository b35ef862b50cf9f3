/** What Go's `encoding/json` says of a text that is not JSON. */

/** For a text that `JSON.parse` refused. */
export function goSyntaxError(text: string): string {
  try {
    new Scanner(text).scan()
  } catch (error) {
    if (error instanceof Found) return error.message
    throw error
  }
  return 'unexpected end of JSON input'
}

class Found extends Error {}

const quoted = (character: string) =>
  character === "'" ? `'\\''` : character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1).replace('\\"', '"')}'`

class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  scan(): void {
    this.#value()
    this.#space()
    if (this.#at < this.#text.length) this.#refuse('after top-level value')
  }

  #value(): void {
    this.#space()
    const character = this.#peek()
    if (character === '{') this.#object()
    else if (character === '[') this.#array()
    else if (character === '"') this.#string()
    else if (character === '-' || /\d/.test(character)) this.#number()
    else if (character === 't') this.#literal('true')
    else if (character === 'f') this.#literal('false')
    else if (character === 'n') this.#literal('null')
    else this.#refuse('looking for beginning of value')
  }

  #object(): void {
    this.#at++
    this.#space()
    if (this.#peek() === '}') {
      this.#at++
      return
    }
    for (;;) {
      this.#space()
      if (this.#peek() !== '"') this.#refuse('looking for beginning of object key string')
      this.#string()
      this.#space()
      if (this.#peek() !== ':') this.#refuse('after object key')
      this.#at++
      this.#value()
      this.#space()
      const character = this.#peek()
      if (character !== ',' && character !== '}') this.#refuse('after object key:value pair')
      this.#at++
      if (character === '}') return
    }
  }

  #array(): void {
    this.#at++
    this.#space()
    if (this.#peek() === ']') {
      this.#at++
      return
    }
    for (;;) {
      this.#value()
      this.#space()
      const character = this.#peek()
      if (character !== ',' && character !== ']') this.#refuse('after array element')
      this.#at++
      if (character === ']') return
    }
  }

  #string(): void {
    this.#at++
    for (;;) {
      const character = this.#peek()
      if (character === '"') break
      if (character < ' ') this.#refuse('in string literal')
      this.#at++
      if (character !== '\\') continue
      const escaped = this.#peek()
      if (escaped === 'u') this.#hex()
      else if (!'"\\/bfnrt'.includes(escaped)) this.#refuse('in string escape code')
      else this.#at++
    }
    this.#at++
  }

  #hex(): void {
    this.#at++
    for (let i = 0; i < 4; i++) {
      if (!/[0-9a-fA-F]/.test(this.#peek())) this.#refuse('in \\u hexadecimal character escape')
      this.#at++
    }
  }

  #number(): void {
    if (this.#peek() === '-') {
      this.#at++
      if (!/\d/.test(this.#peek())) this.#refuse('in numeric literal')
    }
    if (this.#peek() === '0') this.#at++
    else this.#digits()
    if (this.#text[this.#at] === '.') {
      this.#at++
      if (!/\d/.test(this.#peek())) this.#refuse('after decimal point in numeric literal')
      this.#digits()
    }
    if (/[eE]/.test(this.#text[this.#at] ?? '')) {
      this.#at++
      if (/[+-]/.test(this.#peek())) this.#at++
      if (!/\d/.test(this.#peek())) this.#refuse('in exponent of numeric literal')
      this.#digits()
    }
  }

  #digits(): void {
    while (/\d/.test(this.#text[this.#at] ?? '')) this.#at++
  }

  #literal(word: string): void {
    for (const [i, expected] of [...word].entries()) {
      if (i > 0 && this.#peek() !== expected) this.#refuse(`in literal ${word} (expecting ${quoted(expected)})`)
      this.#at++
    }
  }

  #peek(): string {
    const character = this.#text[this.#at]
    if (character === undefined) throw new Found('unexpected end of JSON input')
    return character
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++
  }

  #refuse(where: string): never {
    throw new Found(`invalid character ${quoted(this.#peek())} ${where}`)
  }
}
