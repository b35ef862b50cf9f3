/** The usual plural of a kind, as in URLs: `databases`, `proxies`, `ingresses`, `gateways`. */
export function pluralOf(kind: string): string {
  const name = kind.toLowerCase()
  if (/(?:s|x|z|ch|sh)$/.test(name)) return `${name}es`
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return `${name}s`
}
