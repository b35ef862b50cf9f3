/** What a string or bytes literal means. */

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
}
const ESCAPE = /\\(?:([abfnrtv"'\\?`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7][0-7]))/g

/** @throws Error whose message is for the user. */
export function unescapeString(literal: string): string {
  const { body, raw } = unquote(literal)
  if (raw || !body.includes('\\')) return body
  return body.replace(ESCAPE, (_all, simple?: string, hex?: string, short?: string, long?: string, octal?: string) =>
    simple === undefined
      ? codePoint(octal === undefined ? Number.parseInt((hex ?? short ?? long) as string, 16) : Number.parseInt(octal, 8))
      : (SIMPLE[simple] as string),
  )
}

/** @throws Error whose message is for the user. */
export function unescapeBytes(literal: string): Uint8Array {
  const { body, raw } = unquote(literal)
  if (raw || !body.includes('\\')) return new Uint8Array(Buffer.from(body))
  const parts: Buffer[] = []
  let last = 0
  for (const match of body.matchAll(ESCAPE)) {
    parts.push(Buffer.from(body.slice(last, match.index)))
    const [all, simple, hex, short, long, octal] = match
    if (short !== undefined || long !== undefined) throw new Error('unable to unescape string')
    parts.push(
      simple === undefined
        ? Buffer.from([hex === undefined ? Number.parseInt(octal as string, 8) : Number.parseInt(hex, 16)])
        : Buffer.from(SIMPLE[simple] as string),
    )
    last = match.index + all.length
  }
  parts.push(Buffer.from(body.slice(last)))
  return new Uint8Array(Buffer.concat(parts))
}

function unquote(literal: string): { body: string; raw: boolean } {
  const raw = literal[0] === 'r' || literal[0] === 'R'
  const quoted = (raw ? literal.slice(1) : literal).replace(/\r\n?/g, '\n')
  const width = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1
  return { body: quoted.slice(width, -width), raw }
}

function codePoint(code: number): string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('invalid unicode code point')
  return String.fromCodePoint(code)
}
