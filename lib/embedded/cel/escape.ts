/** Names of properties that are no names of the language: `a-b` is `a__dash__b`, `in` is `__in__`. */

const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const PARTS: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' }
const MEANINGS: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' }

/** Undefined: no expression can name it. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, (part) => PARTS[part] as string)
}

/** Undefined: it stands for no property. */
export function unescapeName(escaped: string): string | undefined {
  let valid = true
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const inner = part.slice(2, -2)
    if (Object.hasOwn(MEANINGS, inner)) return MEANINGS[inner] as string
    if (!RESERVED.has(inner) || part.length !== escaped.length) valid = false
    return inner
  })
  return valid ? name : undefined
}
