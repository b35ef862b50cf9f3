/**
 * YAML that all readers understand alike, whether they go by YAML 1.1 (kubectl) or 1.2: what one of them could take for a number, a
 * date or a truth value is quoted. Keys keep their order; long texts are not folded, so that a changed word is one changed line.
 */

/** A document for each value, separated by `---`. Fields with undefined are left out. */
export function toYaml(...values: readonly unknown[]): string {
  return values.map((value) => `${block(value, 0).replace(/^\n/, '')}\n`).join('---\n')
}

/** Begins with a line feed, or with a space where it stands in the line of its key. */
function block(value: unknown, indent: number): string {
  const margin = `\n${'  '.repeat(indent)}`
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []'
    return value.map((item) => `${margin}-${item === undefined ? ' null' : beside(block(item, indent + 1))}`).join('')
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    if (members.length === 0) return ' {}'
    // A list stands at the level of its key, as Kubernetes' own manifests have it.
    return members.map(([key, member]) => `${margin}${scalar(key)}:${block(member, Array.isArray(member) ? indent : indent + 1)}`).join('')
  }
  if (typeof value === 'string' && isLiteral(value)) return literal(value, '  '.repeat(indent))
  return ` ${scalar(value)}`
}

/** The first member of a list's item stands beside the dash. */
function beside(text: string): string {
  return text.startsWith('\n') ? ` ${text.trimStart()}` : text
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return isPlain(value) ? value : quoted(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no form in YAML`)
  return JSON.stringify(value)
}

/** Words that are no texts in YAML 1.1 (https://yaml.org/type/bool.html, https://yaml.org/type/null.html, https://yaml.org/type/float.html). */
const TAKEN = /^(?:y|n|yes|no|on|off|true|false|null|\.inf|\.nan)$/i
const PLAIN = /^(?:[A-Za-z/_$]|\.[A-Za-z])(?:[^\p{C}\p{Zl}\p{Zp}:#]|:(?=\S)|(?<=\S)#)*$/u
/** Amounts and durations, which no reader takes for a number. */
const WITH_UNIT = /^[1-9]\d*(?:[KMGTPE]i|[kMGT]|m|s|h|%)$/

function isPlain(text: string): boolean {
  return (PLAIN.test(text) && !TAKEN.test(text) && !/\s$/.test(text)) || WITH_UNIT.test(text)
}

/** Single quotes, in which only they are escaped; for characters that need more, JSON's escapes, which are YAML's too. */
function quoted(text: string): string {
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", "''")}'`
  return JSON.stringify(text).replace(new RegExp(UNSEEN, 'gu'), (character) =>
    [...Array(character.length).keys()].map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** What a reader may refuse, or take for a line end. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u

/** Several lines that need no quotes, and at most one line feed at the end. */
function isLiteral(text: string): boolean {
  return /^[^\s][^\n]*\n/.test(text) && !/\n\n$/.test(text) && !/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

function literal(text: string, margin: string): string {
  const lines = text.replace(/\n$/, '').split('\n')
  const inner = margin === '' ? '  ' : margin
  return ` ${text.endsWith('\n') ? '|' : '|-'}${lines.map((line) => `\n${line === '' ? '' : `${inner}${line}`}`).join('')}`
}
